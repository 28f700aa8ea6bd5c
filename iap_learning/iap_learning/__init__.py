# SPDX-License-Identifier: BSD-3-Clause
"""Learning: tasks as data, and environments of one world or many, which gymnasium knows once this is imported."""

from importlib.util import find_spec

from iap_description import __version__ as __version__

if find_spec("gymnasium") is not None:  # without it nobody can ask for an environment by name
    from iap_learning.registration import register_all

    register_all()

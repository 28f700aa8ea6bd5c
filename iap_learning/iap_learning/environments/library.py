# SPDX-License-Identifier: BSD-3-Clause
"""The library whose interface the environments have: an extra."""

import sys

from iap_description.errors import BadInput

try:
    import gymnasium as gymnasium
except ModuleNotFoundError as error:
    raise BadInput(
        f"environments need gymnasium, which is not installed: {sys.executable} -m pip install"
        " --require-hashes -r requirements/lock/learning.txt"
    ) from error

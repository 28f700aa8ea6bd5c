# SPDX-License-Identifier: BSD-3-Clause
"""The library whose format data sets have: an extra."""

import sys

from iap_description.errors import BadInput

try:
    import h5py as h5py  # which Minari needs for its files
    import minari as minari
except ModuleNotFoundError as error:
    raise BadInput(
        f"data sets need {error.name}, which is not installed: {sys.executable} -m pip install"
        " --require-hashes -r requirements/lock/training.txt"
    ) from error

# SPDX-License-Identifier: BSD-3-Clause
"""Trajectory files in the TUM format: ``time x y z qx qy qz qw`` a line, seconds and metres.

Own code, because evo, with which the tests read the files back, is under the GPL and takes a second to import.
"""

import numpy as np

from iap_description.arrays import Array


def tum_text(t: Array, poses: Array) -> str:
    """The file of poses (K, 7) at times (K,) [s], all with nine decimals."""
    line = " ".join(["%.9f"] * 8) + "\n"
    return "".join([line % tuple(row) for row in np.column_stack([t, poses]).tolist()])

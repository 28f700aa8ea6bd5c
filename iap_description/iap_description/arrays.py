# SPDX-License-Identifier: BSD-3-Clause
"""Types of arrays, and of vectors and quaternions as tuples."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Pixels = NDArray[np.uint8]
Singles = NDArray[np.float32]
Vec = tuple[float, float, float]
Quat = tuple[float, float, float, float]

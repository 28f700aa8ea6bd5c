# SPDX-License-Identifier: BSD-3-Clause
"""Types of arrays."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Pixels = NDArray[np.uint8]
Singles = NDArray[np.float32]

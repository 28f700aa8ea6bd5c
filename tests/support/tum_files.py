# SPDX-License-Identifier: BSD-3-Clause
"""Trajectory files in the TUM format, read back."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def read_tum(path: Path) -> tuple[Array, Array]:
    """Times (K,) [s] and poses (K, 7) of a file."""
    table = np.loadtxt(path, ndmin=2)
    assert table.shape[1] == 8
    assert np.isfinite(table).all()
    assert (np.diff(table[:, 0]) > 0.0).all()
    return table[:, 0], table[:, 1:]

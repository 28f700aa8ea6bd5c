# SPDX-License-Identifier: BSD-3-Clause
"""States of bodies by hand, and the Python functions of compiled ones."""

from typing import Any

import numpy as np

from iap_description.math import so3


def plain(compiled: Any) -> Any:
    """The Python function that is compiled, itself where nothing is (`NUMBA_DISABLE_JIT`)."""
    return getattr(compiled, "py_func", compiled)


def row(
    place: Any = (0.0, 0.0, 0.0), turn: Any = (0.0, 0.0, 0.0), v: Any = 0.0, w: Any = 0.0
) -> np.ndarray:
    """A state (13,): place, attitude by its rotation vector, velocity and angular velocity."""
    x = np.zeros(13)
    x[:3], x[3:7], x[7:10], x[10:] = place, so3.quaternion_exp(np.array(turn, float)), v, w
    return x

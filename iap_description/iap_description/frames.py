# SPDX-License-Identifier: BSD-3-Clause
"""The one place that converts between the papers' NED/FRD and this suite's ENU/FLU (REP 103).

World: ``x_E = y_N, y_E = x_N, z_E = -z_N``. Body: ``x`` stays forward, ``y`` and ``z`` change sign. Both maps are their
own inverse, so one function serves both directions.
"""

import math

import numpy as np

from iap_description.arrays import Array, Quat

MAP = "map"  # name of the world's frame
R_ENU_NED: Array = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
R_FLU_FRD: Array = np.diag([1.0, -1.0, -1.0])
_SQRT_HALF = math.sqrt(0.5)
for _constant in (R_ENU_NED, R_FLU_FRD):
    _constant.setflags(write=False)


def swap_world(v_W: Array) -> Array:
    """Vectors (..., 3) in NED to ENU, or in ENU to NED."""
    return np.asarray(v_W)[..., [1, 0, 2]] * np.array([1.0, 1.0, -1.0])


def swap_body(v_B: Array) -> Array:
    """Vectors (..., 3) in FRD to FLU, or in FLU to FRD."""
    return np.asarray(v_B) * np.array([1.0, -1.0, -1.0])


def swap_attitude(R_WB: Array) -> Array:
    """Attitudes (..., 3, 3) between R_NED_FRD and R_ENU_FLU: both sides change their frame."""
    return R_ENU_NED @ np.asarray(R_WB) @ R_FLU_FRD


def to_ned(q_WB: Quat) -> Quat:
    """Quaternion w x y z of FRD to NED, of one xyzw of FLU to `map` (ENU); `swap_attitude` of its matrix."""
    x, y, z, w = q_WB
    # Turns of half a circle about (1, 1, 0) / sqrt 2 in the world and about x in the body.
    return (_SQRT_HALF * (w + z), _SQRT_HALF * (x + y), _SQRT_HALF * (x - y), _SQRT_HALF * (w - z))


def from_ned(q_WB: Quat) -> Quat:
    """Quaternion xyzw of FLU to `map` (ENU), of one w x y z of FRD to NED: the inverse of `to_ned`."""
    w, x, y, z = q_WB
    return (_SQRT_HALF * (x + y), _SQRT_HALF * (x - y), _SQRT_HALF * (w - z), _SQRT_HALF * (w + z))

# SPDX-License-Identifier: BSD-3-Clause
"""Initial state of an aircraft at an unknown place: at the origin, without yaw, levelled by gravity.

At rest that is its state. In motion the specific force is not gravity's alone, and its velocity is not zero:
both are then off by what `VirpoSpec.unknown` allows, and the first keyframes, whose stereo depths have a scale,
correct them (the window takes more steps for these).
"""

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.errors import BadInput

Array = NDArray[np.float64]
MIN_FORCE_RATIO = (
    0.3  # specific force, as a share of gravity's, below which it says nothing of the vertical
)


def level_state(f_B: Array, gravity: float, *, source: str) -> Array:
    """State (16,) at the origin, from mean specific forces (S, 3) of the first samples [m/s^2].

    Raises:
        BadInput: there are none, or they are those of a fall.
    """
    if not len(f_B):
        raise BadInput(f"{source}: no inertial samples to begin with")
    f = f_B.mean(axis=0)
    size = float(np.linalg.norm(f))
    if not size > MIN_FORCE_RATIO * gravity:
        raise BadInput(
            f"{source}: a specific force of {size:.2f} m/s^2 does not say where the vertical is"
        )
    x, y, z = f / size
    roll, pitch = np.arctan2(y, z), np.arctan2(-x, np.hypot(y, z))
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(np.array([roll, pitch, 0.0])))
    return np.concatenate([np.zeros(3), q, np.zeros(9)])

# SPDX-License-Identifier: BSD-3-Clause
"""Joint states of state rows with arrays, an oracle beside the compiled ones."""

import numpy as np
from numpy.typing import NDArray

from iap_description.math import so3
from iap_description.states import Q, W
from iap_description.vehicles.assembly import Assembly

Array = NDArray[np.float64]


def joint_states(assembly: Assembly, x: Array) -> tuple[Array, Array]:
    """Positions and velocities of the joints.

    Args:
        assembly: bodies and joints.
        x: (..., bodies, 13) its state rows.

    Returns:
        q_AB (..., joints, 4), attitude of the child B in its parent A, and w_AB_B (..., joints,
        3), angular velocity of the child relative to its parent in the child's axes [rad/s].
    """
    parents = x[..., [joint.parent for joint in assembly.joints], :]
    children = x[..., [joint.child for joint in assembly.joints], :]
    q_AB = so3.multiply(so3.conjugate(parents[..., Q]), children[..., Q])
    return q_AB, so3.rotate(so3.conjugate(children[..., Q]), children[..., W] - parents[..., W])

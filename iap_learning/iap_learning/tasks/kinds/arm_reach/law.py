# SPDX-License-Identifier: BSD-3-Clause
"""The published kinematic control, eq. (27) of aerial_manipulator, towards targets at rest."""

import numpy as np

from iap_control.laws.end_effector import EndEffectorLaw
from iap_description.arrays import Array
from iap_simulation.arm.scenario import Control
from iap_simulation.arm.worlds import ArmWorlds


class ReachLaw:
    """Commands of all worlds, as `iap_simulation.arm.flight.ArmFlight` has those of one.

    Args:
        worlds: that fly.
        control: the law's numbers, and what becomes of its velocities.

    Raises:
        BadInput: it weighs another number of velocities.
    """

    def __init__(self, worlds: ArmWorlds, control: Control) -> None:
        self._worlds, self._inverts = worlds, control.static_inverse
        self._law = EndEffectorLaw(worlds.arm, control.law)

    def __call__(self, targets: Array) -> Array:
        """(B, 7) velocity commands for end effectors that shall rest at targets (B, 3) with a heading of zero.

        Raises:
            SingularPose: platform and arm of a world cannot move it in every direction.
        """
        plants, model = self._worlds.plants, self._worlds.model
        out, at_rest = np.zeros_like(plants.v), np.zeros(4)
        for b, target in enumerate(targets):
            pose, q = plants.pose[b], plants.q[b]
            r_d = np.append(target, 0.0)
            v = self._law(r_d, at_rest, pose[:3], float(pose[3]), q)
            out[b] = model.held_command(q, v) if self._inverts else v
        return out

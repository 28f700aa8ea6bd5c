# SPDX-License-Identifier: BSD-3-Clause
"""A controller's model of a platform whose arm moves: mass, CoM and inertia of its pose, and what its motion takes."""

from typing import NamedTuple

import numpy as np

from iap_control.allocation.model import Inertia, lumped_inertia
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import Q, V, W
from iap_description.vehicles.chain_inertia import composite
from iap_description.vehicles.gripper import Load, carrying
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.moving_chain import arm_momentum, arm_wrench


class MovingArm(NamedTuple):
    """Report of an arm to a controller at one instant.

    Attributes:
        inertia: of the platform with the arm in its pose.
        wrench_P: (6,) that carries on the arm's motion, about P's origin in P [N, N m].
        momentum_P: (6,) that the joints' velocities add to the platform's, likewise [N s, N m s].
        tip_P: (3,) the end effector in P [m].
    """

    inertia: Inertia
    wrench_P: Array
    momentum_P: Array
    tip_P: Array


class ArmModel:
    """The arm of a platform, as `iap_description.vehicles.moving_chain` has it.

    Args:
        arm: of the platform.
        inertia: of the platform with the arm at home.
        moves: whether the wrench that carries on the arm's motion counts; without it only CoM and inertia follow.
    """

    def __init__(self, arm: MountedArm, inertia: Inertia, *, moves: bool) -> None:
        self.arm, self._moves = arm, moves
        self.bodies, self._load = arm.bodies, 0.0
        home, mass = arm.at_home, inertia.mass
        self._moment = mass * inertia.d_0 - home.mass * home.p_PC_W  # of what is no arm [kg m]
        self._rest = inertia.J - _about_origin(home.mass, home.p_PC_W, home.inertia)
        self._given = inertia

    def carry(self, load: Load | None) -> None:
        """Count a load on the last link until the next call; None of nothing."""
        self.bodies = carrying(self.arm.bodies, load)
        self._load = 0.0 if load is None else load.mass

    def inertia_at(self, q: Array) -> Inertia:
        """Lumped dynamics about P's origin with the arm's joints at q (n,) [rad].

        m = m_0 + m_load, d_0 = (moment + m_arm d_arm) / m [m]; J is the sum of all inertias about the origin [kg m^2].
        """
        mass, d, J_C = composite(self.arm.chain, self.bodies, np.eye(3), q)
        total = self._given.mass + self._load
        d_0 = (self._moment + mass * d) / total
        J = self._rest + _about_origin(mass, d, J_C)
        coupled = self._given.coupling > 0.0
        return lumped_inertia(total, d_0, J, gravity=self._given.gravity, com_coupling=coupled)

    def __call__(self, x: Array, q: Array, v: Array, a: Array) -> MovingArm:
        """The report to the controller.

        Args:
            x: (13,) state row of the central body.
            q: (n,) joint coordinates [rad], [m].
            v: (n,) their velocities.
            a: (n,) their accelerations, such as those of their reference.
        """
        tip_P = self.arm.tip_P(q)
        if not self._moves:
            return MovingArm(self.inertia_at(q), np.zeros(6), np.zeros(6), tip_P)
        q_PW = so3.conjugate(x[Q])
        twist_P = np.concatenate([so3.rotate(q_PW, x[V]), so3.rotate(q_PW, x[W])])
        wrench = arm_wrench(self.arm.chain, self.bodies, q, v, a, twist_P)
        momentum = arm_momentum(self.arm.chain, self.bodies, q, v)
        return MovingArm(self.inertia_at(q), wrench, momentum, tip_P)


def _about_origin(mass: float, d: Array, J_C: Array) -> Array:
    """Inertia (3, 3) about P's origin of a body whose CoM is at d (3,)."""
    cross = so3.hat(d)
    return np.asarray(J_C - mass * cross @ cross)

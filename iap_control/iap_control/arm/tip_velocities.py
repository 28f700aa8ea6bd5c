# SPDX-License-Identifier: BSD-3-Clause
"""An end effector on a vehicle that takes velocities: those of aerial_manipulator eq. (27), as they are.

The platform's reference has them as a twist at level VELOCITY, the joints as velocities of their targets.
"""

from typing import Literal

import numpy as np

from iap_control.arm.motions import HoldMotion, Targets
from iap_control.arm.tip_guidance import PathSource
from iap_control.arm.tip_leader import ArmTargets
from iap_control.arm.tip_paths import PathOfTip
from iap_control.laws.end_effector import (
    HEADING,
    EndEffectorGains,
    EndEffectorLaw,
    SingularPose,
    level,
)
from iap_description.arrays import Array, Integers
from iap_description.config.bounds import are_plausible
from iap_description.config.record import Record
from iap_description.errors import FlightFailed
from iap_description.math.kernels import yaw_of
from iap_description.signals import Reference
from iap_description.states import REF_P, REF_Q, REF_V, REF_W, Level, P, Q
from iap_description.vehicles.arm import Arm
from iap_description.vehicles.joint_limits import BASE, JointLimits
from iap_description.vehicles.mounted_arm import MountedArm


class TipVelocities(Record):
    """The end effector follows a path by the velocities of (27) alone, on a plant that takes them."""

    type: Literal["tip_velocities"]
    path: PathOfTip
    control: EndEffectorGains

    def targets(self, t: Array, arm: Arm) -> Targets:
        """Home, where the motion begins, see `iap_control.arm.motions.HoldMotion.targets`."""
        return HoldMotion(type="hold").targets(t, arm)

    def guide(self, arm: MountedArm, lead: float, dt: float) -> "VelocityGuidance":
        """The guidance of a flight whose motion begins at `lead` [s], at a control period [s]."""
        return VelocityGuidance(self, arm, lead, dt)


def velocity_row(row: Array, x: Array, velocities: Array) -> None:
    """Write velocities (4 + n,) into a reference row (19 + N), with the pose of a state (13,) as its own."""
    turn = level(yaw_of(x[Q]))
    row[REF_P], row[REF_Q] = x[P], x[Q]
    row[REF_V], row[REF_W] = turn @ velocities[:3], (0.0, 0.0, velocities[HEADING])


def heading_twist(row: Array, q_WP: Array) -> Array:
    """Twist (6,) of a reference row (19+) along the axes of the heading that a platform's attitude (4,) has."""
    w_W = row[REF_W]
    return np.concatenate([level(yaw_of(q_WP)).T @ row[REF_V], w_W])


class VelocityGuidance:
    """Leads platform and joints by the velocities of (27).

    As the paper does, it takes the arm's base to be the origin of the platform's state.

    Args:
        motion: path and law.
        arm: of the platform.
        lead: time at which the path begins [s].
        dt: control period [s].
    """

    def __init__(self, motion: TipVelocities, arm: MountedArm, lead: float, dt: float) -> None:
        self._path, self._arm, self._dt = motion.path, arm.record, dt
        self._law = EndEffectorLaw(self._arm, motion.control)
        self._lead, self._first = lead, round(lead / dt)
        self.reset()

    def reset(self) -> None:
        """Forget what was clipped: a flight begins."""
        self._limits = JointLimits(self._arm, self._dt)

    @property
    def clipped(self) -> Integers:
        """(n,) commands of joints that were beyond their speed or travel, and cut."""
        return self._limits.clipped

    def tip_reference(self, t: float) -> Array | None:
        """(3,) where the end effector should be at a time [s]; None before the motion begins."""
        return PathSource(self._path).reference(t - self._lead)

    def __call__(
        self, k: int, x: Array, q: Array, v: Array, reference: Reference
    ) -> ArmTargets | None:
        """Targets from control instant k on, see `iap_control.arm.tip_leader.TipLeader`.

        Raises:
            FlightFailed: of a singular pose, or of velocities that no vehicle has.
        """
        if k < self._first:
            return None
        t = self._dt * (k - self._first)
        r_d, dr_d = (part[0] for part in self._path.at(np.array([t])))
        try:
            velocities = self._law(r_d, dr_d, x[P], yaw_of(x[Q]), q)
        except SingularPose as error:
            raise FlightFailed("singular", self._dt * k, str(error)) from error
        if not are_plausible(velocities):
            fastest = float(np.abs(velocities).max())
            reason = f"the end effector's law asks for {fastest:g} m/s or rad/s"
            raise FlightFailed("diverged", self._dt * k, reason)
        velocities = self._limits(velocities, q)
        row = reference.row.copy()
        velocity_row(row, x, velocities)
        return ArmTargets(
            np.clip(q, *self._arm.limits),
            velocities[BASE:],
            np.zeros_like(q),
            Reference(row, Level.VELOCITY, reference.wrench_P),
        )

# SPDX-License-Identifier: BSD-3-Clause
"""An end effector in flight: eq. (27) of aerial_manipulator above the autopilot, for a platform and its arm."""

from typing import Literal, Protocol

import numpy as np

from iap_control.arm.motions import HoldMotion, Targets
from iap_control.arm.tip_leader import ArmTargets
from iap_control.arm.tip_paths import PathOfTip
from iap_control.laws.end_effector import (
    BASE,
    HEADING,
    EndEffectorGains,
    EndEffectorLaw,
    SingularPose,
    level,
    task_pose,
)
from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import Hertz, NonNegative, Positive
from iap_description.errors import FlightFailed
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W, P, Q
from iap_description.vehicles.arm import Arm
from iap_description.vehicles.joint_limits import JointLimits
from iap_description.vehicles.mounted_arm import MountedArm


class TipMotion(Record):
    """The end effector is led: velocities of platform and joints by (27), from the present pose on.

    They are told at `rate` and reached within a period, no faster than the accelerations allow; the platform's
    reference is where they lead.
    """

    control: EndEffectorGains
    rate: Hertz  # [Hz]
    smoothing: NonNegative  # time constant of what the error asks for [s]
    acceleration: Positive  # of the platform [m/s^2]
    turn_acceleration: Positive  # of its heading [rad/s^2]
    joint_acceleration: Positive  # [rad/s^2], [m/s^2]

    def targets(self, t: Array, arm: Arm) -> Targets:
        """Home, where the motion begins, see `iap_control.arm.motions.HoldMotion.targets`."""
        return HoldMotion(type="hold").targets(t, arm)

    def guide(self, arm: MountedArm, lead: float, dt: float) -> "TipGuidance":
        """The guidance of a flight whose motion begins at `lead` [s], at a control period [s]."""
        raise NotImplementedError


class TipPath(TipMotion):
    """The end effector follows a path."""

    type: Literal["tip_path"]
    path: PathOfTip

    def guide(self, arm: MountedArm, lead: float, dt: float) -> "TipGuidance":
        """The guidance of a flight whose motion begins at `lead` [s], at a control period [s]."""
        return TipGuidance(self, PathSource(self.path), arm, lead, dt)


class TipSource(Protocol):
    """Reference place of an end effector."""

    def reset(self) -> None:
        """A flight begins."""

    def __call__(self, t: float, period: float, r: Array) -> tuple[Array, Array]:
        """Reference r_d (4,) of the end effector, and its rates (4,) one period later.

        Args:
            t: from the motion's start [s].
            period: until the next call [s].
            r: (4,) where it is: position [m] and heading [rad].
        """

    def reference(self, t: float) -> Array | None:
        """(3,) where it shall be at a time since the last call [s]; None where that is not known."""


class PathSource:
    """A path.

    Args:
        path: of the end effector.
    """

    def __init__(self, path: PathOfTip) -> None:
        self._path = path

    def reset(self) -> None:
        """Paths remember nothing."""

    def __call__(self, t: float, period: float, r: Array) -> tuple[Array, Array]:  # noqa: ARG002 - wherever it is
        """See `TipSource`."""
        goal, rates = self._path.at(np.array([t, t + period]))
        return goal[0], rates[1]

    def reference(self, t: float) -> Array | None:
        """See `TipSource`; None before the path begins."""
        goal: Array = self._path.at(np.array([t]))[0][0, :3]
        return goal if t >= 0.0 else None


class TipGuidance:
    """Leads platform and joints so that the end effector is where a source has it.

    Args:
        motion: how it is followed.
        source: where the end effector shall be.
        arm: of the platform.
        lead: time at which it begins [s].
        dt: control period [s].

    Attributes:
        source: as given.
    """

    def __init__(
        self, motion: TipMotion, source: TipSource, arm: MountedArm, lead: float, dt: float
    ) -> None:
        self.source, self._arm, self._lead, self._dt = source, arm, lead, dt
        self._law = EndEffectorLaw(arm.record, motion.control, arm.chain)
        self._first, self._every = round(lead / dt), max(1, round(1.0 / (motion.rate * dt)))
        self._period = self._every * dt
        joints = [motion.joint_acceleration] * len(arm.links)
        steps = [*[motion.acceleration] * 3, motion.turn_acceleration, *joints]
        self._step = self._period * np.array(steps)
        self._share = self._period / (motion.smoothing + self._period)
        self.reset()

    def reset(self) -> None:
        """A flight begins."""
        self.source.reset()
        count = BASE + len(self._arm.links)
        self._limits = JointLimits(self._arm.record, self._period)
        self._v, self._a = np.zeros(count), np.zeros(count)  # of heading's axes, heading, joints
        self._p, self._yaw, self._q = np.zeros(3), 0.0, np.zeros(len(self._arm.links))
        self._row: Array | None = None
        self._correction = np.zeros(BASE)

    @property
    def clipped(self) -> Integers:
        """(n,) commands of joints that were beyond their speed or travel, and cut."""
        return self._limits.clipped

    def tip_reference(self, t: float) -> Array | None:
        """(3,) where the end effector should be at a time [s]; None before the motion begins."""
        return self.source.reference(t - self._lead)

    def __call__(
        self, k: int, x: Array, q: Array, v: Array, reference: Reference
    ) -> ArmTargets | None:
        """The references of platform and joints from control instant k on, see `iap_control.arm.tip_leader.TipLeader`.

        Raises:
            FlightFailed: of a singular pose.
        """
        if k < self._first:
            return None
        if self._row is None:
            self._row = reference.row.copy()
            self._p, self._q = reference.row[REF_P].copy(), q.copy()
            self._yaw = _yaw(reference.row[REF_Q])
        else:
            self._advance()
        if (k - self._first) % self._every == 0:
            self._tell(k, x, q)
        return self._guided(self._row, reference)

    def _advance(self) -> None:
        """Let a control period pass under the present accelerations."""
        dt, turn = self._dt, level(self._yaw)
        mean = self._v + 0.5 * dt * self._a
        self._p += dt * (turn @ mean[:3])
        self._yaw += dt * mean[HEADING]
        self._q += dt * mean[BASE:]
        self._v += dt * self._a

    def _tell(self, k: int, x: Array, q: Array) -> None:
        """The velocities of (27) on the present state, and accelerations towards them.

        They are reached at the period's end, whose rates the source therefore gives. What the error asks for is
        low-passed: its steps would shake the attitude, which joints feel, and the error with them. The platform counts
        as level, as in (3): it tilts to accelerate, and its tilt fed back would accelerate it again.
        """
        yaw, t = _yaw(x[Q]), self._dt * k - self._lead
        r_d, dr_d = self.source(t, self._period, task_pose(self._arm.chain, x[P], yaw, q))
        try:
            asked = self._law.correction(self._law.error(r_d, x[P], yaw, q))
            self._correction += self._share * (asked - self._correction)
            goal = self._law.velocities(dr_d + self._correction, yaw, q)
        except SingularPose as error:
            raise FlightFailed("singular", self._dt * k, str(error)) from error
        change = self._limits(goal, q) - self._v
        longest = np.linalg.norm(change[:3])
        if longest > self._step[0]:
            change[:3] *= self._step[0] / longest
        self._a = np.clip(change, -self._step, self._step) / self._period

    def _guided(self, row: Array, reference: Reference) -> ArmTargets:
        """Targets of the joints, and the platform's reference."""
        turn, u, rate = level(self._yaw), self._v[:3], self._v[HEADING]
        row[REF_P], row[REF_Q] = self._p, so3.quaternion_exp(np.array([0.0, 0.0, self._yaw]))
        row[REF_V], row[REF_W] = turn @ u, (0.0, 0.0, rate)
        row[REF_A] = turn @ (self._a[:3] + rate * np.array([-u[1], u[0], 0.0]))
        row[REF_ALPHA] = (0.0, 0.0, self._a[HEADING])
        joints = (self._q.copy(), self._v[BASE:].copy(), self._a[BASE:].copy())
        return ArmTargets(*joints, Reference(row, reference.level, reference.wrench_P))


def _yaw(q_WP: Array) -> float:
    return float(so3.euler_from_matrix(so3.matrix_from_quaternion(q_WP))[2])

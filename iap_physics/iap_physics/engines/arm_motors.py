# SPDX-License-Identifier: BSD-3-Clause
"""An arm's motors, which all engines drive alike, and where its joints stand."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.errors import IapError
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.mounted_arm import MountedArm

MODES = {"position": 0, "velocity": 1, "torque": 2}
POSITION, VELOCITY, TORQUE = range(3)
SLOW = (
    0.05  # velocity below which Coulomb friction fades, so that it does not rattle [rad/s], [m/s]
)


class Servos(NamedTuple):
    """The motors of an arm of n joints, see `iap_description.vehicles.arm.ArmMotor`; (n,) each."""

    modes: Integers
    position_gains: Array
    velocity_gains: Array
    efforts: Array
    viscous: Array
    coulomb: Array

    @classmethod
    def of(cls, arm: MountedArm) -> Self:
        """The motors of an arm."""
        motors = arm.record.motors
        numbers = [
            (m.position_gain, m.velocity_gain, m.effort, m.viscous, m.coulomb) for m in motors
        ]
        return cls(np.array([MODES[m.mode] for m in motors]), *np.array(numbers).T)


class ArmMotors:
    """The joints of one arm and the targets of its motors, which are held until they change.

    Attributes:
        arm: the arm.
        q: (n,) joint coordinates [rad], [m].
        v: (n,) their velocities [rad/s], [m/s].
        efforts: (n,) of the motors in the last step [N m], [N].
        loads: (n,) of the motors and friction, as an engine takes them [N m], [N].
        clipped: (n,) commands since the last reset that were beyond a joint's travel or speed.
    """

    def __init__(self, arm: MountedArm) -> None:
        self.arm, self._servos = arm, Servos.of(arm)
        self.q, self.v = arm.record.home_pose, np.zeros(len(arm.links))
        self.efforts, self.loads = np.zeros_like(self.q), np.zeros_like(self.q)
        self.clipped: Integers = np.zeros(len(self.q), np.int64)
        self._targets = np.stack([self.q, self.v, self.v])  # of position, velocity and torque
        self._begun = np.stack([*self._targets, self.q, self.v, self.efforts, self.clipped])

    def reset(self) -> None:
        """Home, at rest, which is the target, too."""
        self.held = self._begun

    @property
    def held(self) -> Array:
        """(7, n) targets, coordinates, velocities, efforts and how often commands were clipped, for snapshots."""
        return np.stack([*self._targets, self.q, self.v, self.efforts, self.clipped])

    @held.setter
    def held(self, rows: Array) -> None:
        self._targets[:] = rows[:3]
        self.q[:], self.v[:], self.efforts[:], self.clipped[:] = rows[3:]

    @property
    def targets(self) -> Array:
        """(3, n) targets of position, velocity and torque, within the joints' limits; a view."""
        return self._targets

    def command(
        self, q: Array | None = None, v: Array | None = None, torque: Array | None = None
    ) -> bool:
        """Set targets (n,) of position, velocity and torque; what is not given is home, 0 and 0.

        Returns:
            Whether a target was beyond a joint's travel or speed, and was clipped.

        Raises:
            IapError: a target is not finite or not (n,).
        """
        targets = self._begun[:3].copy()
        for row, value in enumerate((q, v, torque)):
            if value is None:
                continue
            if np.shape(value) != self.q.shape or not np.isfinite(value).all():
                raise IapError(f"arm command: {len(self.q)} finite numbers expected, got {value}")
            targets[row] = value
        self._targets[:] = within_limits(self.arm, targets)
        beyond = (self._targets != targets).any(axis=0)
        self.clipped += beyond
        return bool(beyond.any())

    def drive(self) -> Array:
        """(n,) what acts at the joints in the next step."""
        drive_joints(self._servos, self._targets, self.q, self.v, self.efforts, self.loads)
        return self.loads


def within_limits(arm: MountedArm, targets: Array) -> Array:
    """Targets (..., 3, n) of position, velocity and torque, cut to the travel and the speeds of an arm's joints."""
    low, high = arm.record.limits
    speeds, cut = arm.record.motor_speeds, targets.copy()
    cut[..., 0, :] = np.clip(targets[..., 0, :], low, high)
    cut[..., 1, :] = np.clip(targets[..., 1, :], -speeds, speeds)
    return cut


def arm_motors(assemblies: Sequence[Assembly]) -> dict[int, ArmMotors]:
    """The motors of the arms that assemblies have, by their numbers."""
    arms = {k: assembly.arm for k, assembly in enumerate(assemblies)}
    return {k: ArmMotors(arm) for k, arm in arms.items() if arm is not None}


@njit(cache=True)
def drive_joints(
    servos: Servos, targets: Array, q: Array, v: Array, efforts: Array, loads: Array
) -> None:
    """Fill the motors' efforts, and these with friction, (n,) each."""
    for i in range(len(q)):
        effort = targets[2, i]
        if servos.modes[i] != TORQUE:
            effort += servos.velocity_gains[i] * (targets[1, i] - v[i])
        if servos.modes[i] == POSITION:
            effort += servos.position_gains[i] * (targets[0, i] - q[i])
        efforts[i] = min(max(effort, -servos.efforts[i]), servos.efforts[i])
        friction = servos.viscous[i] * v[i] + servos.coulomb[i] * np.tanh(v[i] / SLOW)
        loads[i] = efforts[i] - friction

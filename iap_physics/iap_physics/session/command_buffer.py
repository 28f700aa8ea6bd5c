# SPDX-License-Identifier: BSD-3-Clause
"""Commands to one vehicle of a session: which one counts, and the level flight that stands in where none comes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.states import Command, Mode, P, Q, V, W
from iap_description.vehicles.aircraft import Aircraft
from iap_physics.plant.command_check import NO_WRENCH_HERE
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.vehicle_spec import PlantVehicle

POSITION_GAIN, VELOCITY_GAIN, INTEGRAL_GAIN = 2.5, 2.8, 0.9  # [1/s^2], [1/s], [1/s^3]
SWING_GAIN = 0.3  # acceleration of the joints' line per rate of swing [m/s^2 per rad/s]; stable up to twice this
YAW_GAIN, YAW_RATE_GAIN = (
    4.0,
    4.0,
)  # of aircraft that have no yaw torque of their own [1/s^2], [1/s]
MAX_YAW_SHARE = 0.2  # of an aircraft's thrust in hover, by which it may differ for the yaw torque
MAX_ACCELERATION = 5.0  # that the distance from the place, and its integral, may ask for [m/s^2]


class FlightHold(Protocol):
    """Fail-safe that commands a vehicle for which no commands come."""

    def begin(self, x: Array) -> None:
        """Hold the platform of rows (bodies, 13) from now on."""

    def __call__(self, x: Array) -> Command:
        """The command on state rows (bodies, 13)."""


class VelocityHold:
    """Stops a plant that takes velocities."""

    def begin(self, x: Array) -> None:
        """Nothing is remembered."""

    def __call__(self, x: Array) -> Command:  # noqa: ARG002 - wherever it is
        """A command of no velocity."""
        return Command.zeros(1, Mode.VELOCITY)


@dataclass
class CommandCounts:
    """Counts of the commands to one vehicle.

    Attributes:
        taken: commands that came in time.
        late: that came after their period had begun, or were overwritten by the next on their way.
        lost: that never came while the vehicle was without commands.
        holds: how often the vehicle had to hold because commands stayed away.
    """

    taken: int = 0
    late: int = 0
    lost: int = 0
    holds: int = 0


class CommandBuffer:
    """Commands to one vehicle of `count` aircraft, numbered by the answered state; `hold` replaces missing ones.

    Attributes:
        newest: number of the newest command.
        is_holding, is_kept: whether `hold`, or the last command, stands in for those that are missing.
        counts: of commands.
    """

    def __init__(self, name: str, count: int, hold: FlightHold) -> None:
        self.name, self.hold = name, hold
        self.counts = CommandCounts()
        self._command, self._draft = Command.zeros(count), Command.zeros(count)
        self.reset()

    def reset(self) -> None:
        """Nothing has come; the counts stay."""
        self.newest = -1
        self.is_new = False  # and not flown yet
        self.is_holding = self.is_kept = False

    def offer(self, number: int, k: int, fill: Callable[[Command], None]) -> None:
        """Take command `number` at the time of state `k`; `fill` writes it.

        Raises:
            BadInput: it cannot be used.
        """
        if number <= self.newest:  # the same one again, or overtaken on its way
            return
        if number > k:
            raise BadInput("header.stamp: later than the present state")
        fill(self._draft)
        if self._draft.mode == Mode.WRENCH:
            raise BadInput(NO_WRENCH_HERE)
        self._count(number, k)
        self._command, self._draft = self._draft, self._command
        self.newest, self.is_new = number, True

    def _count(self, number: int, k: int) -> None:
        missing = number - self.newest - 1
        if self.is_holding:
            self.counts.lost += missing
        else:
            self.counts.late += missing
        if number == k:
            self.counts.taken += 1
        else:
            self.counts.late += 1

    def next_command(self, x: Array, *, is_stale: bool) -> Command | None:
        """The command for the coming period from state rows (bodies, 13); None goes on with the last command."""
        if is_stale:
            if not self.is_holding:
                self.is_holding = True
                self.counts.holds += 1
                self.hold.begin(x)
            return self.hold(x)
        self.is_holding = False
        new, self.is_new = self.is_new, False
        return self._command if new else None


class FailSafe:
    r"""Level flight in place as the autopilots would hold it, without a model of the platform's inertia.

    Every aircraft keeps its own place under the levelled platform:

    .. math::
        f_i = T_i (e_z - (k_p e_i + k_d v_i + k_i \int \bar e) / g)

    with the thrust T_i that carries its share in hover, the distance e_i from its place, its velocity v_i, and the
    mean distance of all aircraft, whose integral takes out what the masses and the wind are off. A platform whose
    joints are on a line swings about it like a pendulum; there all aircraft also accelerate with the swing, which
    damps it.

    Aircraft of fewer than four rotors have no yaw torque of their own but what goes with their thrust, mostly the
    rotors' drag: those that turn the body the way that is wanted thrust more, the others less.
    """

    def __init__(self, spec: PlantSpec, vehicle: PlantVehicle) -> None:
        assembly, fleet = vehicle.assembly, vehicle.platform.fleet
        self._bodies = list(assembly.aircraft)
        self._arms_P = assembly.p_PB_P[self._bodies]
        self._line_P = _line_through(self._arms_P)
        self._thrust = np.array(vehicle.hover_thrust)
        self._limits = np.transpose([aircraft.thrust_limits for aircraft in fleet])
        self._tan_tilt = np.array([math.tan(aircraft.tilt_max) for aircraft in fleet])
        self._yaw_levers = np.array([_yaw_lever(each) for each in fleet])
        self._inertia_z = float(assembly.inertia[2, 2])
        self._gravity, self._dt = spec.world.gravity, spec.dt
        self._command = Command.zeros(len(self._bodies))
        self.begin(np.array(vehicle.start))

    def begin(self, x: Array) -> None:
        """Keep the platform of rows (bodies, 13) where it is, level and with its headings."""
        self._yaw = yaw_of(x[0, Q])
        level = _about_z(self._yaw)
        self._places_W = x[0, P] + so3.rotate(level, self._arms_P)
        self._headings = np.array([_about_z(yaw_of(row[Q])) for row in x[self._bodies]])
        self._integral = np.zeros(3)

    def __call__(self, x: Array) -> Command:
        """The command on state rows (bodies, 13); the same object every time, overwritten."""
        rows = x[self._bodies]
        e = rows[:, P] - self._places_W
        self._integral += INTEGRAL_GAIN * self._dt * e.mean(axis=0)
        self._integral = _shortened(self._integral, MAX_ACCELERATION)
        pull = _shortened(POSITION_GAIN * e, MAX_ACCELERATION)
        acceleration = np.array([0.0, 0.0, self._gravity]) - (
            pull + VELOCITY_GAIN * rows[:, V] + self._integral + self._swing_damping(x[0])
        )
        f_W = self._limited(self._thrust[:, None] / self._gravity * acceleration)
        self._command.thrust[:] = np.linalg.norm(f_W, axis=1)
        if self._yaw_levers.any():
            self._command.thrust += self._for_yaw(x[0])
        self._command.q_WB[:] = so3.multiply(_turns_to(f_W), self._headings)
        return self._command

    def _for_yaw(self, base: Array) -> Array:
        """Thrusts (N,) [N] that turn the base (13,) back to its yaw, of least norm where none is at its limit."""
        off = math.remainder(yaw_of(base[Q]) - self._yaw, 2.0 * math.pi)
        torque = -self._inertia_z * (YAW_GAIN * off + YAW_RATE_GAIN * base[W][2])
        levers, most = self._yaw_levers, MAX_YAW_SHARE * self._thrust
        return np.clip(levers * torque / (levers @ levers), -most, most)

    def _swing_damping(self, base: Array) -> Array:
        """Deceleration (3,) of all aircraft against the swing of the base (13,) about the joints' line [m/s^2]."""
        line_W = so3.rotate(base[Q], self._line_P)
        return SWING_GAIN * (base[W] @ line_W) * np.array([line_W[1], -line_W[0], 0.0])

    def _limited(self, f_W: Array) -> Array:
        """Thrusts (N, 3) within the aircraft's limits of thrust and tilt; height is kept before direction."""
        low, high = self._limits
        z = np.clip(f_W[:, 2], low, high)
        allowed = np.minimum(z * self._tan_tilt, np.sqrt(high**2 - z**2))
        level = np.linalg.norm(f_W[:, :2], axis=1)
        share = np.minimum(1.0, allowed / np.maximum(level, 1e-9))
        return np.column_stack([share[:, None] * f_W[:, :2], z])


def _yaw_lever(aircraft: Aircraft) -> float:
    """Yaw torque per thrust [m] of all rotors alike; 0 of an aircraft that has a yaw torque of its own."""
    if aircraft.turns_itself:
        return 0.0
    return float(aircraft.wrench_of_rotor_thrusts[5].sum()) / len(aircraft.rotors)


def _line_through(points: Array) -> Array:
    """Direction (3,) of the line through points (N, 3); zero where they are on none or coincide."""
    _, lengths, directions = np.linalg.svd(points - points.mean(axis=0))
    is_line = len(points) > 1 and lengths[0] > 1e-6 and lengths[1] < 1e-6 * lengths[0]
    return directions[0] if is_line else np.zeros(3)


def _shortened(v: Array, length: float) -> Array:
    """Vectors (..., 3), none longer than `length`."""
    return v * np.minimum(
        1.0, length / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-9)
    )


def _about_z(yaw: float) -> Array:
    return so3.quaternion_exp(np.array([0.0, 0.0, yaw]))


def _turns_to(f_W: Array) -> Array:
    """The shortest turns (N, 4), xyzw, from the world's z axis to vectors (N, 3) above the horizon."""
    z = f_W / np.linalg.norm(f_W, axis=1, keepdims=True)
    return so3.normalized(np.column_stack([-z[:, 1], z[:, 0], np.zeros(len(z)), 1.0 + z[:, 2]]))

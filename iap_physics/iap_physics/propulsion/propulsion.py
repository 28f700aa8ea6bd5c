# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle's propulsion: its aircraft's autopilots and rotors, between a command and the wrenches on its bodies."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans, Integers
from iap_description.earth import GRAVITY
from iap_description.math.kernels import Packed, stacked
from iap_description.states import STATE_SIZE, Command, Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.health import Health
from iap_physics.propulsion.attitude_estimator import KEY, keys
from iap_physics.propulsion.autopilot import Autopilot, FleetState, autopilot_step
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.estimates import AutopilotEstimates, OwnEstimates
from iap_physics.propulsion.last_command import CommandDelay, FleetArrays, LastCommand
from iap_physics.propulsion.rate_loop import memory_size
from iap_physics.propulsion.rotors import RotorParameters, RotorStates, step_rotors
from iap_physics.propulsion.tilting_rotors import TiltParameters, step_tilting_rotors


@dataclass(frozen=True)
class Airframe:
    """One vehicle as the plant needs it.

    Attributes:
        assembly: what really flies (its masses may differ from a controller's model).
        fleet: the record of each of its aircraft, as its autopilot believes it.
        autopilot: gains of the aircraft's autopilots.
        deviation: of the rotors from these records.
    """

    assembly: Assembly
    fleet: tuple[Aircraft, ...]
    autopilot: AutopilotGains
    deviation: Deviation = NO_DEVIATION

    @property
    def rotor_numbers(self) -> Array:
        """(N, 3) thrust coefficient [N/rpm^2] and time constants, rising and falling [s], of each aircraft's rotors."""
        rows = []
        for i, rotor in enumerate(aircraft.rotor for aircraft in self.fleet):
            thrust, lag = self.deviation.of_rotors(i)
            times = (lag * rotor.time_constant_up, lag * rotor.time_constant_down)
            rows.append((thrust * rotor.c_f, *times))
        return np.array(rows)

    def rotors(self, bodies: Sequence[int]) -> list[RotorParameters]:
        """The rotors of each aircraft, whose state rows are `bodies`."""
        each = enumerate(zip(self.fleet, bodies, strict=True))
        return [
            RotorParameters.of(aircraft, body, *self.deviation.of_rotors(i))
            for i, (aircraft, body) in each
        ]


class Propulsion:
    """One vehicle's autopilots and rotors between a command and the wrenches on its bodies.

    Attributes:
        airframe: the vehicle.
        rows: its state rows.
        fleet: the record of each of its aircraft.
        every: physics steps from one instant of the autopilots to the next.
        command: that the autopilots obey.
        orders: that came last, which are those unless `hand_over` was called.
        rotors: their state and parameters.
        known: estimates from outside that the autopilots go by.
        autopilots: (N,) `Autopilot` records.
        fleet_state: all of this that compiled code takes.
        is_tilting: whether rotors tilt, or push along other axes than z.
        has_rate_loop: whether its autopilots have one, whose memory blocks of worlds do not have.
        weakened: how often faults have changed what is left of the rotors.

    Args:
        airframe: the vehicle.
        rows: its state rows.
        batch: number of equal worlds.
        physics_hz: rate of the rotors.
        gravity: that the autopilots' accelerometers are in [m/s^2].
        arrays: of its aircraft in these worlds, where it shares them; None makes them.
    """

    def __init__(
        self,
        airframe: Airframe,
        rows: slice,
        batch: int,
        *,
        physics_hz: float,
        gravity: float = GRAVITY,
        arrays: FleetArrays | None = None,
    ) -> None:
        arrays = arrays or FleetArrays.empty(batch, len(airframe.assembly.aircraft))
        self.airframe, self.rows, self.fleet = airframe, rows, airframe.fleet
        bodies = [rows.start + body for body in airframe.assembly.aircraft]
        rate = airframe.autopilot.rate_hz or physics_hz
        self.every = round(physics_hz / rate)
        self.command = self.orders = arrays.command
        self.rotors = RotorStates(
            *arrays[1:],
            stacked(airframe.rotors(bodies)),
            stacked([TiltParameters.of(each) for each in airframe.fleet]),
        )
        self.is_tilting = any(each.is_vectored for each in airframe.fleet)
        self.known = AutopilotEstimates(
            np.zeros(batch, bool), np.zeros((batch, rows.stop, STATE_SIZE))
        )
        self.autopilots = stacked([Autopilot.of(a, airframe.autopilot) for a in self.fleet])
        self.weakened = 0
        self._delay: CommandDelay | None = None
        self._is_due = np.ones(batch, bool)
        self._memory = np.zeros((batch, len(bodies), memory_size(airframe.autopilot)))
        self.has_rate_loop = self._memory.size > 0
        self._own = OwnEstimates.of(airframe.autopilot, (batch, len(bodies)), gravity)
        self._keys = np.zeros((batch, len(bodies)))
        mine = (np.array(bodies, dtype=np.int64), self.autopilots)
        self.fleet_state = FleetState(
            *mine, self.command, self.rotors, self._memory, self.known, self._own, self.every
        )
        flat = (*self.command, *self.rotors, self._memory, *self.known, *self._own)
        self._arrays = (*mine, *flat, self.is_tilting)

    @property
    def rpm(self) -> Array:
        """(B, N, 4) rotor speeds [rpm]."""
        return self.rotors.rpm

    @property
    def tilt(self) -> Array:
        """(B, N, 4) angles of the rotors about their arms [rad]."""
        return self.rotors.tilt

    def reset(self, rpm: Array, worlds: Integers, tilt: ArrayLike = 0.0) -> None:
        """Rotors at the given speeds and angles (N, 4) or (worlds, N, 4), held there until a command comes."""
        self.rotors.rpm[worlds] = self.command.rpm[worlds] = rpm
        self.rotors.tilt[worlds] = self.command.tilt[worlds] = tilt
        self.command.modes[worlds] = self.orders.modes[worlds] = Mode.RPM
        self._memory[worlds] = 0.0
        self.known.is_used[worlds] = False
        if self.has_estimator:
            self._own.memory[worlds] = 0.0
            self._own.memory[worlds, :, KEY] = self._keys[worlds]
        if self._delay is not None:
            self._delay.reset(worlds)

    @property
    def has_estimator(self) -> bool:
        """True if its autopilots estimate their attitudes by sensors of their own."""
        return self._own.memory.size > 0

    def set_sensors(self, world: int, rng: np.random.Generator) -> None:
        """Draw the errors of the autopilots' sensors in a world from its next reset on."""
        self._keys[world] = keys(rng, self._keys.shape[1])

    def hand_over(self) -> LastCommand:
        """Let another than the autopilots command the rotors' speeds, by `command`; returns the orders to it.

        It is called before commands are delayed.
        """
        self.orders = copy.deepcopy(self.command)
        return self.orders

    def set_delay(self, worlds: int | slice, periods: int) -> None:
        """Let the commands of some worlds act so many control periods late, from their next reset on."""
        if periods and self._delay is None:
            self._delay = CommandDelay(self.orders)
        if self._delay is not None:
            self._delay.set_periods(worlds, periods)

    @property
    def is_delayed(self) -> bool:
        """True if commands are on their way for some time."""
        return self._delay is not None

    def apply_due(self) -> None:
        """Begin a control period: commands that were late act now."""
        if self._delay is not None:
            self._delay.apply_due()

    def apply_at_once(self) -> None:
        """Let the present commands act at once, and nothing that is on its way."""
        if self._delay is not None:
            for acting, latest in zip(self.orders, self._delay.latest, strict=True):
                acting[:] = latest
            self._delay.reset(np.arange(len(self.command.modes)))

    def set_command(self, command: Command, is_finite: Booleans | None = None) -> None:
        """Take a command for all worlds, or with a batch axis; `is_finite` (B,) are those that take it, None is all."""
        values: tuple[ArrayLike, ...] = (command.mode, *command.arrays[1:])  # but the wrench
        for array, value in zip(self._latest, values, strict=True):
            if is_finite is None:
                array[:] = value
            else:
                worlds = is_finite.reshape(-1, *[1] * (array.ndim - 1))
                np.copyto(array, value, where=worlds)

    def stop(self, worlds: Booleans) -> None:
        """Let the rotors of some worlds (B,) idle, as a command that follows those on their way."""
        latest = self._latest
        latest.modes[worlds], latest.rpm[worlds] = Mode.RPM, 0.0

    def command_rates(self, thrust: Array, w_WB_B: Array) -> None:
        """Take thrusts (B, N) [N] and body rates (B, N, 3) [rad/s] in all worlds."""
        latest = self._latest
        latest.modes[:], latest.thrust[:], latest.w_WB_B[:] = Mode.RATE_THRUST, thrust, w_WB_B

    @property
    def _latest(self) -> LastCommand:
        """Commands that came last, which the next ones overwrite."""
        return self.orders if self._delay is None else self._delay.latest

    def weaken(self, health: Health) -> None:
        """Let the rotors be no better than this, in all worlds."""
        self.weakened += 1
        self.rotors.records["thrust_share"] = health.thrust
        self.rotors.records["speed_share"] = health.speed

    def set_estimate(self, x: Array | None) -> None:
        """Go by rows (bodies, 13) or (B, bodies, 13) of this vehicle, or by what is known on board."""
        self.known.is_used[:] = x is not None
        if x is not None:
            self.known.x[:, self.rows] = x

    def actuate(self, x: Array, wrenches: Array, ticks: Integers, substep: int, dt: float) -> None:
        """Add this vehicle's rotor wrenches for one physics step.

        Args:
            x: (B, bodies, 13) states of all vehicles.
            wrenches: (B, bodies, 6) on the bodies, which are added to.
            ticks: (B,) physics steps of every world before this control period.
            substep: number of the step in the control period.
            dt: its length [s].
        """
        if self.every > 1:
            np.equal((ticks + substep) % self.every, 0, out=self._is_due)
        step_aircraft(self._is_due, *self._arrays, x, wrenches, dt)


def propulsion_of(
    airframes: Sequence[Airframe], batch: int, *, physics_hz: float, gravity: float = GRAVITY
) -> list[Propulsion]:
    """The propulsion of vehicles whose bodies have state rows one vehicle after another, see `Propulsion`."""
    vehicles, first = [], 0
    for airframe in airframes:
        rows = slice(first, first + len(airframe.assembly.bodies))
        vehicles.append(Propulsion(airframe, rows, batch, physics_hz=physics_hz, gravity=gravity))
        first = rows.stop
    return vehicles


@njit(cache=True)
def step_aircraft(
    is_due: Booleans,
    bodies: Integers,
    autopilots: Packed,
    modes: Integers,
    thrust: Array,
    q_WB: Array,
    w_WB_B: Array,
    rpm_command: Array,
    angles: Array,
    rpm: Array,
    tilt: Array,
    target: Array,
    records: Packed,
    servos: Packed,
    memory: Array,
    is_told: Booleans,
    told: Array,
    estimators: Packed,
    estimates: Array,
    is_tilting: bool,
    x: Array,
    wrenches: Array,
    dt: float,
) -> None:
    """Autopilots, then rotors, in one call: a call costs more than what it computes.

    The arrays are those of a `FleetState`, one by one: from Python they are handed over in half the time of a record.
    """
    command = LastCommand(modes, thrust, q_WB, w_WB_B, rpm_command, angles)
    rotors = RotorStates(rpm, tilt, target, records, servos)
    known, own = AutopilotEstimates(is_told, told), OwnEstimates(estimators, estimates)
    fleet = FleetState(bodies, autopilots, command, rotors, memory, known, own, 1)
    autopilot_step(x, is_due, fleet)
    if is_tilting:
        step_tilting_rotors(rotors, angles, x, wrenches, dt)
    else:
        step_rotors(rpm, target, x, wrenches, records, dt)

# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle's propulsion: its aircraft's autopilots and rotors, between a command and the wrenches on its bodies."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans, Integers
from iap_description.kernels import Packed, stacked
from iap_description.states import STATE_SIZE, Command, Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.faults import Health
from iap_physics.autopilot import Autopilot, autopilot_step
from iap_physics.rotors import RotorParameters, step_rotors


@dataclass(frozen=True)
class Airframe:
    """One vehicle as the plant needs it.

    Attributes:
        assembly: what really flies (its masses may differ from a controller's model).
        fleet: the record of each of its aircraft.
        autopilot: gains of the aircraft's autopilots.
    """

    assembly: Assembly
    fleet: tuple[Aircraft, ...]
    autopilot: AutopilotGains


class Propulsion:
    """One vehicle's autopilots and rotors between a command and the wrenches on its bodies.

    Args:
        airframe: the vehicle.
        rows: its state rows.
        batch: number of equal worlds.
        physics_hz: rate of the rotors.
    """

    def __init__(self, airframe: Airframe, rows: slice, batch: int, *, physics_hz: float) -> None:
        count = len(airframe.assembly.aircraft)
        self.rows = rows
        bodies = [rows.start + body for body in airframe.assembly.aircraft]
        self._rotors = stacked(list(map(RotorParameters.of, airframe.fleet, bodies)))
        rate = airframe.autopilot.rate_hz or physics_hz
        self._every = round(physics_hz / rate)
        self.modes = np.full(batch, int(Mode.RPM), dtype=np.int64)
        self.thrust, self.rpm_command = np.zeros((batch, count)), np.zeros((batch, count, 4))
        q_WB, w_WB_B = np.zeros((batch, count, 4)), np.zeros((batch, count, 3))
        self._command = (self.modes, self.thrust, q_WB, w_WB_B, self.rpm_command)
        self.rpm = np.zeros((batch, count, 4))
        self._estimates = np.zeros((batch, rows.stop, STATE_SIZE))
        self._uses_estimate = np.zeros(batch, bool)  # instead of the true state
        self._estimated_worlds = 0
        self._is_due = np.ones(batch, bool)
        aircraft_rows, rpm_target = np.array(bodies, dtype=np.int64), np.zeros((batch, count, 4))
        autopilots = stacked([Autopilot.of(each, airframe.autopilot) for each in airframe.fleet])
        state = (*self._command, self.rpm, autopilots, rpm_target)
        self._arguments = (aircraft_rows, self._is_due, *state)  # of the compiled step

    def reset(self, rpm: Array, worlds: Integers) -> None:
        """Rotors at the given speeds (N, 4) or (worlds, N, 4), held there until a command comes."""
        self.rpm[worlds] = self.rpm_command[worlds] = rpm
        self.modes[worlds], self._uses_estimate[worlds] = Mode.RPM, False
        self._estimated_worlds = int(np.count_nonzero(self._uses_estimate))

    def take(self, command: Command, is_finite: Booleans | None = None) -> None:
        """Take a command for all worlds, or with a batch axis; `is_finite` (B,) are those that take it, None is all."""
        given: tuple[ArrayLike, ...] = (
            command.mode,
            command.thrust,
            command.q_WB,
            command.w_WB_B,
            command.rpm,
        )
        for array, value in zip(self._command, given, strict=True):
            if is_finite is None:
                array[:] = value
            else:
                worlds = is_finite.reshape(-1, *[1] * (array.ndim - 1))
                np.copyto(array, value, where=worlds)

    def weaken(self, health: Health) -> None:
        """Let the rotors be no better than this, in all worlds."""
        self._rotors["thrust_share"], self._rotors["speed_share"] = health

    def set_estimate(self, x: Array | None) -> None:
        """Go by rows (bodies, 13) or (B, bodies, 13) of this vehicle, or by the truth."""
        self._uses_estimate[:] = x is not None
        self._estimated_worlds = 0 if x is None else len(self._uses_estimate)
        if x is not None:
            self._estimates[:, self.rows] = x

    def actuate(self, x: Array, wrenches: Array, ticks: Integers, substep: int, dt: float) -> None:
        """Add this vehicle's rotor wrenches for one physics step.

        Args:
            x: (B, bodies, 13) states of all vehicles.
            wrenches: (B, bodies, 6) on the bodies, which are added to.
            ticks: (B,) physics steps of every world before this control period.
            substep: number of the step in the control period.
            dt: its length [s].
        """
        if self._every > 1:
            np.equal((ticks + substep) % self._every, 0, out=self._is_due)
        _step_aircraft(self._known_rows(x), *self._arguments, x, wrenches, self._rotors, dt)

    def _known_rows(self, x: Array) -> Array:
        """Rows that the autopilots go by: estimates where there are some, else the truth."""
        if self._estimated_worlds == 0:
            return x
        if self._estimated_worlds == len(self._estimates):
            return self._estimates
        which = self._uses_estimate[:, None, None]
        return np.where(which, self._estimates, x[:, : self.rows.stop])


@njit(cache=True)
def _step_aircraft(
    known: Array,
    bodies: Integers,
    is_due: Booleans,
    modes: Integers,
    thrust: Array,
    q_WB: Array,
    w_WB_B: Array,
    rpm_command: Array,
    rpm: Array,
    autopilots: Packed,
    rpm_target: Array,
    x: Array,
    wrenches: Array,
    rotors: Packed,
    dt: float,
) -> None:
    """Autopilots, which go by the `known` rows, then rotors, in one call: a call costs more than what it computes."""
    commands = (modes, thrust, q_WB, w_WB_B, rpm_command)
    autopilot_step(known, bodies, is_due, *commands, rpm, autopilots, rpm_target)
    step_rotors(rpm, rpm_target, x, wrenches, rotors, dt)

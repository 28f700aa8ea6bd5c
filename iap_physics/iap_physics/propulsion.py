# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle's propulsion: its aircraft's autopilots and rotors, between a command and the wrenches on its bodies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description.states import STATE_SIZE, Command, Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_physics.autopilot import Autopilot, autopilot_step
from iap_physics.rotors import RotorParameters, step_rotors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Airframe:
    """One vehicle as the plant needs it.

    Attributes:
        assembly: what really flies (its masses may differ from a controller's model).
        aircraft: the platform's aircraft, all alike.
        autopilot: gains of the aircraft's autopilots.
    """

    assembly: Assembly
    aircraft: Aircraft
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
        self._bodies = np.array(bodies, dtype=np.int64)
        self._rotors = RotorParameters.of(airframe.aircraft, bodies)
        self._autopilot = Autopilot.of(airframe.aircraft, airframe.autopilot)
        rate = airframe.autopilot.rate_hz or physics_hz
        self._every = round(physics_hz / rate)
        self.mode = Mode.RPM
        self.thrust = np.zeros((batch, count))
        self.q_WB = np.zeros((batch, count, 4))
        self.w_WB_B = np.zeros((batch, count, 3))
        self.rpm_command = np.zeros((batch, count, 4))
        self._rpm_target = np.zeros((batch, count, 4))
        self.rpm = np.zeros((batch, count, 4))
        self._estimate = np.zeros((batch, rows.stop, STATE_SIZE))
        self._has_estimate = False

    def reset(self, rpm: Array) -> None:
        """Rotors at the given speeds (N, 4), held there until a command comes."""
        self.rpm[:] = self.rpm_command[:] = rpm
        self.mode, self._has_estimate = Mode.RPM, False

    def take(self, command: Command) -> None:
        """Take a command for every world."""
        self.mode = command.mode
        self.thrust[:] = command.thrust
        self.q_WB[:] = command.q_WB
        self.w_WB_B[:] = command.w_WB_B
        self.rpm_command[:] = command.rpm

    def set_estimate(self, x: Array | None) -> None:
        """Go by rows (bodies, 13) of this vehicle, or by the truth."""
        self._has_estimate = x is not None
        if x is not None:
            self._estimate[:, self.rows] = x

    def actuate(self, x: Array, wrenches: Array, tick: int, dt: float) -> None:
        """Add this vehicle's rotor wrenches for one physics step."""
        if tick % self._every == 0:
            autopilot_step(
                self._estimate if self._has_estimate else x,
                self._bodies,
                int(self.mode),
                self.thrust,
                self.q_WB,
                self.w_WB_B,
                self.rpm_command,
                self.rpm,
                self._autopilot,
                self._rpm_target,
            )
        step_rotors(self.rpm, self._rpm_target, x, wrenches, self._rotors, dt)

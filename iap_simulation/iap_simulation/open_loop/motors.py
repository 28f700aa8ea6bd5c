# SPDX-License-Identifier: BSD-3-Clause
r"""Motors of a log as rotor speeds of the plant.

A motor's share of the weight is that of the log's own curve through its command of hover (`ThrustCurve`), so that the
mean of the flight carries the vehicle whatever it weighs:

.. math:: f_i = \frac{m}{N} T(u_i), \qquad n_i = \sqrt{f_i / c_f} .
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_description.vehicles.aircraft import ROTORS, inertia_matrix
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.input_lags import lagged
from iap_simulation.identification.rotorcraft.thrust import command_thrust
from iap_simulation.open_loop.command_source import ReplayAircraft

SLOW = 100.0  # rate below which what lies between two commands is interpolated [Hz]


@dataclass(frozen=True)
class MotorCommands:
    """Motors in open loop.

    Attributes:
        vehicle: that flies them.
        speeds: (K, 4) commands [rpm].
        actual: (K, 4) speeds behind the rotors' lags [rpm].
        thrust: (K,) per mass, behind the lags [m/s^2].
        angular: (K, 3) acceleration, behind the lags [rad/s^2].
        notes: what was assumed.
    """

    vehicle: ReplayAircraft
    speeds: Array
    actual: Array
    thrust: Array
    angular: Array | None
    notes: tuple[str, ...]
    is_stable: ClassVar[bool] = False

    @classmethod
    def of(cls, log: FlightLog, table: FlightTable, vehicle: ReplayAircraft) -> Self:
        """The motors of a log.

        Raises:
            BadInput: it has none, or others than the vehicle.
        """
        if table.motors is None:
            reason = log.missing.get(names.MOTORS, "not logged")
            raise BadInput(f"{log.path}: no motors ({reason})")
        order = vehicle.rotors_of(log)
        by_motors = replace(table, torque=None, thrust=None)
        curve = command_thrust(by_motors, table.motors)[0].curve
        rotor, aircraft = vehicle.aircraft.rotor, vehicle.aircraft
        thrusts = vehicle.mass / ROTORS * curve.per_mass(table.motors[:, order])
        speeds = np.ascontiguousarray(vehicle.speeds(thrusts))
        actual = lagged(speeds, table.dt, rotor.time_constant_up, rotor.time_constant_down)
        wrenches = rotor.c_f * actual**2 @ aircraft.wrench_of_rotor_thrusts.T
        angular = np.linalg.solve(inertia_matrix(aircraft.inertia), wrenches[:, 3:].T).T
        note = f"motors: {curve.hover:.3f} carries the weight, exponent {curve.exponent:.2f}"
        rate = log.signals[names.MOTORS].rate
        lines = f"motors at {rate:.0f} Hz: straight lines between commands"
        notes = (note, lines) if rate < SLOW else (note,)
        return cls(vehicle, speeds, actual, wrenches[:, 2] / vehicle.mass, angular, notes)

    def start_speeds(self, starts: Integers) -> Array:
        """(W, 1, 4) rotor speeds [rpm], see `CommandSource`."""
        return self.actual[starts, None]

    def command(self, starts: Integers, step: int) -> Command:
        """Rotor speeds of every window, see `CommandSource`."""
        return replace(Command.zeros(1, Mode.RPM), rpm=self.speeds[starts + step, None])

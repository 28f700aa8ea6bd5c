# SPDX-License-Identifier: BSD-3-Clause
r"""Commands of a log: set-points of attitude and thrust for the autopilot of the plant's aircraft, or motors.

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
class AttitudeCommands:
    """Attitudes and thrusts.

    Attributes:
        vehicle: that flies them.
        q_WB: (K, 4) attitudes, xyzw.
        thrust: (K,) per mass [m/s^2].
        notes: what was assumed.
    """

    vehicle: ReplayAircraft
    q_WB: Array
    thrust: Array
    notes: tuple[str, ...]
    is_stable: ClassVar[bool] = True
    angular: ClassVar[None] = None

    @classmethod
    def of(cls, log: FlightLog, table: FlightTable, vehicle: ReplayAircraft) -> Self:
        """The set-points of a log; motors in place of a set-point of thrust, where it has none.

        Raises:
            BadInput: no attitudes were asked for over most of the flight, or nothing tells the thrust.
        """
        if table.q_setpoint is None:
            is_logged = names.ATTITUDE_SETPOINT in log.signals
            usual = "not over most of the flight" if is_logged else "not logged"
            reason = log.missing.get(names.ATTITUDE_SETPOINT, usual)
            raise BadInput(f"{log.path}: no attitude set-points ({reason})")
        u, source = table.motors, "motors"
        if table.thrust is not None:
            u, source = table.thrust[:, None], "thrust set-point"
        if u is None:
            raise BadInput(f"{log.path}: attitude set-points without motors and thrust set-point")
        fit, n = command_thrust(replace(table, motors=u, torque=None, thrust=None), u)
        note = f"{source}: {fit.curve.hover:.3f} carries the weight"
        return cls(vehicle, table.q_setpoint, fit.per_mass(n), (note,))

    def start_speeds(self, starts: Integers) -> Array:
        """(W, 1, 4) rotor speeds [rpm], alike, see `CommandSource`."""
        shares = np.tile(self._thrusts(starts)[:, :, None] / ROTORS, ROTORS)
        return self.vehicle.speeds(shares)

    def command(self, starts: Integers, step: int) -> Command:
        """Attitude and thrust of every window, see `CommandSource`."""
        rows = starts + step
        command = Command.zeros(1, Mode.ATTITUDE_THRUST)
        return replace(command, thrust=self._thrusts(rows), q_WB=self.q_WB[rows, None])

    def _thrusts(self, rows: Integers) -> Array:
        """(W, 1) collective thrusts [N]."""
        return np.maximum(self.vehicle.mass * self.thrust[rows, None], 0.0)


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

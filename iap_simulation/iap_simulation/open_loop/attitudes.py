# SPDX-License-Identifier: BSD-3-Clause
"""Attitude and thrust set-points of a log, flown by the autopilot of the plant's aircraft."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_description.vehicles.aircraft import ROTORS
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.thrust import command_thrust
from iap_simulation.open_loop.command_source import ReplayAircraft


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

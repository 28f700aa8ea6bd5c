# SPDX-License-Identifier: BSD-3-Clause
"""A vehicle whose aircraft fly by the firmware of real autopilots in place of the plant's own."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import FlightFailed
from iap_description.math import so3
from iap_description.sensors.readings import InertialMounts
from iap_description.states import Command, Mode, P, Q, V
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder, Firmware, FirmwareFailed
from iap_physics.firmware.fleet import FirmwareFleet
from iap_physics.firmware.rotor_places import AutopilotMount
from iap_physics.firmware.settings import FirmwareSettings
from iap_physics.plant.inertial import InertialProbe
from iap_physics.plant.part import PlantPart
from iap_physics.propulsion.propulsion import Propulsion


class FirmwareFlight(PlantPart):
    """Firmwares between the commands to a vehicle and the speeds of its rotors.

    Once a period of theirs they get the motion of their aircraft, and answer with shares of the rotors' largest
    thrust. A share u becomes the speed n_max sqrt(u), which the rotors follow with their lag, their faults and their
    limits as they follow the plant's own autopilots. Each flight begins with firmwares that are started anew.

    Args:
        vehicle: its number.
        name: of it.
        settings: of the firmware.
        propulsion: of the vehicle, whose autopilots no longer command the rotors.
        physics_hz: rate of physics steps.
        gravity: along -z of `map` [m/s^2].
        make: makes the firmware of each aircraft of the fleet, by its number there, anew for a flight.
    """

    def __init__(
        self,
        vehicle: int,
        name: str,
        settings: FirmwareSettings,
        propulsion: Propulsion,
        *,
        physics_hz: float,
        gravity: float,
        make: Callable[[int], Firmware],
    ) -> None:
        self._vehicle, self._name, self._settings = vehicle, name, settings
        self._propulsion, self._make = propulsion, make
        self._commands = propulsion.hand_over()
        self._every = round(physics_hz / settings.rate_hz)
        self._period_ns = round(1e9 * self._every / physics_hz)
        self._rest = (0.0, 0.0, gravity)
        self._rows = propulsion.fleet_state.bodies
        count = len(self._rows)
        level = np.tile(so3.IDENTITY, (count, 1))
        mounts = InertialMounts(self._rows, np.zeros((count, 3)), level)
        self._units = InertialProbe(
            mounts,
            physics_hz=physics_hz,
            every=self._every,
            sampling="integrating",
            gravity=gravity,
        )
        self._fastest = np.array([each.rotor.rpm_max for each in propulsion.fleet])[:, None]
        self._lift = [each.thrust_limits[1] for each in propulsion.fleet]
        self._mounts = [AutopilotMount.of(each) for each in propulsion.fleet]
        self._fleet: FirmwareFleet | None = None

    def reset(self, x: Array, worlds: Integers) -> None:
        """End the firmwares; the next step starts them anew."""
        self.close()
        self._units.reset(x)
        self._orders: list[AttitudeOrder] = []
        self._is_commanded, self._tick = False, 0

    def postpones(
        self, vehicle: int, command: Command, k: int, t: float, *, on_board: bool
    ) -> bool:
        """Look at a command; False, since it acts at once.

        Raises:
            FlightFailed: it commands rotor speeds, which no autopilot takes.
        """
        if vehicle != self._vehicle:
            return False
        if command.mode == Mode.RPM:
            raise FlightFailed(
                "invalid_command",
                t,
                f"{self._name}: rotor speeds were commanded, and its firmware takes attitude and thrust, or rates and"
                " thrust (key 'control.law')",
            )
        self._is_commanded = True
        return False

    def begin_period(self, k: int, t: float) -> None:
        """Forget the last period's orders."""
        self._orders = []

    def begin_step(self, x: Array, t: float) -> None:
        """Exchange motion and orders for rotor speeds, where a period of theirs begins.

        Raises:
            FlightFailed: a firmware has failed, see `FirmwareFailed.outcome`.
        """
        tick, self._tick = self._tick, self._tick + 1
        if tick % self._every:
            return
        rows = x[0, self._rows]
        motions = self._motions(rows)
        self._orders = self._orders or self._present_orders(rows)
        try:
            if self._fleet is None:
                self._fleet = self._made()
                self._fleet.prepare(motions, self._orders)
            answers = self._fleet.exchange(motions, self._orders)
        except FirmwareFailed as error:
            raise FlightFailed(error.outcome, t, str(error)) from error
        shares = np.array([each.shares for each in answers])
        self._propulsion.command.rpm[0] = self._fastest * np.sqrt(shares)

    def _made(self) -> FirmwareFleet:
        fleet = [mount.aircraft for mount in self._mounts]
        firmwares = [self._make(number) for number in range(len(fleet))]
        probes = self._settings.probe
        return FirmwareFleet(self._name, fleet, firmwares, self._period_ns, probes=probes)

    def _motions(self, rows: Array) -> list[AircraftMotion]:
        """The motion of each aircraft; at the start of a flight it rests."""
        samples = self._units.take()
        if len(samples.ticks):
            rates, forces = samples.w_WS_S[-1].tolist(), samples.f_S[-1].tolist()
        else:
            rates, forces = [(0.0, 0.0, 0.0)] * len(rows), [self._rest] * len(rows)
        motions = zip(self._mounts, rates, forces, rows.tolist(), strict=True)
        return [
            AircraftMotion(
                mount.vector(tuple(w)),
                mount.vector(tuple(f)),
                tuple(row[P]),
                mount.attitude(tuple(row[Q])),
                tuple(row[V]),
            )
            for mount, w, f, row in motions
        ]

    def _present_orders(self, rows: Array) -> list[AttitudeOrder]:
        """The present order to each aircraft; before the first command, to stay level as it is."""
        commands = self._commands
        orders = []
        for n, (mount, row) in enumerate(zip(self._mounts, rows.tolist(), strict=True)):
            if not self._is_commanded:
                q_WB = mount.attitude(tuple(row[Q]))
                orders.append(AttitudeOrder(True, q_WB, (0.0, 0.0, 0.0), 0.0, True))
                continue
            share = min(max(float(commands.thrust[0, n]) / self._lift[n], 0.0), 1.0)
            has_attitude = bool(commands.modes[0, n] == Mode.ATTITUDE_THRUST)
            q_WB = mount.attitude(tuple(commands.q_WB[0, n].tolist()))
            w_WB_B = mount.vector(tuple(commands.w_WB_B[0, n].tolist()))
            orders.append(AttitudeOrder(has_attitude, q_WB, w_WB_B, share, True))
        return orders

    def after_step(self, x: Array) -> None:
        """Let the inertial units of the aircraft take a physics step."""
        self._units.after_step(x)

    def write(self, folder: Path) -> None:
        """Copy versions, settings and outputs of the firmwares into a run's folder."""
        if self._fleet is not None:
            self._fleet.write(folder)

    def close(self) -> None:
        """End the firmwares."""
        if self._fleet is not None:
            self._fleet.end()
        self._fleet = None

# SPDX-License-Identifier: BSD-3-Clause
"""PX4 as the firmware of one aircraft: HIL messages over TCP in lockstep, and orders in its offboard mode.

PX4 connects to this side, sleeps until the next HIL_SENSOR, and takes its stamp as its clock. Until its first
controls have come it runs free: nothing waits for it for longer than a moment.
"""

import math
import socket
from pathlib import Path

import numpy as np

from iap_description.vehicles.aircraft import Aircraft
from iap_physics.firmware.firmware import (
    AircraftMotion,
    AttitudeOrder,
    FirmwareFailed,
    RotorShares,
)
from iap_physics.firmware.outside_process import OutsideProcess
from iap_physics.firmware.ports import bound_socket
from iap_physics.firmware.px4.hil_sensors import HilSensors
from iap_physics.firmware.px4.mavlink import (
    HIL_ACTUATOR_CONTROLS,
    MavlinkMessage,
    MavlinkParser,
    Sender,
)
from iap_physics.firmware.px4.offboard import Offboard
from iap_physics.firmware.rotor_places import rotors_by_place
from iap_physics.firmware.settings import Px4Settings

BASE = 4560  # TCP port of the first
# Wall time for controls after the first HIL_SENSOR, and after others while it runs free [s].
FIRST_WAIT, FREE_WAIT = 2.0, 0.02
PACKET = 4096  # bytes that are read at once
ARMED = 128  # bit of the mode
ORDER_NS = 20_000_000  # after which an order is sent again: a silent link ends its offboard mode
STILL = (0.0, 0.0, 0.0, 0.0)


class Px4:
    """The firmware PX4, see `iap_physics.firmware.firmware.Firmware`.

    Args:
        settings: of it.
        aircraft: an X quadrotor, whose rotors PX4 counts front right, rear left, front left, rear right.
        number: of the aircraft; the instance is behind that of the key `port` by it.
        rng: of its sensors' noise.

    Raises:
        BadInput: it cannot fly this aircraft.
    """

    def __init__(
        self, settings: Px4Settings, aircraft: Aircraft, number: int, rng: np.random.Generator
    ) -> None:
        self.boot_time, self.arming_time = settings.boot_time, settings.arming_time
        self._settings = settings
        self._port = (settings.port or BASE) + number
        self._instance = self._port - BASE  # as PX4 itself counts ports
        places = rotors_by_place(aircraft)
        self._indices = tuple(places.index(k) for k in range(len(places)))
        self._sensors, self._sender, self._receiver = (
            HilSensors(settings, rng),
            Sender(),
            MavlinkParser(),
        )
        self._controls: list[tuple[float, ...]] = []  # of messages that were not looked at yet
        self._is_locked = self._is_armed = False
        self._order: AttitudeOrder | None = None
        self._sent_ns = 0
        self._free_wait = FIRST_WAIT
        self._server: socket.socket | None = None
        self._link: socket.socket | None = None
        self._offboard: Offboard | None = None
        self._process: OutsideProcess | None = None

    def begin(self) -> None:
        """Listen, and start it if there is a command for that."""
        self._server = bound_socket(self._port, socket.SOCK_STREAM)
        self._server.listen(1)
        self._offboard = Offboard(self._instance)
        self._process = OutsideProcess(self._settings, self._instance)

    def connect(self) -> None:
        """Wait until it connects."""
        limit = self._settings.start_within

        def late() -> FirmwareFailed:
            reason = f"nobody connects to port {self._port} within {limit:g} s: start 'px4 -i {self._instance}'"
            return FirmwareFailed("firmware_not_started", reason)

        assert self._process is not None  # noqa: S101 - `begin` has made it
        self._link = self._process.wait_for(self._accepted, limit, late)
        self._link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _accepted(self, seconds: float) -> socket.socket | None:
        assert self._server is not None  # noqa: S101
        self._server.settimeout(seconds)
        try:
            return self._server.accept()[0]
        except TimeoutError:
            return None

    def tell(self, t_ns: int, motion: AircraftMotion, order: AttitudeOrder) -> None:
        """Send the order where it is new or old, then the sensors, whose stamp moves its clock, see `Firmware`."""
        assert self._link is not None and self._offboard is not None  # noqa: S101, PT018
        if order is not self._order or t_ns - self._sent_ns >= ORDER_NS:
            self._order, self._sent_ns = order, t_ns
            self._offboard.send(t_ns, order, is_armed=self._is_armed)
        self._stamp_us = t_ns // 1000 + round(1e6 / self._settings.rate_hz)  # 0 is no time for it
        try:
            self._link.sendall(self._sensors.frames(self._sender, self._stamp_us, motion))
        except OSError as error:
            raise self._gone() from error

    def _gone(self) -> FirmwareFailed:
        """The error of a connection that is closed: the end of its process, if that is known."""
        assert self._process is not None  # noqa: S101
        try:
            self._process.wait_for(lambda _: None, 1.0, lambda: FirmwareFailed("", ""))
        except FirmwareFailed as error:
            if error.outcome:
                return error
        return FirmwareFailed(
            "firmware_ended", f"it has closed the connection to port {self._port}"
        )

    def ask(self) -> RotorShares:
        """Wait for the controls of this instant, see `Firmware`."""
        assert self._process is not None  # noqa: S101
        deadline = self._settings.deadline
        if not self._is_locked:
            wait, self._free_wait = self._free_wait, FREE_WAIT
            controls = self._looked(wait)
            if controls is None:
                return RotorShares(STILL, is_armed=False)
        else:
            controls = self._process.wait_for(self._looked, deadline, self._late)
        if self._controls:
            raise FirmwareFailed("firmware_out_of_step", "it answers one HIL_SENSOR twice")
        self._is_locked = True
        shares, self._is_armed = controls[2:6], bool(int(controls[18]) & ARMED)
        if not all(math.isfinite(each) for each in shares):
            raise FirmwareFailed("firmware_out_of_step", f"its controls {shares} are no numbers")
        a, b, c, d = (min(max(shares[k], 0.0), 1.0) for k in self._indices)
        return RotorShares((a, b, c, d), is_armed=self._is_armed)

    def _late(self) -> FirmwareFailed:
        limit = self._settings.deadline
        reason = (
            f"no controls within {limit:g} s after HIL_SENSOR of {1e-6 * self._stamp_us:.6f} s"
        )
        return FirmwareFailed("firmware_late", reason)

    def _looked(self, seconds: float) -> tuple[float, ...] | None:
        """The controls of the present stamp, if they come within a time [s].

        Raises:
            FirmwareFailed: controls of another stamp come, or the connection ends.
        """
        assert self._link is not None  # noqa: S101
        if not self._controls:
            self._link.settimeout(seconds)
            try:
                data = self._link.recv(PACKET)
            except TimeoutError:
                return None
            except OSError as error:
                raise self._gone() from error
            if not data:
                raise self._gone()
            self._controls.extend(map(_values, filter(_is_controls, self._receiver.add(data))))
        while self._controls:
            controls = self._controls.pop(0)
            if controls[0] == self._stamp_us:
                return controls
            if self._is_locked or controls[0] > self._stamp_us:
                reason = f"controls of {1e-6 * controls[0]:.6f} s in answer to {1e-6 * self._stamp_us:.6f} s"
                raise FirmwareFailed("firmware_out_of_step", reason)
        return None

    def obstacles(self) -> str:
        """Its last texts and refusals."""
        texts = [] if self._offboard is None else self._offboard.texts
        return "; ".join(texts) or "it does not say why"

    def end(self) -> None:
        """Close the connection, and end it where it was started here."""
        for each in (self._link, self._server, self._offboard):
            if each is not None:
                each.close()
        if self._process is not None:
            self._process.end()
        self._link = self._server = self._offboard = self._process = None

    def write(self, folder: Path) -> None:
        """Copy its settings, and its output where it was started here."""
        if self._process is not None:
            self._process.write(folder)


def _is_controls(message: MavlinkMessage) -> bool:
    return message.number == HIL_ACTUATOR_CONTROLS.number


def _values(message: MavlinkMessage) -> tuple[float, ...]:
    values: tuple[float, ...] = message.values(HIL_ACTUATOR_CONTROLS)
    return values

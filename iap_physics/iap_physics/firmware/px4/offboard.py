# SPDX-License-Identifier: BSD-3-Clause
"""PX4's offboard mode: orders of attitude or rates with thrust, and what it says to a request to arm.

PX4 with instance i listens on UDP port 14580 + i and sends to 14540 + i.
"""

import socket

from iap_description.frames import to_ned
from iap_physics.firmware.firmware import AttitudeOrder
from iap_physics.firmware.ports import HOST, bound_socket
from iap_physics.firmware.px4.mavlink import (
    COMMAND_ACK,
    COMMAND_LONG,
    HEARTBEAT,
    SET_ATTITUDE_TARGET,
    STATUSTEXT,
    MavlinkParser,
    Sender,
)

LOCAL, REMOTE = 14_540, 14_580
PACKET = 4096  # bytes, more than a datagram has
IGNORE_RATES, IGNORE_ATTITUDE = 0b111, 0b1000_0000  # bits of type_mask
DO_SET_MODE, ARM = 176, 400  # commands
CUSTOM_MODE, OFFBOARD = 1.0, 6.0
GROUND_STATION, NO_AUTOPILOT, ACTIVE, VERSION = 6, 8, 4, 3  # of a heartbeat
HEARTBEAT_NS, REQUEST_NS = 500_000_000, 500_000_000  # between two of them
MAX_TEXTS = 3  # that are kept


class Offboard:
    """Orders to one PX4.

    Args:
        number: of its instance.

    Raises:
        FirmwareFailed: the port is in use.
    """

    def __init__(self, number: int) -> None:
        self._socket = bound_socket(LOCAL + number, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._to, self._system = (HOST, REMOTE + number), number + 1
        self._sender, self._receiver = Sender(), MavlinkParser()
        self._last_heartbeat = self._last_request = -HEARTBEAT_NS
        self.texts: list[str] = []

    def send(self, t_ns: int, order: AttitudeOrder, *, is_armed: bool) -> None:
        """Send an order, and a request to arm where it is not armed as ordered.

        Args:
            t_ns: time [ns], by which requests are repeated.
            order: to it.
            is_armed: whether it is.
        """
        if t_ns - self._last_heartbeat >= HEARTBEAT_NS:
            self._last_heartbeat = t_ns
            beat = (0, GROUND_STATION, NO_AUTOPILOT, 0, ACTIVE, VERSION)
            self._send(self._sender.frame(HEARTBEAT, *beat))
        p, q, r = order.w_WB_B
        mask = 0 if order.has_attitude else IGNORE_ATTITUDE
        target = (t_ns // 1_000_000, *to_ned(order.q_WB), p, -q, -r, order.share, self._system, 1)
        self._send(self._sender.frame(SET_ATTITUDE_TARGET, *target, mask))
        if order.is_armed and not is_armed and t_ns - self._last_request >= REQUEST_NS:
            self._last_request = t_ns
            self._command(DO_SET_MODE, CUSTOM_MODE, OFFBOARD)
            self._command(ARM, 1.0, 0.0)
        self._listen()

    def _command(self, number: int, a: float, b: float) -> None:
        values = (a, b, 0.0, 0.0, 0.0, 0.0, 0.0, number, self._system, 1, 0)
        self._send(self._sender.frame(COMMAND_LONG, *values))

    def _send(self, frame: bytes) -> None:
        try:
            self._socket.sendto(frame, self._to)
        except ConnectionRefusedError:  # it does not listen yet
            pass

    def _listen(self) -> None:
        """Keep its last texts and refusals."""
        try:
            while True:
                for message in self._receiver.add(self._socket.recv(PACKET)):
                    if message.number == STATUSTEXT.number:
                        _, text = message.values(STATUSTEXT)
                        self._note(text.rstrip(b"\0").decode(errors="replace"))
                    elif message.number == COMMAND_ACK.number:
                        command, result = message.values(COMMAND_ACK)
                        if result:
                            self._note(f"command {command} refused, result {result}")
        except (BlockingIOError, ConnectionRefusedError):
            pass

    def _note(self, text: str) -> None:
        if text not in self.texts:
            self.texts = [*self.texts, text][-MAX_TEXTS:]

    def close(self) -> None:
        """Close the port; a second time is fine."""
        self._socket.close()

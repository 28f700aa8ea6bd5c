# SPDX-License-Identifier: BSD-3-Clause
"""The sockets to one Betaflight, and what goes over them: states and sticks to it, motors from it, little endian.

Its ports are moved together, so that many fly on one machine. By MSP over TCP it says whether it is armed, and which
flags are in the way of arming.

Its body axes are forward, right, down. Sticks are pulses of 1000 to 2000 us in the order roll, pitch, throttle, yaw,
switches. In angle mode a stick is an angle; its loop turns there by a rate of 5 1/s per error, which is all that rotors
with a lag of 40 ms allow. The rate of an ordered attitude about roll and pitch is not fed forward, or it would swing.
"""

import math
import socket
import struct
import time

from iap_description.arrays import Quat
from iap_description.math.atmosphere import SEA_LEVEL
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder, FirmwareFailed
from iap_physics.firmware.ports import HOST, bound_socket, is_free
from iap_physics.firmware.process import FirmwareProcess
from iap_physics.firmware.stick_angles import stick_angles

BASE = 9001  # of its raw pulses; motors, states and sticks follow
CONSOLE = 5761  # TCP port of its first serial line
STEP, PLACES = 10, 300  # between the ports of two, and how many have room
POLL = 0.05  # wall time between two looks at its process [s]
PACKET = 64  # bytes, more than a motor packet has
STATUS, HEAD = 150, 5  # MSP_STATUS_EX, bytes before an answer's body
FLAGS = (
    "NOGYRO FAILSAFE RXLOSS NOT_DISARMED BOXFAILSAFE RUNAWAY CRASH THROTTLE ANGLE BOOTGRACE NOPREARM LOAD CALIB"
    " CLI CMS BST MSP PARALYZE GPS RESCUE_SW DSHOT_TELEM REBOOT_REQD DSHOT_BBANG ACC_CALIB MOTOR_PROTO CRASHFLIP"
    " ALTHOLD POSHOLD ARMSWITCH"
).split()
STATE, STICKS, MOTORS = struct.Struct("<18d"), struct.Struct("<d16H"), struct.Struct("<4f")
ANGLE_LIMIT = math.radians(60.0)  # of a full stick, as the settings have it
RATE_LIMITS = (math.radians(500.0), math.radians(200.0))  # of roll and pitch, of yaw [rad/s]
MIN_CHECK, IDLE = 1010, 0.01  # throttle that counts as none [us], share of an idling motor
LOW, HIGH, MIDDLE = 1000, 2000, 1500  # [us]
UNUSED = (LOW,) * 10


class BetaflightLink:
    """Sockets to one Betaflight.

    Args:
        port: of its raw pulses; None takes the first place that is free.
        number: of the aircraft; each has its own place behind that port.

    Attributes:
        offset: of all its ports.

    Raises:
        FirmwareFailed: a port is in use.
    """

    def __init__(self, port: int | None, number: int) -> None:
        if port is None:
            self._motors, self.offset = _free_place()
        else:
            self.offset = port - BASE + STEP * number
            self._motors = bound_socket(BASE + 1 + self.offset, socket.SOCK_DGRAM)
        self._out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._states = (HOST, BASE + 2 + self.offset)
        self._sticks = (HOST, BASE + 3 + self.offset)

    def send_state(self, packet: bytes) -> None:
        """Send a state packet."""
        self._out.sendto(packet, self._states)

    def send_sticks(self, packet: bytes) -> None:
        """Send a stick packet."""
        self._out.sendto(packet, self._sticks)

    def next(self, process: FirmwareProcess, deadline: float) -> bytes | None:
        """The packet that answers a state; None if none comes by a deadline of wall time [s].

        Raises:
            FirmwareFailed: its process has ended.
        """
        end = time.monotonic() + deadline
        self._motors.settimeout(min(POLL, deadline))
        while True:
            try:
                return self._motors.recv(PACKET)
            except TimeoutError:
                process.check()
                if time.monotonic() > end:
                    return None

    def check_answered(self) -> None:
        """Look for a packet too many before the next state: a second one may come after the first was taken.

        Raises:
            FirmwareFailed: there is one.
        """
        if self.newest() is not None:
            raise FirmwareFailed("firmware_out_of_step", "it answers one state twice")

    def newest(self) -> bytes | None:
        """The newest of the packets that have come; None where none has."""
        packet = None
        self._motors.setblocking(False)
        try:
            while True:
                packet = self._motors.recv(PACKET)
        except BlockingIOError:
            return packet

    def console(self) -> socket.socket:
        """Its first serial line.

        Raises:
            OSError: it does not listen.
        """
        return socket.create_connection((HOST, CONSOLE + self.offset), timeout=2.0)

    def close(self) -> None:
        """Close all; a second time is fine."""
        self._motors.close()
        self._out.close()


def _free_place() -> tuple[socket.socket, int]:
    """The motors' socket at the first offset whose ports are all free, and that offset.

    Raises:
        FirmwareFailed: there is none.
    """
    for offset in range(0, STEP * PLACES, STEP):
        try:
            motors = bound_socket(BASE + 1 + offset, socket.SOCK_DGRAM)
        except FirmwareFailed:
            continue
        others = (BASE + offset, BASE + 2 + offset, BASE + 3 + offset)
        are_free = all(is_free(port, socket.SOCK_DGRAM) for port in others)
        if are_free and is_free(CONSOLE + offset, socket.SOCK_STREAM):
            return motors, offset
        motors.close()
    raise FirmwareFailed("port_in_use", f"none of {PLACES} places of ports from {BASE} on is free")


def status_request() -> bytes:
    """The request of its status."""
    return b"$M<" + bytes((0, STATUS, STATUS))


def received_bytes(line: socket.socket) -> bytes:
    """Bytes that have come on a line that does not wait."""
    try:
        return line.recv(4096)
    except BlockingIOError:
        return b""


def is_whole(answer: bytes) -> bool:
    """True if an answer is there as a whole."""
    return len(answer) > HEAD and len(answer) >= HEAD + answer[3] + 1


def arming_flags(answer: bytes) -> list[str]:
    """Names of the flags that are in the way of arming, in a whole answer."""
    body = answer[HEAD:]
    (flags,) = struct.unpack_from("<I", body, 17 + (body[15] & 0x0F))
    return [name for i, name in enumerate(FLAGS) if flags >> i & 1]


def state_packet(t: float, motion: AircraftMotion, *, yaw_sign: float) -> bytes:
    """The state at its time [s]; `yaw_sign` is -1 where it takes the yaw rate about the axis down."""
    p, q, r = motion.w_WB_B
    a, b, c = motion.f_B
    x, y, z, w = motion.q_WB
    nothing = (0.0,) * 6  # position and velocity, which its GPS would have
    return STATE.pack(
        t, p, -q, yaw_sign * r, a, -b, -c, w, x, -y, -z, *nothing, SEA_LEVEL
    )  # nothing flies by the pressure


def stick_packet(t: float, order: AttitudeOrder, q_WB: Quat, yaw_gain: float) -> bytes:
    """The sticks for an order to an aircraft of an attitude.

    Args:
        t: time [s].
        order: what it shall do.
        q_WB: its present attitude.
        yaw_gain: yaw rate per yaw error [1/s].
    """
    if order.has_attitude:
        angle_x, angle_y, yaw_rate = stick_angles(order, q_WB, yaw_gain)
        roll, pitch = angle_x / ANGLE_LIMIT, angle_y / ANGLE_LIMIT
    else:
        w = order.w_WB_B
        roll, pitch, yaw_rate = w[0] / RATE_LIMITS[0], w[1] / RATE_LIMITS[0], w[2]
    motors = max(order.share - IDLE, 0.0) / (1.0 - IDLE)
    throttle = MIN_CHECK + (HIGH - MIN_CHECK) * motors if order.share > 0.0 else LOW
    sticks = (_pulse(roll), _pulse(pitch), _within(throttle), _pulse(-yaw_rate / RATE_LIMITS[1]))
    switches = (HIGH if order.is_armed else LOW, HIGH if order.has_attitude else LOW)
    return STICKS.pack(t, *sticks, *switches, *UNUSED)


def _pulse(deflection: float) -> int:
    return _within(MIDDLE + 500.0 * deflection)


def _within(pulse: float) -> int:
    return round(min(max(pulse, LOW), HIGH))

# SPDX-License-Identifier: BSD-3-Clause
"""ArduPilot as the firmware of one aircraft: a line of JSON for each frame of pulses, in lockstep.

It sends pulses and then stands until a state comes, whose stamp moves its clock. After a second without one it sends
the same frame again; such a frame is no new step, and is passed over. Orders are sticks of its mode STABILIZE over UDP.

World axes are north, east, down, and body axes forward, right, down. Its parser looks for bare keys and takes numbers
by a fixed pattern, so that a state is written as plainly as possible, with a line's end before and after it.
"""

import math
import socket
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Quat
from iap_description.frames import to_ned
from iap_description.vehicles.aircraft import Aircraft
from iap_physics.firmware.firmware import (
    AircraftMotion,
    AttitudeOrder,
    FirmwareFailed,
    RotorShares,
)
from iap_physics.firmware.outside_process import OutsideProcess
from iap_physics.firmware.ports import HOST, bound_socket
from iap_physics.firmware.rotor_places import rotors_by_place
from iap_physics.firmware.sensor_noise import SensorNoise
from iap_physics.firmware.settings import ArduPilotSettings
from iap_physics.firmware.stick_angles import stick_angles

FEW, MANY = struct.Struct("<HHI16H"), struct.Struct("<HHI32H")
MAGICS = {18_458: FEW, 29_569: MANY}
STICKS = struct.Struct("<16H")
LOW, MIDDLE, HIGH = 1000, 1500, 2000  # [us]
ANGLE_LIMIT, YAW_LIMIT = (
    math.radians(60.0),
    math.radians(200.0),
)  # of full sticks, as its parameters have them
ARM = 6  # channel, from 0 on, whose switch arms
STATE = (
    '\n{"timestamp":%.9f,"imu":{"gyro":[%.9f, %.9f, %.9f],"accel_body":[%.9f, %.9f, %.9f]},'
    '"position":[%.9f, %.9f, %.9f],"quaternion":[%.9f, %.9f, %.9f, %.9f],"velocity":[%.9f, %.9f, %.9f],'
    '"no_time_sync":1}\n'
)
BASE, STEP = 9002, 10  # UDP port of the first, and from one to the next
PACKET = 256  # bytes, more than a frame has
IDLE = 5  # pulses above the lowest at which a rotor turns [us]
PARAMETERS = Path(__file__).parents[2] / "data" / "firmware" / "ardupilot.parm"


class Pulses(NamedTuple):
    """A packet of pulses: the number of its frame, and the pulse of each channel [us]."""

    frame: int
    widths: tuple[int, ...]


def read_pulses(packet: bytes) -> Pulses | None:
    """The pulses of a packet; None of other bytes."""
    form = MAGICS.get(int.from_bytes(packet[:2], "little"))
    if form is None or len(packet) != form.size:
        return None
    _, _, frame, *widths = form.unpack(packet)
    return Pulses(frame, tuple(widths))


def state_line(t: float, motion: AircraftMotion) -> bytes:
    """The state at its time [s]."""
    (p, q, r), (a, b, c) = motion.w_WB_B, motion.f_B
    (east, north, up), (v_east, v_north, v_up) = motion.p_WB_W, motion.v_WB_W
    inertial = (p, -q, -r, a, -b, -c)
    place = (north, east, -up, *to_ned(motion.q_WB), v_north, v_east, -v_up)
    return (STATE % (t, *inertial, *place)).encode()


def stick_packet(order: AttitudeOrder, q_WB: Quat, yaw_gain: float) -> bytes:
    """The sticks of mode STABILIZE for an order to an aircraft of an attitude.

    A pitch stick above the middle lifts the nose.
    """
    roll, pitch, yaw_rate = stick_angles(order, q_WB, yaw_gain)
    channels = [LOW] * 16
    channels[0] = _pulse(roll / ANGLE_LIMIT)
    channels[1] = _pulse(-pitch / ANGLE_LIMIT)
    channels[2] = round(LOW + (HIGH - LOW) * order.share)
    channels[3] = _pulse(-yaw_rate / YAW_LIMIT)
    channels[ARM] = HIGH if order.is_armed else LOW
    return STICKS.pack(*channels)


def _pulse(deflection: float) -> int:
    return round(min(max(MIDDLE + 500.0 * deflection, LOW), HIGH))


class ArduPilot:
    """The firmware ArduPilot, see `iap_physics.firmware.firmware.Firmware`.

    Args:
        settings: of it.
        aircraft: an X quadrotor, whose rotors it counts front right, rear left, front left, rear right.
        number: of its instance.
        rng: of its sensors' noise.

    Raises:
        BadInput: it cannot fly this aircraft.
    """

    def __init__(
        self,
        settings: ArduPilotSettings,
        aircraft: Aircraft,
        number: int,
        rng: np.random.Generator,
    ) -> None:
        self.boot_time, self.arming_time = settings.boot_time, settings.arming_time
        self._settings, self._number = settings, number
        self._noise = SensorNoise(settings, rng)
        places = rotors_by_place(aircraft)
        self._indices = tuple(places.index(k) for k in range(len(places)))
        self._port = (settings.port or BASE) + STEP * number
        self._to_sticks = (HOST, settings.stick_port + STEP * number)
        self._socket: socket.socket | None = None
        self._process: OutsideProcess | None = None

    def begin(self) -> None:
        """Listen, and start it if there is a command for that."""
        self._socket = bound_socket(self._port, socket.SOCK_DGRAM)
        files = {PARAMETERS.name: PARAMETERS.read_bytes()}
        self._process = OutsideProcess(self._settings, self._number, files)
        self._order: AttitudeOrder | None = None

    def connect(self) -> None:
        """Wait for its first frame."""
        limit = self._settings.start_within

        def late() -> FirmwareFailed:
            reason = (
                f"nobody sends to port {self._port} within {limit:g} s: start"
                f" 'arducopter --model JSON:{HOST} -I {self._number}'"
            )
            return FirmwareFailed("firmware_not_started", reason)

        self._frame = self._running[1].wait_for(self._received, limit, late).frame

    @property
    def _running(self) -> tuple[socket.socket, OutsideProcess]:
        """Socket and process, once it has begun."""
        assert self._socket is not None and self._process is not None  # noqa: S101, PT018
        return self._socket, self._process

    def _received(self, seconds: float) -> Pulses | None:
        """A frame that comes within a time [s].

        Raises:
            FirmwareFailed: other bytes come.
        """
        self._running[0].settimeout(seconds)
        try:
            packet, self._to = self._running[0].recvfrom(PACKET)
        except TimeoutError:
            return None
        pulses = read_pulses(packet)
        if pulses is None:
            reason = f"{len(packet)} bytes came that are no frame of pulses"
            raise FirmwareFailed("firmware_out_of_step", reason)
        return pulses

    def tell(self, t_ns: int, motion: AircraftMotion, order: AttitudeOrder) -> None:
        """Send sticks where the order is new, then the state, see `Firmware`.

        Raises:
            FirmwareFailed: the order has no attitude.
        """
        link = self._running[0]
        if not order.has_attitude:
            reason = "rates were commanded, and its sticks say attitudes"
            raise FirmwareFailed("invalid_command", reason)
        if order is not self._order:
            self._order = order
            sticks = stick_packet(order, motion.q_WB, self._settings.yaw_gain)
            link.sendto(sticks, self._to_sticks)
        self._t = 1e-9 * t_ns + 1.0 / self._settings.rate_hz
        link.sendto(state_line(self._t, self._noise(motion)), self._to)

    def ask(self) -> RotorShares:
        """Wait for the next frame, see `Firmware`."""
        pulses = self._running[1].wait_for(self._next, self._settings.deadline, self._late)
        self._frame = pulses.frame
        widths = [pulses.widths[k] for k in self._indices]
        a, b, c, d = ((min(max(each, LOW), HIGH) - LOW) / (HIGH - LOW) for each in widths)
        return RotorShares((a, b, c, d), is_armed=min(widths) >= LOW + IDLE)

    def _next(self, seconds: float) -> Pulses | None:
        pulses = self._received(seconds)
        if pulses is None or pulses.frame == self._frame:  # none, or one that was sent again
            return None
        if pulses.frame != (self._frame + 1) & 0xFFFF_FFFF:
            reason = f"frame {pulses.frame} came behind frame {self._frame}"
            raise FirmwareFailed("firmware_out_of_step", reason)
        return pulses

    def _late(self) -> FirmwareFailed:
        limit = self._settings.deadline
        reason = f"no new frame within {limit:g} s after the state of {self._t:.3f} s of its time"
        return FirmwareFailed("firmware_late", reason)

    def obstacles(self) -> str:
        """The place of its reasons: its own link to a ground station."""
        return "a ground station on its serial line 0 shows why"

    def end(self) -> None:
        """Close the port, and end it where it was started here."""
        if self._process is not None:
            self._process.end()
        if self._socket is not None:
            self._socket.close()
        self._process = self._socket = None

    def write(self, folder: Path) -> None:
        """Copy its settings, and its output where it was started here."""
        if self._process is not None:
            self._process.write(folder)

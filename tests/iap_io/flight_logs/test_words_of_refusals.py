# SPDX-License-Identifier: BSD-3-Clause
"""Refusals of flight logs, word for word: the cause, and what to do about it, in one line."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from refusals import refusal

from iap_bringup.fuzz import made_logs
from iap_bringup.fuzz.made_logs import BOOT_US, Rows, ULogWriter, dataflash
from iap_io.flight_logs.readers import open_log
from iap_io.trajectories.reader import read_recorded

KNOWN = (
    "PX4 ULog, ArduPilot dataflash, Crazyflie uSD, Crazyflie CSV, blackbox CSV, blackbox are read"
)
T = np.arange(0.0, 6.0, 0.05)
Place = Callable[[np.ndarray], np.ndarray]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log of each kind."""
    folder = tmp_path_factory.mktemp("logs")
    made_logs.write_all(folder)
    return folder


def ulog(
    path: Path, *, mav_type: int = 2, at: Place = lambda p: p, speed: float = 1.0, valid: int = 1
) -> Path:
    """A circle with a climb by PX4."""
    log = ULogWriter()
    log.information("ver_hw", "MADE_UP")
    for key, value in (("SYS_AUTOSTART", 4001), ("MAV_TYPE", mav_type), ("CA_ROTOR_COUNT", 4)):
        log.parameter(key, value)
    us = [round(BOOT_US + 1e6 * t) for t in T]
    places = at(np.stack([np.cos(T), np.sin(T), -2.0 - 0.1 * T], 1))
    speeds = speed * np.stack([-np.sin(T), np.cos(T), np.full(len(T), -0.1)], 1)
    log.topic("vehicle_attitude", "float[4] q", [(k, 1.0, 0.0, 0.0, 0.0) for k in us])
    flags = "bool xy_valid;bool z_valid;bool v_xy_valid;bool v_z_valid"
    rows = [(k, *p, *v, *[valid] * 4) for k, p, v in zip(us, places, speeds, strict=True)]
    fields = f"float x;float y;float z;float vx;float vy;float vz;{flags}"
    log.topic("vehicle_local_position", fields, rows)
    log.topic("actuator_armed", "bool armed", [(k, 1) for k in us])
    return log.write(path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty: copy it from the vehicle again"),
        (bytes(3000), "begins with zeros alone: copy it from the vehicle again"),
        (b"\xff" * 3000, f"no flight log that is known: {KNOWN}"),
        (gzip.compress(b"ULog" * 500, mtime=0), "packed by gzip: unpack it"),
        (made_logs.ULOG_HEADER + bytes(8), "no topic in it that is known: it was cut in its definitions, or has no"
         " data; copy it from the vehicle again"),
        (dataflash([Rows("MSG", "QZ", "TimeUS,Message", [(1, b"ArduCopter V4.3.0")])]),
         "no message in it that is known: it was cut before them; copy it from the vehicle again"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_sound_log_says_why_and_what_to_do(
    tmp_path: Path, data: bytes, words: str
) -> None:
    path = tmp_path / "flight.ulg"
    path.write_bytes(data)
    assert refusal(open_log, path) == f"{path}: {words}"


@pytest.mark.parametrize(("mav_type", "kind"), [(1, "a fixed wing"), (10, "a rover")])
def test_a_log_of_another_vehicle_says_of_which(tmp_path: Path, mav_type: int, kind: str) -> None:
    path = ulog(tmp_path / "flight.ulg", mav_type=mav_type)
    expected = f"{path}: a log of {kind}: this suite reads those of multirotors"
    assert refusal(open_log, path) == expected


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"at": lambda p: 0.0 * p}, "does not change: the estimator has no position"),
        ({"speed": 1000.0}, "of 1005 m/s: the estimator has lost its way"),
        ({"valid": 0}, "not valid in 100 % of its rows (xy_valid, z_valid)"),
        ({"at": lambda p: p + np.nan}, "the log has none"),
        ({"at": lambda p: 1e7 * p}, "leaps from its velocity in 119 of 119 rows: another unit, or the estimator has"
         " lost its way"),
    ],
)  # fmt: skip
def test_a_log_without_a_position_says_why_and_what_to_log(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    path = ulog(tmp_path / "flight.ulg", **changes)  # type: ignore[arg-type]
    assert refusal(read_recorded, path) == (
        f"{path}: no position to fly ({reason}): log one, by GPS or motion capture; 'iap inspect {path}' says what"
        " there is"
    )


def test_a_log_that_is_cut_before_the_take_off_says_so(logs: Path, tmp_path: Path) -> None:
    path, data = tmp_path / "flight.ulg", (logs / "flight.ulg").read_bytes()
    path.write_bytes(data[: 6 * len(data) // 10])
    text = refusal(read_recorded, path)
    assert text.startswith(f"{path}: the vehicle is never in the air: at most 0.")
    assert "s at a time, and a flight has 2 s; 'iap inspect" in text
    assert text.endswith(
        f"'iap inspect {path}' says what there is (noted before: cut: the file ends in the middle of a message; what is"
        " before counts)"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("flight.ulg", "--topic nowhere: of a flight log position or position_setpoint or velocity_setpoint is flown"),
        ("flight.bin", "--topic nowhere: of a flight log position or position_setpoint or velocity_setpoint is flown"),
    ],
)  # fmt: skip
def test_another_signal_than_positions_is_refused_with_those_that_are(
    logs: Path, name: str, words: str
) -> None:
    path = logs / name
    assert refusal(read_recorded, path, topic="nowhere") == f"{path}: {words}"


def test_a_flight_that_is_not_there_is_refused_with_their_number(logs: Path) -> None:
    path = logs / "flight.ulg"
    text = refusal(read_recorded, path, topic="position:3")
    assert text == f"{path}: --topic ...:3: the log has 1 flight, from 1 on"


def test_a_number_of_a_log_is_for_files_of_several(logs: Path) -> None:
    path = logs / "flight.ulg"
    assert refusal(open_log, Path(f"{path}:2")) == f"{path}:2: the file has one log: leave out :2"
    box = logs / "flight.bbl"
    assert refusal(open_log, Path(f"{box}:2")) == f"{box}: log 2: the file has 1, from 1 on"


def test_what_is_left_out_of_a_damaged_log_is_noted(logs: Path, tmp_path: Path) -> None:
    path, data = tmp_path / "flight_usd", (logs / "flight_usd").read_bytes()
    path.write_bytes(data[: len(data) - 600])
    assert "its CRC is not that of the file: it was cut or damaged" in open_log(path).notes
    path.write_bytes(data.replace(b"\n", b"\r\n"))
    assert refusal(open_log, path).endswith("list of variables is damaged or cut: copy it again")

# SPDX-License-Identifier: BSD-3-Clause
"""Logs of the Crazyflie's SD card and Betaflight's blackbox as CSV, both written here."""

import gzip

import numpy as np
import pytest
from flight_bags import motion

from iap_bringup.cli.main import main
from iap_bringup.fuzz.made_logs import usd
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.inspection import Inspection
from iap_io.flight_logs.readers import open_log
from iap_io.trajectories.reader import read_recorded

G = 9.80665
ANGLES = ["stateEstimate.roll", "stateEstimate.pitch", "stateEstimate.yaw"]
PLACES = [f"stateEstimate.{x}" for x in ("x", "y", "z", "vx", "vy", "vz")]
TURNS = [f"stateEstimate.q{x}" for x in "xyzw"]
INERTIAL = [f"{x}.{axis}" for x in ("gyro", "acc") for axis in "xyz"]


@pytest.fixture
def flight():
    return motion(np.arange(0.0, 10.0, 0.01))


def crazyflie(flight, turns=None):
    f = so3.rotate(so3.conjugate(flight.q), flight.a + [0.0, 0.0, 9.81])
    state = np.hstack([flight.p, flight.v])
    names_of, numbers = turns or (TURNS, flight.q)
    inertial = np.hstack([np.degrees(flight.w), f / G])
    return usd(flight.t, (PLACES + names_of, np.hstack([state, numbers])), (INERTIAL, inertial))


@pytest.mark.parametrize("by", ["quaternions", "angles"])
def test_the_path_of_a_crazyflie_is_flown(by, flight, tmp_path):
    turns = None
    if by == "angles":  # whose pitch is counted the other way round
        rpy = so3.euler_from_matrix(so3.matrix_from_quaternion(flight.q))
        turns = (ANGLES, np.degrees(rpy * [1.0, -1.0, 1.0]))
    path = tmp_path / "log00"
    path.write_bytes(crazyflie(flight, turns))
    recorded = read_recorded(path)
    begin = int(np.argmin(np.abs(flight.t - recorded.start_ns * 1e-9)))
    there = slice(begin, begin + len(recorded.t))
    assert recorded.p_WP_W == pytest.approx(flight.p[there], abs=1e-3)
    off = so3.quaternion_log(so3.multiply(so3.conjugate(flight.q[there]), recorded.q_WP))
    assert np.linalg.norm(off, axis=1).max() < 1e-3
    assert recorded.about.lines()[2].startswith("axes ENU/FLU, unit m, as an accelerometer")
    assert Inspection.of(open_log(path)).check.verdict == "frames confirmed (ENU, FLU)"


@pytest.mark.parametrize("cut", range(4))  # within a number, or between two
def test_a_crazyflies_log_that_was_cut_says_so(flight, tmp_path, cut):
    path = tmp_path / "log00"
    data = crazyflie(flight)
    path.write_bytes(data[: len(data) // 2 + cut])
    read = open_log(path)
    assert any("cut or damaged" in note for note in read.notes)
    assert not any("unknown event" in note for note in read.notes)
    assert read.end == pytest.approx(0.5 * flight.t[-1], abs=0.1)
    path.write_bytes(data[:40])
    with pytest.raises(BadInput, match="damaged or cut"):
        open_log(path)


HEADER = ["loopIteration", "time (us)", *(f"gyroADC[{i}]" for i in range(3))]
HEADER += [
    *(f"accSmooth[{i}]" for i in range(3)),
    *(f"motor[{i}]" for i in range(4)),
    "vbatLatest (V)",
]


def blackbox(path, keys=(), damaged=(), wordless=()):
    lines = [",".join(f'"{each}"' for each in pair) for pair in keys]
    lines.append(", ".join(HEADER))
    for k in range(4000):
        time = (4_294_000_000 + 1000 * k) % 2**32  # which goes past its 32 bits
        motor = 99999 if k in damaged else 158 + 1889 // 4 + k % 10
        pitch = "" if k in wordless else 0.0
        cells = [k, time, 90.0, pitch, -180.0, 0, 0, 2048, *[motor] * 4, 16.1]
        lines.append(", ".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_blackbox_has_rates_accelerations_and_motors(tmp_path):
    read = open_log(blackbox(tmp_path / "flight.csv"))
    signals = read.signals
    assert signals[names.RATES].values[5] == pytest.approx(np.radians([90.0, 0.0, -180.0]))
    assert signals[names.SPECIFIC_FORCE].values[5] == pytest.approx([0.0, 0.0, G])
    assert signals[names.MOTORS].values.mean() == pytest.approx(0.25, abs=0.01)
    assert signals[names.RATES].rate == pytest.approx(1000.0)
    assert read.end - read.begin == pytest.approx(3.999)


def test_damaged_rows_of_a_blackbox_are_counted_and_never_handed_out(tmp_path):
    read = open_log(blackbox(tmp_path / "flight.csv", damaged=(7, 8, 2000), wordless=(50, 60)))
    assert len(read.signals[names.MOTORS].t) == 3995
    assert read.signals[names.MOTORS].values.max() < 1.0
    assert np.isfinite(read.signals[names.RATES].values).all()
    assert any(note.startswith("5 damaged rows") for note in read.notes)


@pytest.mark.filterwarnings("error")
def test_a_time_of_a_blackbox_that_is_no_number_spoils_no_other(tmp_path):
    path = blackbox(tmp_path / "flight.csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    for k, time in ((100, "nan"), (200, "inf"), (300, "none")):
        cells = lines[k].split(",")
        lines[k] = ",".join([cells[0], time, *cells[2:]])
    path.write_text("\n".join(lines), encoding="utf-8")
    read = open_log(path)
    assert len(read.signals[names.MOTORS].t) == 3997
    assert read.notes[0].startswith("3 damaged rows")


def test_lines_of_a_blackbox_that_are_no_rows_are_counted(tmp_path):
    path = blackbox(tmp_path / "flight.csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[10] = '"' + lines[10]
    lines[20] = "1" * 200_000 + lines[20]
    lines[30] = "0" * 30
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    read = open_log(path)
    assert len(read.signals[names.MOTORS].t) == 3997
    assert "3 lines with more or fewer cells than names left out" in read.notes


def test_a_log_that_is_packed_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / "flight.ulg"
    path.write_bytes(gzip.compress(b"ULog"))
    with pytest.raises(BadInput, match="flight.ulg: packed by gzip: unpack it"):
        open_log(path)


def test_the_keys_above_a_blackbox_scale_it(tmp_path):
    keys = (("Product", "Blackbox flight data recorder by Nicholas Sherlock"), ("acc_1G", "4096"))
    read = open_log(blackbox(tmp_path / "flight.csv", (*keys, ("motorOutput", "0,2047"))))
    assert read.signals[names.SPECIFIC_FORCE].values[5, 2] == pytest.approx(0.5 * G)
    assert read.signals[names.MOTORS].values[0, 0] == pytest.approx(630 / 2047)


def test_a_blackbox_has_no_position_to_fly(tmp_path, capsys):
    path = blackbox(tmp_path / "flight.csv")
    assert main(["replay", str(path)]) == 2
    assert "no position to fly (a blackbox has none)" in capsys.readouterr().err
    assert main(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    assert "cannot: replay of the motors: " in said and "can: nothing" in said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("H Product:Blackbox flight data recorder\n", "no fields loopIteration"),
        ("loopIteration, rest\n1, 2\n", "no line of names"),
        ("loopIteration, time (us), gyroADC[0]\n", "0 rows of numbers"),
        ("loopIteration, time (us), baro\n0, 1, 2\n1, 2, 3\n2, 3, 4\n", "no columns gyroADC"),
        ("loopIteration, time (us), motor[0]\n0, 1, x\n1, 2, x\n2, 3, x\n", "no columns gyro"),
    ],
)
def test_what_cannot_be_read_of_a_blackbox_names_the_remedy(text, reason, tmp_path, capsys):
    path = tmp_path / "flight.csv"
    path.write_text(text, encoding="utf-8")
    assert main(["inspect", str(path)]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1

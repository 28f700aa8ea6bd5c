# SPDX-License-Identifier: BSD-3-Clause
"""Logs of ArduPilot that were written here byte by byte: signals, old layouts, damage, and the replay of the flight."""

import os

import numpy as np
import pytest
from flight_bags import motion

from iap_bringup.fuzz.made_logs import Rows, dataflash
from iap_description.errors import BadInput
from iap_description.frames import swap_attitude, swap_body, swap_world
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.dataflash import read_messages
from iap_io.flight_logs.inspection import Inspection
from iap_io.flight_logs.readers import open_log
from iap_io.trajectories.reader import read_recorded

BOOT = 50.0  # time of the first row [s]
FLOAT = 1e-5  # rounding of the numbers in the file
COPTER = b"ArduCopter V4.3.0"


@pytest.fixture
def flight():
    return motion(np.arange(0.0, 10.0, 0.02))


def made(
    flight,
    *more,
    message=COPTER,
    leap=0.0,
    events=((50_000_000, 10), (50_100_000, 28)),
    degree=1.0,
    rate=1.0,
):
    """A log of a motion, in NED and FRD, of what a degree and a rad/s are."""
    us = [round(1e6 * (BOOT + t)) for t in flight.t]
    R = so3.matrix_from_quaternion(flight.q)
    turns = degree * np.degrees(so3.euler_from_matrix(swap_attitude(R)))
    f = np.einsum("kji,kj->ki", R, flight.a + [0.0, 0.0, 9.81])
    north = swap_world(flight.p)
    north[len(north) // 2 :, 0] += leap

    def rows(*columns):
        return [(k, *row) for k, row in zip(us, np.hstack(columns), strict=True)]

    def of_instance(number, *columns):
        return [(k, number, *row[1:]) for k, row in zip(us, rows(*columns), strict=True)]

    both = (north, swap_world(flight.v))
    estimates = of_instance(0, *both) + of_instance(1, *(each + 9.0 for each in both))
    inertial = of_instance(0, rate * swap_body(flight.w), swap_body(f))
    return dataflash(
        (
            Rows("MSG", "QZ", "TimeUS,Message", [(us[0], message)]),
            Rows("ATT", "Qfff", "TimeUS,Roll,Pitch,Yaw", rows(turns)),
            Rows("XKF1", "QBffffff", "TimeUS,C,PN,PE,PD,VN,VE,VD", estimates),
            Rows("IMU", "QBffffff", "TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ", inertial),
            Rows("EV", "QB", "TimeUS,Id", events),
            *more,
        )
    )


@pytest.fixture
def log(flight, tmp_path):
    path = tmp_path / "flight.bin"
    path.write_bytes(made(flight))
    return path


def test_signals_are_in_enu_and_flu_and_of_the_first_estimator(log, flight):
    signals = open_log(log).signals
    for name, expected in (
        (names.POSITION, flight.p),
        (names.VELOCITY, flight.v),
        (names.GYROSCOPE, flight.w),
    ):
        assert signals[name].values == pytest.approx(expected, abs=FLOAT)
    R = so3.matrix_from_quaternion(signals[names.ATTITUDE].values)
    assert pytest.approx(so3.matrix_from_quaternion(flight.q), abs=FLOAT) == R
    assert signals[names.POSITION].t - BOOT == pytest.approx(flight.t, abs=1e-6)


def test_its_frames_are_confirmed_and_its_path_is_flown(log, flight):
    assert Inspection.of(open_log(log)).check.verdict == "frames confirmed (NED, FRD)"
    recorded = read_recorded(log)
    begin = 5  # row at which it leaves the ground, by its event
    assert recorded.p_WP_W == pytest.approx(flight.p[begin:], abs=1e-3)
    assert recorded.about.notes == ("in the air from 50.1 to 60.0 s after boot",)


@pytest.mark.parametrize(
    ("degree", "unit"), [(np.pi / 180.0, "rad"), (100.0, "hundredths of a degree")]
)
def test_angles_in_another_unit_are_read_in_the_one_that_fits_the_rates(
    degree, unit, flight, tmp_path
):
    path = tmp_path / "flight.bin"
    path.write_bytes(made(flight, degree=degree))
    read = Inspection.of(open_log(path))
    assert read.check.verdict == "frames confirmed (NED, FRD)"
    assert read.log.notes == (
        f"attitude: its angles are in {unit}, as the rates say, and were read so",
    )
    R = so3.matrix_from_quaternion(read.log.signals[names.ATTITUDE].values)
    assert pytest.approx(so3.matrix_from_quaternion(flight.q), abs=1e-3) == R


@pytest.mark.parametrize("rate", [180.0 / np.pi, np.pi / 180.0])
def test_rates_in_another_unit_leave_angles_as_they_are_and_are_noted(rate, flight, tmp_path):
    path = tmp_path / "flight.bin"
    path.write_bytes(made(flight, rate=rate))
    (note,) = Inspection.of(open_log(path)).log.notes
    assert note.startswith(f"rates are {rate:.3g} (x)") and "angles" not in note
    R = so3.matrix_from_quaternion(open_log(path).signals[names.ATTITUDE].values)
    assert pytest.approx(so3.matrix_from_quaternion(flight.q), abs=FLOAT) == R


def test_angles_of_no_unit_are_noted_also_where_they_are_flown(flight, tmp_path):
    path = tmp_path / "flight.bin"
    still = flight.__class__(**{**vars(flight), "w": flight.w * 2.0})
    path.write_bytes(made(still))
    text = "(x), 2 (y), 2 (z) times what attitude says: are they of another unit or sense?"
    assert any(text in each for each in read_recorded(path).about.notes)


def test_motors_are_the_outputs_that_the_parameters_name(flight, tmp_path):
    path = tmp_path / "flight.bin"
    keys = ((b"SERVO3_FUNCTION", 33.0), (b"SERVO4_FUNCTION", 34.0))
    names_of = [(50_000_000, key, value) for key, value in keys]
    names_of += [(50_000_000, b"MOT_PWM_MIN", 1100.0), (50_000_000, b"MOT_PWM_MAX", 1900.0)]
    outputs = [(50_000_000 + k, 1500, 1500, 1300 + k, 1500 - k) for k in range(9)]
    path.write_bytes(
        made(
            flight,
            Rows("PARM", "QNf", "TimeUS,Name,Value", names_of),
            Rows("RCOU", "QHHHH", "TimeUS,C1,C2,C3,C4", outputs),
        )
    )
    motors = open_log(path).signals[names.MOTORS]
    assert motors.values[0] == pytest.approx([0.25, 0.5])
    assert open_log(path).rotors == 2


def test_events_of_old_releases_have_the_times_of_what_is_around_them(flight, tmp_path):
    stamps = [(round(1e3 * (BOOT + t)), 0.0, 0.0, 90.0) for t in flight.t]
    data = dataflash(
        (Rows("ATT", "Qfff", "TimeMS,Roll,Pitch,Yaw", stamps), Rows("EV", "B", "Id", []))
    )
    half = data.find(b"\xa3\x95\x81", len(data) // 2)
    path = tmp_path / "flight.bin"
    path.write_bytes(data[:half] + b"\xa3\x95\x82\x1c" + data[half:])  # in the air from there on
    (only,) = Inspection.of(open_log(path)).flights
    assert only.begin == pytest.approx(BOOT + 0.5 * flight.t[-1], abs=0.2)
    level = open_log(path).signals[names.ATTITUDE].values[0]
    assert level == pytest.approx([0.0, 0.0, 0.0, 1.0], abs=1e-9)  # east is a yaw of zero


def test_each_of_several_flights_can_be_flown(flight, tmp_path):
    events = [(50_000_000, 10), (50_100_000, 28), (53_000_000, 18), (55_000_000, 28)]
    path = tmp_path / "flight.bin"
    path.write_bytes(made(flight, events=events))
    assert read_recorded(path).duration == pytest.approx(flight.t[-1] - 5.0, abs=0.03)
    first = read_recorded(path, topic="position:1")
    assert first.duration == pytest.approx(2.9, abs=0.03)
    assert first.about.keys["topic"] == "position:1"  # by which config.yaml reads it again
    assert any("not read: 55.0 to 60.0 s (:2)" in note for note in first.about.notes)
    with pytest.raises(BadInput, match="--topic ...:3: the log has 2 flights"):
        read_recorded(path, topic="position:3")


def test_an_integral_is_no_number_of_an_instance():
    rows = [(50_000_000 + k, 0.1 * k) for k in range(9)]
    (table,) = read_messages(dataflash((Rows("PIDR", "Qf", "TimeUS,I", rows),))).tables["PIDR"]
    assert len(table.t) == 9


def test_rows_out_of_order_are_left_out_and_counted(flight, tmp_path):
    data = made(flight)
    first = data.find(b"\xa3\x95\x82")
    row = data[first : data.find(b"\xa3\x95", first + 3)]
    path = tmp_path / "flight.bin"
    path.write_bytes(data + 3 * row)
    assert any("ATT: 3 rows not after the row before" in note for note in open_log(path).notes)


def test_a_leap_that_the_velocity_denies_is_taken_out(flight, tmp_path):
    path = tmp_path / "flight.bin"
    path.write_bytes(made(flight, leap=4.0))
    position = open_log(path).signals[names.POSITION]
    assert position.values == pytest.approx(flight.p, abs=0.01)
    assert any("1 leaps that the velocity denies" in note for note in open_log(path).notes)


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_log_that_was_cut_counts_up_to_there(share, log, flight):
    whole = log.read_bytes()
    log.write_bytes(whole[: int(share * len(whole)) // 2 * 2 + 1])
    read = open_log(log)
    assert read.end - read.begin == pytest.approx(share * flight.t[-1], rel=0.05)


def test_damaged_bytes_are_passed_over_and_counted(log, flight):
    whole = bytearray(log.read_bytes())
    half = len(whole) // 2
    whole[half : half + 500] = bytes(500)
    log.write_bytes(whole)
    read = open_log(log)
    assert any("damaged bytes at 1 places" in note for note in read.notes)
    assert len(read.signals[names.ATTITUDE].t) > 0.95 * len(flight.t)


@pytest.mark.parametrize(
    ("sound", "changed"),
    [
        (b"TimeUS,Roll,Pitch,Yaw", b"TimeUS,Roll,Pitch,Y,w"),
        (b"TimeUS,Roll,Pitch,Yaw", b"TimeUS,Roll,Roll,Yaw,"),
        (b"Type,Length,Name,Format,Columns", b"Type,Length,Name,Format,Col,mns"),
        (b"BBnNZ", b"BBnNf"),
    ],
)
def test_a_layout_whose_names_do_not_fit_its_letters_is_left_out(log, flight, sound, changed):
    data = log.read_bytes()
    assert sound in data
    log.write_bytes(data.replace(sound, changed, 1))
    read = read_messages(log.read_bytes())
    assert ("ATT" in read.tables) == (b"Roll" not in sound)
    assert len(read.tables["IMU"][0].t) == len(flight.t)


def test_positions_of_an_estimator_without_a_place_are_refused(flight, tmp_path):
    path, still = tmp_path / "flight.bin", np.zeros_like(flight.p)
    path.write_bytes(made(flight.__class__(**{**vars(flight), "p": still, "v": still})))
    with pytest.raises(BadInput, match="the estimator has no position"):
        read_recorded(path)


def test_speeds_that_no_copter_has_are_refused(flight, tmp_path):
    path = tmp_path / "flight.bin"
    path.write_bytes(made(flight.__class__(**{**vars(flight), "v": 300.0 * flight.v})))
    with pytest.raises(BadInput, match="the estimator has lost its way"):
        read_recorded(path)


def test_a_plane_is_refused(flight, tmp_path):
    path = tmp_path / "flight.bin"
    path.write_bytes(made(flight, message=b"ArduPlane V4.2.3"))
    with pytest.raises(BadInput, match="a log of ArduPlane"):
        open_log(path)


def test_a_head_alone_has_nothing_in_it(tmp_path):
    path = tmp_path / "flight.bin"
    path.write_bytes(b"\xa3\x95\x80")
    with pytest.raises(BadInput, match="no message in it that is known"):
        open_log(path)


def test_zeros_at_the_end_of_a_file_are_left_out_and_said(log):
    sound = open_log(log)
    os.truncate(log, 1 << 30)
    found = open_log(log)
    assert found.rows == sound.rows
    assert set(found.notes) - set(sound.notes) == {
        "nothing but zeros at the end of the file, which are left out"
    }

# SPDX-License-Identifier: BSD-3-Clause
"""Logs of PX4 that were written here byte by byte: signals, damage, frames, and the replay of what was flown."""

import json
import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from flight_bags import motion
from ulog_writer import flight_log

from iap_bringup.cli.main import main
from iap_bringup.fuzz.made_logs import BOOT_US, ULOG_HEADER, ULogWriter, usd
from iap_description.errors import BadInput
from iap_description.frames import swap_attitude, swap_world
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import (
    FRONT_LEFT,
    FRONT_RIGHT,
    QUAD_X,
    REAR_LEFT,
    REAR_RIGHT,
)
from iap_io.flight_logs.inspection import Inspection
from iap_io.flight_logs.px4_ulog import tables_of
from iap_io.flight_logs.readers import open_log
from iap_io.trajectories.reader import read_recorded

FLOAT = 1e-5  # rounding of the numbers in the file
NED = "float x;float y;float z;float vx;float vy;float vz"


@pytest.fixture
def flight():
    return motion(np.arange(0.0, 10.0, 0.01))


@pytest.fixture
def log(flight, tmp_path):
    return flight_log(flight).write(tmp_path / "flight.ulg")


def test_signals_are_in_enu_and_flu(log, flight):
    signals = open_log(log).signals
    for name, expected in (
        (names.POSITION, flight.p),
        (names.VELOCITY, flight.v),
        (names.RATES, flight.w),
    ):
        assert signals[name].values == pytest.approx(expected, abs=FLOAT)
    R = so3.matrix_from_quaternion(signals[names.ATTITUDE].values)
    assert pytest.approx(so3.matrix_from_quaternion(flight.q), abs=FLOAT) == R
    assert signals[names.POSITION].t - BOOT_US * 1e-6 == pytest.approx(flight.t, abs=1e-6)
    assert signals[names.POSITION].rate == pytest.approx(100.0)


def test_north_is_y_and_down_is_minus_z(tmp_path):
    made = ULogWriter()
    rows = [(BOOT_US + k, 1.0 + k, 2.0, -3.0 - k, 0.1, 0.2, -0.3) for k in range(3)]
    made.topic("vehicle_local_position", NED, rows)
    signals = open_log(made.write(tmp_path / "flight.ulg")).signals
    assert signals[names.POSITION].values[0] == pytest.approx([2.0, 1.0, 3.0], abs=1e-9)
    assert signals[names.VELOCITY].values[0] == pytest.approx([0.2, 0.1, 0.3], abs=1e-7)


def test_the_frames_of_a_flight_are_confirmed_by_its_motion(log):
    check = Inspection.of(open_log(log)).check
    assert check.verdict == "frames confirmed (NED, FRD)"
    assert check.velocity < 0.01 and check.rates < 0.01 and check.acceleration < 0.02


def test_a_log_in_other_axes_than_the_firmwares_is_contradicted(flight, tmp_path):
    enu = so3.matrix_from_quaternion(flight.q)  # as they are, in place of NED and FRD
    path = flight_log(flight, R_said=enu).write(tmp_path / "flight.ulg")
    assert "contradicted" in Inspection.of(open_log(path)).check.verdict
    with pytest.raises(BadInput, match="--convention says what they are"):
        read_recorded(path)


def test_nothing_is_said_of_the_frames_of_what_stands_still(flight, tmp_path):
    q = np.tile([0.0, 0.0, 0.0, 1.0], (len(flight.t), 1))
    still = np.zeros_like(flight.p)
    noise = 1e-4 * np.random.default_rng(0).standard_normal(still.shape)
    standing = replace(flight, p=noise, q=q, v=still, w=still, a=still)
    path = flight_log(standing).write(tmp_path / "flight.ulg")
    assert Inspection.of(open_log(path)).check.verdict == "frames cannot be checked: no motion"


def test_an_attitude_without_a_velocity_is_confirmed_by_the_gyro_alone(log, flight, tmp_path):
    read = open_log(log).without("not valid", names.VELOCITY)
    verdict = Inspection.of(read).check.verdict
    assert verdict == "attitude confirmed by gyro, velocity cannot be checked: no velocity"
    still = replace(flight, q=np.tile([0.0, 0.0, 0.0, 1.0], (len(flight.t), 1)), w=0.0 * flight.w)
    read = open_log(flight_log(still).write(tmp_path / "still.ulg"))
    verdict = Inspection.of(read.without("not valid", names.VELOCITY)).check.verdict
    assert verdict == "frames cannot be checked: no velocity, no rotation"


def test_armed_is_the_second_state_of_the_vehicle(flight, tmp_path):
    states = [(BOOT_US, 1), (BOOT_US + 1_000_000, 2), (BOOT_US + 2_000_000, 3)]
    made = ULogWriter()
    made.topic("vehicle_status", "uint8_t arming_state", states)
    armed = open_log(made.write(tmp_path / "flight.ulg")).signals[names.ARMED]
    assert armed.values[:, 0].tolist() == [0.0, 1.0, 0.0]
    assert armed.source == "vehicle_status.arming_state"


def test_a_log_that_was_cut_counts_up_to_there(log, flight):
    whole = log.read_bytes()
    log.write_bytes(whole[: len(whole) * 6 // 10 + 1])
    read = open_log(log)
    assert any(note.startswith("cut:") for note in read.notes)
    assert read.end - read.begin == pytest.approx(0.6 * flight.t[-1], rel=0.05)
    assert not any(note.startswith("cut:") for note in _of(log, whole).notes)


def _of(path, data):
    path.write_bytes(data)
    return open_log(path)


def test_bytes_that_are_lost_in_the_middle_are_noted(log):
    whole = log.read_bytes()
    half = len(whole) // 2
    read = _of(log, whole[:half] + bytes(1000) + whole[half + 1000 :])
    assert any(note.startswith("damaged bytes") for note in read.notes)


def test_a_topic_whose_definition_has_lost_its_time_is_left_out():
    data = {"timetamp": np.arange(3), "x": np.arange(3.0)}
    damaged = SimpleNamespace(name="vehicle_local_position", multi_id=0, data=data)
    assert tables_of(SimpleNamespace(data_list=[damaged])) == {}


def test_quaternions_that_are_none_are_left_out_and_counted(flight, tmp_path):
    R = so3.matrix_from_quaternion(flight.q)
    made = flight_log(flight, R_said=swap_attitude(R))
    rows = [k for k, (_, row) in enumerate(made.rows) if row[3:5] == b"\x00\x00"][20:23]
    for k in rows:
        stamp, row = made.rows[k]
        made.rows[k] = (stamp, row[:-16] + bytes(16))
    read = open_log(made.write(tmp_path / "flight.ulg"))
    assert len(read.signals[names.ATTITUDE].t) == len(flight.t) - 3
    assert "vehicle_attitude: 3 rows without attitude left out" in read.notes


def test_rows_that_the_logger_lost_are_a_gap(flight, tmp_path):
    path = flight_log(flight, lost=(4.0, 4.4)).write(tmp_path / "flight.ulg")
    read = open_log(path)
    assert any("1 dropouts of the logger, 0.40 s" in note for note in read.notes)
    assert read.signals[names.POSITION].largest_gap == pytest.approx(0.41)
    assert read.signals[names.POSITION].gaps == 1
    assert read_recorded(path).duration == pytest.approx(flight.t[-1])


def test_a_stray_stamp_is_left_out(flight, tmp_path):
    made = flight_log(flight)
    made.topic(
        "battery_status", "float voltage_v", [(BOOT_US + 5000 * k, 16.0 - k) for k in range(9)]
    )
    made.topic("battery_status", "float voltage_v", [(BOOT_US + 10**9, 12.0)])
    read = open_log(made.write(tmp_path / "flight.ulg"))
    assert read.end - read.begin < 11.0


def test_a_stray_stamp_of_a_state_makes_no_flight_longer(tmp_path):
    made = ULogWriter()
    rows = [(BOOT_US + 50_000 * k, 0.1 * k, 0.0, -0.1 * k, 2.0, 0.0, -2.0) for k in range(99)]
    made.topic(
        "vehicle_local_position", "float x;float y;float z;float vx;float vy;float vz", rows
    )
    states = [(BOOT_US, 1), (BOOT_US + 1_000_000, 0), (BOOT_US + 10**13, 0)]
    made.topic("vehicle_land_detected", "bool landed", states)
    read = open_log(made.write(tmp_path / "flight.ulg"))
    (flight,) = Inspection.of(read).flights
    assert flight.duration == pytest.approx(3.9)
    assert "landed: 1 stray time stamps left out" in read.notes


def test_a_log_without_a_signal_that_can_be_used_is_refused_with_the_reasons(tmp_path):
    t = np.arange(0.0, 5.0, 0.02).tolist()
    columns = [f"stateEstimate.{each}" for each in ("x", "y", "z", "vx", "vy", "vz")]
    path = tmp_path / "log00"
    path.write_bytes(usd(t, (columns, [(k, 0.0, 1.0, 1e9, 0.0, 0.0) for k in range(len(t))])))
    with pytest.raises(BadInput, match="no signal that can be used: .*lost its way"):
        open_log(path)


def test_the_instance_whose_motors_turn_counts(flight, tmp_path):
    made = flight_log(flight)
    fields = "float[4] output"
    made.topic("actuator_outputs", fields, [(BOOT_US + k, *[900.0] * 4) for k in range(9)])
    turning = [(BOOT_US + k, *[1500.0 + 50 * k] * 4) for k in range(9)]
    made.topic("actuator_outputs", fields, turning, instance=1)
    motors = open_log(made.write(tmp_path / "flight.ulg")).signals[names.MOTORS]
    assert motors.source.startswith("actuator_outputs[1]")
    assert motors.values[[0, -1], 0] == pytest.approx([0.5, 0.9])


def test_a_reset_of_the_estimator_is_no_jump_of_the_vehicle(tmp_path):
    made, resets = ULogWriter(), "uint8_t xy_reset_counter;float[2] delta_xy"
    rows = []
    for k in range(100):
        x, count = (0.01 * k + 7.0, 4) if k >= 50 else (0.01 * k, 3)
        rows.append(
            (BOOT_US + 10_000 * k, x, 0.0, -2.0, 1.0, 0.0, 0.0, True, True, count, 7.0, 0.0)
        )
    made.topic("vehicle_local_position", f"{NED};bool xy_valid;bool z_valid;{resets}", rows)
    read = open_log(made.write(tmp_path / "flight.ulg"))
    north = read.signals[names.POSITION].values[:, 1]
    assert north == pytest.approx(0.01 * np.arange(100), abs=1e-5)
    assert any("1 resets, the largest of 7.00 m" in note for note in read.notes)


def test_what_is_flown_is_the_path_that_was_logged(log, flight):
    recorded = read_recorded(log)
    assert recorded.p_WP_W == pytest.approx(flight.p, abs=1e-3)
    assert recorded.v_WP_W == pytest.approx(flight.v, abs=1e-3)
    off = so3.quaternion_log(so3.multiply(so3.conjugate(flight.q), recorded.q_WP))
    assert np.linalg.norm(off, axis=1).max() < 1e-3
    first = recorded.about.lines()[:4]
    assert first[0].startswith("read: topic position (vehicle_local_position.x,y,z of a PX4 ULog)")
    assert first[2] == "axes NED/FRD, unit m, as an accelerometer beside it confirms"


def test_what_was_on_the_ground_is_not_flown(flight, tmp_path):
    recorded = read_recorded(flight_log(flight, landed=3.0).write(tmp_path / "flight.ulg"))
    assert recorded.duration == pytest.approx(flight.t[-1] - 3.0, abs=0.02)
    assert "in the air from 103.0 to 110.0 s after boot" in recorded.about.notes


def test_set_points_are_flown_where_they_are_positions(flight, tmp_path):
    made = flight_log(flight)
    fields = "float[3] position;float[3] velocity"
    rows = [
        (
            BOOT_US + 20_000 * k,
            *([np.nan] * 3 if k in (7, 8) else [0.0, 0.02 * k, -2.0]),
            *[np.nan] * 3,
        )
        for k in range(200)
    ]
    made.topic("trajectory_setpoint", fields, rows)
    path = made.write(tmp_path / "flight.ulg")
    recorded = read_recorded(path, topic="position_setpoint")
    assert len(recorded.t) == 198 and recorded.p_WP_W[-1] == pytest.approx(
        [3.98, 0.0, 2.0], abs=1e-5
    )
    assert any("2 set-points without a position left out" in each for each in recorded.about.notes)


def test_positions_that_are_not_valid_are_refused_and_the_reason_is_shown(
    flight, tmp_path, capsys
):
    made = flight_log(flight)
    made.rows = [
        row for row in made.rows if row[1][3:5] != b"\x01\x00"
    ]  # of vehicle_local_position
    path = made.write(tmp_path / "flight.ulg")
    assert main(["replay", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "no position to fly (the log has none)" in error
    assert main(["inspect", str(path)]) == 0
    assert "cannot: replay of the flown motion: no position" in capsys.readouterr().out


def test_a_vehicle_that_stays_on_the_ground_has_nothing_to_fly(flight, tmp_path):
    path = flight_log(flight, landed=99.0).write(tmp_path / "flight.ulg")
    with pytest.raises(BadInput, match="never in the air"):
        read_recorded(path)


def test_a_fixed_wing_is_refused(flight, tmp_path):
    made = flight_log(flight)
    made.parameter("MAV_TYPE", 1)
    with pytest.raises(BadInput, match="a log of a fixed wing"):
        open_log(made.write(tmp_path / "flight.ulg"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (bytes(500), "zeros alone"),
        (b"a text of somebody", "no flight log"),
        (ULOG_HEADER, "not readable as PX4 ULog"),
        (ULOG_HEADER + bytes(8), "no topic in it"),
        (ULOG_HEADER + bytes(range(256)), "no topic in it"),
        (ULOG_HEADER + bytes(8) + b"\xff\xffv" + bytes(500), "no topic in it"),  # past the end
    ],
)
@pytest.mark.parametrize("command", ["inspect", "replay"])
def test_what_is_no_log_ends_in_one_line(command, data, reason, tmp_path, capsys):
    path = tmp_path / "flight.ulg"
    path.write_bytes(data)
    assert main([command, str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and reason in captured.err
    assert not captured.out


def test_set_points_of_velocity_are_flown_from_where_the_vehicle_was(flight, tmp_path):
    made = flight_log(flight)
    fields = "float[3] position;float[3] velocity"
    rows = [
        (BOOT_US + round(1e6 * t), *[np.nan] * 3, *swap_world(v))
        for t, v in zip(flight.t, flight.v, strict=True)
    ]
    made.topic("trajectory_setpoint", fields, rows)
    recorded = read_recorded(made.write(tmp_path / "flight.ulg"), topic="velocity_setpoint")
    assert len(recorded.t) == len(flight.t)
    np.testing.assert_allclose(recorded.p_WP_W, flight.p, atol=2e-3)
    assert any("positions drift" in each for each in recorded.about.notes)


def test_the_places_of_motors_are_those_of_the_geometry_or_of_an_x(flight, tmp_path):
    assert open_log(flight_log(flight).write(tmp_path / "x.ulg")).motor_places == QUAD_X
    other = flight_log(flight)
    for i, (x, y) in enumerate(((-1, 1), (1, 1), (-1, -1), (1, -1))):
        other.parameter(f"CA_ROTOR{i}_PX", x)
        other.parameter(f"CA_ROTOR{i}_PY", y)  # to the right
    places = open_log(other.write(tmp_path / "own.ulg")).motor_places
    assert places == (REAR_RIGHT, FRONT_RIGHT, REAR_LEFT, FRONT_LEFT)


def test_inspect_says_what_is_there_and_what_for(log, capsys):
    assert main(["inspect", str(log)]) == 0
    text = capsys.readouterr().out
    for words in (
        "PX4 of unknown release on MADE_UP, airframe 4001, 4 rotors",
        "in the air: 100.0 to 110.0 s",
        "can: replay of the flown motion\n",
        "cannot: drag: no torque set-point and no motors (not logged)",
        "cannot: hover command: no motors",
        "next time: SDLOG_PROFILE 25",
    ):
        assert words in text


def test_inspect_prints_json_alone(log, capsys):
    assert main(["inspect", str(log), "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["signals"]["position"]["rate_hz"] == pytest.approx(100.0)
    assert tree["frames"] == "frames confirmed (NED, FRD)"


@pytest.mark.slow
def test_set_points_are_flown_beside_what_was_flown_of_them(flight, tmp_path, capsys):
    made = flight_log(flight)
    rows = [
        (BOOT_US + round(1e6 * t), *swap_world(p), *[np.nan] * 3)
        for t, p in zip(flight.t, flight.p, strict=True)
    ]
    made.topic("trajectory_setpoint", "float[3] position;float[3] velocity", rows)
    path, out = made.write(tmp_path / "flight.ulg"), tmp_path / "run"
    options = ["--engine", "closed_form", "--platform", "f450", "--no-plot", "--no-view", "--json"]
    topics = ["--topic", "position_setpoint", "--actual-topic", "position"]
    assert main(["replay", str(path), *topics, *options, "--out", str(out)]) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert metrics["position_rmse_m"] < 0.05
    assert "position_setpoint" in (out / "config.yaml").read_text(encoding="utf-8")
    assert metrics["actual_position_rmse_m"] == pytest.approx(metrics["position_rmse_m"], abs=1e-3)


def test_zeros_at_the_end_of_a_file_are_left_out_and_said(log, flight, tmp_path):
    padded = tmp_path / "padded.ulg"
    padded.write_bytes(log.read_bytes())
    os.truncate(padded, 1 << 30)  # pyulog takes zeros three at a time
    found, sound = open_log(padded), open_log(log)
    assert found.rows == sound.rows
    assert [each for each in found.notes if each not in sound.notes] == [
        "nothing but zeros at the end of the file, which are left out"
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""Tables as motion captures, estimators, spreadsheets and visual odometries write them."""

from pathlib import Path

import numpy as np
import pytest
from flight_bags import Motion, motion
from refusals import refusal

from iap_description.math import so3
from iap_io.trajectories.column_names import column_of, time_unit
from iap_io.trajectories.reader import read_recorded

START = 1_650_000_123
POSE = "x,y,z,qx,qy,qz,qw"


@pytest.fixture
def way() -> Motion:
    """Four seconds at 50 Hz, level at up to 1 m/s."""
    t = np.arange(0.0, 4.0, 0.02)
    m = motion(0.3 * t)
    return Motion(t, m.p, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)), m.v, m.w, m.a, m.alpha)


def write(path: Path, header: str, *columns: object) -> Path:
    """A table with a header and these columns; numbers with six places."""
    texts = [
        [x if isinstance(x, str) else f"{x:.6f}" for x in column]  # type: ignore[attr-defined]
        for column in columns
    ]
    rows = (",".join(row) for row in zip(*texts, strict=True))
    path.write_text("\n".join([header, *rows] if header else rows) + "\n")
    return path


def seconds(m: Motion) -> list[str]:
    return [f"{START + t:.3f}" for t in m.t]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("valid", "1 0"),
        ("tracking_valid", "True False"),
        ("isTracked", "yes no"),
        ("occluded", "0 1"),
        ("xy_valid", "1.0 0.0"),
        ("tracked", "1 "),  # empty where nothing was seen
    ],
)
def test_lines_that_a_column_calls_lost_are_left_out_and_counted(
    tmp_path: Path, way: Motion, name: str, words: str
) -> None:
    """What an estimator guesses while it sees nothing is no place of the body."""
    good, bad = words.split(" ")
    lost = (way.t > 1.0) & (way.t < 1.5)
    p = way.p + np.where(lost, way.t - 1.0, 0.0)[:, None] * [0.5, 0.0, 0.0]
    marks = [bad if each else good for each in lost]
    path = write(tmp_path / "a.csv", f"t,{POSE},{name}", seconds(way), *p.T, *way.q.T, marks)
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.p_WP_W, way.p[~lost], atol=1e-6)
    assert any(
        f"{lost.sum()} lines left out that column '{name}'" in x for x in recorded.about.notes
    )


def test_a_table_without_one_tracked_line_is_refused(tmp_path: Path, way: Motion) -> None:
    marks = ["0"] * len(way.t)
    path = write(tmp_path / "a.csv", f"t,{POSE},valid", seconds(way), *way.p.T, *way.q.T, marks)
    assert "column 'valid' says that none of its 200 lines holds a pose" in refusal(
        read_recorded, path
    )


@pytest.mark.parametrize("name", ["v_xy_valid", "heading_valid", "valid_count", "battery_valid"])
def test_marks_of_other_quantities_leave_no_pose_out(
    tmp_path: Path, way: Motion, name: str
) -> None:
    marks = ["0" if t > 2.0 else "1" for t in way.t]
    path = write(tmp_path / "a.csv", f"t,{POSE},{name}", seconds(way), *way.p.T, *way.q.T, marks)
    assert len(read_recorded(path).t) == len(way.t)


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_a_pose_with_velocity_and_a_bias_has_twelve_columns_and_is_no_matrix(
    tmp_path: Path, way: Motion, name: str
) -> None:
    """Kimera's files: w first in a CSV with names; others' in text: w last."""
    ns = [str(round((START + t) * 1e9)) for t in way.t]
    q = way.q[:, [3, 0, 1, 2]] if name == "a.csv" else way.q
    header = "#timestamp,x,y,z,qw,qx,qy,qz,vx,vy,vz,bgx" if name == "a.csv" else ""
    path = write(tmp_path / name, header, ns, *way.p.T, *q.T, *way.v.T, 0.0 * way.t)
    recorded = read_recorded(path, time_unit="ns")
    np.testing.assert_allclose(np.diff(recorded.p_WP_W, axis=0), np.diff(way.p, axis=0)[
        len(way.t) - len(recorded.t):], atol=2e-6)  # fmt: skip


def test_signs_and_greek_letters_are_units_and_angles(tmp_path: Path, way: Motion) -> None:
    assert column_of("yaw [°]") == column_of("yaw [deg]")
    assert column_of("θ (rad)") == column_of("theta (rad)")
    assert time_unit("time [µs]") == time_unit("time [μs]") == "us"
    angles = np.degrees(0.3 * np.sin(way.t))
    zero = 0.0 * way.t
    header = "t,x,y,z,φ [°],θ [°],ψ [°]"
    path = write(tmp_path / "a.csv", header, seconds(way), *way.p.T, zero, zero, angles)
    yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(read_recorded(path).q_WP))[:, 2]
    np.testing.assert_allclose(np.degrees(yaw), angles, atol=1e-5)


@pytest.mark.parametrize("name", ["p_WS_W_x", "p_WB_x", "q_WB_w", "p_BW_B_z [m]"])
def test_capitals_behind_a_position_or_a_quaternion_are_frames(name: str) -> None:
    column = column_of(name)
    assert column is not None and column.role.endswith(name.split(" ")[0][-1])


@pytest.mark.parametrize("name", ["v_WS_W_x", "w_x", "b_w_y", "omega_WB_z"])
def test_velocities_rates_and_biases_are_none(name: str) -> None:
    assert column_of(name) is None


@pytest.mark.parametrize(
    ("begin", "text"),
    [
        (12.0, "00:{:06.3f}"),  # minutes and seconds, as spreadsheets show times
        (3598.0, "{minutes:02d}:{:06.3f}"),
        (86398.0, "{hours:02d}:{of:02d}:{:06.3f}"),
    ],
)
def test_times_of_day_go_on_through_midnight_and_minutes_through_an_hour(
    tmp_path: Path, way: Motion, begin: float, text: str
) -> None:
    written = []
    for t in begin + way.t:
        ms = round(1000.0 * t)
        minutes = ms // 60_000 % 60
        hours = ms // 3_600_000 % 24
        written.append(text.format(ms % 60_000 / 1000.0, minutes=minutes, hours=hours, of=minutes))
    path = write(tmp_path / "a.csv", f"t,{POSE}", written, *way.p.T, *way.q.T)
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.t, way.t, atol=1e-6)
    np.testing.assert_allclose(recorded.p_WP_W, way.p, atol=1e-6)


def test_motions_from_one_time_to_another_are_no_poses(tmp_path: Path, way: Motion) -> None:
    """Oxford's visual odometry has the motion of each frame since the one before."""
    us = [str(round((START + t) * 1e6)) for t in way.t]
    later = [str(int(t) + 20_000) for t in us]
    steps = np.diff(way.p, axis=0, append=way.p[-1:])
    header = "source_timestamp,destination_timestamp,x,y,z,roll,pitch,yaw"
    path = write(tmp_path / "vo.csv", header, us, later, *steps.T, *np.zeros((3, len(us))))
    text = refusal(read_recorded, path, angles="rad")
    assert "from 'source_timestamp' to 'destination_timestamp'" in text and "chain" in text


def test_times_to_a_goal_and_from_a_start_are_no_motion_between_two(
    tmp_path: Path, way: Motion
) -> None:
    header = f"time_from_start,{POSE},time_to_goal"
    path = write(tmp_path / "a.csv", header, way.t, *way.p.T, *way.q.T, way.t[::-1])
    np.testing.assert_allclose(read_recorded(path).p_WP_W, way.p, atol=1e-6)


def test_a_rate_stands_for_times_that_a_table_does_not_have(tmp_path: Path, way: Motion) -> None:
    path = write(tmp_path / "a.csv", f"frame,{POSE}", map(str, range(200)), *way.p.T, *way.q.T)
    assert "no column is called time" in refusal(read_recorded, path)
    recorded = read_recorded(path, rate=50.0)
    np.testing.assert_allclose(recorded.t, way.t, atol=1e-9)
    np.testing.assert_allclose(recorded.p_WP_W, way.p, atol=1e-6)

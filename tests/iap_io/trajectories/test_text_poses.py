# SPDX-License-Identifier: BSD-3-Clause
"""Poses in text files: rigs and units of other data sets than EuRoC's, TUM and KITTI."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flight_bags import Motion, motion
from numpy.typing import NDArray
from test_replay_euroc import HEADER

from iap_control.references.motions import Replay
from iap_control.references.replay import commanded
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.conventions import TimeUnit
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.text_poses import text_kind
from iap_io.trajectories.tum import tum_text

Array = NDArray[np.float64]
SIZES = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
START = 1_700_000_000
# Axes of a body in the platform's: rows are forward, left, up.
RIGS = {
    "x up": [[0, 0, 1], [0, -1, 0], [1, 0, 0]],
    "z up": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "y down": [[0, 0, 1], [-1, 0, 0], [0, -1, 0]],
    "y up": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
    "z down": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
}


@pytest.fixture
def level() -> Motion:
    """Three seconds at 50 Hz from rest, level and at zero yaw."""
    t = np.arange(0.0, 3.0, 0.02)
    m = motion(t)
    s = (np.clip(t, 0.0, 3.0) / 3.0) ** 3
    q = so3.quaternion_exp(s[:, None] * np.array([0.1, -0.05, 0.4]))
    p = np.column_stack([1.2 * s, -0.6 * s, 1.0 + 0.4 * s])
    return Motion(t, p, q, m.v, m.w, m.a, m.alpha)


def euroc(path: Path, m: Motion, rig: Array, *, unit: str = "ns", start: int = START) -> Path:
    """A ground truth in EuRoC's layout of a body that is mounted so, and tilted by some degrees."""
    tilt = so3.matrix_from_euler(np.array([0.1, -0.15, 0.0]))
    q = so3.quaternion_from_matrix(so3.matrix_from_quaternion(m.q) @ tilt @ rig)[:, [3, 0, 1, 2]]
    stamps = (round((start + t) * SIZES[unit]) for t in m.t)
    rows = (
        f"{stamp}," + ",".join(map(repr, map(float, (*p, *q_k))))
        for stamp, p, q_k in zip(stamps, m.p, q, strict=True)
    )
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def check(recorded: object, m: Motion) -> None:
    """The platform's motion, from (0, 0, 1.5) m on."""
    np.testing.assert_allclose(recorded.p_WP_W, m.p - m.p[0] + [0.0, 0.0, 1.5], atol=1e-9)
    error = so3.quaternion_log(so3.multiply(so3.conjugate(m.q), recorded.q_WP))
    np.testing.assert_allclose(error, 0.0, atol=1e-9)


@pytest.mark.parametrize("rig", RIGS)
def test_the_mounting_of_any_rig_is_found_from_rest(
    tmp_path: Path, level: Motion, rig: str
) -> None:
    path = euroc(tmp_path / "data.csv", level, np.array(RIGS[rig], dtype=float))
    recorded = read_recorded(path)
    check(recorded, level)
    assert rig.replace(" ", " axis ") in recorded.about.mounting


def test_a_rig_with_x_down_is_asked_about(tmp_path: Path, level: Motion) -> None:
    rig = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    path = euroc(tmp_path / "data.csv", level, rig)
    with pytest.raises(BadInput, match="--mounting rest takes it so"):
        read_recorded(path)
    check(read_recorded(path, mounting="rest"), level)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("start", [START, 0])
def test_the_unit_of_times_is_found(
    tmp_path: Path, level: Motion, unit: TimeUnit, start: int
) -> None:
    path = euroc(tmp_path / "data.csv", level, np.eye(3), unit=unit, start=start)
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.t, level.t, atol=1e-9)
    assert any(f"taken as {unit}" in note for note in recorded.about.notes) == (unit != "ns")
    assert read_recorded(path, time_unit=unit).duration == recorded.duration


def test_a_lone_clock_that_steps_back_is_refused(tmp_path: Path, level: Motion) -> None:
    path = euroc(tmp_path / "data.csv", level, np.eye(3))
    lines = path.read_text().splitlines()
    for k in range(70, len(lines)):
        stamp, rest = lines[k].split(",", 1)
        lines[k] = f"{int(stamp) - 130_000_000},{rest}"
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match=r"step back by 0\.110 s at t = 1\.360 s and stay there"):
        read_recorded(path)


@pytest.mark.parametrize("start", [0.0, float(START)])
def test_tum_text_is_the_recorded_motion(tmp_path: Path, level: Motion, start: float) -> None:
    path = tmp_path / "truth.txt"
    rows = np.hstack([level.p, level.q])
    path.write_text("# time x y z qx qy qz qw\n" + tum_text(start + level.t, rows))
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.t, level.t, atol=1e-6)
    np.testing.assert_allclose(recorded.p_WP_W, level.p, atol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(recorded.q_WP * level.q, axis=1)), 1.0, atol=1e-8)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (lambda k: f"{k}", r"its times 0, 1, 2 \.\.\. count lines: --rate HZ"),
        (lambda k: f"{np.float32(START + 0.02 * k)}", "different times: were they written with"),
    ],
)
def test_times_that_count_lines_or_have_too_few_digits_are_refused(
    tmp_path: Path, level: Motion, time: Callable[[int], str], said: str
) -> None:
    path, rows = tmp_path / "truth.txt", np.hstack([level.p, level.q])
    lines = [" ".join([time(k), *map(repr, row.tolist())]) for k, row in enumerate(rows)]
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match=said):
        read_recorded(path)
    recorded = read_recorded(path, rate=50.0)
    np.testing.assert_allclose(recorded.t, level.t, atol=1e-9)
    np.testing.assert_allclose(recorded.p_WP_W, level.p, atol=1e-8)


def test_a_spreadsheet_with_decimal_commas_is_the_recorded_motion(
    tmp_path: Path, level: Motion
) -> None:
    path = tmp_path / "truth.txt"
    text = tum_text(level.t, np.hstack([level.p, level.q]))
    path.write_text(text.replace(" ", ";").replace(".", ","))
    np.testing.assert_allclose(read_recorded(path).p_WP_W, level.p, atol=1e-8)


def test_kitti_poses_of_a_camera_are_a_platform_s(tmp_path: Path, level: Motion) -> None:
    optical = np.array(
        [[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]
    )  # of forward, left, up
    R = optical @ so3.matrix_from_quaternion(level.q) @ optical.T
    p = level.p @ optical.T
    path = tmp_path / "00.txt"
    np.savetxt(path, np.concatenate([R, p[:, :, None]], axis=2).reshape(-1, 12), fmt="%.12e")
    with pytest.raises(BadInput, match="--rate HZ"):
        read_recorded(path)
    for keys in ({"rate": 50.0}, {}):
        recorded = read_recorded(path, **keys)
        np.testing.assert_allclose(recorded.t, level.t, atol=1e-8)
        np.testing.assert_allclose(recorded.p_WP_W, level.p, atol=1e-8)
        error = so3.quaternion_log(so3.multiply(so3.conjugate(level.q), recorded.q_WP))
        np.testing.assert_allclose(error, 0.0, atol=1e-8)
        np.savetxt(tmp_path / "times.txt", level.t, fmt="%.9f")


def test_other_times_beside_a_kitti_file_are_read_anew(tmp_path: Path, level: Motion) -> None:
    optical = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    poses = np.zeros((len(level.t), 3, 4))
    poses[:, :, :3], poses[:, :, 3] = np.eye(3), level.p @ optical.T
    path = tmp_path / "00.txt"
    np.savetxt(path, poses.reshape(-1, 12), fmt="%.12e")
    durations = []
    for factor in (1.0, 2.0):
        np.savetxt(tmp_path / "times.txt", factor * level.t, fmt="%.9f")
        durations.append(commanded(Replay(type="replay", path=str(path))).commanded.t[-1])
    assert durations[1] == pytest.approx(2.0 * durations[0], rel=0.01)


def test_eight_columns_with_whole_nanoseconds_are_no_tum_trajectory(tmp_path: Path) -> None:
    """Their times would be read as seconds."""
    rows = [f"{START * 10**9 + k},0.1,0.2,1.0,0.0,0.0,0.0,1.0" for k in range(0, 10**9, 10**7)]
    path = tmp_path / "poses.csv"
    path.write_text("\n".join(rows) + "\n")
    assert text_kind(path) is None
    path.write_text("\n".join(f"{START}.{k:02d}{row[19:]}" for k, row in enumerate(rows)) + "\n")
    assert text_kind(path) == "tum"


@pytest.mark.parametrize("name", ["data.csv", "poses.tum"])
def test_a_file_that_ends_within_a_line_is_refused_with_the_remedy(
    tmp_path: Path, level: Motion, name: str
) -> None:
    path = euroc(tmp_path / name, level, np.eye(3))
    rows = path.read_text().splitlines()[1:]
    text = "\n".join(rows if name.endswith("csv") else [each.replace(",", " ") for each in rows])
    path.write_text(text[: -len(rows[-1]) + 30])
    with pytest.raises(BadInput, match=r"line 150: 2 columns; .*ends within this line: delete it"):
        read_recorded(path)

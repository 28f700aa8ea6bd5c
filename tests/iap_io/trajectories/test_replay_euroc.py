# SPDX-License-Identifier: BSD-3-Clause
"""EuRoC ground-truth CSV files: the rules that turn an IMU's motion into a platform's."""

from pathlib import Path

import numpy as np
import pytest
from flight_bags import START_NS, Motion, motion
from numpy.typing import NDArray
from refusals import refusal

from iap_description import frames
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.reader import read_recorded

Array = NDArray[np.float64]

HEADER = "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], ..."
WAIT = 300  # rows at rest before the motion
# The IMU's axes, x up and z forward, in those of a platform, and then tilted in its mount.
R_P_IMU = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
MOUNT = so3.matrix_from_euler(np.array([0.05, 0.3, 0.0]))
HEADING, ORIGIN = 0.7, np.array([3.0, -2.0, 0.9])


def imu_rows(m: Motion) -> tuple[list[int], Array, Array]:
    """Stamps, positions and attitudes of an IMU, at rest first, that makes this platform fly m."""
    R_heading = so3.matrix_from_euler(np.array([0.0, 0.0, HEADING]))
    p = np.concatenate([np.repeat(m.p[:1], WAIT, axis=0), m.p]) - m.p[0]
    q = np.concatenate([np.repeat(m.q[:1], WAIT, axis=0), m.q])
    R_WI = R_heading @ so3.matrix_from_quaternion(q) @ MOUNT @ R_P_IMU
    stamps = [START_NS + 5_000_000 * k for k in range(len(p))]
    return stamps, p @ R_heading.T + ORIGIN, so3.quaternion_from_matrix(R_WI)


def write(path: Path, stamps: list[int], p: Array, q: Array) -> Path:
    """A file with the data set's columns."""
    rows = [
        f"{stamp}," + ",".join(repr(float(x)) for x in (*p_k, *q_k[[3, 0, 1, 2]], *[0.5] * 9))
        for stamp, p_k, q_k in zip(stamps, p, q, strict=True)
    ]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


@pytest.fixture
def flown() -> Motion:
    """Five seconds at 200 Hz from rest, level and at zero yaw, 4 m down and back up again."""
    t = np.arange(0.0, 5.0, 0.005)
    m = motion(t)
    blend = (1.0 - np.cos(np.pi * t / 5.0))[:, None] ** 3
    p = (
        blend * np.array([0.4, -0.2, 0.0])
        - [0.0, 0.0, 2.0] * np.sin(np.pi * t / 5.0)[:, None] ** 2
    )
    q = so3.quaternion_exp(blend * np.array([0.03, -0.02, 0.2]))
    return Motion(t, p, q, m.v, m.w, m.a, m.alpha)


def test_motion_is_moved_to_where_a_platform_can_fly_it(tmp_path: Path, flown: Motion) -> None:
    recorded = read_recorded(write(tmp_path / "data.csv", *imu_rows(flown)))
    first = int(np.argmax(np.linalg.norm(flown.p, axis=1) > 0.05))
    lead = 200 - first  # rows at rest that are kept
    assert len(recorded.t) == len(flown.t) + lead
    expected = np.concatenate([np.zeros((lead, 3)), flown.p]) + [0.0, 0.0, 1.5]
    expected[:, 2] += (
        0.6 - expected[:, 2].min()
    )  # as recorded, 0.6 m above the ground at its lowest
    np.testing.assert_allclose(recorded.p_WP_W, expected, atol=1e-12)
    q = np.concatenate([np.repeat(flown.q[:1], lead, axis=0), flown.q])
    error = so3.quaternion_log(so3.multiply(so3.conjugate(q), recorded.q_WP))
    np.testing.assert_allclose(error, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.diff(recorded.t), 0.005, atol=1e-12)
    assert recorded.about.notes == ("raised by 1.10 m, since it goes down to 0.60 m",)
    assert (recorded.clock, recorded.v_WP_W, recorded.delay_ns) == ("file", None, None)


def test_fewer_rows_before_the_motion_are_all_kept(tmp_path: Path, flown: Motion) -> None:
    stamps, p, q = imu_rows(flown)
    recorded = read_recorded(write(tmp_path / "data.csv", stamps[200:], p[200:], q[200:]))
    assert recorded.start_ns == stamps[200]
    assert len(recorded.t) == len(stamps) - 200


def test_semicolons_between_columns_are_the_same_motion(tmp_path: Path, flown: Motion) -> None:
    path = write(tmp_path / "data.csv", *imu_rows(flown))
    by_commas = read_recorded(path)
    path.write_text(path.read_text().replace(",", ";"))
    by_semicolons = read_recorded(path)
    np.testing.assert_array_equal(by_semicolons.p_WP_W, by_commas.p_WP_W)
    np.testing.assert_array_equal(by_semicolons.q_WP, by_commas.q_WP)


def test_a_header_says_the_units_of_times_and_positions(tmp_path: Path, flown: Motion) -> None:
    stamps, p, q = imu_rows(flown)
    in_metres = read_recorded(write(tmp_path / "data.csv", stamps, p, q))
    path = write(tmp_path / "mm.csv", [stamp // 1000 for stamp in stamps], 1e3 * p, q)
    header = HEADER.replace("[m]", "[mm]").replace("#timestamp", "#timestamp [us]")
    path.write_text(path.read_text().replace(HEADER, header))
    recorded = read_recorded(path)
    np.testing.assert_allclose(recorded.p_WP_W, in_metres.p_WP_W, atol=1e-9)
    np.testing.assert_allclose(recorded.t, in_metres.t, atol=1e-9)


def test_file_in_ned_is_the_same_motion(tmp_path: Path, flown: Motion) -> None:
    stamps, p, q = imu_rows(flown)
    enu = read_recorded(write(tmp_path / "enu.csv", stamps, p, q))
    R_ned = frames.swap_attitude(so3.matrix_from_quaternion(q))
    turned = (stamps, frames.swap_world(p), so3.quaternion_from_matrix(R_ned))
    ned = read_recorded(write(tmp_path / "ned.csv", *turned), convention="ned")
    np.testing.assert_allclose(ned.p_WP_W, enu.p_WP_W, atol=1e-12)
    np.testing.assert_allclose(ned.q_WP, enu.q_WP, atol=1e-12)


def test_wrong_convention_is_noticed(tmp_path: Path, flown: Motion) -> None:
    path = write(tmp_path / "enu.csv", *imu_rows(flown))
    with pytest.raises(BadInput, match="is --convention right"):
        read_recorded(path, convention="ned")


GOOD = f"{START_NS},0,0,0,0,0.7071,0,0.7071,0"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], "0 sample(s)"),
        ([GOOD], "1 sample(s)"),
        ([GOOD, f"{START_NS + 1},0,0"], "line 3: 3 columns"),
        ([GOOD, "soon,0,0,0,0,1,0,0"], "line 3: time is 'soon', not a number"),
        ([GOOD, f"{START_NS + 1},0,up,0,0,1,0,0"], "line 3: py is 'up', not a number"),
        ([GOOD, f"{START_NS + 1},0,nan,0,0,1,0,0"], "1 of its 2 samples have places"),
        ([GOOD, f"{START_NS + 1},0,0,0,0,0,0,0"], "1 of its 2 samples have attitudes"),
        ([GOOD, "-5,0,0,0,0,1,0,0"], "line 3: time is -5"),
        ([GOOD, f"{START_NS + 3 * 10**9}" + GOOD[19:]], "no sample for 3.00 s"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, rows: list[str], text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text("\n".join([HEADER, *rows]))
    line = refusal(read_recorded, path)
    assert text in line
    assert str(path) in line


def test_csv_has_no_topics(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(HEADER)
    with pytest.raises(BadInput, match="--topic /odom: a CSV file has no topics"):
        read_recorded(path, topic="/odom")


def test_a_first_attitude_in_motion_is_not_taken_for_that_of_rest(
    tmp_path: Path, flown: Motion
) -> None:
    """Its tilt would lean the whole flight."""
    m = Motion(*(x[400:] for x in vars(flown).values()))
    lean = so3.quaternion_exp(np.array([0.15, 0.0, 0.0]))
    q = so3.multiply(m.q, lean)
    R_WI = so3.matrix_from_quaternion(q) @ R_P_IMU
    path = write(tmp_path / "cut.csv", m.stamps, m.p, so3.quaternion_from_matrix(R_WI))
    recorded = read_recorded(path)
    assert any("under way at its start" in note for note in recorded.about.notes)
    tilt = so3.matrix_from_quaternion(recorded.q_WP)[:, 2, 2]
    np.testing.assert_allclose(tilt, so3.matrix_from_quaternion(q)[:, 2, 2], atol=1e-6)
    rest = read_recorded(path, mounting="rest")
    assert so3.matrix_from_quaternion(rest.q_WP)[0, 2, 2] == pytest.approx(1.0)

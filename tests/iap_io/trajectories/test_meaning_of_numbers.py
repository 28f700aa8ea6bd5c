# SPDX-License-Identifier: BSD-3-Clause
"""Meaning of a table's columns, of a body's axes at rest, and of velocities beside a path."""

from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_io.euroc.cut_recording import cut
from iap_io.trajectories import column_names
from iap_io.trajectories.mounting import axes_by_angles, mounted, nearest_axes
from iap_io.trajectories.pose_reading import RecordingSummary
from iap_io.trajectories.recorded import RecordedTrajectory, time_offset, without_contradictions
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.transforms import _at, _Edge

NS = 10**9
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])

# columns


@pytest.mark.parametrize(
    ("name", "role", "body", "length", "angle", "convention"),
    [
        ("x", "x", "", None, None, None),
        ("p_RS_R_z [m]", "z", "", 1.0, None, None),
        ("pos_y_mm", "y", "", 0.001, None, None),
        ("X (cm)", "x", "", 0.01, None, None),
        ("px", "x", "", None, None, None),
        ("field.pose.position.y", "y", "", None, None, None),
        ("field.pose.orientation.w", "qw", "", None, None, None),
        ("q_RS_x []", "qx", "", None, None, None),
        ("qw", "qw", "", None, None, None),
        ("quat_z", "qz", "", None, None, None),
        ("q[0]", "qw", "", None, None, None),  # PX4 has the scalar first
        ("q[1]", "qx", "", None, None, None),
        ("q[3]", "qz", "", None, None, None),
        ("position[0]", "x", "", None, None, None),
        ("position[2]", "z", "", None, None, None),
        ("roll_deg", "roll", "", None, "deg", None),
        ("theta [rad]", "pitch", "", None, "rad", None),
        ("psi", "yaw", "", None, None, None),
        ("x_gt", "x", "gt", None, None, None),
        ("drone2.x", "x", "drone2", None, None, None),
        ("droneA.x", "x", "dronea", None, None, None),
        ("stateX", "x", "state", None, None, None),
        ("posN", "x", "", None, None, "ned"),
        ("north", "x", "", None, None, "ned"),
        ("pos_e", "y", "", None, None, "ned"),
        ("pd", "z", "", None, None, "ned"),
    ],
)  # fmt: skip
def test_a_name_says_which_number_of_a_pose_a_column_has(
    name: str,
    role: str,
    body: str,
    length: float | None,
    angle: str | None,
    convention: str | None,
) -> None:
    expected = (role, body, length, angle, convention, False)
    assert column_names.column_of(name) == expected


@pytest.mark.parametrize(
    "name",
    "vx v_x a_RS_S_y accel.x wind_z w_x q_error_x counter w position[3] [2] mean_yaw".split()
    + [""],
)
def test_a_name_of_something_else_is_no_number_of_a_pose(name: str) -> None:
    assert column_names.column_of(name) is None


@pytest.mark.parametrize(
    ("name", "is_time", "unit"),
    [
        ("time", True, None),
        ("t [s]", True, "s"),
        ("stamp_ns", True, "ns"),
        ("timestamp [us]", True, "us"),
        ("time_ms", True, "ms"),
        ("t_x", False, None),
        ("acc_time", False, None),
        ("stamp.nsec", False, None),
        ("x", False, None),
    ],
)
def test_a_name_says_that_a_column_has_times_and_in_which_unit(
    name: str, is_time: bool, unit: str | None
) -> None:
    assert column_names.is_time(name) == is_time
    assert column_names.time_unit(name) == unit


def test_nanoseconds_belong_to_the_seconds_of_their_stamp() -> None:
    of = column_names.are_nanoseconds_of
    assert of("header.stamp.nsec", "header.stamp.sec") and of("stamp_nanosec", "stamp_secs")
    assert not of("header.stamp.nsec", "other.stamp.sec")
    assert not of("header.stamp.nsec", "header.stamp") and not of(
        "header.stamp.sec", "header.stamp.sec"
    )


# mounting


def body(q: np.ndarray, **fields: Any) -> Samples:
    about = RecordingSummary("table")
    stamps = {"header_ns": None, "bag_ns": None, **fields}
    return Samples("x", about, p=np.zeros((2, 3)), q=np.tile(q, (2, 1)), **stamps)


@pytest.mark.parametrize("up", [0, 1, 2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_axis_that_points_most_upwards_is_the_vertical_one(up: int, sign: float) -> None:
    """The next of z, x, y looks forward; axes are right-handed."""
    R_WS = np.column_stack([np.eye(3)[(2 - up + k) % 3] for k in range(3)])
    assert R_WS[2, up] == 1.0
    if sign < 0.0:
        R_WS = np.diag([1.0, -1.0, -1.0]) @ R_WS
    R_SP, words = nearest_axes(euler.matrix_from_rpy([0.2, -0.3, 1.0]) @ R_WS)
    np.testing.assert_array_equal(R_SP[:, 2], sign * np.eye(3)[up])
    np.testing.assert_array_equal(R_SP[:, 0], np.eye(3)[2 if up < 2 else 0])
    assert np.linalg.det(R_SP) == pytest.approx(1.0)
    assert f"{'xyz'[up]} axis {'up' if sign > 0 else 'down'}" in words


def test_a_body_within_60_deg_of_upright_stands_and_keeps_its_axes() -> None:
    for tilt, stands in ((59.0, True), (61.0, False)):
        samples = body(so3.quaternion_from_matrix(euler.matrix_from_rpy_deg([0.0, tilt, 100.0])))
        mended = mounted(samples, "auto", follows=True)
        assert (mended is samples) == stands
        z = so3.matrix_from_quaternion(mended.q)[0, :, 2]
        assert stands or z[2] == pytest.approx(1.0)  # a file's body is mounted as at rest
        assert mounted(samples, "auto", follows=False) is samples


def test_a_bags_body_on_its_side_is_refused_with_its_tilt() -> None:
    q = so3.quaternion_from_matrix(euler.matrix_from_rpy_deg([0.0, 70.0, 30.0]))
    for mounting, stamps in (("auto", np.array([0, NS])), ("none", None)):
        with pytest.raises(BadInput, match="starts 70 deg off upwards"):
            mounted(body(q, bag_ns=stamps), mounting, follows=True)


def test_quaternions_that_stand_in_the_other_order_are_refused_with_it() -> None:
    with pytest.raises(BadInput, match="--quaternion wxyz"):
        mounted(body(np.array([1.0, 0.0, 0.0, 0.0])), "auto", follows=True)


def test_angles_of_a_mounting_turn_attitudes_and_rates() -> None:
    """A sensor that is yawed by 90 deg in the platform, which yaws and rolls with it."""
    w = np.array([[1.0, 2.0, 3.0]] * 2)
    mended = mounted(body(LEVEL, w=w, alpha=2.0 * w), "0,0,90", follows=True)
    yaw = euler.rpy_from_matrix(so3.matrix_from_quaternion(mended.q[0]))[2]
    assert np.degrees(yaw) == pytest.approx(-90.0)
    assert mended.w is not None and mended.alpha is not None
    np.testing.assert_allclose(mended.w[0], [-2.0, 1.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(mended.alpha[0], [-4.0, 2.0, 6.0], atol=1e-12)
    for text in ("1,2", "1,2,x", "1,2,nan", "1,2,3,4"):
        with pytest.raises(BadInput, match=f"--mounting {text}: auto, none, rest"):
            axes_by_angles("x", text)


# velocities


def recorded(
    v_scale: float = 1.0, w_scale: float = 1.0, v_off: float = 0.0, w_off: float = 0.0
) -> RecordedTrajectory:
    """East at 1 m/s and yawing at 0.8 rad/s, with velocities that err by a factor or an offset."""
    t = np.arange(0.0, 3.01, 0.05)
    half, zero, one = 0.4 * t, 0.0 * t, np.ones(len(t))
    q = np.stack([zero, zero, np.sin(half), np.cos(half)], axis=1)
    v = np.outer(one, [v_scale, v_off, 0.0])
    w = np.outer(one, [0.0, w_off, 0.8 * w_scale])
    return RecordedTrajectory(
        t, np.outer(t, [1.0, 0.0, 0.0]), q, "x", "header", 0,
        v_WP_W=v, w_WP_P=w, a_WP_W=v.copy(), alpha_WP_P=w.copy(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("errors", "linear", "angular"),
    [
        ({}, True, True),
        ({"v_scale": 1.19}, True, True),
        ({"v_scale": 0.79}, False, True),  # a fifth of the mean is too much
        ({"w_scale": 1.19}, True, True),
        ({"w_scale": 1.22}, True, False),
        ({"v_off": 0.21}, False, True),
        ({"w_off": 0.17}, True, False),
        ({"v_scale": 0.0, "w_scale": 0.0}, False, False),
    ],
)
def test_velocities_that_contradict_the_path_are_not_used(
    errors: dict[str, float], linear: bool, angular: bool
) -> None:
    kept = without_contradictions(recorded(**errors))
    assert [kept.v_WP_W is not None, kept.a_WP_W is not None] == [linear] * 2
    assert [kept.w_WP_P is not None, kept.alpha_WP_P is not None] == [angular] * 2
    assert len(kept.about.notes) == 2 - linear - angular


@pytest.mark.parametrize(
    ("v", "w", "linear", "angular"), [(0.049, 0.099, True, True), (0.051, 0.101, False, False)]
)
def test_a_body_at_rest_may_have_small_velocities(
    v: float, w: float, linear: bool, angular: bool
) -> None:
    t = np.arange(0.0, 3.01, 0.05)
    rest = RecordedTrajectory(
        t, np.zeros((len(t), 3)), np.tile(LEVEL, (len(t), 1)), "x", "header", 0,
        v_WP_W=np.full((len(t), 3), v / np.sqrt(3.0)), w_WP_P=np.full((len(t), 3), w / np.sqrt(3.0)),
    )  # fmt: skip
    kept = without_contradictions(rest)
    assert (kept.v_WP_W is not None, kept.w_WP_P is not None) == (linear, angular)


# clocks of two topics


def topic(start: float, delay: float | None, clock: Any = "header") -> RecordedTrajectory:
    t = np.array([0.0, 1.0])
    delay_ns = None if delay is None else round(delay * NS)
    return RecordedTrajectory(
        t, np.zeros((2, 3)), np.tile(LEVEL, (2, 1)), "x", clock, round(start * NS), delay_ns
    )


@pytest.mark.parametrize(
    ("one", "other", "offset", "note"),
    [
        (topic(10.0, 0.01), topic(12.5, 0.02), 2.5, None),
        (
            topic(10.0, 0.01),
            topic(12.5, 0.12),
            2.61,
            "0.110 s behind",
        ),  # delays a tenth of a second apart
        (topic(10.0, 0.31), topic(12.5, 0.01), 2.2, "0.300 s ahead of"),
        (topic(10.0, 0.01, "header"), topic(12.5, 0.02, "bag"), 2.51, None),
        (topic(10.0, None, "file"), topic(12.5, None, "file"), 2.5, None),
    ],
)
def test_two_topics_are_aligned_by_headers_or_else_by_reception(
    one: RecordedTrajectory, other: RecordedTrajectory, offset: float, note: str | None
) -> None:
    seconds, text = time_offset(one, other)
    assert seconds == pytest.approx(offset)
    assert text is None if note is None else note in (text or "")


def test_two_files_without_a_common_clock_are_not_aligned() -> None:
    with pytest.raises(ValueError, match="share no clock"):
        time_offset(topic(0.0, None, "file"), topic(0.0, 0.1, "header"))


# transforms


def test_a_transform_holds_for_a_tenth_of_a_second_beyond_its_times_and_is_fixed_within_a_millimetre() -> (
    None
):
    stamps = np.array([NS, 2 * NS])
    for change, is_fixed in ((0.99e-3, True), (1.01e-3, False)):
        poses = np.array([[0.0, 0.0, 0.0, *LEVEL], [change, 0.0, 0.0, *LEVEL]])
        assert _Edge(stamps, stamps, poses, is_static=False).is_fixed == is_fixed
    edge = _Edge(stamps, stamps + 7, np.array([[0.0, 0, 0, *LEVEL], [1.0, 0, 0, *LEVEL]]), False)
    at = np.array([0.899, 0.901, 2.099, 2.101]) * NS
    assert _at(edge, at.astype(np.int64))[1].tolist() == [False, True, True, False]
    np.testing.assert_array_equal(edge.stamps, stamps)
    unset = _Edge(np.array([0, 2 * NS]), stamps + 7, edge.poses, False)
    np.testing.assert_array_equal(
        unset.stamps, stamps + 7
    )  # times of reception, as one header is not set


# a part of a recording


def test_a_recording_is_cut_at_a_time_after_its_first_stamp(tmp_path: Any) -> None:
    file = tmp_path / "flight.csv"
    rows = [f"{5 * NS + k * NS // 10},{k}\n" for k in range(5)]
    file.write_text("#timestamp,k\n" + "".join(rows))
    part = cut(file, 0.2, tmp_path)
    assert part.read_text() == "#timestamp,k\n" + "".join(rows[2:]) and part != file
    assert cut(file, 0.3, tmp_path).read_text().count("\n") == 3
    with pytest.raises(BadInput, match="nothing after that time"):
        cut(file, 0.35, tmp_path)
    with pytest.raises(BadInput, match="no CSV file"):
        cut(tmp_path / "flight.tum", 0.2, tmp_path)

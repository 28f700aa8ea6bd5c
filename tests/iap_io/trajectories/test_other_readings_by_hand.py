# SPDX-License-Identifier: BSD-3-Clause
"""Scales, ranks of topics, maps between flights and other readings by numbers that are worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, NS, samples_of

from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_io.trajectories import (
    length_units,
    lone_clocks,
    table_rows,
    text_poses,
    topics,
)
from iap_io.trajectories import samples as sampling
from iap_io.trajectories.frame_comparison import _apart, _maps, _rms, _yaw_between
from iap_io.trajectories.other_readings import SampledMotion, misread_angles, readings
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.tum import tum_text

NO_TURN = (0.0, 0.0, 0.0, 1.0)


def test_samples_of_usable_numbers_are_scaled_from_their_first():
    samples = replace(samples_of([[1e3, 2e3, 0.0], [3e3, 2e3, 0.0]]), v=np.ones((2, 3)))
    scaled = sampling.scaled(samples, PoseReading(scale=0.01, origin="first"))
    assert (
        scaled.p.tolist() == [[0.0, 0.0, 0.0], [20.0, 0.0, 0.0]]
        and scaled.v.tolist() == [[0.01] * 3] * 2
    )
    each = sampling.scaled(samples, PoseReading(scale=(1.0, 2.0, 3.0)))
    assert each.p[0].tolist() == [1e3, 4e3, 0.0] and each.about.scale == (1.0, 2.0, 3.0)
    far = samples_of([[0.0, -2e6, 0.0], [0.0, 0.0, 0.0]])
    with pytest.raises(
        BadInput,
        match=r"^table.csv: positions of up to 2e\+06 m: UTM or the like\? --origin first",
    ):
        sampling.scaled(far, NOTHING_SAID)
    signs = sampling.continuous(
        np.array([[0, 0, 0, 1.0], [0, 0, 0, -1.0], [0, 0, 1, -0.1], [0, 0, 1.0, 0]])
    )
    assert signs[:, 3].tolist() == [1.0, 1.0, 0.1, 0.0] and signs[3, 2] == -1.0
    with pytest.raises(BadInput, match=r"^a: sample 1: y is inf; b$"):
        sampling.check_finite("a", np.array([[0.0, 1.0], [2.0, np.inf]]), ("x", "y"), remedy="; b")
    assert sampling.is_usable(np.array([[1.0, -2.0], [1.0, 2.1]]), 2.0).tolist() == [True, False]


def test_an_axis_alone_and_the_option_of_its_unit():
    samples = samples_of(np.zeros((2, 3)))
    assert length_units._alone(samples, np.array([1.0, 11.0, 0.5])) == "y"
    assert length_units._alone(samples, np.array([1.2, 11.0, 0.5])) == ""
    assert length_units._alone(samples, np.array([0.04, 11.0, 0.0])) == ""
    given = replace(samples, about=replace(samples.about, scale=0.5))
    assert length_units._alone(given, np.array([1.0, 11.0, 0.5])) == ""
    assert length_units._scale_option(0.001, "y") == "--scale 1,0.001,1"
    assert length_units._scale_option(0.01, "") == "--scale 0.01"


@pytest.mark.parametrize(
    ("written", "digits", "expected"),
    [
        (["23:59:59", "00:00:01"], ["100", "-5"], ["100", "-5"]),
        (["59:59.0", "00:01.0"], [str(3_599 * NS), str(NS)], [str(3_599 * NS), str(3_601 * NS)]),
        (["23:59:59", "00:00:01", "00:00:02"], [str(86_399 * NS), str(NS), str(2 * NS)],
         [str(86_399 * NS), str(86_401 * NS), str(86_402 * NS)]),
        (["2024-01-01T00:00:00", "00:00"], ["5", "-1"], ["5", "-1"]),
    ],
)  # fmt: skip
def test_times_of_day_go_on(written, digits, expected):
    found = table_rows.unwrapped(written, list(enumerate(digits)))
    assert [text for _, text in found] == expected and [k for k, _ in found] == list(
        range(len(written))
    )


def test_tables_are_told_by_their_cells():
    assert text_poses._cells("1;2,5; 3") == ["1", "2.5", "3"] and text_poses._cells("1, 2  3") == [
        "1",
        "2",
        "3",
    ]
    assert text_poses._is_turn("1 0 0 5 0 1 0 5 0 0 1 5".split())
    assert not text_poses._is_turn("1 0 0 5 0 2 0 5 0 0 1 5".split())
    assert text_poses._named_cells("a; b,c") == ["a", "b,c"] and text_poses._named_cells(
        "a, b"
    ) == ["a", "b"]
    assert (
        text_poses._length(["t", "x [mm]", "y [mm]", "z [mm]"]) == 0.001
        and text_poses._length(["t", "x"]) == 1.0
    )
    assert tum_text(np.array([1.5]), np.arange(7.0)[None] / 3.0) == (
        "1.500000000 0.000000000 0.333333333 0.666666667 1.000000000 1.333333333 1.666666667 2.000000000\n"
    )


def test_ranks_of_topics_follow_their_words_and_types():
    pose, odometry = "geometry_msgs/msg/PoseStamped", "nav_msgs/msg/Odometry"

    def rank(name, kind=pose):
        return topics._rank(topics.PoseTopic(name, kind))

    assert (
        rank("/iap/reference") == 0
        and rank("/iap/reference/pose") == 1
        and rank("/drone/cmd_pose") == 2
    )
    assert rank("/a", "iap_msgs/msg/PlatformReference") == 3 and rank("/a", odometry) == 4 == rank(
        "/commander"
    )
    assert (
        rank("/a", "geometry_msgs/msg/PoseWithCovarianceStamped")
        == 5
        < rank("/a", "nav_msgs/msg/Path")
    )
    assert rank("/landing_target/reference") == topics._THING
    assert topics.words_of("/droneA/cmdPose2") == [{"drone", "a"}, {"cmd", "pose"}]
    listed = {f"/t{k:02d}": topics.Topic(pose, k) for k in range(21)}
    text = topics.listing(listed)
    assert text.startswith(
        "/t00 (geometry_msgs/PoseStamped, no messages), /t01 (geometry_msgs/PoseStamped), "
    )
    assert (
        text.endswith("/t19 (geometry_msgs/PoseStamped), and 1 more")
        and topics.listing({}) == "no topics"
    )


def test_maps_between_a_flight_and_its_command():
    rng = np.random.default_rng(1)
    p = rng.normal(size=(50, 3))
    turn = so3.exp(np.array([0.0, 0.0, 0.5]))
    assert _yaw_between(p, p @ turn.T) == pytest.approx(0.5)
    assert _rms(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0]])) == pytest.approx(np.sqrt(12.5))
    (last,) = list(_maps(p, p @ turn.T + [0.1, 0.0, 0.0]))[-1:]
    assert last.turns and last.left == pytest.approx(0.0, abs=1e-12)
    assert last.text == "after a turn of -29 deg about the vertical and a shift"
    shift = next(each for each in _maps(p, p + [1.0, 0.0, -2.0]) if "shifted" in each.text)
    assert (
        shift.text == "if it is shifted by (-1.00, 0.00, 2.00) m"
        and not shift.turns
        and shift.left < 1e-12
    )
    assert not any("shifted" in each.text for each in _maps(p, p + [0.49, 0.0, 0.0]))
    a, b = (
        so3.quaternion_exp(np.array([[0.1, 0.0, 0.0]])),
        so3.quaternion_exp(np.array([[0.4, 0.0, 0.0]])),
    )
    np.testing.assert_allclose(_apart(a, b), [[0.3, 0.0, 0.0]], atol=1e-12)


def test_other_readings_are_named_by_their_options():
    R = so3.matrix_from_quaternion(euler.quaternions_from_rpy(np.array([[0.1, 0.2, 0.3]])))
    motion, samples = SampledMotion(np.array([[1.0, 2.0, 3.0]]), R), samples_of(np.zeros((2, 3)))
    found = dict(readings(motion, samples))
    assert len([each for each in found if each.startswith("--convention")]) == 7
    np.testing.assert_allclose(found["--convention ned"].p, [[2.0, 1.0, -3.0]])
    assert found["--scale 0.0254"].p.tolist() == [[0.0254, 0.0508, pytest.approx(0.0762)]]
    assert [each for each in found if "quaternion" in each] == [
        "--quaternion inverse-pose", "--quaternion wxyz", "--quaternion inverse",
    ]  # fmt: skip
    np.testing.assert_allclose(found["--quaternion inverse"].R, np.swapaxes(R, 1, 2), atol=1e-12)
    inverse = found["--quaternion inverse-pose"]
    np.testing.assert_allclose(inverse.p[0] + inverse.R[0] @ motion.p[0], 0.0, atol=1e-12)
    angles = replace(samples, about=replace(samples.about, angles="deg", scale=(1.0, 1.0, 2.0)))
    found = dict(readings(motion, angles))
    assert not any("scale" in each or "quaternion" in each for each in found)
    turned = so3.matrix_from_quaternion(euler.quaternions_from_rpy(np.degrees([[0.1, 0.2, 0.3]])))
    np.testing.assert_allclose(found["--angles rad"].R, turned, atol=1e-9)
    mended = {name: so3.euler_from_matrix(each.R)[0] for name, each in misread_angles(motion)}
    np.testing.assert_allclose(mended["the opposite yaw"], [0.1, 0.2, -0.3], atol=1e-12)
    np.testing.assert_allclose(mended["roll and pitch exchanged"], [0.2, 0.1, 0.3], atol=1e-12)
    np.testing.assert_allclose(mended["roll and yaw exchanged"], [0.3, 0.2, 0.1], atol=1e-12)


def test_a_way_through_samples_is_shorter_in_their_own_order():
    samples = samples_of(np.outer(np.arange(6.0), [1.0, 0.0, 0.0]))
    own, other = np.arange(6), np.array([0, 1, 3, 2, 4, 5])
    assert (
        lone_clocks._way(samples, own) == 5.0
        and lone_clocks._way(samples, np.argsort(other)) == 7.0
    )
    assert lone_clocks.is_shorter(samples, own, other) and not lone_clocks.is_shorter(
        samples, other, own
    )
    assert (
        not lone_clocks.is_shorter(samples, own, own)
        and lone_clocks._distance(samples, 1, 5) == 4.0
    )
    assert lone_clocks._steps(samples, 6, 2).tolist() == [1.0, 2.0, 2.0, 2.0, 2.0]

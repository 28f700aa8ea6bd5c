# SPDX-License-Identifier: BSD-3-Clause
"""Stamps and topics of recordings that are replayed."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from flight_bags import START_NS, BagMaker, Motion, motion
from refusals import refusal

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.messages import POINT
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.recorded import RecordedTrajectory, time_offset, without_contradictions
from iap_io.trajectories.topics import PoseTopic, Topic, choose

POSE = "geometry_msgs/msg/PoseStamped"
ODOMETRY = "nav_msgs/msg/Odometry"
REFERENCE = "iap_msgs/msg/PlatformReference"


def read(
    maker: BagMaker, m: Motion, headers: list[int], received: list[int] | None = None
) -> RecordedTrajectory:
    """Write and read PoseStamped with these header stamps and times of reception."""
    poses = [maker.pose_stamped(s, p, q) for s, p, q in zip(headers, m.p, m.q, strict=True)]
    topic = list(zip(received or m.stamps, poses, strict=True))
    return read_recorded(maker.write({"/command": (POSE, topic)}))


def test_header_stamps_count_when_they_are_set(mcap: BagMaker, flight: Motion) -> None:
    headers = [stamp - 5 * START_NS // 10 for stamp in flight.stamps]
    jittered = [stamp + 3_000_000 * (k % 3) for k, stamp in enumerate(flight.stamps)]
    recorded = read(mcap, flight, headers, jittered)
    assert (recorded.clock, recorded.start_ns) == ("header", headers[0])
    assert recorded.delay_ns == START_NS - headers[0] + 3_000_000
    np.testing.assert_allclose(recorded.t, flight.t, atol=1e-8)


def test_simulation_time_starts_at_zero(mcap: BagMaker, flight: Motion) -> None:
    recorded = read(mcap, flight, [stamp - START_NS for stamp in flight.stamps])
    assert (recorded.clock, recorded.start_ns) == ("header", 0)


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        (lambda stamps: [0] * len(stamps), "are not set"),
        (lambda stamps: stamps[:200] + [s - 5 * 10**9 for s in stamps[200:]], "jump back"),
        (lambda stamps: [s // 10**9 * 10**9 for s in stamps], r"stand still for up to 0.9"),
        (lambda stamps: [min(s, stamps[200]) for s in stamps], "stand still for up to 4.9"),
    ],
)
def test_time_of_reception_counts_where_header_stamps_do_not(
    mcap: BagMaker,
    flight: Motion,
    caplog: pytest.LogCaptureFixture,
    headers: Callable[[list[int]], list[int]],
    fault: str,
) -> None:
    recorded = read(mcap, flight, headers(flight.stamps))
    assert (recorded.clock, recorded.start_ns) == ("bag", START_NS)
    np.testing.assert_allclose(recorded.t, flight.t, atol=1e-8)
    assert re.search(fault, caplog.text)


def test_messages_that_arrive_in_bursts_are_no_drift(mcap: BagMaker, flight: Motion) -> None:
    received = [START_NS + int(np.ceil(3.0 * t + 1e-9) / 3.0 * 1e9) for t in flight.t]
    recorded = read(mcap, flight, flight.stamps, received)
    assert recorded.clock == "header"
    np.testing.assert_allclose(recorded.t, flight.t, atol=1e-8)


def test_a_bag_that_was_written_at_once_has_the_time_of_its_headers(
    mcap: BagMaker, flight: Motion
) -> None:
    begin = 5 * START_NS
    received = [begin + (stamp - START_NS) // 1000 for stamp in flight.stamps]
    recorded = read(mcap, flight, flight.stamps, received)
    assert recorded.clock == "header"
    np.testing.assert_allclose(recorded.t, flight.t, atol=1e-8)


def test_the_order_in_which_a_body_goes_the_shorter_way_is_right(
    mcap: BagMaker, flight: Motion, caplog: pytest.LogCaptureFixture
) -> None:
    order = np.r_[0:200, 239:199:-1, 240 : len(flight.t)]
    headers = [flight.stamps[k] for k in order]
    shuffled = replace(flight, p=flight.p[order], q=flight.q[order])
    recorded = read(mcap, shuffled, headers, flight.stamps)
    assert recorded.clock == "header"
    np.testing.assert_allclose(recorded.p_WP_W, flight.p, atol=1e-9)
    assert "39 stamps out of order: the samples were sorted" in caplog.text


def test_reordered_samples_are_sorted(
    mcap: BagMaker, flight: Motion, caplog: pytest.LogCaptureFixture
) -> None:
    order = np.arange(len(flight.t))
    order[[100, 101]] = order[[101, 100]]
    shuffled = Motion(*(x[order] for x in vars(flight).values()))
    recorded = read(mcap, shuffled, shuffled.stamps, flight.stamps)
    np.testing.assert_allclose(recorded.p_WP_W, flight.p, atol=1e-12)
    assert "1 stamp out of order" in caplog.text


def test_first_of_equal_stamps_stays(
    mcap: BagMaker, flight: Motion, caplog: pytest.LogCaptureFixture
) -> None:
    headers = flight.stamps
    headers[50] = headers[49]
    recorded = read(mcap, flight, headers)
    np.testing.assert_allclose(recorded.p_WP_W, np.delete(flight.p, 50, axis=0), atol=1e-12)
    assert "1 sample of a stamp that others have" in caplog.text


def without(m: Motion, begin: float, end: float) -> Motion:
    """The motion less its samples within (begin, end)."""
    kept = (m.t <= begin + 1e-9) | (m.t >= end - 1e-9)
    return Motion(*(x[kept] for x in vars(m).values()))


def test_gaps_are_bridged_up_to_a_second(
    mcap: BagMaker, flight: Motion, caplog: pytest.LogCaptureFixture
) -> None:
    m = without(flight, 4.0, 4.9)
    assert len(read(mcap, m, m.stamps).t) == len(m.t)
    assert "no sample for 0.90 s after t = 4.000 s" in caplog.text


def test_longer_gaps_are_refused(mcap: BagMaker, flight: Motion) -> None:
    m = without(flight, 4.0, 5.1)
    with pytest.raises(
        BadInput, match=r"flight: topic /command: no sample for 1.10 s after t = 4"
    ):
        read(mcap, m, m.stamps)


def test_offset_of_two_topics_is_by_their_stamps(mcap: BagMaker, flight: Motion) -> None:
    late = without(flight, -1.0, 2.0)
    path = mcap.write({"/reference": mcap.poses(flight), "/actual": mcap.poses(late)})
    reference, actual = (read_recorded(path, topic=topic) for topic in ("/reference", "/actual"))
    assert time_offset(reference, actual) == (pytest.approx(2.0, abs=1e-9), None)
    by_bag = replace(actual, clock="bag")
    assert time_offset(reference, by_bag) == (pytest.approx(2.0, abs=1e-9), None)


def carrying(m: Motion, v: np.ndarray, w: np.ndarray) -> RecordedTrajectory:
    """The motion as a recording with these velocities."""
    return RecordedTrajectory(m.t, m.p, m.q, "flight", "header", 0, None, v, w, m.a, m.alpha)


def test_noisy_velocities_are_kept(flight: Motion) -> None:
    noise = np.random.default_rng(1).normal(0.0, 0.1, (2, len(flight.t), 3))
    recorded = without_contradictions(carrying(flight, flight.v + noise[0], flight.w + noise[1]))
    assert recorded.v_WP_W is not None
    assert recorded.w_WP_P is not None


@pytest.mark.parametrize("fault", ["unset", "wrong axes"])
def test_velocities_that_contradict_the_pose_are_dropped(flight: Motion, fault: str) -> None:
    v = so3.rotate(so3.conjugate(flight.q), flight.v) if fault == "wrong axes" else 0.0 * flight.v
    w = so3.rotate(flight.q, flight.w) if fault == "wrong axes" else 0.0 * flight.w
    recorded = without_contradictions(carrying(flight, v, w))
    assert recorded.v_WP_W is None
    assert recorded.a_WP_W is None
    assert recorded.w_WP_P is None
    assert recorded.alpha_WP_P is None
    assert " ".join(recorded.about.notes).count("contradicts the pose") == 2


def test_short_recordings_are_judged_too() -> None:
    m = motion(np.array([0.0, 0.02]))
    assert without_contradictions(carrying(m, m.v, m.w)).v_WP_W is not None


def topics(**types: str) -> dict[str, Topic]:
    """Topics with 100 messages each; two underscores stand for a slash."""
    return {"/" + name.replace("__", "/"): Topic(kind, 100) for name, kind in types.items()}


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (topics(a__b=POSE, imu="sensor_msgs/msg/Imu"), PoseTopic("/a/b", POSE)),
        (topics(odom=ODOMETRY, reference__pose=POSE), PoseTopic("/reference/pose", POSE)),
        (
            topics(iap__reference=REFERENCE, iap__reference__revised=REFERENCE, odom=ODOMETRY),
            PoseTopic("/iap/reference", REFERENCE),
        ),
        (
            topics(mavros__setpoint_position__local=POSE, mavros__local_position__pose=POSE),
            PoseTopic("/mavros/setpoint_position/local", POSE),
        ),
        (
            topics(
                nominal_position=POINT,
                nominal_euler_angles=POINT,
                main_position=POINT,
                main_euler_angles=POINT,
                main_velocity=POINT,
            ),
            PoseTopic("/nominal_position", POINT, "/nominal_euler_angles"),
        ),
        (topics(p=POINT, rpy=POINT), PoseTopic("/p", POINT, "/rpy")),
        *(
            (
                topics(**{thing: POSE, "uav1__odometry__imu": ODOMETRY}),
                PoseTopic("/uav1/odometry/imu", ODOMETRY),
            )
            for thing in (
                "mavros__landing_target__pose",
                "commander__home_pose",
                "reference_station__pose",
                "gimbal__command__pose",
                "aruco__pose",
            )
        ),
        (
            topics(commander__pose_reference=POSE, odom=POSE),
            PoseTopic("/commander/pose_reference", POSE),
        ),
        (topics(cmdPose=POSE, odom=POSE), PoseTopic("/cmdPose", POSE)),
        (
            topics(plan="trajectory_msgs/msg/MultiDOFJointTrajectory", odom=ODOMETRY),
            PoseTopic("/plan", "trajectory_msgs/msg/MultiDOFJointTrajectory"),
        ),
    ],
)
def test_the_most_specific_name_wins(held: dict[str, Topic], expected: PoseTopic) -> None:
    assert choose("bag", held, None) == expected


def test_a_target_may_be_a_thing_so_the_user_is_asked() -> None:
    with pytest.raises(BadInput, match="several topics could be the command"):
        choose("bag", topics(target__pose=POSE, drone__pose=POSE), None)


def test_topics_without_messages_do_not_count() -> None:
    held = topics(a=POSE) | {"/reference": Topic(POSE, 0)}
    assert choose("bag", held, None).topic == "/a"


def test_a_lone_message_is_no_flight_beside_topics_of_many() -> None:
    assert choose("bag", topics(a=POSE) | {"/goal": Topic(POSE, 1)}, None).topic == "/a"
    assert choose("bag", {"/goal": Topic(POSE, 1)}, None).topic == "/goal"


def test_several_equal_topics_are_listed() -> None:
    held = topics(a__reference=REFERENCE, b__reference=REFERENCE, odom=ODOMETRY)
    line = refusal(choose, "bag", held, None)
    assert line == (
        "bag: several topics could be the command; choose one with --topic: "
        "/a/reference (iap_msgs/PlatformReference), /b/reference (iap_msgs/PlatformReference)"
    )


@pytest.mark.parametrize(
    ("held", "wanted", "words"),
    [
        (
            topics(imu="sensor_msgs/msg/Imu"),
            None,
            ["no topic with poses", "/imu (sensor_msgs/Imu)"],
        ),
        ({}, None, ["no topics"]),
        (topics(p=POINT), None, ["no topic with poses", "/p (geometry_msgs/Point)"]),
        (topics(pose=POSE), "odom", ["no topic odom", "/pose (geometry_msgs/PoseStamped)"]),
        (
            topics(imu="sensor_msgs/msg/Imu"),
            "/imu",
            ["/imu is of type sensor_msgs/Imu", "a replay reads"],
        ),
        (topics(p_0=POINT, rpy_0=POINT), "/rpy_0", ["/rpy_0 holds angles"]),
        (topics(p=POINT, a=POINT, b=POINT), "/p", ["/p has no partner with Euler angles"]),
        ({"/e": Topic(POSE, 0)}, None, ["/e (geometry_msgs/PoseStamped, no messages)"]),
    ],
)
def test_what_cannot_be_replayed_is_said(
    held: dict[str, Topic], wanted: str | None, words: list[str]
) -> None:
    line = refusal(choose, "bag", held, wanted)
    for word in ["bag: ", *words]:
        assert word in line


def test_a_killed_recorder_is_named_where_it_has_left_no_poses() -> None:
    line = refusal(choose, "bag", {"/e": Topic(POSE, 0)}, None, ("it has no end",))
    assert "no topic with poses; it has no end; it holds /e" in line

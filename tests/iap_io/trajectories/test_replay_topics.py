# SPDX-License-Identifier: BSD-3-Clause
"""Which topic is taken for the command."""

import pytest

from iap_description.errors import BadInput
from iap_io.trajectories.messages import POINT
from iap_io.trajectories.topics import PoseTopic, Topic, choose

POSE, ODOMETRY = "geometry_msgs/msg/PoseStamped", "nav_msgs/msg/Odometry"
REFERENCE = "iap_msgs/msg/PlatformReference"


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
    ],
)
def test_the_most_telling_name_wins(held: dict[str, Topic], expected: PoseTopic) -> None:
    assert choose("bag", held, None) == expected


def test_topics_without_messages_do_not_count() -> None:
    held = topics(a=POSE) | {"/reference": Topic(POSE, 0)}
    assert choose("bag", held, None).topic == "/a"


def test_several_equal_topics_are_listed() -> None:
    held = topics(a__reference=REFERENCE, b__reference=REFERENCE, odom=ODOMETRY)
    with pytest.raises(BadInput) as caught:
        choose("bag", held, None)
    assert str(caught.value) == (
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
    with pytest.raises(BadInput) as caught:
        choose("bag", held, wanted)
    for word in ["bag: ", *words]:
        assert word in str(caught.value)

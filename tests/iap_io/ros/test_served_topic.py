# SPDX-License-Identifier: BSD-3-Clause
"""Topics that newcomers have while time stands."""

import time

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
from iap_io.ros.served_topic import FIRST_REPEAT, LAST_REPEAT, ServedTopic


class Listeners:
    """Stands in for a publisher that knows its subscribers."""

    def __init__(self, count):
        self.count = count

    def get_subscription_count(self):
        return self.count


class WallClock:
    def __init__(self, monkeypatch):
        self.t = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.t)

    def dues(self, topic, stamp, seconds):
        """Number of times that a stamp is due in some seconds, asked for every hundredth."""
        count = 0
        for _ in range(round(100 * seconds)):
            self.t += 0.01
            count += topic.is_due(stamp)
        return count


@pytest.fixture
def wall(monkeypatch):
    return WallClock(monkeypatch)


def test_nobody_has_nothing(wall):
    assert wall.dues(ServedTopic(Listeners(0)), 0, 5.0) == 0


def test_each_stamp_is_due_once_for_those_that_were_there(wall):
    topic = ServedTopic(Listeners(2))
    wall.dues(topic, 0, 10.0)
    assert [wall.dues(topic, stamp, 3.0) for stamp in (10, 20, 30)] == [1, 1, 1]


def test_a_newcomer_has_the_present_several_times_ever_more_rarely(wall):
    listeners = Listeners(1)
    topic = ServedTopic(listeners)
    wall.dues(topic, 0, 10.0)
    assert wall.dues(topic, 0, 10.0) == 0
    listeners.count = 2
    first = wall.dues(topic, 0, 2.0 * FIRST_REPEAT)
    later = wall.dues(topic, 0, 2.0 * LAST_REPEAT)
    assert (first, later) == (2, 4)
    assert wall.dues(topic, 0, 60.0) == 0


def test_who_leaves_makes_nothing_due(wall):
    listeners = Listeners(2)
    topic = ServedTopic(listeners)
    wall.dues(topic, 0, 10.0)
    listeners.count = 1
    assert wall.dues(topic, 0, 10.0) == 0

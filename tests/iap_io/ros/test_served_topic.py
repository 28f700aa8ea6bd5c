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

    def dues(self, topic, seconds):
        """Number of times that a message is due again in some seconds, asked for every hundredth."""
        count = 0
        for _ in range(round(100 * seconds)):
            self.t += 0.01
            count += topic.is_due(again=True)
        return count


@pytest.fixture
def wall(monkeypatch):
    return WallClock(monkeypatch)


def test_nobody_has_nothing(wall):
    topic = ServedTopic(Listeners(0))
    assert not topic.is_due(again=False)
    assert wall.dues(topic, 5.0) == 0


def test_all_have_what_is_new(wall):
    topic = ServedTopic(Listeners(2))
    wall.dues(topic, 10.0)
    assert [topic.is_due(again=again) for again in (False, False, True)] == [True, True, False]


def test_a_newcomer_has_the_present_several_times_ever_more_rarely(wall):
    listeners = Listeners(1)
    topic = ServedTopic(listeners)
    wall.dues(topic, 10.0)
    assert wall.dues(topic, 10.0) == 0
    listeners.count = 2
    first = wall.dues(topic, 2.0 * FIRST_REPEAT)
    later = wall.dues(topic, 2.0 * LAST_REPEAT)
    assert (first, later) == (2, 4)
    assert wall.dues(topic, 60.0) == 0


def test_who_leaves_makes_nothing_due(wall):
    listeners = Listeners(2)
    topic = ServedTopic(listeners)
    wall.dues(topic, 10.0)
    listeners.count = 1
    assert wall.dues(topic, 10.0) == 0

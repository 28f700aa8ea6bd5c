# SPDX-License-Identifier: BSD-3-Clause
"""States of one instant find each other, sensors are due once a period, and the rate that they keep is told."""

import math

from iap_io.ros.statistics import RateMonitor
from iap_io.ros.synchronizer import RateSchedule, TimeSynchronizer

MS = 1_000_000  # [ns]


def test_an_instant_is_reported_once_everyone_has_spoken():
    both = TimeSynchronizer(2)
    assert both.take(0, 5 * MS, 1, "a") is None
    instant = both.take(1, 5 * MS, 1, "b")
    assert (instant.stamp, instant.k, instant.parts) == (5 * MS, 1, ("a", "b"))


def test_one_source_alone_is_complete_at_once():
    assert TimeSynchronizer(1).take(0, 0, 0, "a").parts == ("a",)


def test_older_instants_that_lack_a_source_are_dropped():
    both = TimeSynchronizer(2)
    both.take(0, 5 * MS, 1, "a1")
    both.take(0, 10 * MS, 2, "a2")
    assert both.take(1, 10 * MS, 2, "b2").parts == ("a2", "b2")
    assert both.take(1, 5 * MS, 1, "b1") is None


def test_what_comes_again_is_reported_again():
    both = TimeSynchronizer(2)
    for _ in range(2):
        assert both.take(0, 0, 0, "a") is None
        assert both.take(1, 0, 0, "b").stamp == 0


def test_after_a_reset_nothing_of_before_is_left():
    both = TimeSynchronizer(2)
    both.take(0, 5 * MS, 1, "a1")
    both.take(1, 5 * MS, 1, "b1")
    both.take(0, 10 * MS, 2, "old")
    both.take(0, 0, 0, "a0")
    assert both.take(1, 0, 0, "b0").parts == ("a0", "b0")
    both.take(1, 10 * MS, 2, "b2")
    assert both.take(0, 10 * MS, 2, "a2").parts == ("a2", "b2")


def test_a_sensor_is_due_once_in_its_period_even_where_instants_are_missing():
    rounds = RateSchedule([1, 10])
    assert rounds.due(0) == [0, 1]
    assert [rounds.due(k) for k in (1, 9)] == [[0], [0]]
    assert rounds.due(13) == [0, 1]
    assert rounds.due(19) == [0]
    assert rounds.due(20) == [0, 1]
    rounds.reset()
    assert rounds.due(0) == [0, 1]


def test_the_rate_kept_is_that_of_the_stamps():
    kept = RateMonitor(20.0)
    assert math.isnan(kept.rate(0))
    for k in range(100):
        kept.add(50 * MS * k)
    assert kept.rate(4950 * MS) == 20.0
    assert not kept.is_short(4950 * MS)


def test_a_sensor_that_falls_silent_is_short():
    kept = RateMonitor(20.0)
    for k in range(41):
        kept.add(50 * MS * k)
    assert not kept.is_short(2000 * MS)
    assert kept.rate(3000 * MS) == 10.0
    assert kept.is_short(3000 * MS)
    kept.reset()
    assert not kept.is_short(9000 * MS)

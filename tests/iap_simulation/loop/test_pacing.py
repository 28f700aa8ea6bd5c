# SPDX-License-Identifier: BSD-3-Clause
"""Real time: when a period is due, how long it waits for commands, and how a lag is made up for."""

import math

import pytest

from iap_io.ros.statistics import RecentValues
from iap_physics.nodes.metronome import Metronome

PERIOD = 0.005


class Wall:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def wall():
    return Wall()


def beats(metronome, wall, duration, ready=lambda: True):
    count, end = 0, wall.now + duration
    while wall.now < end:
        wall.now += 0.5 * PERIOD
        count += metronome.beat(ready=ready())
    return count


def test_it_keeps_the_rate(wall):
    metronome = Metronome(PERIOD, wall)
    assert not metronome.beat(ready=True)
    assert beats(metronome, wall, 10.0) == pytest.approx(2000, abs=1)
    assert metronome.missed == 0


def test_a_command_on_its_way_is_waited_for_but_not_for_longer_than_a_period(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    wall.now += 1.2 * PERIOD
    assert not metronome.beat(ready=False)
    assert metronome.beat(ready=True)
    wall.now += 1.9 * PERIOD
    assert metronome.beat(ready=False)


def test_a_lag_is_made_up_for_as_fast_as_commands_come(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    wall.now += 10.5 * PERIOD
    count = 0
    while metronome.beat(ready=True):
        wall.now += 0.1 * PERIOD
        count += 1
    assert count >= 10
    assert metronome.missed == pytest.approx(9, abs=1)


def test_after_a_long_stop_time_goes_on_from_there(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    wall.now += 60.0
    assert metronome.beat(ready=True)
    assert beats(metronome, wall, 1.0) == pytest.approx(200, abs=1)


def test_a_pause_is_not_made_up_for(wall):
    metronome = Metronome(PERIOD, wall)
    metronome.beat(ready=True)
    metronome.stop()
    wall.now += 0.1
    assert not metronome.beat(ready=True)
    assert beats(metronome, wall, 1.0) == pytest.approx(200, abs=1)


def test_percentiles_are_of_the_last_values():
    window = RecentValues(length=10)
    assert math.isnan(window.percentile(50))
    for value in range(100):
        window.add(value)
    assert window.percentile(0) == 90.0
    assert window.percentile(50) == 94.5

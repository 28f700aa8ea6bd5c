# SPDX-License-Identifier: BSD-3-Clause
"""A loop that is held back to the wall clock, and the mean wall time of its steps, by a clock that is made up."""

from types import SimpleNamespace
from typing import Any

import pytest

from iap_simulation.loop import pacing
from iap_simulation.loop.pacing import StepTimer, WallClock


class Clock:
    """A wall clock that goes on while anybody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, list[float]()

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pacing, "time", made)
    return made


def test_steps_wait_for_the_wall_clock_from_the_first_one_on_and_late_ones_do_not(clock) -> None:
    wall = WallClock()

    def record(t: float) -> None:
        step: Any = SimpleNamespace(t=t)
        wall.record(0, step)

    record(2.0)
    assert clock.slept == []  # the clock is the step's
    clock.now += 0.1
    record(2.25)
    assert clock.slept == pytest.approx([0.15]) and clock.now == pytest.approx(100.25)
    clock.now += 1.0
    record(2.5)
    assert len(clock.slept) == 1  # 0.75 s late
    record(3.5)
    assert clock.slept[1] == pytest.approx(0.25)


def test_a_mean_is_over_steps_of_all_vehicles_in_microseconds(clock) -> None:
    timer = StepTimer()
    assert timer.mean_us == 0.0
    for seconds, steps in ((0.002, 1), (0.004, 2)):
        timer.start()
        clock.now += seconds
        timer.stop(steps)
        clock.now += 5.0  # does not count
        assert timer.mean_us == pytest.approx(2000.0)

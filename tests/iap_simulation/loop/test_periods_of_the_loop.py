# SPDX-License-Identifier: BSD-3-Clause
"""Periods of the loop: those that are flown in one go, reports of progress, agents' time, and places of a touch."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_control.controllers.estimate_failsafe import Failsafe
from iap_description.errors import BadInput, FlightFailed
from iap_description.signals import Reference
from iap_description.states import Command, Level, Mode
from iap_simulation.loop import pacing
from iap_simulation.loop.agents import ProgramAgent
from iap_simulation.loop.closed_loop import ClosedLoop
from iap_simulation.loop.estimate_monitor import EstimateGuidance, EstimateMonitor


class CountedLoop(ClosedLoop):
    """A loop whose periods are noted only."""

    def __init__(self, last: int, observers: Sequence[Any] = ()) -> None:
        plant: Any = SimpleNamespace(t=0.0)
        vehicle: Any = SimpleNamespace(timeline=SimpleNamespace(last=last))
        super().__init__(plant, [vehicle], observers=observers)
        self.controlled: list[int] = []

    def control(self) -> None:
        self.controlled.append(self.k)

    def advance(self) -> None:
        self.k += 1
        self.plant.t = 0.01 * self.k


class Rows:
    """Flies as it is asked; keeps what was asked."""

    def __init__(self, ends: int | None = None) -> None:
        self.asked: list[tuple[int, int]] = []
        self.seen: list[int] = []
        self.ends = ends

    def fly(self, k: int, periods: int) -> tuple[Any, FlightFailed | None]:
        self.asked.append((k, periods))
        count = periods if self.ends is None else min(periods, self.ends - k + 1)
        failure = FlightFailed("crashed", 0.0, "x") if count < periods else None
        return SimpleNamespace(k=np.arange(k, k + count)), failure

    def record(self, vehicle: int, step: Any) -> None:
        raise AssertionError

    def record_rows(self, vehicle: int, rows: Any) -> None:
        assert vehicle == 0
        self.seen += rows.k.tolist()


def test_periods_between_reports_of_progress_are_flown_in_one_go() -> None:
    fast, told = Rows(), list[float]()
    loop = CountedLoop(120, [fast])
    loop.fly(told.append, fast)
    assert fast.asked == [(1, 49), (51, 49), (101, 19)]
    assert loop.controlled == [0, 50, 100, 120] and loop.fast_periods == 49 + 49 + 19
    assert sorted(fast.seen + loop.controlled) == list(range(121))
    assert told == pytest.approx([0.01, 0.51, 1.01])


def test_without_those_that_fly_fast_every_period_is_flown_by_the_loop() -> None:
    loop, told = CountedLoop(101), list[float]()
    loop.fly(told.append)
    assert loop.controlled == list(range(102)) and loop.k == 101
    assert told == pytest.approx([0.01, 0.51, 1.01]) and loop.fast_periods == 0


def test_a_pace_bounds_what_is_flown_in_one_go() -> None:
    class Pace:
        def allow(self, k: int, most: int) -> int:
            return min(most, 0 if k == 21 else 20)

    fast = Rows()
    loop = CountedLoop(50, [fast, Pace()])
    loop.fly(lambda _: None, fast)
    assert fast.asked == [(1, 20), (22, 20), (42, 8)]
    assert loop.controlled == [0, 21, 50]


def test_the_instant_of_a_failure_is_the_last_one_that_was_flown() -> None:
    fast = Rows(ends=7)
    loop = CountedLoop(50, [fast])
    with pytest.raises(FlightFailed):
        loop.fly(lambda _: None, fast)
    assert loop.k == 7 and fast.seen == list(range(1, 8)) and loop.fast_periods == 7


def test_what_agents_take_is_shared_by_the_vehicles_that_they_command(monkeypatch) -> None:
    clock = SimpleNamespace(now=7.0)
    monkeypatch.setattr(pacing, "time", SimpleNamespace(perf_counter=lambda: clock.now))

    class Slow:
        def command(self, k: int, plant: Any, references: Any) -> dict[int, Any]:
            clock.now += 0.003
            return {0: "a", 2: "b"}

    plant: Any = None
    vehicle: Any = SimpleNamespace(timeline=SimpleNamespace(last=1))
    agent: Any = Slow()
    loop = ClosedLoop(plant, [vehicle], agents=[agent, agent])
    clock.now += 5.0
    assert loop._commands([]) == {0: "a", 2: "b"}
    assert loop.timer.mean_us == pytest.approx(3000.0)
    assert ClosedLoop(plant, [vehicle])._commands([]) == {}


@pytest.mark.parametrize("number", [2e6, np.nan])
def test_a_reference_that_no_vehicle_can_follow_ends_the_flight(number: float) -> None:
    """Before it is commanded or recorded, whoever asks for it."""
    plant: Any = SimpleNamespace(t=0.25)
    vehicle: Any = SimpleNamespace(timeline=SimpleNamespace(last=1), name="m1")
    loop, row = ClosedLoop(plant, [vehicle]), np.zeros(19)
    loop._check_references([Reference(row, Level.POSE, np.zeros(6))])
    row[7] = number
    with pytest.raises(FlightFailed, match=r"t = 0\.250 s: the reference of m1 ") as failure:
        loop._check_references([Reference(row, Level.POSE, np.zeros(6))])
    assert failure.value.outcome == "diverged"


def test_a_program_names_its_vehicles_or_is_told_which_there_are() -> None:
    agent = ProgramAgent(["a", "b"])
    assert (agent.number("a"), agent.number("b")) == (0, 1)
    with pytest.raises(BadInput, match="^no vehicle 'c', but a, b$"):
        agent.number("c")
    with pytest.raises(BadInput, match="^step: whose command is it\\? name one of a, b$"):
        agent.take(Command.zeros(1, Mode.RPM))


def test_a_touch_is_told_with_its_way_from_where_the_estimate_was_lost() -> None:
    navigator: Any = None
    limits = Failsafe(blind=2.0, deviation=0.5, silence=1.0, action="land", descent=0.5)
    monitor = EstimateMonitor("a", navigator, limits)
    rows = np.zeros((2, 1, 2, 13))
    rows[:, 0, 0, :3] = [[8.0, 8.0, 8.0], [3.0, 4.0, 9.0]]  # of two vehicles
    rows[:, 0, 1, :3] = 77.0  # their aircraft
    plant: Any = SimpleNamespace(t=2.5, state=lambda i: rows[i])
    checked = list[Any]()
    watch: Any = SimpleNamespace(landed=[1], check_flight=checked.append)
    guidance = EstimateGuidance([], {}, {1: monitor}, watch)
    with pytest.raises(
        FlightFailed, match=r"came down at 0\.00 m/s, 5\.00 m from there$"
    ) as ended:
        guidance.check_flight(plant)
    assert ended.value.t == 2.5 and ended.value.outcome == "lost" and watch.landing == set()
    assert checked == [plant]

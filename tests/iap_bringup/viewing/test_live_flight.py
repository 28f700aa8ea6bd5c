# SPDX-License-Identifier: BSD-3-Clause
"""A flight that is shown while it is flown: nothing changes unless a person takes it, and then it obeys."""

import threading
import time

import numpy as np
import pytest
from hang import HANG, comes_true

from iap_bringup.viewing.control import FASTEST
from iap_bringup.viewing.live_flight import LiveFlight
from iap_description.errors import FlightFailed
from iap_description.states import P
from iap_learning.evaluation.engines import episode_flight, fly_in_engine
from iap_learning.evaluation.flyers import baseline
from iap_learning.tasks.kinds.registry import make_task
from iap_physics.plant.plant_faults import PlantFaults
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

DT = 0.005


class Rows:
    """All states of a flight; does something at one of its times."""

    def __init__(self, at=None, do=None):
        self.t, self.x, self.at, self.do = [], [], at, do

    def record(self, vehicle, step):
        self._take(step.t, step.x)

    def record_rows(self, vehicle, rows):
        for t, x in zip(rows.t, rows.x, strict=True):
            self._take(t, x)

    def _take(self, t, x):
        self.t.append(t)
        self.x.append(np.array(x))
        if self.do is not None and t >= self.at:
            do, self.do = self.do, None
            do()


def fly(name, seconds, *, at=None, do=None, viewer=None, settings=None, **options):
    """Rows of a flight that somebody looks at, who does something to it at a time."""
    flight = Flight.of(resolved(name, settings or {}, {"duration": seconds, **options})[0])
    live = viewer or LiveFlight(flight, is_paced=False)
    rows = Rows(at, None if do is None else lambda: do(live))
    with Simulation(flight) as simulation:
        simulation.begin(observers=[live, rows], guidance=[live])
        simulation.fly()
        rows.fast = simulation.loop.fast_periods
    return rows


def test_a_flight_that_is_shown_is_the_same_bit_for_bit_and_still_compiled():
    settings = {"engine.name": "closed_form"}
    flight = Flight.of(resolved("figure_eight", settings, {"duration": 2.0})[0])
    alone = Rows()
    with Simulation(flight) as simulation:
        simulation.begin(observers=[alone])
        simulation.fly()
        fast = simulation.loop.fast_periods
    shown = fly("figure_eight", 2.0, settings=settings)
    assert np.array_equal(alone.x, shown.x)
    assert shown.fast == fast > 300


def test_a_platform_follows_the_handle_that_is_dragged_within_its_limits():
    goal = np.array([0.6, 0.3, 1.6, 0.0, 0.0, np.sin(0.25), np.cos(0.25)])
    rows = fly("figure_eight", 16.0, at=5.0, do=lambda live: live.drag(0, goal))
    after = np.array(rows.x)[np.array(rows.t) > 5.0]
    assert after[-1, 0, P] == pytest.approx(goal[P], abs=0.02)
    tilts = 2.0 * np.arcsin(np.hypot(after[:, 0, 3], after[:, 0, 4]))
    assert np.rad2deg(tilts).max() < 20.0


def test_keys_fly_along_the_heading_for_a_moment():
    def press(live):
        live.fly(0, np.array([0.0, 0.0, 0.8, 0.0]))

    rows = fly("hover", 4.0, at=1.0, do=press)
    assert rows.x[-1][0, 2] > rows.x[0][0, 2] + 0.01


def test_a_broken_rotor_brings_a_quadrotor_down():
    with pytest.raises(FlightFailed, match="upside down|ground"):
        fly("hover", 6.0, at=1.0, do=lambda live: live.break_rotor(0, 1, 1), platform="f450")


def test_a_second_broken_rotor_leaves_the_first_one_broken():
    def break_two():
        live.break_rotor(0, 1, 1)
        live.break_rotor(0, 1, 2)

    flight = Flight.of(resolved("hover", {}, {"duration": 0.4})[0])
    live = LiveFlight(flight, is_paced=False)
    with Simulation(flight) as simulation:
        simulation.begin(observers=[live, Rows(0.2, break_two)], guidance=[live])
        simulation.fly()
        (part,) = [each for each in simulation.plant.parts if isinstance(each, PlantFaults)]
    assert part._health.thrust[0].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_wind_moves_a_platform_until_its_controller_has_answered():
    still = np.array(fly("hover", 3.0).x)[:, 0, 0]
    blown = np.array(fly("hover", 3.0, at=1.0, do=lambda live: live.blow(8.0, 0.0)).x)[:, 0, 0]
    assert np.abs(blown - still).max() > 0.003
    assert blown[:200] == pytest.approx(still[:200], abs=1e-12)


def test_a_paused_flight_stands_still_and_goes_on_by_one_period_a_step():
    flight = Flight.of(resolved("hover", {}, {"duration": 1.0})[0])
    live, rows = LiveFlight(flight, is_paced=False), Rows()
    live.is_paused = True
    ends = []

    def fly_on():
        with Simulation(flight) as simulation:
            simulation.begin(observers=[live, rows], guidance=[live])
            simulation.fly()
            ends.append(simulation.t)

    thread = threading.Thread(target=fly_on)
    thread.start()
    try:
        for count in range(3):
            assert comes_true(lambda n=count: len(rows.t) == n)
            time.sleep(0.15)
            assert len(rows.t) == count
            live.step()
    finally:
        live.is_paused = False
        thread.join(HANG)
    assert rows.t[:3] == pytest.approx([0.0, DT, 2 * DT])
    assert ends == [pytest.approx(1.0)]


def test_a_reset_ends_the_flight_under_a_name_of_its_own():
    with pytest.raises(FlightFailed) as failure:
        fly("hover", 2.0, at=0.5, do=lambda live: live.reset())
    assert failure.value.outcome == "reset"


def test_a_flight_at_half_its_speed_takes_twice_its_time():
    flight = Flight.of(resolved("hover", {}, {"duration": 0.5})[0])
    live = LiveFlight(flight, is_paced=True)
    live.speed = 0.5
    began = time.perf_counter()
    fly("hover", 0.5, viewer=live)
    assert time.perf_counter() - began >= 0.9


@pytest.mark.slow
def test_episodes_that_are_shown_end_as_those_that_are_not_and_one_begins_again_by_hand():
    task, flyer = make_task("hold"), baseline("controller")
    seeds = [5]
    alone = fly_in_engine(task, flyer, "closed_form", seeds)
    live = LiveFlight(episode_flight(task, flyer, "closed_form", 5), is_paced=False)
    begun, begin = [], live.begin

    def begin_and_break_off(flight):
        begin(flight)
        begun.append(flight.scenario.seed)
        live.wants_reset = len(begun) == 1

    live.begin = begin_and_break_off
    shown = fly_in_engine(task, flyer, "closed_form", seeds, viewer=live)
    assert begun == [5, 5]
    assert shown.rows == alone.rows
    assert live.steps()[0].t > 0.5


@pytest.mark.parametrize(("is_paced", "speed"), [(True, 1.0), (False, FASTEST)])
def test_a_flight_keeps_pace_with_the_clock_from_the_start_only_where_it_shall(is_paced, speed):
    live = LiveFlight(Flight.of(resolved("hover", {}, {"duration": 1.0})[0]), is_paced=is_paced)
    assert (live.speed, live.is_paused, live.wants_reset) == (speed, False, False)

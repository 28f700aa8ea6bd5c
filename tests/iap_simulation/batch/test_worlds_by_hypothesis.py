# SPDX-License-Identifier: BSD-3-Clause
"""A world is one flight, bit for bit: in any batch, on any threads, in any shard, in any calls, and as the single run.

Hypothesis chooses batches, draws, winds and calls. Worlds that fail on the way count like the others.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iap_description.errors import FlightFailed
from iap_description.math.lanes import LANES
from iap_simulation.batch.worlds import GUST_PERIODS, Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

# scenario and platform: each law, aircraft of two kinds of joints, and rotors that tilt or lean
FLOWN = [
    ("hover", "three_star"),
    ("hover", "two_line"),
    ("hover", "f450"),
    ("hover", "beetle"),
    ("hover", "tilt_3"),
    ("hover", "octo_full"),
    ("figure_eight", "hexa"),
    ("hover", "hexa_tilted"),
    ("hover", "three_star_fixed"),
    ("figure_eight", "three_star"),
    ("three_line_5dof", "three_line"),
]
QUICK = 5  # of them are flown briefly, one of each law and of each way to command rotors; all are flown for long
WIDTHS = {  # of draws at most
    "draw.mass": 0.2,
    "draw.inertia": 0.3,
    "draw.thrust": 0.1,
    "draw.rotor_lag": 0.4,
    "draw.drag": 0.9,
    "draw.position": 0.3,
    "draw.attitude_deg": 10.0,
    "draw.wind_speed": 0.9,
}
HARSH = {  # rotors come to their limits; a CoM beside the line of a platform's joints overturns it
    "draw.mass": 0.6,
    "draw.thrust": 0.5,
    "draw.com": 0.002,
    "draw.position": 5.0,
    "draw.attitude_deg": 30.0,
}
NOISE = {"state_noise.position": 0.002, "state_noise.attitude_deg": 0.1}
MOST_WORLDS, MOST_THREADS = 70, 3


class Group(NamedTuple):
    """Worlds that fly together, and the periods of each call of `fly`, in turn; 0 for one of `advance`."""

    seeds: range
    threads: int
    calls: list[int]


class Case(NamedTuple):
    """The world of a seed in several groups."""

    seed: int
    groups: list[Group]
    settings: dict[str, Any]


@st.composite
def cases(draw):
    """A batch of any number of worlds, a part of it, and one of its worlds alone."""
    batch = draw(st.integers(1, MOST_WORLDS).filter(lambda size: size % LANES != 0))
    first = draw(st.integers(0, 10**9))
    i = draw(st.integers(0, batch - 1))
    begin, end = draw(st.integers(0, i)), draw(st.integers(i + 1, batch))
    shares = [(0, batch), (begin, end), (i, i + 1)]
    calls = st.lists(st.integers(0, GUST_PERIODS + 30), min_size=1, max_size=3)
    groups = [
        Group(range(first + a, first + b), draw(st.integers(1, MOST_THREADS)), draw(calls))
        for a, b in shares
    ]
    return Case(first + i, groups, draw(drawn()))


@st.composite
def drawn(draw):
    """Draws of seeds: each quantity or not, in calm air, wind or gusts, with noise or not, harsh or not."""
    widths = {**WIDTHS, **draw(st.sampled_from([{}, HARSH]))}
    scales = {key: draw(st.sampled_from([0.0, 0.3, 1.0])) for key in widths}
    speed, gusts = draw(st.sampled_from([(0.0, 0.0), (4.0, 0.0), (2.0, 8.0), (6.0, 4.0)]))
    wind = {"wind.speed": speed, "wind.turbulence": gusts}
    noise = draw(st.sampled_from([{}, {}, NOISE]))
    return {**{key: scales[key] * width for key, width in widths.items()}, **wind, **noise}


def fly(worlds, periods, calls):
    """Fly some periods in calls of some lengths."""
    for length in itertools.cycle(calls):
        if periods == 0:
            return
        if length == 0 or not worlds.flies_at_once:
            worlds.advance()
            periods -= 1
        else:
            worlds.fly(min(length, periods))
            periods -= min(length, periods)


class End(NamedTuple):
    """Final state of a world: bytes of states and of rotor speeds, and what has ended it."""

    states: bytes
    rpm: bytes
    failure: str | None


def ends_in(group, scenario, periods):
    """The end of each world of a group, by its seed."""
    worlds = Worlds(scenario, group.seeds, threads=group.threads)
    fly(worlds, periods, group.calls)
    failures = (worlds.failure(i) for i in range(len(group.seeds)))
    sentences = [None if failure is None else str(failure) for failure in failures]
    ends = zip(worlds.state, worlds.rpm, sentences, strict=True)
    return {
        seed: End(states.tobytes(), rpm.tobytes(), failure)
        for seed, (states, rpm, failure) in zip(group.seeds, ends, strict=True)
    }


def end_alone(scenario, periods):
    """The end of a single run."""
    failure = None
    with Simulation(Flight.of(scenario)) as simulation:
        try:
            for _ in range(periods):
                simulation.step()
        except FlightFailed as error:
            failure = str(error)
        rpm = simulation.loop.plant.propulsion[0].rpm[0]
        return End(simulation.state.tobytes(), rpm.tobytes(), failure)


def assert_one_flight(name, platform, case, periods):
    """Compare every bit of worlds at the end."""
    one = Worlds.of(name, [case.seed], settings=case.settings, platform=platform)
    batch, *others = (ends_in(group, one.scenario, periods) for group in case.groups)
    for ends in others:
        assert ends == {seed: batch[seed] for seed in ends}
    assert batch[case.seed] == end_alone(one.world(0), periods)


@pytest.mark.parametrize(("name", "platform"), FLOWN[:QUICK])
@settings(deadline=None, derandomize=True, max_examples=2)
@given(case=cases())
def test_a_world_is_the_same_flight_with_any_others(name, platform, case):
    assert_one_flight(name, platform, case, periods=60)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "platform"), FLOWN)
@settings(deadline=None, derandomize=True, max_examples=2)
@given(case=cases())
def test_a_world_is_the_same_flight_with_any_others_for_long(name, platform, case):
    assert_one_flight(name, platform, case, periods=500)


@pytest.mark.parametrize("platform", ["three_star", "two_line", "f450"])
def test_harshly_drawn_worlds_of_each_law_differ_and_come_to_the_limits_of_their_rotors(platform):
    worlds = Worlds.of("hover", MOST_WORLDS, settings={**WIDTHS, **HARSH}, platform=platform)
    rotor = worlds.scenario.vehicles[0].platform.fleet[0].rotor
    fastest, slowest = 0.0, np.inf
    for _ in range(30):
        worlds.fly(5)
        fastest, slowest = max(fastest, worlds.rpm.max()), min(slowest, worlds.rpm.min())
    assert fastest > 0.99 * rotor.rpm_max
    assert slowest < 1.2 * rotor.rpm_min
    assert len(np.unique(worlds.state[:, 0, 0])) == MOST_WORLDS

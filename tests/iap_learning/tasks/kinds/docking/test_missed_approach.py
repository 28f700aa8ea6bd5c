# SPDX-License-Identifier: BSD-3-Clause
"""A probe that rests at the socket or passes beside it: both vehicles back off, and the next approach begins."""

import numpy as np
import pytest

from iap_control.docking.guidance import ROW, empty_memory, split_memory
from iap_control.docking.missed_approach import BACKS_OFF, MISSED_SIZE, MissedApproach, back_off
from iap_description.states import P, Q, V
from iap_description.vehicles.latch import approach
from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.flyers import baseline
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_simulation.docking.pair_laws import docked_positions, pair_laws
from iap_simulation.scenario.resolving import Options, resolve

QUIET = {
    f"vehicles.{i}.state_noise.{key}": 0.0
    for i in (0, 1)
    for key in ("position", "attitude_deg", "velocity", "rate_deg", "position_bias")
}
NO_DRAWS = {f"draw.{key}": 0.0 for key in ("mass", "inertia", "thrust", "delay", "attitude_deg")}
STILL = {**QUIET, **NO_DRAWS, "draw.position": 0.0, "wind.speed": 0.0, "wind.turbulence": 0.0}


def episode_at(depth, settings=None):
    """An episode that begins level and in line, the probe's end at a depth beyond the mouth [m], and its task."""
    scenario, _ = resolve("docking_hard", Options())
    x, y, z = docked_positions(scenario)[1]
    at = [x, y - (scenario.latches["dock"].depth - depth), z]
    start = {"vehicles.1.reference.position": [float(each) for each in at]}
    episodes = make_episodes("docking_hard", 1, settings=settings or {}, scenario=STILL | start)
    episodes.reset(seeds=[1])
    return episodes


def depth_of(episodes):
    x, pair = episodes.worlds.pairs.x[0], episodes.worlds.laws.pair
    return approach(x[1], x[0], pair.probe, pair.socket).depth


def depths(episodes, seconds):
    """Depths at the ends of steps without any action, and whether the pair backed off meanwhile."""
    zero, out, backs_off = np.zeros((1, episodes.size)), [], []
    for _ in range(round(seconds / episodes.dt)):
        episodes.step(zero)
        out.append(depth_of(episodes))
        backs_off.append(bool(episodes.memory.missed[0, BACKS_OFF]))
    return np.array(out), np.array(backs_off)


def test_a_probe_that_rests_in_the_socket_comes_out_again_and_waits_for_the_next_approach():
    episodes = episode_at(0.06)
    settings = episodes.task.missed_approach
    depth, backs_off = depths(episodes, 3.0)
    first = int(np.argmax(backs_off))
    assert settings.time <= (first + 1) * episodes.dt <= settings.time + 2 * episodes.dt
    assert np.abs(depth[:first] - 0.06).max() < 0.01
    assert not backs_off[-1]
    assert depth[-1] < -0.8 * settings.retreat
    assert episodes.worlds.records.force_peak[0] < 10.0


@pytest.mark.parametrize(("depth", "settings"), [(-0.1, {}), (0.06, {"missed_approach": None})])
def test_before_the_socket_and_without_the_law_nobody_backs_off(depth, settings):
    flown, backs_off = depths(episode_at(depth, settings), 0.6)
    assert not backs_off.any()
    assert np.abs(flown - depth).max() < 0.05


@pytest.mark.parametrize(("aside", "after"), [(0.09, 0.2), (0.003, np.inf)])
def test_a_probe_that_slides_on_beside_the_socket_comes_back_however_fast_it_is(aside, after):
    """At 0.15 m/s, 50 mm beyond the mouth; in the bore it is on its way to the latch."""
    scenario, _ = resolve("docking_hard", Options())
    laws, settings = pair_laws(scenario), make_task("docking_hard", {}).missed_approach
    missed = MissedApproach.of(settings, laws.script)
    rows, out, memory = np.zeros((2, ROW)), np.zeros((2, 4)), np.zeros(MISSED_SIZE)
    rows[:, Q], rows[:, P] = [0.0, 0.0, 0.0, 1.0], docked_positions(scenario)
    rows[1, P] += [aside, 0.05 - scenario.latches["dock"].depth, 0.0]
    rows[1, V] = [0.0, 0.15, 0.0]
    observers, _ = split_memory(empty_memory(), laws.pair.ahead)
    periods = range(round(0.5 / laws.pair.dt))
    backs_off = [
        back_off((rows[0], rows[1]), False, missed, laws, observers, memory, out) for _ in periods
    ]
    first = backs_off.index(True) * laws.pair.dt if any(backs_off) else np.inf
    assert first == pytest.approx(after, abs=0.01)


@pytest.mark.slow
def test_backing_off_saves_dockings_of_a_law_that_only_pushes():
    """Half of the paper's PID with its constant push jams where masses, thrusts and delays are drawn."""
    seeds, agent = range(1000, 1032), baseline("printed")
    count = [
        fly_batched(make_task("docking_hard", settings), agent, seeds).success.sum()
        for settings in ({}, {"missed_approach": None})
    ]
    assert count[0] >= count[1] + 5

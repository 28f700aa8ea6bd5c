# SPDX-License-Identifier: BSD-3-Clause
"""Perches on a wall: what is counted, what is observed, who flies, and that every world is alone."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.vehicles.latch import Approach
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.perch_on_wall.counts import (
    PerchCounts,
    PerchRules,
    count,
    ending_of,
    measures,
)
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.make import is_installed
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN
from iap_physics.latching.latches import LatchEvent
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FELL,
    MISSED,
    NEVER_TOUCHED,
    SLID,
    TIME_IS_UP,
    TOO_FORCEFUL,
)

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
DT = 0.005
HELD = np.r_[np.full(100, OPEN), np.full(50, CAUGHT), np.full(400, LOCKED)]
FORCES = np.r_[np.zeros(100), np.full(50, 40.0), np.full(400, 32.0)]


def outcome_of(phases, forces, ending=RUNNING, status=RUNNING):
    """Outcome and results of a perch, as if an episode were as long, which a latch ends in its last period."""
    rules = PerchRules.of(make_task("perch_on_wall"), DT)._replace(last=len(phases))
    counts = PerchCounts.of(1)
    for k, (phase, force) in enumerate(zip(phases, forces, strict=True)):
        ends = np.array([ending if k == len(phases) - 1 else RUNNING])
        each = (np.array([force]), np.array([phase]), ends, np.array([status]))
        count(*each, rules, counts)
    return int(counts.contact.outcome[0]), measures(counts, DT)


def test_a_perch_succeeds_when_the_lock_has_held_for_two_seconds():
    outcome, results = outcome_of(HELD, FORCES)
    assert outcome == ARRIVED
    assert results["lock_time"][0] == pytest.approx(151 * DT)
    assert results["force_peak"][0] == 40.0
    assert outcome_of(HELD[:-1], FORCES[:-1])[0] == TIME_IS_UP  # a period too short


@pytest.mark.parametrize(
    ("phases", "forces", "ending", "outcome"),
    [
        (np.full(200, OPEN), np.zeros(200), RUNNING, NEVER_TOUCHED),
        (HELD, np.where(HELD == CAUGHT, 80.1, FORCES), RUNNING, TOO_FORCEFUL),
        (HELD[:120], FORCES[:120], BOUNCED, BOUNCED),
        (HELD[:300], FORCES[:300], FELL, FELL),
    ],
)
def test_failures_have_names(phases, forces, ending, outcome):
    assert outcome_of(phases, forces, ending)[0] == outcome


def test_a_world_that_ends_gives_its_status():
    assert outcome_of(HELD, FORCES, status=DIVERGED)[0] == DIVERGED


@pytest.mark.parametrize(
    ("what", "radius", "closing", "slip", "ending"),
    [
        ("caught", 0.1, 0.4, 0.1, RUNNING),
        ("locked", 0.1, 0.0, 0.0, RUNNING),
        ("missed", 0.6, 0.4, 0.1, MISSED),
        ("missed", 0.1, 0.4, 0.5, SLID),
        ("missed", 0.1, 0.1, 0.1, BOUNCED),
        ("lost", 0.1, -0.2, 0.1, BOUNCED),
        ("broken", 0.1, 0.0, 0.0, FELL),
    ],
)
def test_what_a_latch_does_ends_an_episode_by_its_cause(what, radius, closing, slip, ending):
    latch = resolve("perch_on_wall", Options())[0].latches["patch"]
    event = LatchEvent(1.0, "patch", what, Approach(2e-4, radius, 0.1, closing), slip, 0.2)
    assert ending_of(event, latch) == ending


@needs_mujoco
def test_ranges_are_those_of_each_seeds_wall_and_are_seen_late_with_a_bias():
    episodes = make_episodes("perch_on_wall", 5)
    episodes.reset(seeds=range(5))
    first = episodes.true_inputs
    assert 0.02 < np.ptp(first.range) < 0.3 and (np.abs(first.range - 0.5) < 0.16).all()
    for _ in range(20):
        episodes.step(np.full((5, 1), 0.27))
    true, seen = episodes.true_inputs, episodes.inputs
    assert (true.closing > 0.2).all() and (true.range < first.range).all()
    late = 0.02 * true.closing + 0.01 + 4.0 * 0.005
    assert (np.abs(seen.range - true.range) < late).all()
    assert not true.held.any() and np.abs(true.tilt).max() < 0.3


@needs_mujoco
def test_the_agent_perches_gently_enough_and_whoever_stands_still_never_touches():
    episodes = make_episodes("perch_on_wall", 4)
    observation, agent = episodes.reset(seeds=range(100, 104)), agent_of("alight", episodes)
    for _ in step_until_over(episodes, observation, lambda _: agent()):
        pass
    report = episodes.report()
    assert (episodes.outcome == ARRIVED).all()
    assert (report["force_peak"] <= 80.0).all()
    assert (report["closing_speed"] > 0.15).all()
    still = make_episodes("perch_on_wall", 1, settings={"seconds": 2.0})
    observation = still.reset(seeds=[1])
    for _ in step_until_over(still, observation, lambda _: np.zeros((1, 1))):
        pass
    assert still.outcome[0] == NEVER_TOUCHED


@needs_mujoco
def test_who_comes_too_slowly_bounces_and_who_comes_too_fast_is_too_forceful():
    calm = {"wind.speed": 0.0, "wind.turbulence": 0.0, "draw.attitude_deg": 0.0}
    episodes = make_episodes("perch_on_wall", 2, scenario=calm)
    observation, actions = episodes.reset(seeds=[1, 2]), np.array([[0.08], [0.55]])  # of 1.5 m/s
    for _ in step_until_over(episodes, observation, lambda _: actions):
        pass
    assert episodes.outcome.tolist() == [BOUNCED, TOO_FORCEFUL]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"latch": "hook"}, "key 'latch': .* a latch 'hook' whose socket is an object .such: pat"),
        ({"scenario": "hover", "settings": {}}, "such: none"),
    ],
)
@needs_mujoco
def test_a_task_without_a_latch_of_a_face_is_refused_in_one_line(settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        make_episodes("perch_on_wall", 2, settings=settings)
    assert "\n" not in str(refusal.value)

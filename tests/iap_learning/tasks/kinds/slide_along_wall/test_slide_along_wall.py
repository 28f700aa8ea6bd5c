# SPDX-License-Identifier: BSD-3-Clause
"""Slides along a wall: what is counted, what is observed, who flies, and that every world is alone."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_learning.tasks.kinds.slide_along_wall.counts import (
    SlideCounts,
    SlideRules,
    count,
    measures,
)
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.scenario.randomization import friction_factor
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FORCE_OFF,
    NEVER_TOUCHED,
    OFF_PATH,
    STUCK,
    TOO_FORCEFUL,
)

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
DT = 0.005
PATH = np.r_[np.zeros(200), np.linspace(0.0, 1.05, 200)]  # [m]


def outcome_of(forces, along=PATH, across=0.0, status=RUNNING):
    """Outcome and results of a slide by its forces and places, as if an episode were as long."""
    rules = SlideRules.of(make_task("slide_along_wall"), 5.0, DT)._replace(last=len(along))
    counts = SlideCounts.of(1)
    forces, across = (np.broadcast_to(each, len(along)) for each in (forces, across))
    for force, *place in zip(forces, along, across, strict=True):
        count(np.array([force]), np.array([place]), np.array([status]), rules, counts)
    return int(counts.contact.outcome[0]), measures(counts, DT)


def test_a_slide_succeeds_at_the_end_of_its_path_by_errors_on_it_alone():
    forces = np.r_[np.zeros(100), np.full(100, 6.0), np.full(200, 5.2)]
    outcome, results = outcome_of(forces, across=0.01)
    assert outcome == ARRIVED
    assert results["force_error"][0] == pytest.approx(0.2)
    assert results["path_error"][0] == pytest.approx(0.01)


def test_the_force_is_there_when_it_stays_and_not_when_it_passes():
    forces = np.full(400, 5.0)
    forces[:100], forces[100:104], forces[104:150] = (
        0.0,
        14.0,
        0.0,
    )  # an impact, and a flight after it
    _, results = outcome_of(forces)
    # a first-order lag of 50 ms is within a tenth after 2.3 time constants
    assert results["settling_time"][0] == pytest.approx(150 * DT + 0.05 * np.log(10.0), abs=0.01)


@pytest.mark.parametrize(
    ("forces", "along", "across", "outcome"),
    [
        (0.0, np.zeros(400), 0.0, NEVER_TOUCHED),
        (5.0, np.minimum(PATH, 0.9), 0.0, STUCK),
        (5.4, PATH, 0.0, FORCE_OFF),
        (5.0, PATH, 0.021, OFF_PATH),
        (np.r_[np.full(150, 5.0), 15.1, np.full(249, 5.0)], PATH, 0.0, TOO_FORCEFUL),
        (np.tile([5.0, 0.0], 200), PATH, 0.0, BOUNCED),
    ],
)
def test_failures_have_names(forces, along, across, outcome):
    assert outcome_of(forces, along, across)[0] == outcome


def test_a_world_that_ends_gives_its_status():
    assert outcome_of(5.0, status=DIVERGED)[0] == DIVERGED


@needs_mujoco
def test_walls_are_where_seeds_draw_them_and_believed_where_the_scenario_has_them():
    episodes = make_episodes("slide_along_wall", 6)
    episodes.reset(seeds=range(6))
    believed, true = episodes.inputs, episodes.true_inputs
    np.testing.assert_allclose(believed.gap, believed.gap[0])
    assert 0.02 < np.ptp(true.gap) <= 0.1
    np.testing.assert_allclose(believed.way, 0.0, atol=1e-12)


@needs_mujoco
def test_the_reference_of_the_tip_goes_in_the_axes_of_the_wall():
    episodes = make_episodes("slide_along_wall", 1)
    episodes.reset(seeds=[1])
    before = episodes.inputs
    for _ in range(10):
        episodes.step(np.array([[-0.5, 0.5, 0.5]]))
    after = episodes.inputs
    gap_of = [each.gap[0] + each.lag[0, 0] for each in (before, after)]
    way_of = [each.way[0] - each.lag[0, 1:] for each in (before, after)]
    assert gap_of[1] - gap_of[0] == pytest.approx(10 * 4 * DT * 0.1)
    np.testing.assert_allclose(way_of[1] - way_of[0], [10 * 4 * DT * 0.1, 10 * 4 * DT * 0.05])


@pytest.mark.slow
@needs_mujoco
@pytest.mark.parametrize("name", ["glide", "glide_oracle"])
def test_agents_slide_with_coulomb_friction(name):
    episodes = make_episodes("slide_along_wall", 2)
    observation, agent = episodes.reset(seeds=[1, 2]), agent_of(name, episodes)
    ratios = []
    for _ in step_until_over(episodes, observation, lambda _, act=agent: act()):
        force = episodes.true_inputs.force
        slides = (episodes.inputs.way[:, 0] > 0.2) & (episodes.outcome == RUNNING)
        ratio = np.full(2, np.nan)
        ratios.append(np.divide(force[:, 1], force[:, 0], out=ratio, where=slides))
    assert (episodes.outcome == ARRIVED).all()
    friction = np.nanmedian(ratios, axis=0)
    mean = np.sqrt(0.5 * 0.4)  # geometric, of wall and tip
    expected = [mean * friction_factor(episodes.worlds.world(world)) for world in range(2)]
    np.testing.assert_allclose(friction, expected, rtol=0.02)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"wall": "door"}, "key 'wall': no object 'door' \\(objects: wall\\)"),
        (
            {"scenario": "hover", "settings": {}},
            "needs one vehicle with a tool, and its key 'push'",
        ),
        ({"settings": {"push.force": [0.0, 0.0, 5.0]}}, "key 'push.force' .* is not level"),
    ],
)
@needs_mujoco
def test_a_task_without_a_wall_or_a_push_is_refused_in_one_line(settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        make_episodes("slide_along_wall", 2, settings=settings)
    assert "\n" not in str(refusal.value)

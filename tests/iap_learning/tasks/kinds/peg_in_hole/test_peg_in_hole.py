# SPDX-License-Identifier: BSD-3-Clause
"""Pegs: what is counted, where bores are and are believed to be, who flies, and that every world is alone."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.peg_in_hole.counts import PegCounts, PegRules, count, measures
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    FORCE_OFF,
    JAMMED,
    MISSED,
    TOO_FORCEFUL,
)

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
DT = 0.005
DEEP = np.r_[np.full(200, -0.1), np.linspace(0.0, 0.4, 100), np.full(100, 0.4)]


def outcome_of(depths, forces=0.0, status=RUNNING):
    """Outcome and results of a peg by its depths and forces, as if an episode were as long."""
    rules = PegRules.of(make_task("peg_in_hole"), DT)._replace(last=len(depths), window=100)
    counts = PegCounts.of(1)
    for depth, force in zip(depths, np.broadcast_to(forces, len(depths)), strict=True):
        count(np.array([force]), np.array([depth]), np.array([status]), rules, counts)
    return int(counts.contact.outcome[0]), measures(rules, counts, DT)


def test_a_peg_succeeds_by_its_depth_at_the_end_and_the_time_to_it_is_measured():
    outcome, results = outcome_of(DEEP, 3.0)
    assert outcome == ARRIVED
    assert results["depth_time"][0] == pytest.approx(DT * (200 + 100 * 0.35 / 0.4), abs=2 * DT)
    assert results["force_steady"][0] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("depths", "forces", "outcome"),
    [
        (np.full(400, -0.1), 0.0, MISSED),
        (np.minimum(DEEP, 0.3), 0.0, JAMMED),
        (np.r_[DEEP[:350], np.full(50, 0.3)], 0.0, JAMMED),  # pushed out again
        (DEEP, 10.1, FORCE_OFF),
        (DEEP, np.r_[np.zeros(50), 60.1, np.zeros(349)], TOO_FORCEFUL),
    ],
)
def test_failures_have_names(depths, forces, outcome):
    assert outcome_of(depths, forces)[0] == outcome


def test_a_world_that_ends_gives_its_status():
    assert outcome_of(DEEP, status=DIVERGED)[0] == DIVERGED


@needs_mujoco
def test_bores_lean_and_lie_as_seeds_draw_them_and_are_believed_where_the_scenario_has_them():
    episodes = make_episodes("peg_in_hole", 40)
    episodes.reset(seeds=range(40))
    holes = episodes.holes
    leans = np.rad2deg(np.arcsin(-holes.axes()[:, 2]))
    assert 0.0 <= leans.min() < 4.0
    assert 16.0 < leans.max() <= 20.0
    off = np.abs(holes.positions - holes.believed)
    assert 0.007 < off.max() <= 0.01
    inside = holes.positions + 0.2 * holes.axes()
    np.testing.assert_allclose(holes.inside(inside), np.tile([0.2, 0, 0], (40, 1)), atol=1e-12)


@needs_mujoco
def test_the_reference_of_the_tip_follows_its_twist():
    episodes = make_episodes("peg_in_hole", 1)
    episodes.reset(seeds=[1])
    before = episodes.inputs.mouth.copy()
    for _ in range(10):
        episodes.step(np.array([[-0.5, 0.0, 0.2, 0.5, 0.0]]))
    moved, lean = episodes.inputs.mouth - before, episodes.inputs.lean
    assert lean[0, 0] == pytest.approx(10 * 4 * DT * 0.15)
    # a tip that goes 0.1 m/s along a rod that turns slowly
    assert np.linalg.norm(moved) == pytest.approx(10 * 4 * DT * np.hypot(0.1, 0.02), rel=1e-3)
    turned = so3.rotate(so3.quaternion_exp(np.array([0.0, lean[0, 0] / 2, 0.0])), [-1.0, 0.0, 0.2])
    np.testing.assert_allclose(
        moved[0] / np.linalg.norm(moved), turned / np.linalg.norm(turned), atol=1e-3
    )


@pytest.mark.slow
@needs_mujoco
@pytest.mark.parametrize(("name", "least"), [("insert", 4), ("insert_oracle", 6)])
def test_the_agent_and_the_oracle_go_in(name, least):
    episodes = make_episodes("peg_in_hole", 6)
    observation, agent = episodes.reset(seeds=range(6)), agent_of(name, episodes)
    for _ in step_until_over(episodes, observation, lambda _: agent()):
        pass
    assert np.count_nonzero(episodes.outcome == ARRIVED) >= least


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"hole": "door"}, "key 'hole': no funnel 'door' \\(funnels: funnel\\)"),
        ({"scenario": "hover", "settings": {}}, "needs one vehicle with a tool"),
    ],
)
@needs_mujoco
def test_a_task_without_a_bore_or_a_rod_is_refused_in_one_line(settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        make_episodes("peg_in_hole", 2, settings=settings)
    assert "\n" not in str(refusal.value)

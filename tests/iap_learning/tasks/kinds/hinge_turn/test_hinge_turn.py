# SPDX-License-Identifier: BSD-3-Clause
"""Turns of doors and valves: what is counted, where axes are, who flies, and that every world is alone."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.hinge_turn.arc import PolarPlaces
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts, TurnRules, count, measures
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    HANDLE_SLIPPED,
    LATCH_HELD,
    NEVER_TOUCHED,
    NOT_TURNED,
    REBOUNDED,
    SLIPPED_OFF,
    TIME_IS_UP,
    TOO_FORCEFUL,
)

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
DT = 0.005
OPENING = np.r_[np.zeros(100), np.linspace(0.0, 70.0, 200), np.full(100, 70.0)]  # [deg]


def outcome_of(angles_deg, forces=5.0, status=RUNNING, *, has_latch=False):
    """Outcome and results of a turn by its angles and forces, as if an episode were as long."""
    rules = TurnRules.of(make_task("push_door"), DT, has_latch=has_latch)
    rules = rules._replace(last=len(angles_deg), window=100)
    counts = TurnCounts.of(1)
    angles, forces = np.deg2rad(angles_deg), np.broadcast_to(forces, len(angles_deg))
    for angle, force in zip(angles, forces, strict=True):
        count(np.array([force]), np.array([angle]), np.array([status]), rules, counts)
    return int(counts.contact.outcome[0]), measures(counts, DT)


def test_a_turn_succeeds_by_its_angle_that_is_held_and_the_time_to_it_is_measured():
    outcome, results = outcome_of(OPENING)
    assert outcome == ARRIVED
    assert results["turn_time"][0] == pytest.approx(DT * (100 + 200 * 60 / 70), abs=2 * DT)
    assert results["force_peak"][0] == 5.0 and results["angle"][0] == pytest.approx(70.0, abs=0.5)


@pytest.mark.parametrize(
    ("angles", "forces", "outcome"),
    [
        (np.zeros(400), 0.0, NEVER_TOUCHED),
        (np.full(400, 2.0), 5.0, NOT_TURNED),
        (np.minimum(OPENING, 40.0), 5.0, TIME_IS_UP),
        (np.minimum(OPENING, 40.0), np.r_[np.full(300, 5.0), np.zeros(100)], SLIPPED_OFF),
        (np.r_[OPENING[:350], np.full(50, 50.0)], 5.0, REBOUNDED),
        (
            np.r_[OPENING[:350], np.full(50, 50.0)],
            np.r_[np.full(350, 5.0), np.zeros(50)],
            REBOUNDED,
        ),
        (OPENING, np.r_[np.zeros(50), 30.1, np.zeros(349)], TOO_FORCEFUL),
    ],
)
def test_failures_have_names(angles, forces, outcome):
    assert outcome_of(angles, forces)[0] == outcome


@pytest.mark.parametrize(
    ("forces", "outcome"),
    [(5.0, LATCH_HELD), (np.r_[np.full(300, 5.0), np.zeros(100)], HANDLE_SLIPPED)],
)
def test_a_door_that_its_latch_holds_tells_whether_it_is_still_pushed(forces, outcome):
    assert outcome_of(np.full(400, 0.1), forces, has_latch=True)[0] == outcome
    assert outcome_of(np.minimum(OPENING, 40.0), has_latch=True)[0] == TIME_IS_UP


def test_a_world_that_ends_gives_its_status():
    assert outcome_of(OPENING, status=DIVERGED)[0] == DIVERGED


def test_polar_places_turn_by_the_right_hand_about_the_axis_and_their_frames_are_orthonormal():
    axis, point, start = np.array([0.0, 0.6, 0.8]), np.array([1.0, 2.0, 3.0]), np.zeros(3)
    first = start - point - ((start - point) @ axis) * axis
    turns, places = np.deg2rad([0.0, 30.0, -50.0]), []
    for turn in turns:
        there = np.cos(turn) * first + np.sin(turn) * np.cross(axis, first)
        places.append(point + 1.1 * there + 0.3 * axis)
    polar = PolarPlaces.of(np.array(places), start, point, axis)
    np.testing.assert_allclose(polar.turns, turns, atol=1e-12)
    np.testing.assert_allclose(polar.radii, 0.1 * np.linalg.norm(first), atol=1e-12)
    np.testing.assert_allclose(polar.heights, 0.3 - (start - point) @ axis, atol=1e-12)
    products = polar.frames @ np.swapaxes(polar.frames, 1, 2)
    np.testing.assert_allclose(products, np.tile(np.eye(3), (3, 1, 1)), atol=1e-12)
    vectors = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(polar.vectors(polar.components(vectors)), vectors, atol=1e-12)


@needs_mujoco
def test_doors_hang_where_seeds_draw_them_and_are_believed_where_the_scenario_has_them():
    episodes = make_episodes("push_door", 4)
    episodes.reset(seeds=range(4))
    arc = episodes.arc
    off = np.abs(arc.points - arc.believed)[:, :2]
    assert 0.01 < off.max() <= 0.03 + 0.4 * np.sin(np.deg2rad(5.0))
    np.testing.assert_allclose(arc.axes, np.tile([0.0, 0.0, 1.0], (4, 1)), atol=1e-12)
    np.testing.assert_allclose(episodes.inputs.turn, 0.0, atol=1e-9)
    assert np.abs(episodes.true_inputs.radius).max() < 1e-9


@needs_mujoco
def test_the_reference_of_the_tip_goes_along_its_arc_and_turns():
    episodes = make_episodes("push_door", 1)
    episodes.reset(seeds=[1])
    for _ in range(10):
        episodes.step(np.array([[-0.5, 0.0, 0.5]]))
    push = episodes.inputs
    assert push.heading[0] == pytest.approx(10 * 4 * DT * 0.15)
    # back at 0.1 m/s for 0.2 s, in which the tip has come some way at most
    assert 0.01 < push.lag[0, 0] < 0.025


@needs_mujoco
def test_the_reference_of_the_tip_goes_along_the_axis_too():
    episodes = make_episodes("open_door", 1)
    episodes.reset(seeds=[1])
    for _ in range(10):
        episodes.step(np.array([[-0.5, 0.0, 1.0, 0.0]]))
    push = episodes.inputs
    # up at 0.15 m/s for 0.2 s, in which the tip has come some way at most
    assert 0.0 < push.height[0] < 0.02 and push.height[0] - push.sag[0] == pytest.approx(0.03)
    with pytest.raises(BadInput, match="by three numbers, not task 'open_door'"):
        agent_of("swing", episodes)


@pytest.mark.slow
@needs_mujoco
@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("open_door", "handle"),
        ("open_door", "handle_oracle"),
        ("push_door", "swing"),
        ("push_door", "swing_oracle"),
        ("turn_valve", "crank"),
        ("turn_valve", "crank_oracle"),
    ],
)
def test_agents_turn_doors_and_valves(task, name):
    episodes = make_episodes(task, 2)
    observation, agent = episodes.reset(seeds=[1, 2]), agent_of(name, episodes)
    for _ in step_until_over(episodes, observation, lambda _: agent()):
        pass
    assert (episodes.outcome == ARRIVED).all()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"turned": "wall"}, "key 'turned': no object 'wall' with a hinge \\(such: door\\)"),
        ({"scenario": "hover", "settings": {}}, "needs one vehicle with a tool"),
    ],
)
@needs_mujoco
def test_a_task_without_a_hinge_or_a_rod_is_refused_in_one_line(settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        make_episodes("push_door", 2, settings=settings)
    assert "\n" not in str(refusal.value)

# SPDX-License-Identifier: BSD-3-Clause
"""Tasks among obstacles that move: who meets one has collided, and an expert that knows them comes through."""

import numpy as np
import pytest

from iap_description.states import P
from iap_learning.evaluation.batched import fly_each
from iap_learning.evaluation.flyers import baseline
from iap_learning.tasks.kinds.platform.kind import PlatformEngineEpisode
from iap_learning.tasks.kinds.registry import agent_of, make_episodes
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import COLLIDED, OUTCOMES

BLIND = {"depth": None, "image_ages": [0]}  # the expert needs no image
PILLAR = {
    "type": "cylinder",
    "position": [4.0, 0.0, 1.5],
    "radius": 0.25,
    "length": 4.0,
    "surface": {"friction": 0.5, "restitution": 0.0},
}


def alone(motion, **keys):
    """Keys of a corridor with one pillar, and nothing drawn."""
    drawn = ("position", "attitude_deg", "motion_speed", "motion_turn_deg", "motion_shift")
    still = {f"draw.{key}": 0.0 for key in (*drawn, "object_position")}
    return {**still, "world.objects": {"pillar": {**PILLAR, "motion": motion, **keys}}}


def test_a_pillar_that_comes_along_ends_who_waits_for_it():
    """At 1 m/s its front, 3.75 m away, is within the clearance of 0.35 m after 3.4 s."""
    coming = alone({"type": "velocity", "velocity": [-1.0, 0.0, 0.0]})
    episodes = make_episodes("navigate_moving", 2, settings=BLIND, scenario=coming)
    low, high = (np.array(each) for each in (episodes.task.action.low, episodes.task.action.high))
    waits = np.tile(-(low + high) / (high - low), (2, 1))
    while not episodes.outcome.any():
        episodes.step(waits)
    assert episodes.outcome.tolist() == [COLLIDED, COLLIDED]
    start = float(episodes.worlds.timeline.row(0)[P][0])
    assert episodes.steps[0] * episodes.dt == pytest.approx(3.75 - 0.35 - start, abs=0.11)


def test_the_expert_lets_a_pillar_pass_that_crosses_its_way():
    crossing = {"type": "waypoints", "points": [[0.0, 6.0, 0.0]], "speed": 1.2}
    keys = alone(crossing, position=[4.0, -3.0, 1.5])
    episodes = make_episodes("navigate_moving", 1, settings=BLIND, scenario=keys)
    expert, nearest = agent_of("dynamic_window", episodes), np.inf
    while not episodes.outcome.any():
        episodes.step(expert())
        nearest = min(nearest, _gap(episodes))
    assert OUTCOMES[episodes.outcome[0]] == "arrived"
    assert nearest > episodes.task.clearance


def _gap(episodes):
    """Distance of the platform's origin from the pillar's side, in plan [m]."""
    away = episodes.worlds.state[0, 0, :2] - episodes.worlds.object_states[0, 0, :2]
    return float(np.linalg.norm(away)) - PILLAR["radius"]


def test_distances_of_a_task_are_those_of_its_single_run():
    episodes = make_episodes("navigate_moving", 2, settings=BLIND)
    for _ in range(6):
        episodes.step(np.zeros((2, episodes.size)))
    worlds = episodes.worlds
    for i in range(2):
        placed = placed_world(worlds.world(i))
        np.testing.assert_array_equal(
            worlds.object_states[i], placed.object_states(float(worlds.times[i]))
        )


def test_a_single_run_ends_where_its_world_does():
    """The monitor of a flight in the closed form sees the pillar come, as the episode does."""
    coming = alone({"type": "velocity", "velocity": [-3.0, 0.0, 0.0]})
    episodes = make_episodes("navigate_moving", 1, settings=BLIND, scenario=coming)
    while not episodes.outcome.any():
        episodes.step(None)  # the scenario's own references
    scripted = episodes.worlds.world(0).model_copy(update={"policy": None})
    with Simulation.of(scripted) as simulation:
        flown = PlatformEngineEpisode(simulation, episodes.task)
        while not flown.outcome:
            simulation.step()
            flown.observe()
    assert flown.outcome == episodes.outcome[0] == COLLIDED
    assert flown.measures["time"] == pytest.approx(episodes.steps[0] * episodes.dt)


@pytest.mark.slow
def test_most_fields_can_be_crossed_by_who_knows_what_moves_and_few_by_who_does_not():
    found = {}
    for name in ("dynamic_window", "field"):
        episodes = make_episodes("navigate_moving", 24, settings=BLIND)
        found[name] = fly_each(episodes, baseline(name), range(1000, 1024)).success.mean()
    assert found["dynamic_window"] >= 0.85
    assert found["field"] <= 0.5

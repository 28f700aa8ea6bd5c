# SPDX-License-Identifier: BSD-3-Clause
"""Policies that observe noisy states in single runs see what they see in many worlds."""

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.errors import BadInput
from iap_learning.learned_agents import platform_policy
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

SETTINGS = {"observed": "measured", "observation": {"position_error": 1.0, "velocity": 1.0}}
NOISE = {"state_noise.position": 0.03, "state_noise.velocity": 0.05}
STEADY = {"position_error": 1.5, "velocity": -2.0}  # gains [1/s^2], [1/s]


@pytest.fixture
def policy(tmp_path):
    """One that holds its place by accelerations."""
    made = linear_policy(
        make_episodes("hold", 1, settings=SETTINGS), gains=STEADY, settings=SETTINGS
    )
    path = str(tmp_path / "policy.npz")
    made.save(path)
    return made, path


def test_a_single_run_measures_what_the_world_of_its_seed_measures(policy):
    """Position and velocity have noise: seen as the truth, the flight would be another after the first step."""
    made, path = policy
    episodes = make_episodes("hold", 2, settings=SETTINGS, scenario=NOISE)
    truth = make_episodes("hold", 2, settings={**SETTINGS, "observed": "truth"}, scenario=NOISE)
    task = episodes.task
    seen, true = episodes.reset(seeds=[4, 5]), truth.reset(seeds=[4, 5])
    keys = {**task.settings, **NOISE, "policy": path}
    with Simulation.of(task.scenario, settings=keys, seed=5, engine="closed_form") as simulation:
        for _ in range(50):
            seen = episodes.step(made(seen)).observation
            true = truth.step(made(true)).observation
            for _ in range(task.repeat):
                simulation.step()
            np.testing.assert_allclose(simulation.state[0], episodes.worlds.state[1, 0], atol=1e-9)
    away = np.linalg.norm(truth.worlds.state[1, 0, :3] - simulation.state[0, :3])
    assert away > 1e-3


def test_nodes_refuse_what_they_do_not_measure(policy):
    _, path = policy
    task = make_task("hold", SETTINGS)
    noisy = resolved(task.scenario, {**task.settings, **NOISE, "policy": path}, {})[0]
    with pytest.raises(
        BadInput, match="key 'observed' nodes do not give yet: fly it by ./iap run"
    ):
        platform_policy(noisy)
    calm = resolved(task.scenario, {**task.settings, "policy": path}, {})[0]
    assert platform_policy(calm)().asks_for == ()  # there the truth is measured


def test_an_estimate_does_not_take_the_place_of_what_is_measured(policy):
    _, path = policy
    task = make_task("hold", SETTINGS)
    keys = {**task.settings, "policy": path, "control.state_source": "joint"}
    line = r"^key 'control.state_source': .*joint.*, but task 'hold' observes noisy states, not estimates: it needs"
    with pytest.raises(BadInput, match=line):
        Simulation.of(task.scenario, settings=keys, sensors="stereo", scene="textured_walls")

# SPDX-License-Identifier: BSD-3-Clause
"""A policy touches in a single run and between messages as in its episodes: same bits, same errors of sensors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linear_policies import ONWARD, onward_policy

from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_learning.learned_agents import flies_by_references, platform_policy
from iap_learning.tasks.kinds.platform.platform_responder import PlatformResponder
from iap_learning.tasks.kinds.registry import kind_of, make_episodes, make_task
from iap_learning.tasks.plant_senses import senses_of
from iap_learning.tasks.senses import Sense
from iap_physics.engines.make import is_installed
from iap_physics.measured.wrench_sensor import to_platform
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
STEPS = 120


def run_of(task: str, policy: str | None) -> tuple[str, dict[str, Any]]:
    """The scenario of a single run by a policy, and values of its keys."""
    made = make_task(task)
    single = kind_of(made).single_run
    assert single is not None
    keys = {**made.settings, **single.by_policy, "engine.name": "mujoco", "policy": policy}
    return made.scenario, keys


@pytest.mark.parametrize("task", ONWARD)
def test_a_single_run_is_the_episode_of_its_seed_bit_for_bit(task: str, tmp_path: Path) -> None:
    policy = onward_policy(task, tmp_path)
    episodes = make_episodes(task, 2)
    observed = episodes.reset(seeds=[4, 5])
    touched = 0.0
    scenario, keys = run_of(task, policy.source)
    with Simulation.of(scenario, settings=keys, seed=5) as simulation:
        for _ in range(STEPS):
            observed = episodes.step(policy(observed)).observation
            for _ in range(4):
                simulation.step()
                touched = max(touched, np.linalg.norm(simulation.plant.contact_wrench(0)[:3]))
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])
    assert touched > 0.5


@pytest.mark.parametrize("task", ["push_door", "push_object", "perch_on_wall"])
def test_between_messages_it_gives_the_references_of_a_single_run(
    task: str, tmp_path: Path
) -> None:
    scenario, keys = run_of(task, onward_policy(task, tmp_path).source)
    flown_scenario = resolved(scenario, keys, {"seed": 5})[0]
    assert flies_by_references(flown_scenario)
    responder = PlatformResponder(platform_policy(flown_scenario))
    asked = responder.policy.asks_for
    with (
        Simulation.of(scenario, settings=keys, seed=5) as flown,
        Simulation.of(scenario, settings={**keys, "policy": None}, seed=5) as simulation,
    ):
        for k in range(4 * STEPS):
            plant, vehicle = simulation.plant, simulation.loop.vehicles[0]
            x, wrench_P, stamp = plant.state(0)[0].copy(), np.zeros(6), k * 5_000_000
            to_platform(plant.contact_wrench(0), x[0, 3:7], wrench_P)
            parts = senses_of(plant, asked)._asdict() | {Sense.WRENCH.value: wrench_P}
            for sense in asked:
                assert responder.take_sense(sense, stamp, parts[sense.value].copy()) is None
            rpm = plant.propulsion[0].rpm[0].copy()
            assert responder.take_state(stamp, k, x, rpm) is None
            answer = responder.take_reference(stamp, vehicle.reference(k).row.copy())
            assert isinstance(answer, Reference)
            simulation.step(vehicle.command(plant.t, x, plant.contact_wrench(0), answer))
            flown.step()
        np.testing.assert_allclose(simulation.state, flown.state, atol=1e-6)


def test_a_policy_does_not_touch_beside_the_admittance_of_the_scenario(tmp_path: Path) -> None:
    scenario, keys = run_of("peg_in_hole", onward_policy("peg_in_hole", tmp_path).source)
    with pytest.raises(BadInput, match=r"key 'control\.admittance': True, but policy"):
        Simulation.of(scenario, settings={**keys, "control.admittance": True})

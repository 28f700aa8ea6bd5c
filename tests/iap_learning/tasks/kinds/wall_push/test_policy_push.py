# SPDX-License-Identifier: BSD-3-Clause
"""A policy pushes on a wall in a single run and between messages as in its episodes."""

from pathlib import Path

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_learning.learned_agents import flies_by_references, platform_policy
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.platform.platform_responder import PlatformResponder
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_learning.tasks.kinds.wall_push.episodes import BY_VELOCITY
from iap_physics.engines.make import is_installed
from iap_physics.measured.wrench_sensor import to_platform
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
NEAR = {  # it touches within a second
    "reference.position": [-1.95, 0.0, 2.0],
    "draw.object_position": [0.01, 0.0, 0.0],
}


def settings_of(policy: str) -> dict[str, object]:
    """Keys of the scenario of a single run by a policy."""
    given = {**make_task("wall_push").settings, **BY_VELOCITY, **NEAR}
    return {**given, "engine.name": "mujoco", "policy": policy}


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """Pushes as a force that is missing asks, and stands where nothing is missing."""
    path = tmp_path / "policy.npz"
    episodes = make_episodes("wall_push", 1)
    linear_policy(episodes, gains={"force_error": 0.02, "gap": 0.3}, drawn=0.01).save(path)
    return Policy.load(str(path))


def test_a_policy_pushes_in_a_single_run_as_in_its_episodes_bit_for_bit(policy: Policy) -> None:
    episodes = make_episodes("wall_push", 2, scenario=NEAR)
    seen = episodes.reset(seeds=[4, 5])
    with Simulation.of("wall_push", settings=settings_of(policy.source), seed=5) as simulation:
        for _ in range(60):
            seen = episodes.step(policy(seen)).observation
            for _ in range(4):
                simulation.step()
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])
    assert episodes.report()["force_peak"][1] > 1.0


def test_between_messages_it_gives_the_references_of_a_single_run(policy: Policy) -> None:
    settings = settings_of(policy.source)
    scenario = resolved("wall_push", settings, {"seed": 5})[0]
    assert flies_by_references(scenario)
    responder = PlatformResponder(platform_policy(scenario))
    with (
        Simulation.of("wall_push", settings=settings, seed=5) as flown,
        Simulation.of("wall_push", settings={**settings, "policy": None}, seed=5) as simulation,
    ):
        for k in range(160):
            plant, vehicle = simulation.plant, simulation.loop.vehicles[0]
            x, wrench_P, stamp = plant.state(0)[0].copy(), np.zeros(6), k * 5_000_000
            to_platform(plant.contact_wrench(0), x[0, 3:7], wrench_P)
            assert responder.take_wrench(stamp, wrench_P) is None
            rpm = plant.propulsion[0].rpm[0].copy()
            assert responder.take_state(stamp, k, x, rpm) is None
            answer = responder.take_reference(stamp, vehicle.reference(k).row.copy())
            assert isinstance(answer, Reference)
            simulation.step(vehicle.command(plant.t, x, plant.contact_wrench(0), answer))
            flown.step()
        np.testing.assert_allclose(simulation.state, flown.state, atol=1e-9)
        assert np.linalg.norm(simulation.plant.contact_wrench(0)) > 0.0


def test_a_policy_does_not_push_beside_the_wrench_control_of_the_scenario(policy: Policy) -> None:
    settings = {**settings_of(policy.source), "control.wrench_mode": "selective"}
    with pytest.raises(BadInput, match=r"key 'control\.wrench_mode': 'selective', but policy"):
        Simulation.of("wall_push", settings=settings)

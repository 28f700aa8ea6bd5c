# SPDX-License-Identifier: BSD-3-Clause
"""Policies that observe noisy states in single runs see what they see in many worlds."""

from types import SimpleNamespace

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.errors import BadInput
from iap_learning.learned_agents import platform_policy
from iap_learning.tasks.kinds.platform.platform_responder import PlatformResponder
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_learning.tasks.senses import Sense, Senses
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


@pytest.mark.parametrize("order", ["MSR", "SRM"])
def test_messages_give_the_measured_state_of_the_instant_before(policy, order):
    """In one process and between messages the same flight, whichever message of an instant comes first."""
    _, path = policy
    task = make_task("hold", SETTINGS)
    keys = {**task.settings, **NOISE, "policy": path}
    noisy = resolved(task.scenario, keys, {"seed": 5, "engine": "closed_form"})[0]
    responder = PlatformResponder(platform_policy(noisy), measured="/iap/state/measured")
    assert responder.policy.asks_for == (Sense.MEASURED,)
    with (
        Simulation.of(noisy) as alone,
        Simulation.of(noisy.model_copy(update={"policy": None})) as other,
    ):
        for k in range(40):
            plant, vehicle, answers = other.plant, other.loop.vehicles[0], []
            x, row = plant.state(0)[0].copy(), vehicle.reference(k).row.copy()
            before = vehicle.measurement.copy()
            for part in order:
                if part == "S":
                    rpm = plant.propulsion[0].rpm[0].copy()
                    answers.append(responder.take_state(5_000_000 * k, k, x, rpm))
                elif part == "R":
                    answers.append(responder.take_reference(5_000_000 * k, row))
                elif k > 0:
                    if order == "SRM":
                        assert responder.awaited == ("/iap/state/measured",)
                    answers.append(responder.take_measured(k - 1, before))
            (answer,) = (each for each in answers if each is not None)
            other.step(vehicle.command(plant.t, x, plant.contact_wrench(0), answer))
            alone.step()
            np.testing.assert_array_equal(other.state, alone.state)


def test_where_there_is_no_noise_the_truth_is_measured(policy):
    _, path = policy
    task = make_task("hold", SETTINGS)
    calm = resolved(task.scenario, {**task.settings, "policy": path}, {})[0]
    assert platform_policy(calm)().asks_for == ()


def test_an_estimate_comes_beside_the_true_state_and_is_what_a_policy_sees():
    asked = []
    pilot = SimpleNamespace(asks_for=(), inputs=(), lacks=lambda *_: ())
    answering = type(
        "P", (SimpleNamespace,), {"__call__": lambda _, *each: asked.append(each) or 1}
    )
    responder = PlatformResponder(lambda: answering(**vars(pilot)), on_estimate=True)
    responder.take_reference(10, "row")
    assert responder.take_state(10, 2, np.zeros((1, 13)), "rpm") is None
    assert responder.missing == (2,)
    assert responder.take_sense(Sense.ESTIMATE, 10, "estimate") == 1
    assert asked == [(2, "estimate", "rpm", "row", Senses())]


def test_an_estimate_does_not_take_the_place_of_what_is_measured(policy):
    _, path = policy
    task = make_task("hold", SETTINGS)
    keys = {**task.settings, "policy": path, "control.state_source": "joint"}
    line = r"^key 'control.state_source': .*joint.*, but task 'hold' observes noisy states, not estimates: it needs"
    with pytest.raises(BadInput, match=line):
        Simulation.of(task.scenario, settings=keys, sensors="stereo", scene="textured_walls")

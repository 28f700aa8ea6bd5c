# SPDX-License-Identifier: BSD-3-Clause
"""Policies fly scenarios: as their episodes do, in every engine, and nothing that they are not made for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_engines import NAMES
from linear_policies import docking_policy, linear_policy

from iap_description.errors import BadInput
from iap_description.states import P
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_episodes
from iap_simulation.runs.run import record
from iap_simulation.simulation.simulation import Simulation

STARTS = {"draw.position": 0.2, "draw.attitude_deg": 5.0}
KINDS: dict[str, dict[str, Any]] = {  # of actions: settings of the task
    "acceleration": {},
    "velocity": {
        "action.kind": "velocity",
        "action.low": [-1.0, -1.0, -1.0, -1.0],
        "action.high": [1.0, 1.0, 1.0, 1.0],
    },
    "wrench": {
        "action.kind": "wrench",
        "action.low": [-5.0, -5.0, 30.0, -0.1, -0.1, -0.1],
        "action.high": [5.0, 5.0, 60.0, 0.1, 0.1, 0.1],
    },
    "rotor_thrust": {
        "action.kind": "rotor_thrust",
        "action.low": [0.0] * 4,
        "action.high": [8.0] * 4,
    },
}


def saved(policy: Policy, folder: Path) -> str:
    path = folder / "policy.npz"
    policy.save(path)
    return str(path)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_policy_flies_the_closed_form_as_its_episodes_do_bit_for_bit(
    kind: str, tmp_path: Path
) -> None:
    episodes = make_episodes("hold", 3, settings=KINDS[kind])
    policy = linear_policy(episodes, gains={}, settings=KINDS[kind], drawn=0.3)
    settings = {**STARTS, "policy": saved(policy, tmp_path), "engine.name": "closed_form"}
    seen = episodes.reset(seeds=[5, 6, 7])
    with Simulation.of("hover", settings=settings, seed=6) as simulation:
        for _ in range(10):
            seen = episodes.step(policy(seen)).observation
            for _ in range(4):
                simulation.step()
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])
        assert np.abs(simulation.state[0, P] - episodes.worlds.state[0, 0, P]).max() > 1e-3


@pytest.mark.parametrize("engine", ["closed_form", *NAMES])
def test_a_linear_policy_comes_to_its_place_in_every_engine(engine: str, tmp_path: Path) -> None:
    episodes = make_episodes("hold", 1)
    gains = {"position_error": 6.0, "velocity": -4.0}
    policy = linear_policy(episodes, gains=gains)
    settings = {**STARTS, "policy": saved(policy, tmp_path), "engine.name": engine}
    with Simulation.of("hover", settings=settings, seed=3) as simulation:
        goal = simulation.loop.vehicles[0].timeline.row(0)[:3]
        assert np.linalg.norm(simulation.state[0, P] - goal) > 0.1
        for _ in range(800):
            simulation.step()
        assert np.linalg.norm(simulation.state[0, P] - goal) < 0.02


def test_a_run_tells_which_policy_flew(tmp_path: Path) -> None:
    policy = linear_policy(
        make_episodes("hold", 1), gains={"position_error": 6.0, "velocity": -4.0}
    )
    path = saved(policy, tmp_path)
    settings = {"policy": path, "engine.name": "closed_form"}
    result = record("hover", folder=tmp_path / "run", duration=0.5, settings=settings)
    assert result.metrics["outcome"] == "completed"
    assert result.metrics["policy"] == {"name": "policy", "task": "hold", "sha256": policy.digest}


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"platform": "f450"}, "key 'platform': 'three_star'"),
        ({"rates.control_hz": 125.0}, "key 'rate_hz': 50 Hz does not divide"),
    ],
)
def test_a_policy_of_another_platform_or_rate_is_refused(
    tmp_path: Path, settings: dict[str, Any], named: str
) -> None:
    policy = saved(linear_policy(make_episodes("hold", 1), gains={}), tmp_path)
    given = {"policy": policy, **settings}
    platform = given.pop("platform", None)
    with pytest.raises(BadInput, match=named):
        Simulation.of("hover", settings=given, platform=platform)


def test_a_policy_of_another_layout_is_refused(tmp_path: Path) -> None:
    settings = {"observation": {"position_error": 1.0, "velocity": 1.0}}
    policy = linear_policy(make_episodes("hold", 1, settings=settings), gains={})
    with pytest.raises(BadInput, match="key 'observation'"):
        Simulation.of("hover", settings={"policy": saved(policy, tmp_path)})


def test_a_policy_of_one_platform_does_not_dock(tmp_path: Path) -> None:
    policy = saved(linear_policy(make_episodes("hold", 1), gains={}), tmp_path)
    with pytest.raises(BadInput, match="key 'platform': 'three_star'"):
        Simulation.of("docking", settings={"policy": policy})


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES)
def test_a_policy_docks_in_every_engine_as_its_episodes_do_until_they_touch(
    engine: str, tmp_path: Path
) -> None:
    episodes = make_episodes("docking", 2)
    policy = docking_policy(episodes)
    seen, together = episodes.reset(seeds=[3, 4]), 0
    settings = {"policy": saved(policy, tmp_path)}
    with Simulation.of("docking", engine=engine, seed=4, settings=settings) as simulation:
        while not simulation.is_done:
            seen = episodes.step(policy(seen)).observation
            for _ in range(4):
                simulation.step()
            if np.isnan(episodes.report()["closing_speed"][1]):  # not touched yet
                places = [simulation.state_of(name)[0, P] for name in ("target", "chaser")]
                np.testing.assert_allclose(places, episodes.worlds.state[1, :, P], atol=3e-4)
                together += 1
        assert together > 50
        task = simulation.task
        assert task is not None
        assert task.failure is None
        assert task.metrics(simulation.plant)["closing_speed_mps"] < 0.3


def test_a_docking_policy_needs_a_docking(tmp_path: Path) -> None:
    policy = saved(docking_policy(make_episodes("docking", 1)), tmp_path)
    with pytest.raises(BadInput, match="no key 'docking'"):
        Simulation.of("two_platforms", settings={"policy": policy})

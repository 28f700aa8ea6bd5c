# SPDX-License-Identifier: BSD-3-Clause
"""Dockings of modules as episodes: the coordinator and the funnel arrive."""

from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import OUTCOMES

AT_REST: dict[str, Any] = {"draw.position": 0.0, "draw.attitude_deg": 0.0}


def flown(episodes: Any, act: Any) -> tuple[Any, Any]:
    """Fly an episode of every world; returns successes and times [s]."""
    over, success = np.zeros((2, episodes.count), bool)
    seconds = np.zeros(episodes.count)
    while not over.all():
        step = episodes.step(act())
        new = (step.terminated | step.truncated) & ~over
        success[new], seconds[new] = step.success[new], episodes.steps[new] * episodes.dt
        over |= new
    return success, seconds


@pytest.mark.slow
def test_the_coordinator_docks_and_so_does_the_funnel_and_sooner() -> None:
    episodes = make_episodes("module_docking", 4)
    episodes.reset(seeds=range(4))
    success, slow = flown(episodes, lambda: None)
    assert success.all()
    assert (episodes.report()["closing_speed"] < 0.12).all()  # its reference approaches at 0.1 m/s
    assert (episodes.report()["offset"] < 0.02).all()
    episodes.reset(seeds=range(4))
    success, quick = flown(episodes, agent_of("funnel", episodes))
    assert success.all()
    assert (quick < slow).all()


def test_what_grows_is_the_potential() -> None:
    """Without costs an episode's return is the potential at its end less that at its start."""
    free = {f"reward.{key}": 0.0 for key in ("time", "change", "touch")}
    episodes = make_episodes("module_docking", 1, settings={**free, "reward.potential.angle": 0.0})
    episodes.reset(seeds=[3])

    def potential() -> float:
        leader, follower = (
            w.state[0, 0] for w in (episodes.worlds.leader, episodes.worlds.follower)
        )
        p_L = so3.rotate(so3.conjugate(leader[3:7]), follower[:3] - leader[:3])
        p_L -= episodes.latch.home_L
        return float(-2.0 * abs(p_L[0]) - 5.0 * np.hypot(p_L[1], p_L[2]))

    start = potential()
    for _ in range(10):
        episodes.step(np.full((1, 4), 0.3))
    assert episodes.returns[0] == pytest.approx(potential() - start, abs=1e-9)


@pytest.mark.parametrize(
    ("settings", "scenario", "action", "word"),
    [
        ({"seconds": 0.2}, {}, [0.0] * 4, "time"),
        ({"fails_beyond": 0.5}, {}, [0.0] * 4, "out_of_bounds"),
        ({}, {}, [np.nan] * 4, "invalid_command"),
        ({}, {"vehicles.0.offset": [-0.7, 0.15, 0.0]}, [1.0, 0.0, 0.0, 0.0], "collided"),
        (
            {"closing_speed": 0.05},
            {"vehicles.0.offset": [-0.7, 0.0, 0.0]},
            [0.2, 0.0, 0.0, 0.0],
            "too_fast",
        ),
        (
            {},
            {"vehicles.0.offset": [-0.7, 0.0, 0.0]},
            [0.2, 0.0, 0.0, 0.0],
            "arrived",
        ),
    ],
)
def test_ends(
    settings: dict[str, Any], scenario: dict[str, Any], action: list[float], word: str
) -> None:
    episodes = make_episodes(
        "module_docking", 1, settings=settings, scenario={**AT_REST, **scenario}
    )
    episodes.reset(seeds=[1])
    flown(episodes, lambda: np.array([action]))
    assert OUTCOMES[int(episodes.outcome[0])] == word


@pytest.mark.parametrize(
    ("settings", "scenario", "match"),
    [
        ({"repeat": 7}, {}, "'repeat': 7 is no multiple of the 5 control periods"),
        ({"observation": {"smell": 1.0}}, {}, "no term 'smell'"),
        ({"scenario": "hover", "settings": {}}, {}, "two vehicles and one joint"),
        ({"closing_speed": -1.0}, {}, "closing_speed"),
    ],
)
def test_what_does_not_fit_is_refused(
    settings: dict[str, Any], scenario: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        make_episodes(make_task("module_docking", settings), 1, scenario=scenario)


def test_experts_of_other_tasks_are_refused() -> None:
    with pytest.raises(BadInput, match="docks modules by velocities, not task 'hold'"):
        agent_of("funnel", make_episodes("hold", 1))


def test_the_shipped_policy_docks_in_episodes_and_its_flight_goes_likewise_up_to_the_touch() -> (
    None
):
    policy = Policy.load("module_docking")
    episodes = make_episodes("module_docking", 1)
    episodes.reset(seeds=[7])
    success, seconds = flown(episodes, lambda: policy(episodes.observe()))
    assert success.all()
    settings = {"policy": "module_docking", **episodes.task.settings}
    with Simulation.of("module_docking", settings=settings, seed=7) as simulation:
        seen = episodes.reset(seeds=[7])
        for _ in range(30):  # 1.5 s, well before the touch
            seen = episodes.step(policy(seen)).observation
            for _ in range(10):
                simulation.step()
        place = episodes.worlds.follower.state[0, 0, :3]
        np.testing.assert_allclose(simulation.state_of("m1")[0, :3], place, atol=1e-3)
        modules = simulation.modules
        assert modules is not None
        while not modules.coordinator.machines["dock"].holds:
            assert simulation.t < seconds[0] + 1.0
            simulation.step()


def test_a_policy_that_docks_no_modules_is_refused() -> None:
    with pytest.raises(
        BadInput,
        match="flies task 'hold': tasks of kind 'platform' have no part 'policy_guidance'",
    ):
        Simulation.of("module_docking", settings={"policy": "hold"})
    with pytest.raises(
        BadInput, match="tasks of kind 'module_docking' have no part 'policy_agent'"
    ):
        Simulation.of("beetle_hover", settings={"policy": "module_docking"})

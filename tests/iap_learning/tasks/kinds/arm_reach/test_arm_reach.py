# SPDX-License-Identifier: BSD-3-Clause
"""Reaching as episodes: worlds are the single flights of `iap run arm_path`, the law arrives and the policy sooner."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import iap_learning  # noqa: F401 - gymnasium knows the tasks from here on
from iap_control.laws.end_effector import level, task_pose
from iap_description.errors import BadInput
from iap_learning.evaluation.baselines import score
from iap_learning.evaluation.engines import fly_in_engine
from iap_learning.evaluation.subjects import subject_of
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_physics.identified.engine import IdentifiedEngine
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import OUTCOMES

TASK = "arm_reach"
STILL = {"draw.attitude_deg": 0.0, "draw.joints_deg": 0.0, "plant.noise": 0.0}


@pytest.mark.slow
def test_a_world_is_the_single_flight_of_its_seed_bit_for_bit() -> None:
    """Law, limits, noise and plant: 80 steps of the plant, more than whose noise is drawn at once."""
    episodes = make_episodes(TASK, 3)
    episodes.reset(seeds=[4, 5, 6])
    plants, (x, y, z) = episodes.worlds.plants, episodes.targets[1]
    rows = [np.hstack([plants.pose[1], plants.q[1], plants.v[1]])]
    for _ in range(40):
        episodes.step(None)
        rows.append(np.hstack([plants.pose[1], plants.q[1], plants.v[1]]))
    at = {"amplitude": 0.0, "rate": 0.0, "phase_deg": 0.0}
    path = {
        key: {**at, "offset": float(value)} for key, value in zip("xyz", (x, y, z), strict=True)
    }
    path["heading"] = {**at, "offset": 0.0}
    own = make_task(TASK).settings
    with Simulation.of("arm_path", settings={**own, "arm.motion.path": path}, seed=5) as single:
        alone = [_row_of(single)]
        for _ in range(40):
            single.step()
            alone.append(_row_of(single))
    alone = np.array(alone)
    np.testing.assert_array_equal(np.array(rows), alone)
    assert np.ptp(alone[:, :3], axis=0).max() > 0.1


def _row_of(simulation: Simulation) -> Any:
    engine = simulation.plant.engine
    assert isinstance(engine, IdentifiedEngine)
    state = engine.plant.state
    return np.hstack([state.p_WP_W, state.yaw, state.q, state.v])


def test_what_is_seen_is_where_the_end_effector_is_and_how_it_moves() -> None:
    """Against the kinematics (3) in `map`, and a difference of places within a fine step of the plant."""
    fine = {"plant.noise": 0.0, "rates.physics_hz": 1000.0, "rates.control_hz": 1000.0}
    scales = {
        "error": 1.0,
        "tip": 1.0,
        "tip_velocity": 1.0,
        "joints": 1.0,
        "velocity": 1.0,
        "rates": 1.0,
    }
    settings = {"repeat": 1, "observation": {**scales, "action": 1.0}}
    episodes = make_episodes(make_task(TASK, settings), 1, scenario=fine)
    episodes.reset(seeds=[3])
    plants, chain = episodes.worlds.plants, episodes.worlds.chain
    action = np.array([[0.5, -0.3, 0.2, 0.8, -0.5, 0.6, 0.4]])

    def place() -> tuple[Any, float]:
        pose = plants.pose[0]
        return task_pose(chain, pose[:3], pose[3], plants.q[0])[:3], pose[3]

    for _ in range(200):
        before = place()[0]
        seen = episodes.step(action).observation[0]
    tip, yaw = place()
    turn = level(yaw).T
    np.testing.assert_allclose(seen[:3], turn @ (episodes.targets[0] - tip), atol=1e-6)
    np.testing.assert_allclose(seen[3:6], turn @ (tip - plants.pose[0, :3]), atol=1e-6)
    np.testing.assert_allclose(seen[6:9], turn @ (tip - before) * 1e3, atol=2e-3)
    np.testing.assert_array_equal(
        seen[9:], np.hstack([plants.q, plants.v, action])[0].astype("f4")
    )
    assert np.linalg.norm(seen[6:9]) > 0.1


def test_without_costs_a_return_is_by_how_much_the_distance_has_shrunk() -> None:
    free = {f"reward.{key}": 0.0 for key in ("time", "change", "cut")}
    episodes = make_episodes(TASK, 1, settings={**free, "reward.closer": 1.0})
    episodes.reset(seeds=[3])
    start = episodes.report()["distance"][0]
    for _ in range(10):
        episodes.step(np.full((1, 7), 0.3))
    assert episodes.returns[0] == pytest.approx(start - episodes.report()["distance"][0], abs=1e-9)


@pytest.mark.parametrize(
    ("settings", "scenario", "action", "word"),
    [
        ({"seconds": 0.2}, {}, [0.0] * 7, "time"),
        ({}, {}, [np.nan] + [0.0] * 6, "invalid_command"),
        ({"fails_beyond": 0.1}, {}, [0.0] * 7, "out_of_bounds"),
        ({"success.distance": 9.0, "success.lasting": 0.2}, STILL, [0.0] * 7, "arrived"),
        ({"success.distance": 9.0, "success.speed": 1e-6}, STILL, [1.0] * 7, "time"),
    ],
)
def test_episodes_end_for_what_has_happened(
    settings: dict[str, Any], scenario: dict[str, Any], action: list[float], word: str
) -> None:
    episodes = make_episodes(TASK, 1, settings={"seconds": 1.0, **settings}, scenario=scenario)
    episodes.reset(seeds=[1])
    for _ in range(10):
        step = episodes.step([action])
        if step.terminated[0] | step.truncated[0]:
            break
    assert OUTCOMES[int(episodes.outcome[0])] == word
    assert step.truncated[0] == (word == "time")
    assert step.success[0] == (word == "arrived")
    assert np.isfinite(step.observation).all()


def test_targets_are_drawn_in_their_box_by_the_seed() -> None:
    episodes = make_episodes(TASK, 64)
    episodes.reset(seeds=range(64))
    plants = episodes.worlds.plants
    starts = [
        task_pose(episodes.worlds.chain, p[:3], p[3], q)[:3]
        for p, q in zip(plants.pose, plants.q, strict=True)
    ]
    away = episodes.targets - np.array(starts)
    box = np.array([1.5, 1.5, 0.6])
    assert (np.abs(away) <= box).all()
    assert (np.abs(away).max(axis=0) > 0.9 * box).all()
    first = episodes.targets.copy()
    episodes.reset()
    assert not (episodes.targets == first).any()


def test_the_policy_that_ships_arrives_sooner_than_the_laws() -> None:
    policy, episodes = Policy.load(TASK), make_episodes(TASK, 16)
    seen = episodes.reset(seeds=range(500, 516))
    learned = score(episodes, lambda each: policy(each.observe()))
    assert learned.success.all()
    assert learned.seconds.mean() < 2.5
    assert seen.dtype == np.float32
    episodes.reset(seeds=range(500, 516))
    expert = agent_of("kinematic", episodes)
    law = score(episodes, lambda _: expert())
    assert law.success.mean() > 0.9
    assert law.seconds.mean() > 2.0 * learned.seconds.mean()


@pytest.mark.parametrize(
    ("settings", "scenario", "named"),
    [
        ({"target.low": [2.0, 0.0, 0.0]}, {}, "key 'target': key 'low'"),
        ({"observation": {"rpm": 1.0}}, {}, "no term 'rpm'"),
        (
            {},
            {"draw.joints_deg": 80.0},
            "key 'draw.joints_deg': q2 at -20.0 deg is beyond its limits",
        ),
        ({}, {"wind.speed": 1.0}, "key 'wind.speed': a plant of type identified"),
    ],
)
def test_what_is_wrong_is_named(
    settings: dict[str, Any], scenario: dict[str, Any], named: str
) -> None:
    with pytest.raises(BadInput, match=named):
        make_episodes(make_task(TASK, settings), 1, scenario=scenario)


def test_what_an_identified_plant_has_not_is_refused(tmp_path: Any) -> None:
    with pytest.raises(BadInput, match="platform 'f450'"):
        make_episodes(TASK, 1, platform="f450")
    with pytest.raises(BadInput, match="no bodies to be drawn"):
        gymnasium.make("iap/ArmReach-v0", render_mode="rgb_array")
    with pytest.raises(BadInput, match="tasks of kind 'arm_reach' have no part 'single_run'"):
        fly_in_engine(*subject_of(TASK, None, None)[:2], "pybullet", [1])
    with pytest.raises(BadInput, match="tasks of kind 'arm_reach' have no part 'policy_agent'"):
        Simulation.of("hover", settings={"policy": TASK})
    path = tmp_path / "slow.yaml"
    channel = "{gain: 1.0, frequency: 2.0, damping: 1.0, delay: 0.1}"
    path.write_text(f"model: second_order\ndescription: One.\nchannels: {{u_l: {channel}}}\n")
    with pytest.raises(BadInput, match="key 'plant.file': model 'dynamic' flies many worlds"):
        make_episodes(TASK, 1, scenario={"plant.file": str(path)})

# SPDX-License-Identifier: BSD-3-Clause
"""Observations and rewards of tasks, against formulas on arrays."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.math.lanes import LANES
from iap_description.states import P, Q, V, W
from iap_learning.tasks.kinds.platform.assessment import StepInputs, assess
from iap_learning.tasks.kinds.platform.block import MEASURES, REWARD, all_lanes, put_world
from iap_learning.tasks.kinds.platform.observations import ObservationInputs
from iap_learning.tasks.kinds.platform.observer import Observer
from iap_learning.tasks.kinds.platform.outcome import EpisodeCounts, Rules
from iap_learning.tasks.kinds.platform.quantities import (
    APPROACH,
    CLEARANCE,
    OPEN,
    QUANTITIES,
    SPEED,
    measure,
    put_action,
)
from iap_learning.tasks.kinds.platform.rewards import FACTORS, RewardTerms, add_up
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.platform.term_table import TERMS
from iap_learning.tasks.terms import BOUND

B, N = 40, 3


def random_states(rng, bodies=N + 1):
    x = rng.normal(size=(B, bodies, 13))
    x[..., Q] = so3.normalized(x[..., Q])
    return x


def random_goals(rng):
    goals = rng.normal(size=(B, 19 + N))
    goals[:, 3:7] = so3.normalized(goals[:, 3:7])
    return goals


def block_of(x, goals):
    """A block with the first worlds of some."""
    block = np.zeros((int(FACTORS) + 9) * LANES)
    for lane in range(LANES):
        put_world(block, np.uint64(lane), x[lane, 0], goals[lane])
    return block


def rows_of(block, row, count):
    """Rows (count, LANES) of a block."""
    return block.reshape(-1, LANES)[int(row) : int(row) + count]


def assessed(x, goals, task):
    """Rewards and observations of a step, as `Episodes` has them."""
    task, none = PlatformTask.of(task), np.zeros((B, 4))
    observer = Observer(task.observation, aircraft=N, actions=4)
    given = ObservationInputs(x, goals, np.arange(B), np.zeros((B, N, 4)), none)
    flown = StepInputs(none, np.full(B, np.inf), np.zeros(B, dtype=np.int64), np.zeros((B, 0)))
    counts, reward = EpisodeCounts.of(B), np.empty(B)
    seen = np.empty((B, observer.size), np.float32)
    rules = (RewardTerms.of(task.reward), Rules.of(task, 0.02), observer.parts)
    assess(0, B, given, flown, rules, counts, reward, seen)
    assert np.array_equal(seen, observer(given))
    return reward


def test_quantities_are_what_they_say():
    rng = np.random.default_rng(0)
    x, goals = random_states(rng), random_goals(rng)
    action, before, distance = rng.normal(size=(B, 4)), rng.normal(size=(B, 4)), rng.random(B)
    block = block_of(x, goals)
    found = rows_of(block, MEASURES, len(QUANTITIES))
    for lane in range(LANES):
        put_action(block, np.uint64(lane), action[lane], before[lane])
    found[APPROACH], found[CLEARANCE] = distance[:LANES], np.inf
    measure(block, all_lanes())
    row = x[:, 0]
    away = row[:, P] - goals[:, :3]
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(goals[:, 3:7]), row[:, Q]))
    w_P = so3.rotate(so3.conjugate(row[:, Q]), row[:, W])
    expected = {
        "distance": np.linalg.norm(away, axis=1),
        "below": goals[:, 2] - row[:, 2],
        "height": np.abs(goals[:, 2] - row[:, 2]),
        "speed": np.linalg.norm(row[:, V] - goals[:, 7:10], axis=1),
        "angle": np.linalg.norm(turn, axis=1),
        "tilt": 1.0 - so3.rotate(row[:, Q], np.tile([0.0, 0.0, 1.0], (B, 1)))[:, 2],
        "rate": np.linalg.norm(w_P - goals[:, 10:13], axis=1),
        "approach": distance - np.linalg.norm(away, axis=1),
        "clearance": np.full(B, OPEN),
        "action": np.linalg.norm(action, axis=1),
        "action_change": np.linalg.norm(action - before, axis=1),
    }
    assert list(expected) == list(QUANTITIES)
    for row, (name, values) in zip(found, expected.items(), strict=True):
        np.testing.assert_allclose(row, values[:LANES], atol=1e-12, err_msg=name)


def test_terms_are_what_they_say():
    rng = np.random.default_rng(1)
    x, goals = random_states(rng), random_goals(rng)
    rpm, action, imu = rng.random((B, N, 4)), rng.random((B, 6)), rng.random((B, 6))
    observer = Observer(dict.fromkeys(TERMS, 2.0), aircraft=N, actions=6)
    seen = observer(ObservationInputs(x, goals, np.arange(B), rpm, action, imu))
    matrices = np.array([so3.matrix_from_quaternion(each) for each in x[:, 0, Q]])
    to_P = so3.conjugate(x[:, 0, Q])
    up = np.tile([0.0, 0.0, 1.0], (B, 1))
    turn = so3.quaternion_log(so3.multiply(to_P, goals[:, 3:7]))
    tops = [so3.rotate(to_P, so3.rotate(x[:, 1 + n, Q], up)) for n in range(N)]
    expected = {
        "position_error": goals[:, :3] - x[:, 0, P],
        "position_error_P": so3.rotate(to_P, goals[:, :3] - x[:, 0, P]),
        "attitude": x[:, 0, Q],
        "attitude_error": turn,
        "up": so3.rotate(to_P, up),
        "velocity": x[:, 0, V],
        "velocity_P": so3.rotate(to_P, x[:, 0, V]),
        "velocity_error": goals[:, 7:10] - x[:, 0, V],
        "goal_acceleration": goals[:, 13:16],
        "rates": so3.rotate(to_P, x[:, 0, W]),
        "aircraft_up": np.concatenate(tops, axis=1),
        "rpm": rpm.reshape(B, -1),
        "action": action,
        "rotation_columns": np.concatenate([matrices[..., 0], matrices[..., 1]], axis=1),
        "gyro": imu[:, :3],
        "specific_force": imu[:, 3:],
    }
    assert list(expected) == list(TERMS)
    assert seen.dtype == np.float32
    for name, values in expected.items():
        part = seen[:, observer.columns[name]]
        np.testing.assert_allclose(part, values / 2.0, atol=1e-6, err_msg=name)


def test_some_worlds_see_what_all_see_and_goals_are_looked_up():
    rng = np.random.default_rng(4)
    x, goals = random_states(rng), random_goals(rng)
    at, chosen = rng.integers(0, B, B), np.array([3, 17, 18])
    given = ObservationInputs(x, goals, at, np.zeros((B, N, 4)), np.zeros((B, 1)))
    observer = Observer({"attitude_error": 1.0, "velocity_error": 1.0}, aircraft=N, actions=1)
    seen = observer(given._replace(goals=goals[at], at=np.arange(B)))
    assert np.array_equal(observer(given), seen)
    assert np.array_equal(observer(given, chosen), seen[chosen])


def test_observations_are_clipped():
    x, goals = random_states(np.random.default_rng(2)), np.zeros((B, 19))
    x[0, 0, V] = [1e6, -1e6, 0.0]
    observer = Observer({"velocity": 1.0}, aircraft=N, actions=1)
    seen = observer(
        ObservationInputs(x, goals, np.arange(B), np.zeros((B, N, 4)), np.zeros((B, 1)))
    )
    assert seen[0].tolist() == [BOUND, -BOUND, 0.0]


@pytest.mark.parametrize(
    ("factor", "value"),
    [("linear", 6.0), ("square", 12.0), ("gauss", np.exp(-12.0)), ("inverse", 1 / 13)],
)
def test_shapes(factor, value):
    settings = {
        "terms": {"only": {"weight": 2.0, "factors": [{"of": "speed", "shape": factor, "k": 3.0}]}}
    }
    task = PlatformTask.of("hold", {"reward": {**settings, "failure": 0.0, "arrival": 0.0}})
    block = np.zeros((int(FACTORS) + 1) * LANES)
    rows_of(block, MEASURES, len(QUANTITIES))[SPEED] = 2.0
    add_up(block, RewardTerms.of(task.reward), all_lanes())
    assert rows_of(block, REWARD, 1)[0] == pytest.approx(np.full(LANES, 2.0 * value))


def aerial_gym_reward(x, goal):
    """compute_reward of the Aerial Gym Simulator's position_setpoint_task.py, v2.0.1, in numpy."""
    dist = np.linalg.norm(goal - x[:, 0, P], axis=1)
    pos_reward = 3.0 * np.exp(-8.0 * dist * dist) + 2.0 * np.exp(-4.0 * dist * dist)
    dist_reward = (20 - dist) / 40.0
    ups = so3.matrix_from_quaternion(x[:, 0, Q])[:, :, 2]
    tiltage = np.abs(1 - ups[:, 2])
    up_reward = 0.2 / (0.1 + tiltage * tiltage)
    spinnage = np.linalg.norm(x[:, 0, W], axis=1)
    ang_vel_reward = (1.0 / (1.0 + spinnage * spinnage)) * 3
    return pos_reward + dist_reward + pos_reward * (up_reward + ang_vel_reward)


def test_the_preset_of_the_aerial_gym_rewards_as_it_does():
    rng = np.random.default_rng(3)
    x, goals = 0.4 * random_states(rng), np.zeros((B, 20))
    x[..., Q] = so3.normalized(x[..., Q])
    goals[:, 6] = 1.0
    task = PlatformTask.of("aerial_gym_position")
    out = assessed(x, goals, task.name)
    expected = aerial_gym_reward(x, goals[:, :3])
    is_near = np.linalg.norm(x[:, 0, P], axis=1) < task.fails_beyond["distance"]
    assert is_near.all()
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert task.reward.failure == -20.0
    assert task.fails_beyond == {"distance": 8.0}
    assert list(task.observation) == ["position_error", "attitude", "velocity_P", "rates"]

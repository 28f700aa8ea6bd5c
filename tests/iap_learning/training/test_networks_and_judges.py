# SPDX-License-Identifier: BSD-3-Clause
"""Networks of random weights, steps of Adam, and which policy is kept."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.datasets.rollouts import Rollout
from iap_learning.training import cloning, iql, judging, td3bc
from iap_learning.training.cloning import OfflineStage, transitions
from iap_learning.training.judging import Best, Judge
from iap_learning.training.networks import (
    Layer,
    followed,
    forward,
    log_density,
    make_network,
    optimiser,
    optimiser_step,
)
from iap_learning.training.offline import NetworkShape
from iap_learning.training.transitions import Transitions


def test_weights_are_orthogonal_of_the_gain_of_their_layer():
    """Rows where they are fewer, else columns: of length sqrt 2 before a tanh, and of the last layer's own gain."""
    first, second, last = make_network(np.random.default_rng(1), (5, 7, 4, 3), 0.01)
    assert (
        first.weights.shape == (5, 7)
        and second.weights.shape == (7, 4)
        and last.weights.shape == (4, 3)
    )
    np.testing.assert_allclose(first.weights @ first.weights.T, 2.0 * np.eye(5), atol=1e-5)
    np.testing.assert_allclose(second.weights.T @ second.weights, 2.0 * np.eye(4), atol=1e-5)
    np.testing.assert_allclose(last.weights.T @ last.weights, 1e-4 * np.eye(3), atol=1e-9)
    for layer, size in zip((first, second, last), (7, 4, 3), strict=True):
        assert layer.weights.dtype == layer.biases.dtype == np.float32
        assert layer.biases.tolist() == [0.0] * size
    again = make_network(np.random.default_rng(1), (5, 7, 4, 3), 0.01)
    np.testing.assert_array_equal(again[1].weights, second.weights)


def test_orthogonal_weights_prefer_no_sign():
    """Without the signs of R, a QR by reflections gives every first entry the opposite sign of what was drawn."""
    rng = np.random.default_rng(2)
    signs = [np.sign(make_network(rng, (1, 1), 1.0)[0].weights[0, 0]) for _ in range(200)]
    assert abs(np.mean(signs)) < 0.25


def test_networks_of_a_task_have_its_sizes_and_a_policy_that_does_next_to_nothing():
    shape = NetworkShape(np.random.default_rng(1), 6, 2, (8,), (9, 5))
    actor = shape.actor()
    assert [layer.weights.shape for layer in actor] == [(6, 8), (8, 2)]
    np.testing.assert_allclose(np.linalg.norm(actor[-1].weights, axis=0), 0.01, rtol=1e-5)
    for acts, inputs in ((False, 6), (True, 8)):
        critic = shape.critic(acts=acts)
        assert [layer.weights.shape for layer in critic] == [(inputs, 9), (9, 5), (5, 1)]
        np.testing.assert_allclose(np.linalg.norm(critic[-1].weights), 1.0, rtol=1e-5)


NETWORK = (
    Layer(np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([0.1, -0.2])),
    Layer(np.array([[2.0], [3.0]]), np.array([0.5])),
)


def test_a_network_is_linear_at_its_end():
    x = np.array([[0.3, 0.4], [5.0, 0.0]])
    hidden = np.tanh([[0.6, 0.3], [5.1, -5.2]])
    np.testing.assert_allclose(forward(NETWORK, x), hidden @ [[2.0], [3.0]] + 0.5)
    np.testing.assert_allclose(
        forward(NETWORK, x, lambda h: h),
        np.array([[0.6, 0.3], [5.1, -5.2]]) @ [[2.0], [3.0]] + 0.5,
    )
    np.testing.assert_allclose(forward(NETWORK[1:], hidden), hidden @ [[2.0], [3.0]] + 0.5)


def test_the_density_of_a_gaussian_is_that_of_its_numbers_together():
    actions, means = np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[0.5, 2.5], [0.0, 0.0]])
    sigma = np.array([0.5, 2.0])

    def density(a, m, s):
        return math.exp(-0.5 * ((a - m) / s) ** 2) / (s * math.sqrt(2.0 * math.pi))

    pairs = zip(actions, means, strict=True)
    pdf = [[density(*each) for each in zip(*row, sigma, strict=True)] for row in pairs]
    np.testing.assert_allclose(
        log_density(actions, means, np.log(sigma)), np.log(np.prod(pdf, axis=1))
    )


def test_a_target_follows_by_a_share_of_the_way():
    slow, fast = (
        {"a": np.array([1.0, 2.0]), "b": (np.array(4.0),)},
        {"a": np.array([2.0, 0.0]), "b": (np.array(8.0),)},
    )
    found = followed(slow, fast, 0.25)
    np.testing.assert_allclose(found["a"], [1.25, 1.5])
    np.testing.assert_allclose(found["b"][0], 5.0)


@pytest.mark.parametrize(
    ("largest", "steps"), [(1e-5, [0.6 / 1.6, 0.8 / 1.8]), (100.0, [1.0, 1.0])]
)
def test_a_first_step_of_adam_is_the_rate_against_the_sign_of_a_gradient_that_is_cut(
    largest, steps
):
    """Cut to a length of 1e-5 it is no longer large beside the 1e-5 that is added to its size."""
    adam, parameters = optimiser(largest), np.array([1.0, 2.0], np.float32)
    state, gradient = adam.init(parameters), np.array([3.0, 4.0], np.float32)
    moved, state = optimiser_step(adam, gradient, state, parameters, 0.1)
    np.testing.assert_allclose(moved, parameters - 0.1 * np.array(steps), rtol=1e-4)
    again, _ = optimiser_step(adam, -gradient, state, moved, 0.0)
    np.testing.assert_array_equal(again, moved)


def ended(success, returns, seconds):
    return SimpleNamespace(
        success=np.array(success), returns=np.array(returns), seconds=np.array(seconds)
    )


def test_a_policy_is_kept_that_succeeds_more_often_or_as_often_with_more_reward(monkeypatch):
    flown = iter(
        [
            ended([True, False], [1.0, 2.0], [3.0, 4.0]), ended([True, False], [1.0, 2.0], [3.0, 4.0]),
            ended([False, False], [9.0, 9.0], [1.0, 1.0]), ended([True, False], [2.0, 2.0], [1.0, 2.0]),
            ended([True, True], [-5.0, -5.0], [1.0, 1.0]),
        ]
    )  # fmt: skip
    asked, kept = [], []
    monkeypatch.setattr(judging, "fly_once", lambda *each: asked.append(each) or next(flown))
    monkeypatch.setattr(judging, "NetworkFlight", lambda *each: each)
    episodes = SimpleNamespace(count=2)
    judge = Judge(episodes, "seeds", lambda *each: kept.append(each), None, "blocks")
    reports = [judge(f"net{k}", f"scale{k}", 10 * k) for k in range(5)]
    assert asked[3] == (episodes, ("blocks", "net3", "scale3", 2), "seeds")
    assert [(net, scale, best.steps) for net, scale, best in kept] == [
        ("net0", "scale0", 0), ("net3", "scale3", 30), ("net4", "scale4", 40),
    ]  # fmt: skip
    assert judge.best == Best(1.0, -5.0, 40) == kept[-1][2]
    assert reports[0] == {"judged_success": 0.5, "judged_return": 1.5, "judged_seconds": 3.5}
    assert reports[2]["judged_return"] == 9.0


def test_a_policy_that_was_kept_before_is_beaten_by_a_better_one_alone(monkeypatch):
    monkeypatch.setattr(judging, "fly_once", lambda *_: ended([True], [2.0], [1.0]))
    monkeypatch.setattr(judging, "NetworkFlight", lambda *_: None)
    kept = []
    judge = Judge(
        SimpleNamespace(count=1), None, lambda *each: kept.append(each), Best(1.0, 2.0, 7)
    )
    judge(None, None, 8)
    assert kept == [] and judge.best.steps == 7


def rollout(first, steps):
    seen = first + np.arange(2.0 * (steps + 1)).reshape(-1, 2)
    last = np.arange(steps) == steps - 1
    ends = (last & (first > 5), last & (first <= 5))
    actions = np.full((steps, 1), first)
    return Rollout(1, seen, actions, first + np.arange(steps), *ends, True, "x")


def test_steps_of_episodes_end_with_their_own_last_observation():
    steps = transitions([rollout(0.0, 2), rollout(10.0, 1)], "data")
    np.testing.assert_array_equal(steps.observations, [[0, 1], [2, 3], [10, 11]])
    np.testing.assert_array_equal(steps.following, [[2, 3], [4, 5], [12, 13]])
    assert steps.rewards.tolist() == [0.0, 1.0, 10.0] and steps.terminated.tolist() == [
        0.0,
        0.0,
        1.0,
    ]
    assert steps.actions[:, 0].tolist() == [0.0, 0.0, 1.0]
    bad = rollout(0.0, 2)._replace(rewards=np.array([0.0, np.nan]))
    with pytest.raises(BadInput, match="^data: 'rewards': not all numbers are finite"):
        transitions([bad], "data")


def test_the_policy_of_a_state_is_that_of_its_networks_where_it_has_some():
    assert OfflineStage.actor(SimpleNamespace(actor="own")) == "own"
    assert OfflineStage.actor(SimpleNamespace(nets=SimpleNamespace(actor="inner"))) == "inner"


# the stage offline


class Rows:
    """A log that keeps its rows."""

    def __init__(self):
        self.rows = []

    def add(self, *row):
        self.rows.append(row)


def offline_stage(monkeypatch, updates=7, together=3):
    """A stage whose state adds up the rewards of its batches of five."""

    def update(state, batch, key):
        return state + batch.rewards.sum(), {
            "error": batch.rewards.mean(),
            "seen": batch.observations.mean(),
        }

    method = SimpleNamespace(
        begin=lambda settings, shape: (settings, shape), make_update=lambda settings: update
    )
    monkeypatch.setitem(cloning.METHODS, "mine", method)
    settings = SimpleNamespace(updates=updates, batch=5)
    offline = SimpleNamespace(method="mine", mine=settings, together=together)
    experiment = SimpleNamespace(seed=1, reward=2.0, normalisation=SimpleNamespace(least=0.1))
    seen = np.array([[1.0], [3.0]])
    steps = Transitions.of(
        seen, np.zeros((2, 1)), np.array([1.0, 3.0]), seen, np.zeros(2, bool), source="data"
    )
    log = Rows()
    return OfflineStage(experiment, offline, "shape", steps, log), log, settings


def test_a_stage_goes_in_rounds_of_updates_the_last_of_which_is_shorter(monkeypatch):
    stage, log, settings = offline_stage(monkeypatch)
    assert (stage.rounds, stage.updates) == (3, 7) and stage.begin() == (settings, "shape")
    assert stage.moments.samples == 2 and stage.moments.mean.tolist() == [2.0]
    legs = list(stage.legs(np.float32(0.0), 0))
    assert [done for _, done in legs] == [1, 2, 3]
    assert [row[:2] for row in log.rows] == [("offline", 3), ("offline", 6), ("offline", 7)]
    added = np.diff([0.0, *(float(state) for state, _ in legs)])
    for (_, _, report), count, sum_of in zip(log.rows, (3, 3, 1), added, strict=True):
        assert sum_of == pytest.approx(5 * count * report["error"], rel=1e-5)
        assert 2.0 <= report["error"] <= 6.0 and abs(report["seen"]) <= 1.0
        # rewards are 2 and 6 where observations are -1 and 1
        assert report["error"] == pytest.approx(4.0 + 2.0 * report["seen"], rel=1e-4)
    assert len({row[2]["error"] for row in log.rows}) > 1
    assert offline_stage(monkeypatch, 6)[0].rounds == 2


def test_a_stage_that_goes_on_is_the_same_as_one_that_was_never_interrupted(monkeypatch):
    stage, _, _ = offline_stage(monkeypatch)
    whole = [state for state, _ in stage.legs(np.float32(0.0), 0)]
    other, log, _ = offline_stage(monkeypatch)
    ((last, done),) = other.legs(whole[1], 2)
    assert done == 3 and float(last) == float(whole[2]) and log.rows[0][1] == 7
    assert list(other.legs(last, 3)) == []


@pytest.mark.parametrize("method", [iql, td3bc])
def test_critics_see_observations_and_actions_and_targets_begin_as_they_are(method):
    shape = NetworkShape(np.random.default_rng(1), 6, 2, (8,), (9,))
    state = method.begin(SimpleNamespace(largest_gradient=1.0), shape)
    assert state.nets.actor[0].weights.shape == (6, 8) and len(state.nets.critics) == 2
    for critic in state.nets.critics:
        assert [layer.weights.shape for layer in critic] == [(8, 9), (9, 1)]
    assert not np.array_equal(*(critic[0].weights for critic in state.nets.critics))
    if method is iql:
        assert state.nets.state_value[0].weights.shape == (6, 9)
        assert state.target == state.nets.critics

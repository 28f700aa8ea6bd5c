# SPDX-License-Identifier: BSD-3-Clause
"""Weights of new networks, rates of iterations, what is learnt from steps and summed up of episodes, by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_learning.tasks.contact_counts import window_of
from iap_learning.tasks.kinds.slide_along_wall.counts import SlideRules
from iap_learning.training.experience import EndedEpisodes, Experience
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Layer, make_network, optimiser
from iap_learning.training.online import OnlineStage, batch_of, summary
from iap_learning.training.policy_network import PolicyNetwork
from iap_learning.training.ppo import Actor


def test_new_weights_are_orthogonal_of_the_gain_of_a_tanh_but_for_the_last_ones() -> None:
    first, second, last = make_network(np.random.default_rng(1), (3, 8, 5, 2), 0.01)
    np.testing.assert_allclose(first.weights @ first.weights.T, 2.0 * np.eye(3), atol=1e-5)
    np.testing.assert_allclose(second.weights.T @ second.weights, 2.0 * np.eye(5), atol=1e-5)
    np.testing.assert_allclose(last.weights.T @ last.weights, 1e-4 * np.eye(2), atol=1e-9)
    assert [each.weights.shape for each in (first, second, last)] == [(3, 8), (8, 5), (5, 2)]
    assert not any(each.biases.any() for each in (first, second, last))


def test_a_step_is_of_the_size_of_its_rate_unless_the_gradient_is_as_small_as_epsilon() -> None:
    """The first step of Adam is g / (|g| + 1e-5), of a gradient that is cut to a norm."""
    adam = optimiser(0.5)
    for gradient, step in (([3.0, 4.0], [1.0, 1.0]), ([1e-5, -3e-5], [0.5, -0.75])):
        weights = np.zeros(2, np.float32)
        update, _ = adam.update(np.array(gradient, np.float32), adam.init(weights))
        np.testing.assert_allclose(update, step, rtol=1e-3)


def stage(iterations: int, **numbers: float) -> OnlineStage:
    """A stage of which nothing but its rates is looked at."""
    out = object.__new__(OnlineStage)
    out._ppo, out.iterations = SimpleNamespace(**numbers), iterations  # type: ignore[assignment]
    return out


def test_rates_fall_evenly_to_their_last_share_and_the_critic_learns_first() -> None:
    numbers = {"actor_rate": 1e-3, "critic_rate": 4e-3, "critic_first": 2, "last_rate": 0.2}
    rates = stage(10, **numbers).rates
    assert rates(0) == (0.0, 4e-3) and rates(1)[0] == 0.0
    assert rates(2) == pytest.approx((0.84e-3, 0.84 * 4e-3))
    assert rates(5) == pytest.approx((0.6e-3, 2.4e-3))


def test_a_summary_is_of_the_episodes_that_are_over() -> None:
    ended = EndedEpisodes(
        np.array([True, False, True, True]),
        np.array([1.0, 2.0, 3.0, 6.0]),
        np.array([0.5, 1.5, 1.0, 1.0]),
    )
    assert summary(ended) == {"success": 0.75, "return": 3.0, "seconds": 1.0}
    assert summary(EndedEpisodes.of([])) == {}


def test_steps_are_learnt_from_with_scaled_rewards_and_no_future_behind_an_end() -> None:
    """Values are twice the observation; gains are r + gamma V' - V, summed with gamma lambda up to an end."""
    critic = (Layer(np.array([[2.0]], np.float32), np.zeros(1, np.float32)),)
    actor = Actor(PolicyNetwork(critic), np.zeros(1, np.float32))
    learner: Any = SimpleNamespace(actor=actor, critic=critic)
    ppo: Any = SimpleNamespace(gamma=0.9, lam=0.5)
    scaler = Scaling(np.array([1.0], np.float32), np.array([2.0], np.float32))  # (x - 1) / 2
    seen, after = np.array([[[1.0]], [[3.0]], [[5.0]]]), np.array([[[3.0]], [[5.0]], [[7.0]]])
    nothing = np.zeros((3, 1, 0), np.float32)
    experience = Experience(
        observations=seen.astype(np.float32),
        following=after.astype(np.float32),
        actions=np.zeros((3, 1, 1), np.float32),
        means=np.zeros((3, 1, 1), np.float32),
        rewards=np.array([[10.0], [20.0], [30.0]]),
        terminated=np.array([[False], [False], [True]]),
        truncated=np.zeros((3, 1), bool),
        memories=nothing,
        memories_after=nothing,
        ended=EndedEpisodes.of([]),
    )
    batch = batch_of(experience, learner, scaler, ppo, 0.1)
    value = np.array([0.0, 2.0, 4.0])
    third = 3.0 - 4.0
    second = 2.0 + 0.9 * 4.0 - 2.0 + 0.45 * third
    first = 1.0 + 0.9 * 2.0 - 0.0 + 0.45 * second
    gains = np.array([first, second, third])
    np.testing.assert_allclose(batch.returns, gains + value, rtol=1e-5)
    level = (gains - gains.mean()) / gains.std()
    np.testing.assert_allclose(batch.advantages, level, rtol=1e-5)
    density = -0.5 * value**2 - 0.5 * math.log(2.0 * math.pi)
    np.testing.assert_allclose(batch.log_density, density, rtol=1e-5)


def test_a_force_is_smoothed_by_50_ms_and_settled_once_it_stays_for_200_ms() -> None:
    ends = {"length": 0.3, "run_in": 0.1, "force_rmse": 1.0, "path_rmse": 0.01, "peak": 20.0}
    task: Any = SimpleNamespace(
        success=SimpleNamespace(**ends, losses=2), periods=lambda dt: round(10.0 / dt)
    )
    rules = SlideRules.of(task, 5.0, 0.05)
    assert rules.share == pytest.approx(1.0 - math.exp(-1.0))
    assert (rules.settling, rules.last, rules.desired) == (4, 200, 5.0)
    assert SlideRules.of(task, 5.0, 0.001).settling == 200


def test_a_window_is_of_one_period_at_least_and_of_an_episode_at_most() -> None:
    assert [window_of(each, 0.01, 100) for each in (0.0, 0.004, 0.2, 0.5, 3.0)] == [
        1,
        1,
        20,
        50,
        100,
    ]

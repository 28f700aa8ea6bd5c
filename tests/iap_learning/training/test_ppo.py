# SPDX-License-Identifier: BSD-3-Clause
"""Proximal policy optimisation: the clipped loss, its gradient, and what it makes of a simple problem."""

import numpy as np
import pytest
from pydantic import ValidationError

pytest.importorskip("jax")

from iap_learning.training.libraries import jax
from iap_learning.training.networks import forward, log_density, make_network
from iap_learning.training.policy_network import PolicyNetwork
from iap_learning.training.ppo import (
    PPO,
    Actor,
    Batch,
    actor_loss,
    improved,
    make_batch,
    make_epoch,
    make_learner,
)

NUMBERS = PPO(
    horizon=1,
    epochs=4,
    minibatches=4,
    gamma=0.9,
    lam=0.9,
    clip=0.2,
    entropy=0.0,
    furthest=0.05,
    actor_rate=0.003,
    critic_rate=0.01,
    last_rate=1.0,
    largest_gradient=1.0,
    sigma=0.3,
    sigma_least=0.05,
    critic_first=0,
)


def one_step(ratio, advantage):
    """A policy, and a step whose density was such that the ratio is this."""
    network = make_network(np.random.default_rng(0), (3, 4, 2), 1.0)
    actor = Actor(PolicyNetwork(network), np.full(2, -1.0, np.float32))
    seen = np.array([[0.3, -0.2, 0.9]], np.float32)
    action = forward(network, seen) + np.float32(0.1)
    density = log_density(action, forward(network, seen), actor.log_sigma)
    before = (density - np.log(ratio)).astype(np.float32)
    level = np.array([advantage], np.float32)
    return actor, Batch(seen, action, before, level, level, *nothing(1))


def nothing(count):
    """Memories and starts of so many steps of a policy without blocks."""
    return np.zeros((count, 0), np.float32), np.zeros(count, np.float32)


compiled_slope = jax.jit(jax.grad(actor_loss, has_aux=True))


def slope(ratio, advantage):
    actor, batch = one_step(ratio, advantage)
    gradient, _ = compiled_slope(actor, batch, 0.2, 0.0)
    return max(float(np.abs(each).max()) for each in jax.tree.leaves(gradient))


@pytest.mark.parametrize(("ratio", "advantage"), [(1.3, 1.0), (0.7, -1.0)])
def test_the_gradient_vanishes_where_the_ratio_has_left_the_clip_for_the_better(ratio, advantage):
    assert slope(ratio, advantage) == 0.0


@pytest.mark.parametrize(
    ("ratio", "advantage"), [(1.3, -1.0), (0.7, 1.0), (1.1, 1.0), (0.9, -1.0)]
)
def test_elsewhere_there_is_one(ratio, advantage):
    assert slope(ratio, advantage) > 1e-3


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss"),
    [(1.1, 2.0, -2.2), (1.5, 2.0, -2.4), (0.5, 2.0, -1.0), (0.5, -2.0, 1.6), (1.5, -2.0, 3.0)],
)
def test_the_loss_is_equation_7(ratio, advantage, loss):
    actor, batch = one_step(ratio, advantage)
    found, report = actor_loss(actor, batch, 0.2, 0.0)
    assert float(found) == pytest.approx(loss, rel=1e-5)
    assert float(report["divergence"]) == pytest.approx(ratio - 1.0 - np.log(ratio), rel=1e-4)


def test_the_density_is_that_of_a_gaussian():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    actions, means, log_sigma = (
        rng.normal(size=(5, 3)),
        rng.normal(size=(5, 3)),
        rng.normal(size=3),
    )
    wanted = stats.norm(means, np.exp(log_sigma)).logpdf(actions).sum(axis=-1)
    np.testing.assert_allclose(log_density(actions, means, log_sigma), wanted, rtol=1e-12)


@pytest.mark.slow
def test_a_policy_learns_which_action_is_rewarded():
    rng, size = np.random.default_rng(2), 512
    epoch = make_epoch(NUMBERS)
    actor, critic = make_network(rng, (1, 16, 1), 0.01), make_network(rng, (1, 16, 1), 1.0)
    learner = make_learner(NUMBERS, PolicyNetwork(actor), critic, 1)
    for _ in range(60):  # the best action is half the observation
        seen = rng.uniform(-1.0, 1.0, (size, 1)).astype(np.float32)
        sigma = np.exp(learner.actor.log_sigma)
        noise = rng.standard_normal((size, 1), dtype=np.float32)
        means = forward(learner.actor.network.layers, seen)
        actions = means + sigma * noise
        rewards = -np.square(actions - 0.5 * seen)[:, 0]
        gains = rewards - forward(learner.critic, seen)[:, 0]
        parts = (seen, actions, means, gains, rewards, *nothing(size))
        batch = make_batch(learner.actor.log_sigma, *parts)
        learner, _ = improved(NUMBERS, epoch, learner, batch, (0.01, 0.01), rng)
    at = np.array([[-0.8], [0.0], [0.8]], np.float32)
    np.testing.assert_allclose(forward(learner.actor.network.layers, at), 0.5 * at, atol=0.1)


@pytest.mark.slow
def test_an_iteration_ends_once_the_policy_is_far_from_the_one_before():
    rng = np.random.default_rng(4)
    actor, batch = one_step(1.0, 1.0)
    many = Batch(*(np.repeat(part, 64, axis=0) for part in batch))
    many = many._replace(advantages=rng.standard_normal(64).astype(np.float32))
    learner = make_learner(NUMBERS, actor.network, make_network(rng, (3, 4, 1), 1.0), 2)
    learner = learner._replace(actor=actor)
    hasty = NUMBERS.model_copy(update={"epochs": 50, "furthest": 1e-4})
    _, report = improved(hasty, make_epoch(hasty), learner, many, (0.01, 0.01), rng)
    assert report["epochs"] < 50
    assert report["divergence"] > 1e-4


@pytest.mark.parametrize(
    ("key", "value"), [("epochs", 1001), ("sigma", 1e-7), ("sigma", 2e6), ("sigma_least", 1e-30)]
)
def test_numbers_that_no_training_ends_with_are_refused(key, value):
    with pytest.raises(ValidationError, match=key):
        PPO.model_validate(NUMBERS.model_dump() | {key: value})

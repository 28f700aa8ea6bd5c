# SPDX-License-Identifier: BSD-3-Clause
r"""Proximal policy optimisation (Schulman et al., 2017, arXiv:1707.06347).

With :math:`r_t = \pi(a_t|s_t) / \pi_\text{old}(a_t|s_t)` the loss is, by its eqs. 7 and 9,

.. math::
    L = -\mathbb E_t\left[\min\bigl(r_t \hat A_t,
        \operatorname{clip}(r_t, 1-\epsilon, 1+\epsilon)\,\hat A_t\bigr)\right]
        + \tfrac12\,\mathbb E_t\left[(V(s_t) - \hat R_t)^2\right] - c\,H(\pi)

with a network of its own for V. An epoch after which the policy has gone too far from the old one is the last of its
iteration; how far is estimated without bias by :math:`\mathbb E[r - 1 - \log r]` (J. Schulman, "Approximating KL
divergence", 2020).
"""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from iap_description.config.record import Record
from iap_description.config.values import BelowOne, Count, Magnitude, NonNegative, Real, Share
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.networks import (
    Floats,
    LearningRate,
    Network,
    Tensor,
    Tree,
    forward,
    log_density,
    optimiser,
    optimiser_step,
)

MAX_EPOCHS = 1000
# Of exploration, whose squares and their inverses numbers of 32 bits can have.
Deviation = Annotated[float, Field(strict=True, ge=1e-6, le=1e6)]


class PPO(Record):
    """Numbers of the algorithm.

    Attributes:
        horizon: steps of each world in an iteration.
        epochs: at most, over these steps.
        minibatches: of an epoch.
        gamma: discount of a step.
        lam: of generalised advantages.
        clip: by which the ratio of densities may differ from 1.
        entropy: weight of the policy's entropy.
        furthest: divergence from the old policy after which no epoch follows [nat].
        actor_rate: of its optimiser at the beginning.
        critic_rate: of its optimiser at the beginning.
        last_rate: share of both rates at the end, to which they fall evenly.
        largest_gradient: norm to which gradients are cut.
        sigma: of exploration at the beginning.
        sigma_least: what it does not fall below.
        critic_first: iterations in which the critic alone learns.
    """

    horizon: Count
    epochs: Annotated[int, Field(strict=True, ge=1, le=MAX_EPOCHS)]
    minibatches: Count
    gamma: BelowOne
    lam: Share
    clip: Magnitude
    entropy: Real
    furthest: Magnitude
    actor_rate: LearningRate
    critic_rate: LearningRate
    last_rate: Share
    largest_gradient: Magnitude
    sigma: Deviation
    sigma_least: Deviation
    critic_first: NonNegative


class Actor(NamedTuple):
    """A Gaussian policy.

    Attributes:
        network: from scaled observations to means.
        log_sigma: (m,) logarithm of deviations.
    """

    network: Network
    log_sigma: Tensor


class Learner(NamedTuple):
    """All that learns, and its optimisers' memory."""

    actor: Actor
    critic: Network
    actor_memory: Tree
    critic_memory: Tree


class Batch(NamedTuple):
    """Steps to learn from.

    Attributes:
        observations: (N, n) scaled.
        actions: (N, m).
        log_density: (N,) of the actions as they were drawn.
        advantages: (N,).
        returns: (N,) what the critic has to say.
    """

    observations: Tensor
    actions: Tensor
    log_density: Tensor
    advantages: Tensor
    returns: Tensor


Loss = tuple[Any, dict[str, Any]]


def actor_loss(actor: Actor, batch: Batch, clip: float, entropy: float) -> Loss:
    """The clipped loss with its entropy, and what is reported of it."""
    means = forward(actor.network, batch.observations, jnp.tanh)
    log_ratio = log_density(batch.actions, means, actor.log_sigma, jnp.exp) - batch.log_density
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1.0 - clip, 1.0 + clip)
    gain = jnp.minimum(ratio * batch.advantages, clipped * batch.advantages).mean()
    spread = actor.log_sigma.sum()  # the entropy but for a constant
    report = {
        "divergence": (ratio - 1.0 - log_ratio).mean(),
        "clipped": (jnp.abs(ratio - 1.0) > clip).mean(),
    }
    return -gain - entropy * spread, report


def critic_loss(critic: Network, batch: Batch) -> Tensor:
    """Half the mean squared error of values."""
    values = forward(critic, batch.observations, jnp.tanh)[:, 0]
    return 0.5 * jnp.square(values - batch.returns).mean()


def make_learner(settings: PPO, actor: Network, critic: Network, size: int) -> Learner:
    """A learner at its beginning.

    Args:
        settings: of the algorithm.
        actor: of random weights, or trained before.
        critic: the same.
        size: numbers of an action.
    """
    policy = Actor(actor, np.full(size, np.log(settings.sigma), np.float32))
    adam = optimiser(settings.largest_gradient)
    return Learner(policy, critic, adam.init(policy), adam.init(critic))


Updated = tuple[Learner, dict[str, Any]]
Epoch = Callable[[Learner, Batch, Tensor, Tensor, Tensor], Updated]


def make_epoch(settings: PPO) -> Epoch:
    """The compiled pass over a batch: learner, batch, indices (minibatches, k), rates of actor and critic."""
    adam = optimiser(settings.largest_gradient)
    least = np.log(np.float32(settings.sigma_least))
    actor_gradient = jax.value_and_grad(actor_loss, has_aux=True)
    critic_gradient = jax.value_and_grad(critic_loss)

    def update(learner: Learner, some: Batch, actor_rate: Tensor, critic_rate: Tensor) -> Updated:
        (_, report), slope = actor_gradient(learner.actor, some, settings.clip, settings.entropy)
        error, critic_slope = critic_gradient(learner.critic, some)
        actor, actor_memory = optimiser_step(
            adam, slope, learner.actor_memory, learner.actor, actor_rate
        )
        actor = actor._replace(log_sigma=jnp.maximum(actor.log_sigma, least))
        critic, critic_memory = optimiser_step(
            adam, critic_slope, learner.critic_memory, learner.critic, critic_rate
        )
        return Learner(actor, critic, actor_memory, critic_memory), {**report, "error": error}

    def epoch(
        learner: Learner,
        batch: Batch,
        order: Tensor,
        actor_rate: Tensor,
        critic_rate: Tensor,
    ) -> Updated:
        def body(learner: Learner, rows: Tensor) -> Updated:
            some = Batch(*(part[rows] for part in batch))
            return update(learner, some, actor_rate, critic_rate)

        learner, reports = jax.lax.scan(body, learner, order)
        return learner, {name: each.mean() for name, each in reports.items()}

    return jax.jit(epoch)


def make_batch(
    learner: Learner, observations: Floats, actions: Floats, advantages: Floats, returns: Floats
) -> Batch:
    """A batch of the present policy's steps; advantages are brought to mean 0 and deviation 1."""
    means = forward(learner.actor.network, observations)
    density = log_density(actions, means, np.asarray(learner.actor.log_sigma))
    level = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    return Batch(
        observations,
        actions,
        density.astype(np.float32),
        level.astype(np.float32),
        returns.astype(np.float32),
    )


def improved(
    settings: PPO,
    epoch: Epoch,
    learner: Learner,
    batch: Batch,
    rates: tuple[float, float],
    rng: np.random.Generator,
) -> tuple[Learner, dict[str, float]]:
    """A learner after an iteration's epochs, and what is to be reported of the last one.

    Args:
        settings: of the algorithm.
        epoch: of `make_epoch`.
        learner: before.
        batch: of its own steps.
        rates: of actor and critic.
        rng: shuffles the steps.
    """
    count = len(batch.returns) // settings.minibatches * settings.minibatches
    on_device, report = jax.device_put(batch), dict[str, float]()
    actor_rate, critic_rate = map(np.float32, rates)
    for number in range(settings.epochs):
        order = rng.permutation(len(batch.returns))[:count].astype(np.int32)
        rows = order.reshape(settings.minibatches, -1)
        learner, losses = epoch(learner, on_device, rows, actor_rate, critic_rate)
        report = {name: float(each) for name, each in losses.items()} | {"epochs": number + 1.0}
        if report["divergence"] > settings.furthest:
            break
    return jax.device_get(learner), report

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

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from iap_description.config.record import Record
from iap_description.config.values import BelowOne, Count, Magnitude, NonNegative, Real, Share
from iap_learning.policies.layout import AnyBlock
from iap_learning.training.blocks.block import BlockSteps
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
from iap_learning.training.policy_network import PolicyNetwork, run

Blocks = Sequence[AnyBlock]  # of a policy before its perceptron

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

    network: PolicyNetwork
    log_sigma: Tensor


class Learner(NamedTuple):
    """All that learns, and its optimisers' memory."""

    actor: Actor
    critic: Network
    actor_memory: Tree
    critic_memory: Tree


class Batch(NamedTuple):
    """Steps to learn from, in N parts: single ones, or, of a policy with blocks, the T steps of a world each.

    Attributes:
        observations: (N, n) or (N, T, n), scaled.
        actions: (N, m) or (N, T, m).
        log_density: (N,) or (N, T) of the actions as they were drawn.
        advantages: (N,) or (N, T).
        returns: (N,) or (N, T) what the critic has to say.
        memories: (N, k) or (N, T, k) of the policy before each step.
        starts: (N,) or (N, T) 1 where an episode begins after one that has ended in the step before; else 0.
    """

    observations: Tensor
    actions: Tensor
    log_density: Tensor
    advantages: Tensor
    returns: Tensor
    memories: Tensor
    starts: Tensor


Loss = tuple[Any, dict[str, Any]]


def means_of(blocks: Blocks, network: PolicyNetwork, batch: Batch) -> Tensor:
    """Means of actions at the steps of a batch."""
    if not blocks:
        return forward(network.layers, batch.observations, jnp.tanh)
    x, starts = jnp.swapaxes(batch.observations, 0, 1), jnp.swapaxes(batch.starts, 0, 1)
    means = run(blocks, network, BlockSteps(x, batch.memories[:, 0], starts))
    return jnp.swapaxes(means, 0, 1)


def actor_loss(
    actor: Actor, batch: Batch, clip: float, entropy: float, blocks: Blocks = ()
) -> Loss:
    """The clipped loss with its entropy, and what is reported of it."""
    means = means_of(blocks, actor.network, batch)
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
    """Half the mean squared error of values, which the critic gives of observations and the policy's memory."""
    inputs = jnp.concatenate([batch.observations, batch.memories], axis=-1)
    values = forward(critic, inputs, jnp.tanh)[..., 0]
    return 0.5 * jnp.square(values - batch.returns).mean()


def make_learner(settings: PPO, actor: PolicyNetwork, critic: Network, size: int) -> Learner:
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


def make_epoch(settings: PPO, blocks: Blocks = ()) -> Epoch:
    """The compiled pass over a batch: learner, batch, indices (minibatches, k), rates of actor and critic."""
    adam = optimiser(settings.largest_gradient)
    least = np.log(np.float32(settings.sigma_least))
    actor_gradient = jax.value_and_grad(actor_loss, has_aux=True)
    critic_gradient = jax.value_and_grad(critic_loss)

    def update(learner: Learner, some: Batch, actor_rate: Tensor, critic_rate: Tensor) -> Updated:
        (_, report), slope = actor_gradient(
            learner.actor, some, settings.clip, settings.entropy, blocks
        )
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
    log_sigma: Floats,
    observations: Floats,
    actions: Floats,
    means: Floats,
    advantages: Floats,
    returns: Floats,
    memories: Floats,
    starts: Floats,
) -> Batch:
    """A batch of steps by the means of their actions; advantages are brought to mean 0 and deviation 1."""
    density = log_density(actions, means, np.asarray(log_sigma))
    level = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    return Batch(
        observations,
        actions,
        density.astype(np.float32),
        level.astype(np.float32),
        returns.astype(np.float32),
        memories,
        starts,
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

# SPDX-License-Identifier: BSD-3-Clause
r"""Implicit Q-learning (Kostrikov, Nair, Levine, ICLR 2022, arXiv:2110.06169): no action is valued that was not done.

With :math:`L_2^\tau(u) = |\tau - 1(u < 0)|\,u^2`, its eqs. 5, 6 and 7 are

.. math::
    L_V &= \mathbb E\left[L_2^\tau\bigl(Q_{\theta'}(s, a) - V(s)\bigr)\right] \\
    L_Q &= \mathbb E\left[\bigl(r + \gamma V(s') - Q(s, a)\bigr)^2\right] \\
    L_\pi &= -\mathbb E\left[e^{\beta (Q_{\theta'}(s, a) - V(s))} \log\pi(a|s)\right]

where Q is the lesser of two, and the policy a Gaussian of constant deviation: its density's logarithm is the squared
error but for constants.
"""

from typing import Any, NamedTuple

from iap_description.config.record import Record
from iap_description.config.values import BelowOne, Count, Magnitude, Share
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.networks import (
    LearningRate,
    Network,
    Tensor,
    Tree,
    followed,
    forward,
    optimiser,
    optimiser_step,
)
from iap_learning.training.offline import NetworkShape, Update
from iap_learning.training.td3bc import Critics, critic_loss, value
from iap_learning.training.transitions import Transitions


class IQL(Record):
    """Numbers of the algorithm.

    Attributes:
        updates: of all networks.
        batch: steps in each.
        rate: of the optimiser.
        largest_gradient: norm to which gradients are cut.
        gamma: discount of a step.
        tau: share by which the targets of Q follow.
        expectile: of Q that V is.
        beta: inverse temperature of advantages.
        most: weight that no step exceeds.
    """

    updates: Count
    batch: Count
    rate: LearningRate
    largest_gradient: Magnitude
    gamma: BelowOne
    tau: Share
    expectile: Share
    beta: Magnitude
    most: Magnitude


class IQLNetworks(NamedTuple):
    """A policy, its two critics, and the value of states."""

    actor: Network
    critics: Critics
    state_value: Network


class IQLState(NamedTuple):
    """Networks that learn, the slow copy of the critics, and the optimiser's memory."""

    nets: IQLNetworks
    target: Critics
    memory: Tree


def expectile_loss(difference: Tensor, expectile: float) -> Tensor:
    """Mean of L_2 of an expectile."""
    weight = jnp.where(difference < 0.0, 1.0 - expectile, expectile)
    return (weight * jnp.square(difference)).mean()


def losses(
    nets: IQLNetworks, target: Critics, batch: Transitions, settings: IQL
) -> dict[str, Any]:
    """L_V, L_Q and L_pi, of which each has a gradient for its own network alone."""
    fixed = jax.lax.stop_gradient
    done = [value(critic, batch.observations, batch.actions) for critic in target]
    here = forward(nets.state_value, batch.observations, jax.nn.relu)[:, 0]
    there = fixed(forward(nets.state_value, batch.following, jax.nn.relu)[:, 0])
    advantage = fixed(jnp.minimum(*done)) - here
    backup = batch.rewards + settings.gamma * (1.0 - batch.terminated) * there
    weight = jnp.minimum(jnp.exp(settings.beta * fixed(advantage)), settings.most)
    away = jnp.square(forward(nets.actor, batch.observations, jnp.tanh) - batch.actions)
    return {
        "value": expectile_loss(advantage, settings.expectile),
        "error": critic_loss(nets.critics, batch, backup),
        "policy": (weight * away.mean(axis=-1)).mean(),
    }


def begin(settings: IQL, shape: NetworkShape) -> IQLState:
    """Networks of random weights."""
    critics = (shape.critic(acts=True), shape.critic(acts=True))
    nets = IQLNetworks(shape.actor(), critics, shape.critic(acts=False))
    return IQLState(nets, critics, optimiser(settings.largest_gradient).init(nets))


def make_update(settings: IQL) -> Update[IQLState]:
    """The update of a batch."""
    adam = optimiser(settings.largest_gradient)

    def loss(
        nets: IQLNetworks, target: Critics, batch: Transitions
    ) -> tuple[Tensor, dict[str, Any]]:
        parts = losses(nets, target, batch, settings)
        return sum(parts.values()), parts

    def update(state: IQLState, batch: Transitions, _: Tensor) -> tuple[IQLState, dict[str, Any]]:
        slope, parts = jax.grad(loss, has_aux=True)(state.nets, state.target, batch)
        nets, memory = optimiser_step(adam, slope, state.memory, state.nets, settings.rate)
        target = followed(state.target, nets.critics, settings.tau)
        return IQLState(nets, target, memory), parts

    return update

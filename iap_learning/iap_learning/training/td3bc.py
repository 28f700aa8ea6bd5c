# SPDX-License-Identifier: BSD-3-Clause
r"""TD3+BC (Fujimoto, Gu, NeurIPS 2021, arXiv:2106.06860), relaxed at its end.

Two critics learn by TD3 (Fujimoto, van Hoof, Meger, ICML 2018, arXiv:1802.09477, its algorithm 1), with
:math:`\epsilon \sim \operatorname{clip}(\mathcal N(0, \sigma), -c, c)`:

.. math::
    y = r + \gamma \min_{i=1,2} Q_{\theta'_i}\bigl(s', \operatorname{clip}(\pi_{\phi'}(s') + \epsilon)\bigr), \quad
    L_Q = \sum_i \mathbb E\left[(Q_{\theta_i}(s, a) - y)^2\right]

and the policy by eqs. 3 and 5 of TD3+BC:

.. math::
    L_\pi = -\lambda\,\mathbb E\left[Q_{\theta_1}(s, \pi(s))\right] + \mathbb E\left[\lVert\pi(s) - a\rVert^2\right],
    \quad \lambda = \frac{\alpha}{\mathbb E\,|Q_{\theta_1}(s, \pi(s))|}

In the last updates alpha is larger by a factor and the critics stay as they are (policy refinement of Beeson, Montana,
2022, arXiv:2211.11802). Policies are linear at their end and clipped in flight: the critics see the clipped action, and
what is beyond is drawn back by the second term alone.
"""

from typing import Any, NamedTuple

import numpy as np

from iap_description.config.record import BelowOne, Count, NonNegative, Positive, Record, Share
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.networks import (
    Network,
    Tensor,
    Tree,
    followed,
    forward,
    moved,
    optimiser,
)
from iap_learning.training.offline import NetworkShape, Update
from iap_learning.training.transitions import Transitions


class TD3BC(Record):
    """Numbers of the algorithm.

    Attributes:
        updates: of the critics.
        batch: steps in each.
        actor_rate: of its optimiser.
        critic_rate: of its optimiser.
        largest_gradient: norm to which gradients are cut.
        gamma: discount of a step.
        tau: share by which targets follow.
        noise: deviation of the targets' actions.
        noise_most: to which that noise is clipped.
        delay: updates of the critics for one of the policy.
        alpha: weight of the critic in the policy's loss.
        refined: share of the updates at the end in which the policy alone goes on.
        refined_alpha: factor on alpha in these.
    """

    updates: Count
    batch: Count
    actor_rate: Positive
    critic_rate: Positive
    largest_gradient: Positive
    gamma: BelowOne
    tau: Share
    noise: NonNegative
    noise_most: NonNegative
    delay: Count
    alpha: NonNegative
    refined: Share
    refined_alpha: Positive


Critics = tuple[Network, Network]


class TD3BCNetworks(NamedTuple):
    """A policy and its two critics."""

    actor: Network
    critics: Critics


class TD3BCState(NamedTuple):
    """Networks that learn, their slow copy, the optimisers' memory, and the updates so far."""

    nets: TD3BCNetworks
    target: TD3BCNetworks
    actor_memory: Tree
    critic_memory: Tree
    done: Tensor


def value(critic: Network, observations: Tensor, actions: Tensor) -> Tensor:
    """Q (N,) of actions."""
    seen = jnp.concatenate([observations, actions], axis=-1)
    return forward(critic, seen, jax.nn.relu)[:, 0]


def target_value(target: TD3BCNetworks, batch: Transitions, noise: Tensor, gamma: float) -> Tensor:
    """Y (N,) with the noise (N, m) of the next actions."""
    actions = jnp.clip(forward(target.actor, batch.following, jnp.tanh) + noise, -1.0, 1.0)
    values = [value(critic, batch.following, actions) for critic in target.critics]
    return batch.rewards + gamma * (1.0 - batch.terminated) * jnp.minimum(*values)


def critic_loss(critics: Critics, batch: Transitions, wanted: Tensor) -> Tensor:
    """L_Q of both."""
    found = (value(critic, batch.observations, batch.actions) for critic in critics)
    return sum(jnp.square(each - wanted).mean() for each in found)


def actor_loss(actor: Network, critic: Network, batch: Transitions, alpha: Tensor) -> Tensor:
    """L_pi; lambda is a constant in its gradient."""
    actions = forward(actor, batch.observations, jnp.tanh)
    values = value(critic, batch.observations, jnp.clip(actions, -1.0, 1.0))
    weight = alpha / (jax.lax.stop_gradient(jnp.abs(values)).mean() + 1e-8)
    return -weight * values.mean() + jnp.square(actions - batch.actions).mean()


def begin(settings: TD3BC, shape: NetworkShape) -> TD3BCState:
    """Networks of random weights."""
    adam = optimiser(settings.largest_gradient)
    nets = TD3BCNetworks(shape.actor(), (shape.critic(acts=True), shape.critic(acts=True)))
    memory = adam.init(nets.actor), adam.init(nets.critics)
    return TD3BCState(nets, nets, *memory, np.zeros((), np.int32))


def make_update(settings: TD3BC) -> Update[TD3BCState]:
    """The update of a batch."""
    adam = optimiser(settings.largest_gradient)
    refined_from = round(settings.updates * (1.0 - settings.refined))

    def update(
        state: TD3BCState, batch: Transitions, key: Tensor
    ) -> tuple[TD3BCState, dict[str, Any]]:
        is_refined = state.done >= refined_from
        noise = settings.noise * jax.random.normal(key, batch.actions.shape)
        noise = jnp.clip(noise, -settings.noise_most, settings.noise_most)
        wanted = target_value(state.target, batch, noise, settings.gamma)
        error, slope = jax.value_and_grad(critic_loss)(state.nets.critics, batch, wanted)
        rate = jnp.where(is_refined, 0.0, settings.critic_rate)
        critics, critic_memory = moved(adam, slope, state.critic_memory, state.nets.critics, rate)

        alpha = settings.alpha * jnp.where(is_refined, settings.refined_alpha, 1.0)
        slope = jax.grad(actor_loss)(state.nets.actor, critics[0], batch, alpha)
        actor, actor_memory = moved(
            adam, slope, state.actor_memory, state.nets.actor, settings.actor_rate
        )
        nets = TD3BCNetworks(actor, critics)
        target = followed(state.target, nets, settings.tau)
        # Between the policy's updates it and all targets stay.
        due = state.done % settings.delay == 0
        old = (state.nets.actor, state.target, state.actor_memory)
        actor, target, actor_memory = jax.tree.map(
            lambda new, kept: jnp.where(due, new, kept), (actor, target, actor_memory), old
        )
        done = state.done + 1
        return TD3BCState(
            TD3BCNetworks(actor, critics), target, actor_memory, critic_memory, done
        ), {
            "error": error,
            "value": wanted.mean(),
        }

    return update

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

Rule `value` of the weight is that lambda. It presumes values far from zero, and that one action changes them. In a
docking at 50 Hz one action changes a value by a few hundredths, while failures at -1 and successes at +1 cancel in its
mean. So lambda does not say how far the policy leaves the data, and it leaves them most where slopes are steepest, at
the mouth. Rule `width` says it. With the gradient :math:`g = \partial Q_{\theta_1}/\partial a` at the policy's actions
of m numbers, each state has a weight of its own,

.. math::
    \lambda(s) = \frac{2 \alpha}{\sqrt m}\,
    \frac{\sqrt{\mathbb E\,\lVert\pi(s) - a\rVert^2}}
    {\max\bigl(\lVert g(s)\rVert, \sqrt{\mathbb E\,\lVert g\rVert^2}\bigr)}

where squared errors are means over the m numbers. The gradient of :math:`L_\pi` then vanishes where the policy is off
the clone by alpha times the data's own width around it, and by less where the critic's slope is below its root mean
square.

Critics normalise each hidden layer where `layer_norm` is set (Ba, Kiros, Hinton, arXiv:1607.06450, without gains). A
value then cannot grow without bound away from the data (Ball et al., ICML 2023, arXiv:2302.02948, section 4.2).

In the last updates alpha is larger by a factor and the critics stay as they are (policy refinement of Beeson, Montana,
2022, arXiv:2211.11802). Policies are linear at their end and clipped in flight: the critics see the clipped action, and
what is beyond is drawn back by the second term alone.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from iap_description.config.record import Record
from iap_description.config.values import BelowOne, Count, Magnitude, NonNegative, Share
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
        weight: rule by which alpha becomes lambda.
        layer_norm: whether the critics' hidden layers are normalised.
        refined: share of the updates at the end in which the policy alone goes on.
        refined_alpha: factor on alpha in these.
    """

    updates: Count
    batch: Count
    actor_rate: LearningRate
    critic_rate: LearningRate
    largest_gradient: Magnitude
    gamma: BelowOne
    tau: Share
    noise: NonNegative
    noise_most: NonNegative
    delay: Count
    alpha: NonNegative
    weight: Literal["value", "width"]
    layer_norm: bool
    refined: Share
    refined_alpha: Magnitude


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


Activation = Callable[[Tensor], Tensor]
NORM_EPSILON = 1e-5  # variance that is added to a layer's own


def relu(x: Tensor) -> Tensor:
    """Rectified numbers (..., n)."""
    return jax.nn.relu(x)


def normalised_relu(x: Tensor) -> Tensor:
    """Numbers (..., n) of mean 0 and deviation 1 in each row, rectified."""
    away = x - x.mean(-1, keepdims=True)
    return relu(away / jnp.sqrt(jnp.square(away).mean(-1, keepdims=True) + NORM_EPSILON))


def value(
    critic: Network, observations: Tensor, actions: Tensor, activation: Activation = relu
) -> Tensor:
    """Q (N,) of actions."""
    inputs = jnp.concatenate([observations, actions], axis=-1)
    return forward(critic, inputs, activation)[:, 0]


def target_value(
    target: TD3BCNetworks,
    batch: Transitions,
    noise: Tensor,
    gamma: float,
    activation: Activation = relu,
) -> Tensor:
    """Y (N,) with the noise (N, m) of the next actions."""
    actions = jnp.clip(forward(target.actor, batch.following, jnp.tanh) + noise, -1.0, 1.0)
    values = [value(critic, batch.following, actions, activation) for critic in target.critics]
    return batch.rewards + gamma * (1.0 - batch.terminated) * jnp.minimum(*values)


def critic_loss(
    critics: Critics, batch: Transitions, target: Tensor, activation: Activation = relu
) -> Tensor:
    """L_Q of both."""
    estimates = (
        value(critic, batch.observations, batch.actions, activation) for critic in critics
    )
    return sum(jnp.square(each - target).mean() for each in estimates)


class Pull(NamedTuple):
    """Pull of a critic on a policy's actions, at a batch.

    Attributes:
        values: (N,) of the clipped actions.
        slopes: (N, m) of their gradients by the actions.
        errors: (N, m) actions less those of the data.
    """

    values: Tensor
    slopes: Tensor
    errors: Tensor


def weight_by_value(pull: Pull) -> Tensor:
    """Lambda over alpha by the mean size of values (TD3+BC, eq. 5)."""
    return 1.0 / (jnp.abs(pull.values).mean() + 1e-8)


def weight_by_width(pull: Pull) -> Tensor:
    """Lambda (N,) over alpha by which the policy leaves the data by alpha times the data's width at most."""
    slopes = jnp.square(pull.slopes).mean(axis=-1)
    steepest = jnp.maximum(slopes, slopes.mean()) + 1e-16
    return 2.0 / pull.errors.shape[-1] * jnp.sqrt(jnp.square(pull.errors).mean() / steepest)


WEIGHTS = {"value": weight_by_value, "width": weight_by_width}


def actor_loss(
    actor: Network,
    critic: Network,
    batch: Transitions,
    alpha: Tensor,
    weight: str = "value",
    activation: Activation = relu,
) -> Tensor:
    """L_pi; lambda is a constant in its gradient."""
    actions = forward(actor, batch.observations, jnp.tanh)
    errors = actions - batch.actions

    def valued(done: Tensor) -> Tensor:
        return value(critic, batch.observations, jnp.clip(done, -1.0, 1.0), activation)

    values, pulled = jax.vjp(valued, actions)
    pull = Pull(values, pulled(jnp.ones_like(values))[0], errors)
    factor = alpha * jax.lax.stop_gradient(WEIGHTS[weight](pull))
    return -(factor * values).mean() + jnp.square(errors).mean()


def begin(settings: TD3BC, shape: NetworkShape) -> TD3BCState:
    """Networks of random weights."""
    adam = optimiser(settings.largest_gradient)
    nets = TD3BCNetworks(shape.actor(), (shape.critic(acts=True), shape.critic(acts=True)))
    memory = adam.init(nets.actor), adam.init(nets.critics)
    return TD3BCState(nets, nets, *memory, np.zeros((), np.int32))


def make_update(settings: TD3BC) -> Update[TD3BCState]:
    """The update of a batch."""
    adam = optimiser(settings.largest_gradient)
    activation = normalised_relu if settings.layer_norm else relu
    refined_from = round(settings.updates * (1.0 - settings.refined))

    def update(
        state: TD3BCState, batch: Transitions, key: Tensor
    ) -> tuple[TD3BCState, dict[str, Any]]:
        is_refined = state.done >= refined_from
        noise = settings.noise * jax.random.normal(key, batch.actions.shape)
        noise = jnp.clip(noise, -settings.noise_most, settings.noise_most)
        backup = target_value(state.target, batch, noise, settings.gamma, activation)
        error, slope = jax.value_and_grad(critic_loss)(
            state.nets.critics, batch, backup, activation
        )
        rate = jnp.where(is_refined, 0.0, settings.critic_rate)
        critics, critic_memory = optimiser_step(
            adam, slope, state.critic_memory, state.nets.critics, rate
        )

        alpha = settings.alpha * jnp.where(is_refined, settings.refined_alpha, 1.0)
        slope = jax.grad(actor_loss)(
            state.nets.actor, critics[0], batch, alpha, settings.weight, activation
        )
        actor, actor_memory = optimiser_step(
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
        nets, done = TD3BCNetworks(actor, critics), state.done + 1
        numbers = {"error": error, "value": backup.mean()}
        return TD3BCState(nets, target, actor_memory, critic_memory, done), numbers

    return update

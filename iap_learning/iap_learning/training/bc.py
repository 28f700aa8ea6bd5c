# SPDX-License-Identifier: BSD-3-Clause
r"""Behaviour cloning (Pomerleau, "ALVINN", NIPS 1988): the policy does what was done.

.. math::
    L_\pi = \mathbb E_{(s, a)}\left[\lVert\pi(s) - a\rVert^2\right]
"""

from typing import Any, NamedTuple

from iap_description.config.record import Record
from iap_description.config.values import Count, Magnitude
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.networks import (
    LearningRate,
    Network,
    Tensor,
    Tree,
    forward,
    optimiser,
    optimiser_step,
)
from iap_learning.training.offline import NetworkShape, Update
from iap_learning.training.transitions import Transitions


class BC(Record):
    """Numbers of the algorithm.

    Attributes:
        updates: of the policy.
        batch: steps in each.
        rate: of the optimiser.
        largest_gradient: norm to which gradients are cut.
    """

    updates: Count
    batch: Count
    rate: LearningRate
    largest_gradient: Magnitude


class CloningState(NamedTuple):
    """Networks that learn, and the optimiser's memory."""

    actor: Network
    memory: Tree


def loss(actor: Network, batch: Transitions) -> Tensor:
    """Mean over steps and actions' numbers."""
    return jnp.square(forward(actor, batch.observations, jnp.tanh) - batch.actions).mean()


def begin(settings: BC, shape: NetworkShape) -> CloningState:
    """A policy of random weights."""
    actor = shape.actor()
    return CloningState(actor, optimiser(settings.largest_gradient).init(actor))


def make_update(settings: BC) -> Update[CloningState]:
    """The update of a batch."""
    adam, gradient = optimiser(settings.largest_gradient), jax.value_and_grad(loss)

    def update(
        state: CloningState, batch: Transitions, _: Tensor
    ) -> tuple[CloningState, dict[str, Any]]:
        error, slope = gradient(state.actor, batch)
        actor, memory = optimiser_step(adam, slope, state.memory, state.actor, settings.rate)
        return CloningState(actor, memory), {"error": error}

    return update

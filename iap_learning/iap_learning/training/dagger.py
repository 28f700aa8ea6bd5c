# SPDX-License-Identifier: BSD-3-Clause
r"""Imitation by dataset aggregation, DAgger (Ross, Gordon, Bagnell, AISTATS 2011, arXiv:1011.0686, algorithm 3.1).

An expert says in every state what it would do. The first round is flown by the expert, all others by the policy, which
so learns from the states to which it leads. Round i adds its steps to all before, :math:`D \leftarrow D \cup D_i`, and
the policy learns from all of them:

.. math::
    L_\pi = \mathbb E_{(s, a^*) \in D}\left[\lVert\pi(s) - a^*\rVert^2\right]

The expert may know what no policy observes. A policy with a memory learns from whole episodes, from their start on.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from iap_description.config.record import Record
from iap_description.config.values import Count, Magnitude, Share
from iap_learning.policies.layout import AnyBlock
from iap_learning.training.blocks.block import BlockSteps
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import (
    Floats,
    LearningRate,
    Tensor,
    Tree,
    optimiser,
    optimiser_step,
)
from iap_learning.training.policy_network import PolicyNetwork, memory_size, run


class Dagger(Record):
    """Numbers of the algorithm.

    Attributes:
        expert: agent whose actions are learned.
        first: agent that flies the first round, such as the expert with noise.
        first_episodes: of that round.
        episodes: of every other round.
        rounds: in all.
        together: rounds after which the policy is judged.
        first_updates: of the policy after the first round.
        updates: after every other round.
        batch: episodes in each update.
        rate: of the optimiser at the beginning.
        last_rate: share of it at the end, to which it falls evenly.
        largest_gradient: norm to which gradients are cut.
    """

    expert: str
    first: str
    first_episodes: Count
    episodes: Count
    rounds: Count
    together: Count
    first_updates: Count
    updates: Count
    batch: Count
    rate: LearningRate
    last_rate: Share
    largest_gradient: Magnitude

    def updates_until(self, rounds: int) -> int:
        """Updates in the first rounds."""
        return self.first_updates + (rounds - 1) * self.updates if rounds else 0

    @property
    def all_updates(self) -> int:
        """Updates in all rounds."""
        return self.updates_until(self.rounds)


class Demonstration(NamedTuple):
    """T steps of an episode.

    Attributes:
        observations: (T, n), in half precision: three digits, which is less than their noise.
        actions: (T, m) of the expert.
    """

    observations: np.ndarray
    actions: np.ndarray


class DemonstrationBatch(NamedTuple):
    """B episodes side by side, from their start on.

    Attributes:
        observations: (T, B, n) scaled; zero after an episode's end.
        actions: (T, B, m) of the expert.
        weights: (T, B) 1 until an episode's end, 0 after it.
    """

    observations: Floats
    actions: Floats
    weights: Floats

    @classmethod
    def of(
        cls,
        episodes: Sequence[Demonstration],
        scaler: Scaling,
        steps: int,
    ) -> "DemonstrationBatch":
        """The batch of some episodes.

        Args:
            episodes: B of them.
            scaler: of observations.
            steps: T is a multiple of it, so that few shapes have to be compiled.
        """
        longest = max(len(each.actions) for each in episodes)
        shape = (-(-longest // steps) * steps, len(episodes))
        size = episodes[0].observations.shape[1], episodes[0].actions.shape[1]
        batch = cls(
            np.zeros((*shape, size[0]), np.float32),
            np.zeros((*shape, size[1]), np.float32),
            np.zeros(shape, np.float32),
        )
        for b, (observations, actions) in enumerate(episodes):
            batch.observations[: len(actions), b] = scaler(observations.astype(np.float32))
            batch.actions[: len(actions), b] = actions
            batch.weights[: len(actions), b] = 1.0
        return batch


class DaggerState(NamedTuple):
    """A policy that learns, and the optimiser's memory."""

    network: PolicyNetwork
    memory: Tree


def begin(settings: Dagger, network: PolicyNetwork) -> DaggerState:
    """The algorithm at its beginning."""
    return DaggerState(network, optimiser(settings.largest_gradient).init(network))


DaggerUpdate = Callable[[DaggerState, DemonstrationBatch, Tensor], tuple[DaggerState, Tensor]]


def make_update(settings: Dagger, blocks: Sequence[AnyBlock]) -> DaggerUpdate:
    """The compiled update of a batch, with a rate; it returns the mean squared error, too."""
    adam = optimiser(settings.largest_gradient)

    size = memory_size(blocks)

    def loss(network: PolicyNetwork, batch: DemonstrationBatch) -> Tensor:
        memory, starts = jnp.zeros((batch.weights.shape[1], size)), jnp.zeros_like(batch.weights)
        actions = run(blocks, network, BlockSteps(batch.observations, memory, starts))
        errors = jnp.square(actions - batch.actions).mean(axis=-1)
        return (errors * batch.weights).sum() / batch.weights.sum()

    def update(
        state: DaggerState, batch: DemonstrationBatch, rate: Tensor
    ) -> tuple[DaggerState, Tensor]:
        error, slope = jax.value_and_grad(loss)(state.network, batch)
        network, memory = optimiser_step(adam, slope, state.memory, state.network, rate)
        return DaggerState(network, memory), error

    return jax.jit(update)

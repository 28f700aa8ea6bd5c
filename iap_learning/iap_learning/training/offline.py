# SPDX-License-Identifier: BSD-3-Clause
"""Updates on batches that are drawn from recorded steps, many in one compiled call."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from iap_learning.training.libraries import jax
from iap_learning.training.networks import Network, Tensor, make_network
from iap_learning.training.transitions import Transitions

State = TypeVar("State")
Report = dict[str, Any]
Update = Callable[[State, Transitions, Any], tuple[State, Report]]
Updates = Callable[[State, Transitions, Any, Any], tuple[State, Report]]

ACTOR_GAIN = 0.01  # so that a policy of random weights does next to nothing


class NetworkShape(NamedTuple):
    """Networks of random weights for a task.

    Attributes:
        rng: draws the weights.
        observed: numbers of an observation.
        size: numbers of an action.
        actor_hidden: sizes of the policy's hidden layers.
        critic_hidden: those of critics.
    """

    rng: np.random.Generator
    observed: int
    size: int
    actor_hidden: tuple[int, ...]
    critic_hidden: tuple[int, ...]

    def actor(self) -> Network:
        """A policy."""
        return make_network(self.rng, (self.observed, *self.actor_hidden, self.size), ACTOR_GAIN)

    def critic(self, *, acts: bool) -> Network:
        """A value of observations, or of observations and actions."""
        inputs = self.observed + (self.size if acts else 0)
        return make_network(self.rng, (inputs, *self.critic_hidden, 1), 1.0)


def make_updates(update: Update[State]) -> Updates[State]:
    """The compiled updates of batches with indices (K, batch), with a random key; reports are means over the K."""

    def updates(
        state: State,
        steps: Transitions,
        rows: Tensor,
        key: Tensor,
    ) -> tuple[State, Report]:
        def body(state: State, drawn: tuple[Any, Any]) -> tuple[State, Report]:
            indices, stream = drawn
            return update(state, steps.rows(indices), stream)

        keys = jax.random.split(key, len(rows))
        state, reports = jax.lax.scan(body, state, (rows, keys))
        return state, {name: each.mean() for name, each in reports.items()}

    return jax.jit(updates)

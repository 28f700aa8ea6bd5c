# SPDX-License-Identifier: BSD-3-Clause
"""Steps of recorded episodes, as offline learning takes them."""

from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Floats, Tensor


class Transitions(NamedTuple):
    """N steps, of one episode after the other.

    Attributes:
        observations: (N, n) before each step.
        actions: (N, m) in [-1, 1].
        rewards: (N,).
        following: (N, n) observations after each step.
        terminated: (N,) whether nothing follows.
    """

    observations: Floats
    actions: Floats
    rewards: Floats
    following: Floats
    terminated: Floats

    @classmethod
    def of(
        cls,
        observations: Floats,
        actions: Floats,
        rewards: Array,
        following: Floats,
        terminated: Booleans,
        *,
        source: str,
    ) -> Self:
        """Steps in single numbers, actions clipped to [-1, 1].

        Raises:
            BadInput: there are none, or a number is not finite.
        """
        made = cls(
            np.asarray(observations, np.float32),
            np.clip(actions, -1.0, 1.0).astype(np.float32),
            np.asarray(rewards, np.float32),
            np.asarray(following, np.float32),
            np.asarray(terminated, np.float32),
        )
        if not len(made.rewards):
            raise BadInput(f"{source}: has no steps")
        for name, part in zip(cls._fields, made, strict=True):
            if not np.isfinite(part).all():
                raise BadInput(f"{source}: '{name}': not all numbers are finite")
        return made

    def scaled(self, scaling: Scaling, reward: float) -> Self:
        """The same with observations as networks see them, and rewards times a factor."""
        return self._replace(
            observations=scaling(self.observations),
            following=scaling(self.following),
            rewards=self.rewards * np.float32(reward),
        )

    def rows(self, indices: Tensor) -> Self:
        """Some of the steps."""
        return type(self)(*(part[indices] for part in self))

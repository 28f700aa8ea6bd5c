# SPDX-License-Identifier: BSD-3-Clause
"""The best policy of a training so far, as flights without exploration show it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.training.experience import fly_once
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Network

Keep = Callable[[Network, Scaling, "Best"], None]


class Best(NamedTuple):
    """Results of a policy in an episode of each world; better ones are greater.

    Attributes:
        success: share.
        returns: mean sum of rewards, which decides between equal shares.
        steps: online, after which it was.
    """

    success: float
    returns: float
    steps: int


class Judge:
    """Flies policies in the same episodes, and keeps the best.

    Args:
        episodes: the worlds.
        seeds: (B,) of the episodes.
        keep: is given every policy that is better than those before.
        best: of those before; None where there are none.

    Attributes:
        best: so far.
    """

    def __init__(
        self, episodes: AnyEpisodes, seeds: np.ndarray, keep: Keep, best: Best | None
    ) -> None:
        self._episodes, self._seeds, self._keep, self.best = episodes, seeds, keep, best

    def __call__(self, actor: Network, scaling: Scaling, steps: int) -> dict[str, float]:
        """Judge a policy; returns what is to be reported."""
        flown = fly_once(self._episodes, actor, scaling, self._seeds)
        found = Best(float(flown.success.mean()), float(flown.returns.mean()), steps)
        if self.best is None or found[:2] > self.best[:2]:
            self.best = found
            self._keep(actor, scaling, found)
        return {
            "judged_success": found.success,
            "judged_return": found.returns,
            "judged_seconds": float(flown.seconds.mean()),
        }

# SPDX-License-Identifier: BSD-3-Clause
"""Hand-written agents that approach until they feel what they touch."""

from typing import TypeVar

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.config.values import Positive
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.episodes import AnyEpisodes


class TouchAgentSettings(AgentSettings):
    """Keys of agents that approach.

    Attributes:
        approach: speed before anything is felt [m/s].
        felt: force from which on it is [N].
    """

    approach: Positive
    felt: Positive


S = TypeVar("S", bound=TouchAgentSettings)
E = TypeVar("E", bound=AnyEpisodes)


class TouchAgent(ScriptedAgent[S, E]):
    """An agent that remembers in which worlds it has felt anything."""

    def __init__(self, settings: S, episodes: E) -> None:
        self._has_felt = np.zeros(episodes.count, bool)
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Forget that some worlds have felt anything."""
        self._has_felt[indices] = False

    def _feels(self, forces: Array) -> Booleans:
        """(B,) whether anything has been felt, at forces (B,) [N] by now."""
        self._has_felt |= forces > self.settings.felt
        return self._has_felt

# SPDX-License-Identifier: BSD-3-Clause
"""An episode that is flown in an engine, as each kind of task follows it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import ARRIVED

ERROR_TIME = 1.0  # over which errors are averaged at an episode's end [s]


class EngineEpisode(ABC):
    """Follows one episode.

    Attributes:
        outcome: so far, number in `iap_simulation.tasks.outcomes.OUTCOMES`.
    """

    outcome: int = RUNNING

    @abstractmethod
    def observe(self) -> None:
        """Observe the end of a control period, each once and in order."""

    @property
    def succeeded(self) -> bool:
        """Whether it is a success if it ends here."""
        return self.outcome == ARRIVED

    @property
    @abstractmethod
    def measures(self) -> Mapping[str, float]:
        """Measures of the episode so far, by their names in `iap_learning.evaluation.results.UNITS`."""

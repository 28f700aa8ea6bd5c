# SPDX-License-Identifier: BSD-3-Clause
"""The part that all classes of episodes share: worlds begin anew by their seeds, and steps and rewards are counted."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_learning.tasks.scaling import Step
from iap_learning.tasks.seeds import begun
from iap_physics.engines.engine import RUNNING, world_indices
from iap_simulation.arm.scenario import ArmScenario
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.tasks.outcomes import TIME_IS_UP


class Seeded(Protocol):
    """Worlds that begin anew by their seeds."""

    @property
    def seeds(self) -> Integers:
        """(B,) of the present flights."""

    @property
    def scenario(self) -> Scenario | ArmScenario:
        """That all fly."""

    def reset(self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None) -> None:
        """Bring worlds back to their start."""


W = TypeVar("W", bound=Seeded)


class CountedEpisodes(ABC, Generic[W]):
    """Episodes in B worlds, one after the other in each.

    Args:
        worlds: that fly.
        repeat: control periods of a step.
        size: numbers of an action.

    Attributes:
        worlds: as given.
        size: as given.
        seeds: (B,) that the worlds were given.
        episodes: (B,) number of each world's episode since then.
        outcome: (B,) of each episode, see `iap_simulation.tasks.outcomes.OUTCOMES`.
        steps: (B,) of each so far.
        returns: (B,) sum of its rewards.
    """

    def __init__(self, worlds: W, repeat: int, size: int) -> None:
        self.worlds, self.size, self._repeat = worlds, size, repeat
        self.seeds = worlds.seeds.copy()
        batch = len(self.seeds)
        self._action, self._before = np.zeros((batch, size)), np.zeros((batch, size))
        self.episodes, self.outcome, self.steps = np.zeros((3, batch), dtype=np.int64)
        self.returns = np.zeros(batch)

    @property
    def count(self) -> int:
        """Number of worlds."""
        return len(self.seeds)

    @property
    def dt(self) -> float:
        """Length of a step [s]."""
        return self._repeat * self.worlds.scenario.dt

    @property
    @abstractmethod
    def platform(self) -> str:
        """Name of what flies."""

    @property
    def flown(self) -> Integers:
        """(B,) seeds of the present episodes."""
        return self.worlds.seeds

    def reset(
        self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None
    ) -> NDArray[np.float32]:
        """Begin new episodes.

        Args:
            worlds: of which worlds, their indices or a mask (B,); None for all.
            seeds: that they are given, with which their first episode flies; without, their next episode begins.

        Returns:
            Observations (worlds, n) of these worlds.

        Raises:
            BadInput: there is no such world, or there are more or fewer seeds than worlds.
        """
        chosen = world_indices(worlds, self.count)
        flown = begun(self.seeds, self.episodes, chosen, seeds)
        self.worlds.reset(chosen, flown.tolist())
        self._begin(chosen)
        return self.observe(chosen)

    @abstractmethod
    def observe(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """Observations (B, n) of the worlds' present states, or (chosen, n) of some worlds."""

    @abstractmethod
    def _begin(self, chosen: Integers) -> None:
        """Forget the last episodes of worlds that stand at their start."""

    def _count_anew(self, chosen: Integers) -> None:
        """Set what is counted here back."""
        for array in (self._action, self._before, self.steps, self.outcome, self.returns):
            array[chosen] = 0

    def _remember_action(self) -> None:
        """Make the last action the one before; the present one is then to be written."""
        self._before, self._action = self._action, self._before

    def _counted(self, observation: NDArray[np.float32], reward: Array, success: Booleans) -> Step:
        """The step that has been flown and judged."""
        self.returns += reward
        truncated = self.outcome == TIME_IS_UP
        terminated = (self.outcome != RUNNING) & ~truncated
        return Step(observation, reward, terminated, truncated, success)

# SPDX-License-Identifier: BSD-3-Clause
"""Episodes of a task in many worlds: actions in; observations, rewards and ends out. No learning library is needed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_learning.policies.layout import Layout, TermLayout
from iap_learning.tasks.function_worlds import FunctionWorlds
from iap_learning.tasks.scaling import ActionScale
from iap_learning.tasks.seeds import next_seeds
from iap_learning.tasks.task import Task
from iap_learning.tasks.user_functions import StepOutcome
from iap_physics.engines.engine import RUNNING, world_indices
from iap_simulation.tasks.outcomes import ARRIVED, TIME_IS_UP

Observations = NDArray[np.float32]


class EpisodeStep(NamedTuple):
    """Results of a step of B worlds.

    Attributes:
        observation: (B, n) at its end.
        reward: (B,).
        terminated: (B,) whether the episode has failed or arrived.
        truncated: (B,) whether its time is up.
        success: (B,) whether it is a success if it ends here.
    """

    observation: Observations
    reward: Array
    terminated: Booleans
    truncated: Booleans
    success: Booleans


class CameraPlacement(NamedTuple):
    """Places of a camera's picture: it stands behind one and looks at the other.

    Attributes:
        start: (3,) where worlds start [m].
        goal: (3,) where they are flown to [m].
    """

    start: Array
    goal: Array


class SeededWorlds(Protocol):
    """Worlds that begin anew by their seeds."""

    @property
    def seeds(self) -> Integers:
        """(B,) of the present flights."""

    @property
    def scenario(self) -> Any:  # noqa: ANN401 - of a vehicle or of an identified plant
        """The scenario of all worlds."""

    def reset(self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None) -> None:
        """Bring worlds back to their start."""


T = TypeVar("T", bound=Task)
W = TypeVar("W", bound=SeededWorlds)


class Episodes(FunctionWorlds[T], ABC, Generic[T, W]):
    """A task in B worlds, one episode after the other in each.

    World i of any B is the same, bit for bit, as alone with its seed and actions. A kind of task says how its worlds
    fly a step (`_fly`, `_fly_scripted`), what is observed (`observe`) and what has come of the step (`_assess`).

    Args:
        task: what is to be done.
        worlds: that fly.
        scale: of actions.

    Raises:
        BadInput: a step is longer than an episode.

    Attributes:
        task: as given.
        worlds: as given.
        scale: as given.
        seeds: (B,) that the worlds were given.
        episodes: (B,) number of each world's episode since then.
        outcome: (B,) of each episode, see `iap_simulation.tasks.outcomes.OUTCOMES`.
        steps: (B,) of each so far.
        returns: (B,) sum of its rewards.
    """

    def __init__(self, task: T, worlds: W, scale: ActionScale) -> None:
        self.task, self.worlds, self.scale = task, worlds, scale
        if self.dt > task.seconds:
            step = f"a step of {self.dt:g} s is longer than an episode, {task.seconds:g} s"
            raise BadInput(f"task '{task.name}': key 'repeat': {step}")
        self.seeds = worlds.seeds.copy()
        batch = len(self.seeds)
        self._action, self._before = np.zeros((2, batch, scale.size))
        self.episodes, self.outcome, self.steps = np.zeros((3, batch), dtype=np.int64)
        self.returns = np.zeros(batch)

    @property
    def count(self) -> int:
        """Number of worlds."""
        return len(self.seeds)

    @property
    def size(self) -> int:
        """Numbers of an action."""
        return self.scale.size

    @property
    def action(self) -> Array:
        """(B, size) the last actions, in [-1, 1]."""
        return self._action

    @property
    def observed(self) -> int:
        """Numbers of an observation."""
        return sum(size for _, size, _ in self.layout)

    @property
    def dt(self) -> float:
        """Length of a step [s]."""
        return float(self.task.repeat * self.worlds.scenario.dt)

    @property
    def limit(self) -> int:
        """Steps of an episode that nothing ends."""
        return max(1, round(self.task.seconds / self.dt))

    @property
    def platform(self) -> str:
        """Name of what flies."""
        return str(self.worlds.scenario.vehicles[0].platform.name)

    @property
    def episode_seeds(self) -> Integers:
        """(B,) seeds of the present episodes."""
        return self.worlds.seeds

    @property
    @abstractmethod
    def layout(self) -> TermLayout:
        """Terms of an observation with their sizes and scales."""

    @property
    def policy_layout(self) -> Layout:
        """Meaning of the numbers of a policy that flies the task."""
        hz = self.worlds.scenario.rates.control_hz
        return Layout.of(self.task, self.layout, self.size, self.platform, hz)

    @property
    @abstractmethod
    def status(self) -> Integers:
        """(B,) of the worlds; written where an action is no number."""

    @property
    @abstractmethod
    def viewpoint(self) -> CameraPlacement | None:
        """Place of a camera; None where there is nothing to be drawn."""

    def report(self) -> dict[str, Array]:
        """Further results of the episodes, (B,) each; NaN where there has been none."""
        return {}

    def reset(
        self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None
    ) -> Observations:
        """Begin new episodes.

        Args:
            worlds: of which worlds, their indices or a mask (B,); None for all.
            seeds: that they are given, with which their first episode flies; without, their next episode begins.

        Returns:
            Observations (worlds, n) of these worlds.

        Raises:
            BadInput: there is no such world, or there are more or fewer seeds than worlds.
        """
        indices = world_indices(worlds, self.count)
        seeds = next_seeds(self.seeds, self.episodes, indices, seeds).tolist()
        self.worlds.reset(indices, seeds)
        self._begin(indices)
        return self.observe(indices)

    def _begin(self, indices: Integers) -> None:
        """Forget the last episodes of worlds that stand at their start."""
        for array in (self._action, self._before, self.steps, self.outcome, self.returns):
            array[indices] = 0
        if self.functions is not None:
            self.functions.begin(indices)

    def step(self, actions: ArrayLike | None) -> EpisodeStep:
        """Fly a step of every world, also of those whose episodes are over and that have not been reset.

        Args:
            actions: (B, size) in [-1, 1], and clipped to it; None lets the scenario's own controllers or script fly,
                all through an episode.

        Raises:
            BadInput: they have another shape.
        """
        self._before, self._action = self._action, self._before
        runs = self.outcome == RUNNING
        if actions is None:
            self._action[:] = 0.0
            self._fly_scripted()
        else:
            values = self.scale.apply_to_worlds(actions, self.status, self._action)
            self._fly(self._of_kind(values))
        reward = self._assess()
        observation, success = self._step_observation(), self._success()
        if self.functions is not None and self.functions.judges:
            step = StepOutcome(runs, self.status, reward, self.outcome)
            self.functions.assess(self, step, self.failure, self.episode_seeds)
            success &= self.functions.fate == RUNNING
        self.returns += reward
        truncated = self.outcome == TIME_IS_UP
        terminated = (self.outcome != RUNNING) & ~truncated
        return EpisodeStep(observation, reward, terminated, truncated, success)

    @property
    def failure(self) -> float:
        """Reward of a step in which a function of the user's own lets an episode fail."""
        return float(self.task.reward.failure)  # type: ignore[attr-defined] # of all kinds that take functions

    @abstractmethod
    def _fly(self, values: Array) -> None:
        """Fly a step under actions (B, size) in SI units."""

    @abstractmethod
    def _fly_scripted(self) -> None:
        """Fly a step without actions."""

    @abstractmethod
    def _assess(self) -> Array:
        """Count a step of every world and write outcomes; returns the rewards (B,)."""

    def _success(self) -> Booleans:
        """(B,) whether episodes are successes if they end here; new ones every time."""
        return self.outcome == ARRIVED

    def _step_observation(self) -> Observations:
        """(B, n) observations at the end of a step."""
        return self.observe()

    @abstractmethod
    def observe(self, indices: Integers | None = None) -> Observations:
        """Observations (B, n) of the worlds' present states, or (indices, n) of some worlds."""


AnyEpisodes = Episodes[Any, Any]
Actions = ArrayLike | None


def step_until_over(
    episodes: AnyEpisodes, observation: Observations, act: Callable[[Observations], Actions]
) -> Iterator[tuple[EpisodeStep, Booleans]]:
    """Fly the present episode of every world to its end.

    Args:
        episodes: at the start of an episode in every world.
        observation: (B, n) of that start.
        act: gives actions (B, size) at observations (B, n).

    Yields:
        Each step, and the worlds (B,) whose episodes have ended in it.
    """
    running = np.ones(episodes.count, bool)
    while running.any():
        step = episodes.step(act(observation))
        observation = step.observation
        over = running & (step.terminated | step.truncated)
        yield step, over
        running &= ~over

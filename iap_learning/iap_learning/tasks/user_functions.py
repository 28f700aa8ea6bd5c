# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the user's own in many worlds: they make actions, add to rewards and end episodes of every kind."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_learning.tasks.own_functions import OwnReward, own_rewards
from iap_learning.tasks.scaling import ActionRange
from iap_learning.tasks.task import Task
from iap_learning.tasks.terms import TermObserver, TermWorld
from iap_learning.tasks.user_inputs import WorldArrays
from iap_learning.tasks.user_quantities import TermsInWorlds, UserQuantities
from iap_learning.tasks.user_terms import PlacedTerm
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import INVALID_TERM, OUT_OF_BOUNDS

ONLY = np.zeros(1, dtype=np.int64)  # index of the only world


class WorldsOfFunctions(Protocol):
    """Worlds that functions get: what is seen of them, and the truth by which they are rewarded and judged."""

    def known(self, which: Integers) -> WorldArrays:
        """As policies see some of them."""

    def true(self, which: Integers) -> WorldArrays:
        """As they are."""


class StepOutcome(NamedTuple):
    """A step of B worlds that their kind has assessed.

    Attributes:
        runs: (B,) whether the episodes went on before it.
        status: (B,) of the worlds.
        reward: (B,) by the kind; written.
        outcome: (B,) by the kind; written.
    """

    runs: Booleans
    status: Integers
    reward: Array
    outcome: Integers


class UserFunctions:
    """Functions of a task's observation, action, reward and ends in B worlds.

    Args:
        task: of them.
        world: as functions get it.
        columns: numbers of an action's kind.
        worlds: B.
        observed: terms of observations, as far as they are judged here.

    Attributes:
        world: as given.
        action: makes the kind's numbers of an action; None where there is none.
        unsound: (B,) set to 1 where a term gives no finite number in the present episode.
        fate: (B,) why the functions have ended episodes, or `RUNNING`.

    Raises:
        BadInput: a function cannot be imported or compiled, or returns something else.
    """

    def __init__(
        self,
        task: Task,
        world: TermWorld,
        *,
        columns: int,
        worlds: int,
        observed: Collection[PlacedTerm] = (),
    ) -> None:
        own, self.world, self._observed = task.own, world, observed
        self.action = task.action.user_function(columns, world.example)
        self._quantities = UserQuantities(task.name, own.keys, worlds, world.example)
        names = self._quantities.names
        self._reward = OwnReward.of(own.reward, names)
        self._bounds = np.array([own.fails_beyond.get(name, np.inf) for name in names])
        self.unsound, self.fate = self._quantities.unsound, np.zeros(worlds, np.int64)
        self._sum = np.zeros(worlds)

    @classmethod
    def of(cls, task: Task, observer: TermObserver, columns: int, worlds: int) -> Self:
        """Those of B worlds whose observer takes functions."""
        assert observer.world is not None  # noqa: S101 - likewise
        return cls(
            task, observer.world, columns=columns, worlds=worlds, observed=observer.user_terms
        )

    @property
    def judges(self) -> bool:
        """True if a function can reward or end an episode."""
        return self._quantities.is_needed or bool(self._observed)

    def begin(self, indices: Integers) -> None:
        """Forget the last episodes of some worlds."""
        self._quantities.begin(indices)
        self.fate[indices] = RUNNING

    def assess(
        self, worlds: WorldsOfFunctions, step: StepOutcome, failure: float, seeds: Integers
    ) -> None:
        """Add to the rewards of a step, end episodes, and name the terms that gave no number.

        Args:
            worlds: at the end of the step.
            step: as the kind of task has assessed it; written.
            failure: reward of a step in which an episode fails.
            seeds: (B,) of the episodes.
        """
        every, quantities = np.arange(len(seeds)), self._quantities
        runs = step.runs & (self.fate == RUNNING)
        if quantities.is_needed:
            quantities.fill(every, worlds.true(every))
            own_rewards(quantities.values, self._reward, self._sum)
            step.reward[runs] += self._sum[runs]
        self._end(runs, step, failure)
        step.reward[~runs & (self.fate != RUNNING)] = 0.0
        quantities.warn(seeds, self._terms(worlds, every))

    def _end(self, runs: Booleans, step: StepOutcome, failure: float) -> None:
        """End the episodes of some worlds, where a bound or a number that is none does."""
        beyond = runs & (self._quantities.values > self._bounds).any(axis=1)
        is_sound = self.unsound == 0
        fates = np.where(is_sound, np.where(beyond, OUT_OF_BOUNDS, RUNNING), INVALID_TERM)
        ends = runs & (step.status == RUNNING) & (fates != RUNNING)
        self.fate[ends] = fates[ends]
        step.reward[ends] = failure
        is_over = self.fate != RUNNING
        step.outcome[is_over] = self.fate[is_over]

    def _terms(self, worlds: WorldsOfFunctions, every: Integers) -> Callable[[], TermsInWorlds]:
        def pairs() -> TermsInWorlds:
            true = worlds.true(every)
            yield from ((term, true) for term in self._quantities.terms)
            known = worlds.known(every)
            yield from ((placed.term, known) for placed in self._observed)

        return pairs


class ActionConverter:
    """Numbers of a kind of actions, made of those of one world's action by the user's function where there is one.

    Args:
        action: of the task.
        columns: numbers of the kind.
        observer: that takes functions.

    Raises:
        BadInput: the function cannot be imported or compiled, or returns something else.
    """

    def __init__(self, action: ActionRange, columns: int, observer: TermObserver) -> None:
        assert observer.world is not None  # noqa: S101 - of kinds that take functions
        self._world = observer.world
        self._function = action.user_function(columns, self._world.example)

    def __call__(
        self, values: Array, inputs: Callable[[], Any], worlds: Callable[[], WorldArrays]
    ) -> Array:
        """Numbers (1, columns) of an action (1, n) in SI units.

        Args:
            values: of the action.
            inputs: gives those of the kind's terms, at this action.
            worlds: gives the world, at this action and without terms.
        """
        if self._function is None:
            return values
        return self._function(values, self._world(worlds(), inputs(), ONLY))

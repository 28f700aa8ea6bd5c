# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform that touches: flown by actions, or by the scenario's own law, in worlds with contact."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypedDict, TypeVar, Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import IapError
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.contact_counts import ContactCounts
from iap_learning.tasks.episodes import Episodes, Observations
from iap_learning.tasks.kind import EngineEpisode
from iap_learning.tasks.touch_interface import TouchInterface
from iap_learning.tasks.touch_task import TouchTask
from iap_learning.tasks.user_functions import UserFunctions
from iap_learning.tasks.user_inputs import TermInputs, WorldArrays
from iap_simulation.batch.batch_support import refuse_estimates
from iap_simulation.batch.worlds import Worlds
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import ARRIVED, RUNNING

ENGINE = "mujoco"  # of many worlds with contact
T = TypeVar("T", bound=TouchTask)
I = TypeVar("I", bound=TouchInterface)  # noqa: E741 - beside T


class WorldsOptions(TypedDict, total=False):
    """Options of a task's worlds.

    Attributes:
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: that flies, in place of the scenario's.
        threads: that share the worlds; no result depends on how many.
    """

    scenario: Mapping[str, Any] | None
    platform: str | None
    threads: int


class TouchCounts(Protocol):
    """Counts of B episodes, which begin anew."""

    @property
    def contact(self) -> ContactCounts:
        """What all kinds count."""

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""


class TouchEpisodes(Episodes[T, Worlds], Generic[T, I]):
    """A task in B worlds with contact, by actions or by the scenario's own law.

    Args:
        task: what is to be done.
        worlds: B.
        interface: kind of that of actions.
        counts: of B worlds.
        how: see `WorldsOptions`.

    Attributes:
        interface: of actions.

    Raises:
        BadInput: no such scenario, or anything unknown or impossible in it.
    """

    _counts: TouchCounts

    def __init__(
        self,
        task: T,
        worlds: int,
        interface: type[I],
        counts: TouchCounts,
        **how: Unpack[WorldsOptions],
    ) -> None:
        scenario = how.get("scenario") or {}
        self._settings = {"engine.name": ENGINE, **task.settings, **scenario}
        self._how: dict[str, Any] = {
            "platform": how.get("platform"),
            "sensors": "none",
            "threads": how.get("threads", 1),
        }
        self._of_task, self._by_law = task, False
        flying = self._made(interface.NEEDS, worlds)
        self._worlds_of: dict[bool, Worlds] = {False: flying}
        super().__init__(task, flying, task.action.scale())
        self._row = flying.timeline.row(0)
        self.interface = interface.of(task, flying.scenario, self._row, worlds)
        rest = TermInputs.at_rest(flying.rpm.shape[1], self.size)
        self._observer = interface.TERMS.observer(task.observation, self.size, rest)
        self.functions = UserFunctions.of(task, self._observer, task.action.columns, worlds)
        self._counts = counts

    @property
    def layout(self) -> TermLayout:
        """Terms of an observation with their sizes and scales."""
        return self._observer.layout

    @property
    def status(self) -> Integers:
        """(B,) of the worlds."""
        return self.worlds.status

    def observe(self, indices: Integers | None = None) -> Observations:
        """Observations (B, n) of the worlds' present states, or (indices, n) of some worlds."""
        which = np.arange(self.count) if indices is None else np.asarray(indices)
        return self._observer(self.inputs, which, self._known_arrays, self.unsound)

    @property
    def inputs(self) -> Any:  # noqa: ANN401 - of the kind's terms
        """Inputs of observations at present."""
        return self.interface.inputs(self.worlds.state[:, 0], self._action)

    def _term_inputs(self) -> Any:  # noqa: ANN401 - of the kind's terms
        return self.inputs

    def _true_arrays(self) -> WorldArrays:
        worlds = self.worlds
        return WorldArrays(worlds.state, *worlds.reference_rows(), worlds.rpm, self._action)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._counts.reset(indices)
        self.interface.reset(indices, self.worlds.seeds[indices])

    def _made(self, settings: Mapping[str, Any], worlds: int) -> Worlds:
        keys = {**self._settings, **settings}
        made = Worlds.of(self._of_task.scenario, worlds, settings=keys, **self._how)
        refuse_estimates(made.scenario, f"task '{self._of_task.name}'")
        return made

    def _choose(self, *, by_law: bool) -> None:
        """Let worlds be flown by the scenario's own law, or by actions, from their start on.

        Raises:
            IapError: they are not at their start.
        """
        if by_law == self._by_law:
            return
        if self.steps.any():
            raise IapError(
                f"task '{self.task.name}': one of action and script flies all an episode"
            )
        seeds, worlds = self.worlds.seeds.copy(), self._worlds_of.get(by_law)
        self._by_law = by_law
        self.worlds = self._made({}, self.count) if worlds is None else worlds
        self._worlds_of[by_law] = self.worlds
        self.worlds.reset(seeds=seeds.tolist())

    def _fly(self, values: Array) -> None:
        """Fly a step at actions (B, n) in SI units."""
        self._choose(by_law=False)
        for _ in range(self.task.repeat):
            references = self.interface.references(self.worlds, values)
            if (closes := self.interface.closes) is not None:
                self.worlds.command_gripper(closes)
            self.worlds.advance(references)
            self._look()

    def _fly_scripted(self) -> None:
        """Fly a step by the scenario's own law and references."""
        self._choose(by_law=True)
        for _ in range(self.task.repeat):
            self.worlds.advance()
            self._look()

    @abstractmethod
    def _look(self) -> None:
        """Take the end of a control period."""

    def _assess(self) -> Array:
        goes_on = self.outcome == RUNNING
        self.steps += goes_on
        self.outcome[:] = self._counts.contact.outcome
        weights = self.task.reward
        change = np.mean((self._action - self._before) ** 2, axis=1)
        reward = self._progress() + weights.change * change
        reward += weights.success * (self.outcome == ARRIVED)
        reward += weights.failure * ((self.outcome != ARRIVED) & (self.outcome != RUNNING))
        return np.where(goes_on, reward, 0.0)

    @abstractmethod
    def _progress(self) -> Array:
        """(B,) the kind's own rewards of a step, of which it forgets what it summed."""


class TouchEngineEpisode(EngineEpisode):
    """An episode in an engine.

    Args:
        simulation: at the start.
        counts: of one episode.
    """

    def __init__(self, simulation: Simulation, counts: TouchCounts) -> None:
        self._plant, self._dt = simulation.plant, simulation.scenario.dt
        self._status, self._ends = np.zeros(1, dtype=np.int64), counts

    def observe(self) -> None:
        """Observe the end of a control period."""
        self._count()
        self.outcome = int(self._ends.contact.outcome[0])

    @property
    def measures(self) -> Mapping[str, float]:
        """Time flown [s], and the kind's own results."""
        time = float(self._ends.contact.periods[0]) * self._dt
        return {"time": time, **{name: float(each[0]) for name, each in self._results().items()}}

    @abstractmethod
    def _count(self) -> None:
        """Count a control period."""

    @abstractmethod
    def _results(self) -> Mapping[str, Array]:
        """Results, (1,) each."""

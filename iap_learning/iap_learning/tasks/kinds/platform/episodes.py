# SPDX-License-Identifier: BSD-3-Clause
"""A task flown in many worlds: actions in; observations, rewards and ends out. No learning library is needed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Integers
from iap_description.states import P
from iap_learning.tasks.episodes import CountedEpisodes
from iap_learning.tasks.kinds.platform.assessment import StepInputs, assess
from iap_learning.tasks.kinds.platform.observations import Seen
from iap_learning.tasks.kinds.platform.observer import Observer
from iap_learning.tasks.kinds.platform.obstacles import Clearance, Sight
from iap_learning.tasks.kinds.platform.outcome import Counted, Rules, begin
from iap_learning.tasks.kinds.platform.rewards import Terms
from iap_learning.tasks.kinds.platform.task import Task
from iap_learning.tasks.scaling import Step, taken
from iap_learning.tasks.terms import Layout
from iap_simulation.batch.actions import act, action_size
from iap_simulation.batch.worlds import Worlds


class Episodes(CountedEpisodes[Worlds]):
    """A task in B worlds; world i of any B is the same, bit for bit, as alone with its seed and actions.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: that flies, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Attributes:
        task: as given.
        observed: numbers of an observation, the depth image's behind the terms'.
        observer: makes the terms.
        sight: takes the images; None where there are none.

    Raises:
        BadInput: the scenario cannot be flown side by side, or anything unknown or impossible in it.
    """

    def __init__(
        self,
        task: Task,
        worlds: int,
        *,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
        threads: int = 1,
    ) -> None:
        self.task = task
        given = {**task.settings, **(scenario or {})}
        chosen = platform or task.platform
        flying = Worlds.of(task.scenario, worlds, settings=given, threads=threads, platform=chosen)
        aircraft = flying.rpm.shape[1]
        super().__init__(flying, task.repeat, action_size(task.action.kind, aircraft))
        repeats = self.size // len(task.action.low)
        low, high = np.tile(task.action.low, repeats), np.tile(task.action.high, repeats)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)
        self.observer = Observer(task.observation, aircraft=aircraft, actions=self.size)
        self.sight = None if task.depth is None else Sight(task.depth, self.worlds)
        self._clearance = Clearance(self.worlds) if task.minds_obstacles else None
        self._open = np.full(worlds, np.inf)
        self.observed = self.observer.size + (0 if self.sight is None else self.sight.size)
        self._rules, self._terms = Rules.of(task, self.dt), Terms.of(task.reward)
        self._last = self._last_goals() if task.goal == "last" else None
        self._judged = Counted.of(worlds)._replace(steps=self.steps, outcome=self.outcome)
        self._begin(np.arange(worlds))

    @property
    def platform(self) -> str:
        """Name of what flies."""
        return str(self.worlds.scenario.vehicles[0].platform.name)

    @property
    def layout(self) -> Layout:
        """Terms of an observation with their sizes and scales."""
        pixels = () if self.sight is None else (self.sight.term,)
        return (*self.observer.layout, *pixels)

    def report(self) -> dict[str, Array]:
        """What else is known of the episodes, (B,) each: distances of the platforms' origins from their goals [m]."""
        return {"distance": self._judged.distance.copy()}

    @property
    def viewpoint(self) -> Array:
        """(3,) place to look at [m]."""
        return self.worlds.timeline.row(self.worlds.timeline.last)[P]

    @property
    def limit(self) -> int:
        """Steps of an episode that nothing ends."""
        return self._rules.limit

    def _begin(self, chosen: Integers) -> None:
        """Forget the last episodes of worlds that stand at their start."""
        self._count_anew(chosen)
        begin(chosen, self._seen(), self._judged)

    def step(self, actions: ArrayLike | None) -> Step:
        """Fly a step of every world, also of those whose episodes are over and that have not been reset.

        Args:
            actions: (B, size) in [-1, 1], and clipped to it; None lets the suite's controllers track the scenario's own
                references.

        Raises:
            BadInput: they have another shape.
        """
        repeat = self.task.repeat
        if actions is not None:
            act(self.task.action.kind, self._taken(actions), self.worlds, repeat)
            return self._assessed()
        self._hold_still()
        if self.worlds.flies_at_once:
            self.worlds.fly(repeat)
        else:
            for _ in range(repeat):
                self.worlds.advance()
        return self._assessed()

    def _hold_still(self) -> None:
        self._remember_action()
        self._action[:] = 0.0

    def _taken(self, actions: ArrayLike) -> Array:
        """Actions in SI units (B, size); they are remembered, and one that is no number ends its world."""
        self._remember_action()
        return taken(actions, self._middle, self._half, self.worlds.status, self._action)

    def observe(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """Observations (B, n) of the worlds' present states, or (chosen, n) of some worlds."""
        return self._with_images(self.observer(self._seen(), chosen), chosen)

    def _seen(self) -> Seen:
        worlds = self.worlds
        return Seen(worlds.state, *self._goals(), worlds.rpm, self._action)

    def _with_images(
        self, terms: NDArray[np.float32], chosen: Integers | None = None
    ) -> NDArray[np.float32]:
        return terms if self.sight is None else np.hstack([terms, self.sight(chosen)])

    def _last_goals(self) -> tuple[Array, Integers]:
        timeline = self.worlds.timeline
        return timeline.row(timeline.last)[None], np.zeros(self.count, dtype=np.int64)

    def _goals(self) -> tuple[Array, Integers]:
        """Reference rows (K, 19 + N), and the row of each world's goal (B,)."""
        return self._last if self._last is not None else self.worlds.reference_rows()

    def _assessed(self) -> Step:
        """The step that has been flown, rewarded, judged and seen."""
        clearance = self._open if self._clearance is None else self._clearance()
        given, flown = self._seen(), StepInputs(self._before, clearance, self.worlds.status)
        reward = np.empty(self.count)
        seen = np.empty((self.count, self.observer.size), np.float32)
        task = (self._terms, self._rules, self.observer.parts)
        self.worlds.threads.run(
            lambda *worlds: assess(*worlds, given, flown, *task, self._judged, reward, seen),
            self.count,
        )
        return self._counted(self._with_images(seen), reward, self._judged.success.copy())

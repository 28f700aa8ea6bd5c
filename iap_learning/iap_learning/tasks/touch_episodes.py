# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform that touches: flown by actions, or by the scenario's own law, in worlds with contact."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

from iap_description.errors import IapError
from iap_learning.tasks.episodes import Episodes
from iap_learning.tasks.scaling import ActionRange, ActionScale
from iap_learning.tasks.task import Task
from iap_simulation.batch.worlds import Worlds

ENGINE = "mujoco"  # of many worlds with contact
T = TypeVar("T", bound=Task)


class TouchEpisodes(Episodes[T, Worlds]):
    """A task in B worlds with contact, by actions or by the scenario's own law.

    Args:
        task: what is to be done.
        worlds: B.
        action: what actions stand for.
        by_action: values of the scenario's keys by their dotted paths while actions fly, over all others.
        scenario: such values over those of the task.
        platform: that flies, in place of the scenario's.
        threads: that share the worlds; no result depends on how many.

    Raises:
        BadInput: no such scenario, or anything unknown or impossible in it.
    """

    def __init__(
        self,
        task: T,
        worlds: int,
        action: ActionRange,
        by_action: Mapping[str, Any],
        *,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
        threads: int = 1,
    ) -> None:
        self._settings = {"engine.name": ENGINE, **task.settings, **(scenario or {})}
        self._how: dict[str, Any] = {
            "platform": platform,
            "sensors": "none",
            "threads": threads,
        }
        self._of_task, self._by_law = task, False
        flying = self._made(by_action, worlds)
        self._worlds_of: dict[bool, Worlds] = {False: flying}
        super().__init__(task, flying, ActionScale.of(action.low, action.high))

    def _made(self, settings: Mapping[str, Any], worlds: int) -> Worlds:
        keys = {**self._settings, **settings}
        return Worlds.of(self._of_task.scenario, worlds, settings=keys, **self._how)

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

    def _fly_scripted(self) -> None:
        """Fly a step by the scenario's own law and references."""
        self._choose(by_law=True)
        for _ in range(self.task.repeat):
            self.worlds.advance()
            self._look()

    @abstractmethod
    def _look(self) -> None:
        """Take the end of a control period."""

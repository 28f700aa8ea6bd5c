# SPDX-License-Identifier: BSD-3-Clause
"""The task of docking modules in many worlds: actions of the follower in; observations, rewards and ends out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_learning.tasks.episodes import CountedEpisodes
from iap_learning.tasks.kinds.module_docking.judging import (
    Weights,
    end_episodes,
    potentials,
    reward_step,
)
from iap_learning.tasks.kinds.module_docking.script import Script
from iap_learning.tasks.kinds.module_docking.sight import FILTERED, Sight, latch_of
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.scaling import Step, taken
from iap_learning.tasks.terms import Layout
from iap_simulation.batch.actions import act, action_size
from iap_simulation.modules.outcome import ModuleDockingLimits
from iap_simulation.modules.pairs import ModulePairs
from iap_simulation.tasks.outcomes import ARRIVED


class ModuleDockingEpisodes(CountedEpisodes[ModulePairs]):
    """A task of docking modules in B worlds; world i of any B is the same, bit for bit, as alone.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: that both are, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Attributes:
        task: as given.
        latch: when it catches.
        filtered: (B, 6) low-passed poses by which it goes: offset [m] and angles [rad].
        observed: numbers of an observation.

    Raises:
        BadInput: the scenario docks no two modules, or anything unknown or impossible in it.
    """

    def __init__(
        self,
        task: ModuleDockingTask,
        worlds: int,
        *,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
        threads: int = 1,
    ) -> None:
        self.task = task
        given, chosen = {**task.settings, **(scenario or {})}, platform or task.platform
        flying = ModulePairs.of(
            task.scenario, worlds, settings=given, threads=threads, platform=chosen
        )
        super().__init__(flying, task.repeat, action_size(task.action.kind, 1))
        if task.repeat % self.worlds.every:
            raise BadInput(
                f"task '{task.name}': key 'repeat': {task.repeat} is no multiple of the {self.worlds.every} control"
                " periods between two instants of coordination"
            )
        low, high = np.array(task.action.low), np.array(task.action.high)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)
        spec = self.worlds.spec
        self.latch = latch_of(spec, spec.joints[self.worlds.joint])
        self._sight = Sight.of(task.observation, self.size, self.latch)
        self.observed, self._weights = len(self._sight.factors), Weights.of(task, self.dt)
        self._limits = ModuleDockingLimits(
            task.closing_speed, task.overlap, spec.size, task.fails_beyond, self.limit * self.dt
        )
        self._script = Script(self.worlds)
        self.filtered, self._fits = np.zeros((worlds, FILTERED)), np.zeros(worlds, bool)
        self._potential, self._known = np.zeros(worlds), np.full((worlds, 2), np.nan)
        self._begin(np.arange(worlds))

    @property
    def platform(self) -> str:
        """Name of what flies."""
        return str(self.worlds.scenario.vehicles[0].platform.name)

    @property
    def layout(self) -> Layout:
        """Terms of an observation with their sizes and scales."""
        return self._sight.layout

    @property
    def limit(self) -> int:
        """Steps of an episode that nothing ends."""
        return max(1, round(self.task.seconds / self.dt))

    @property
    def viewpoint(self) -> Array:
        """(3,) place to look at [m]."""
        return np.asarray(self.worlds.leader.timeline.row(0)[:3])

    def report(self) -> dict[str, Array]:
        """What else is known of the episodes, (B,) each; NaN where there has been none.

        Closing speed at the end [m/s], and how far off the axis the follower was there [m].
        """
        return {"closing_speed": self._known[:, 0].copy(), "offset": self._known[:, 1].copy()}

    def _begin(self, chosen: Integers) -> None:
        """Forget the last episodes of worlds that stand at their start."""
        self._count_anew(chosen)
        self._known[chosen] = np.nan
        self._script.reset(chosen.tolist())
        self._follow_latch(chosen, starts=True)
        self._weigh(chosen)

    def _follow_latch(self, chosen: Integers, *, starts: bool) -> None:
        self._sight.follow(chosen, self.worlds.shared, self.filtered, self._fits, starts=starts)

    @property
    def _truth(self) -> tuple[Array, Array]:
        """Rows (B, 13) of leader and follower."""
        pairs = self.worlds
        return pairs.leader.state[:, 0], pairs.follower.state[:, 0]

    def _weigh(self, chosen: Integers) -> None:
        potentials(chosen, *self._truth, self.latch, self._weights, self._potential)

    def step(self, actions: ArrayLike | None) -> Step:
        """Fly a step of every world, also of those whose episodes are over and that have not been reset.

        Args:
            actions: (B, size) in [-1, 1], and clipped to it; None lets the coordinator guide the follower, all
                through an episode.

        Raises:
            BadInput: they have another shape.
        """
        self._remember_action()
        pairs, values = self.worlds, np.zeros((self.count, self.size))
        if actions is None:
            self._action[:] = 0.0
        else:
            status = pairs.follower.status
            values = taken(actions, self._middle, self._half, status, self._action)
        every = np.arange(self.count)
        for _ in range(self.task.repeat // pairs.every):
            if actions is None:
                self._fly_script()
            else:
                act(self.task.action.kind, values, pairs.follower, pairs.every)
            for _ in range(pairs.every):
                pairs.leader.advance()
            self._follow_latch(every, starts=False)
            inputs = (pairs.times, pairs.status, self._fits, self.latch, self._limits)
            end_episodes(*self._truth, *inputs, self.outcome, self._known)
        return self._rewarded(every)

    def _fly_script(self) -> None:
        """Let the coordinators guide the followers up to the next instant of coordination."""
        pairs = self.worlds
        self._script.coordinate(self.outcome)
        for k in range(pairs.every):
            pairs.follower.advance(self._script.references(k * pairs.scenario.dt))

    def _rewarded(self, every: Integers) -> Step:
        before, reward = self._potential.copy(), np.empty(self.count)
        self._weigh(every)
        reward_step(
            (self._action, self._before),
            (self._potential, before),
            self._known,
            self._weights,
            self.steps,
            self.outcome,
            reward,
        )
        return self._counted(self.observe(), reward, self.outcome == ARRIVED)

    def observe(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """Observations (B, n) of the worlds' present states, or (chosen, n) of some worlds."""
        which = np.arange(self.count) if chosen is None else np.asarray(chosen)
        return self._sight(which, self.worlds.shared, self.filtered, self._action)

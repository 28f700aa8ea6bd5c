# SPDX-License-Identifier: BSD-3-Clause
"""Dockings of modules in many worlds: actions are those of the follower."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import ModuleReports
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.states import REF_P, REF_V
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.episodes import CameraPlacement, Episodes, Observations
from iap_learning.tasks.kinds.module_docking.latch import FILTERED, follow_latch, latch_of
from iap_learning.tasks.kinds.module_docking.observations import TERMS, FollowerInputs, rest_of
from iap_learning.tasks.kinds.module_docking.rewards import (
    ModuleDockingWeights,
    end_episodes,
    potentials,
    reward_step,
)
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.user_functions import UserFunctions
from iap_learning.tasks.user_inputs import WorldArrays
from iap_physics.engines.engine import RUNNING
from iap_simulation.batch.actions import act
from iap_simulation.batch.references import References
from iap_simulation.modules.outcome import ModuleDockingLimits
from iap_simulation.modules.pairs import ModulePairs

UNTOLD = np.zeros((2, 6))  # wrenches of observers, which apart modules have no use for


class Script:
    """A coordinator for each world, as single runs have it.

    Args:
        pairs: the worlds.
    """

    def __init__(self, pairs: ModulePairs) -> None:
        self._pairs = pairs
        self._coordinators: list[Coordinator | None] = [None] * len(pairs.seeds)
        rows = [worlds.timeline.row(0) for worlds in pairs.both]
        self._nominal = np.array(rows)
        self._follower = pairs.both.index(pairs.follower)
        self._rows = np.repeat(rows[self._follower][None], len(pairs.seeds), axis=0)

    def reset(self, indices: Iterable[int]) -> None:
        """Forget the last episodes of some worlds."""
        for b in indices:
            self._coordinators[b] = None

    def coordinate(self, outcome: Integers) -> None:
        """Let the coordinators of worlds whose episodes run decide at this instant."""
        pairs = self._pairs
        estimates = np.stack([worlds.measured for worlds in pairs.both], axis=1)
        leader, follower = pairs.shared
        rows = (follower, leader) if self._follower == 0 else (leader, follower)
        shared = np.stack(rows, axis=1)
        out = np.empty_like(self._nominal)
        for b in np.flatnonzero(outcome == RUNNING).tolist():
            coordinator = self._coordinators[b] or pairs.coordinator()
            self._coordinators[b] = coordinator
            t = float(pairs.times[b])
            command_times = np.full(2, t)
            reports = ModuleReports(
                t, estimates[b], shared[b], UNTOLD, self._nominal, command_times, {}
            )
            coordinator.update(reports)
            coordinator.put_rows(t, self._nominal, out)
            self._rows[b] = out[self._follower]

    def references(self, elapsed: float) -> References:
        """References of followers so long after `coordinate` [s]: setpoints go on at their velocities."""
        rows: Array = self._rows.copy()
        rows[:, REF_P] += elapsed * rows[:, REF_V]
        return References.of(rows)


class ModuleDockingEpisodes(Episodes[ModuleDockingTask, ModulePairs]):
    """A task of docking modules in B worlds.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: that both are, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Attributes:
        latch: when it catches.
        filtered: (B, 6) low-passed poses by which it goes: offset [m] and angles [rad].

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
        flying = ModulePairs.of(
            task.scenario,
            worlds,
            settings={**task.settings, **(scenario or {})},
            threads=threads,
            platform=platform or task.platform,
        )
        super().__init__(task, flying, task.action.scale())
        if task.repeat % self.worlds.every:
            raise BadInput(
                f"task '{task.name}': key 'repeat': {task.repeat} is no multiple of the {self.worlds.every} control"
                " periods between two instants of coordination"
            )
        spec = self.worlds.spec
        self.latch = latch_of(spec, spec.joints[self.worlds.joint])
        rest = rest_of(flying.follower.rpm.shape[1], self.size)
        self._observer = TERMS.observer(task.observation, self.size, rest)
        self.functions = UserFunctions.of(task, self._observer, task.action.columns, worlds)
        self._weights = ModuleDockingWeights.of(task, self.dt)
        self._limits = ModuleDockingLimits(
            task.closing_speed, task.overlap, spec.size, task.fails_beyond, self.limit * self.dt
        )
        self._script = Script(self.worlds)
        self.filtered, self._fits = np.zeros((worlds, FILTERED)), np.zeros(worlds, bool)
        self._potential, self._known = np.zeros(worlds), np.full((worlds, 2), np.nan)
        self._begin(np.arange(worlds))

    @property
    def layout(self) -> TermLayout:
        """Terms of an observation with their sizes and scales."""
        return self._observer.layout

    @property
    def status(self) -> Integers:
        """(B,) of the followers."""
        return self.worlds.follower.status

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        leader = np.asarray(self.worlds.leader.timeline.row(0)[:3])
        return CameraPlacement(leader, leader)

    def report(self) -> dict[str, Array]:
        """Further results of the episodes, (B,) each; NaN where there has been none.

        Closing speed at the end [m/s], and how far off the axis the follower was there [m].
        """
        return {"closing_speed": self._known[:, 0].copy(), "offset": self._known[:, 1].copy()}

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._known[indices] = np.nan
        self._script.reset(indices.tolist())
        self._follow_latch(indices, starts=True)
        self._weigh(indices)

    def _follow_latch(self, indices: Integers, *, starts: bool) -> None:
        follow_latch(indices, *self.worlds.shared, starts, self.latch, self.filtered, self._fits)

    @property
    def _truth(self) -> tuple[Array, Array]:
        """Rows (B, 13) of leader and follower."""
        pairs = self.worlds
        return pairs.leader.state[:, 0], pairs.follower.state[:, 0]

    def _weigh(self, indices: Integers) -> None:
        potentials(indices, *self._truth, self.latch, self._weights, self._potential)

    def _fly(self, values: Array) -> None:
        pairs = self.worlds
        for _ in range(self.task.repeat // pairs.every):
            act(self.task.action.kind, values, pairs.follower, pairs.every)
            self._end_coordination_period()

    def _fly_scripted(self) -> None:
        """Let the coordinators guide the followers."""
        pairs = self.worlds
        for _ in range(self.task.repeat // pairs.every):
            self._script.coordinate(self.outcome)
            for k in range(pairs.every):
                pairs.follower.advance(self._script.references(k * pairs.scenario.dt))
            self._end_coordination_period()

    def _end_coordination_period(self) -> None:
        """Fly the leaders up to where the followers are, and end episodes."""
        pairs = self.worlds
        for _ in range(pairs.every):
            pairs.leader.advance()
        self._follow_latch(np.arange(self.count), starts=False)
        inputs = (pairs.times, pairs.status, self._fits, self.latch, self._limits)
        end_episodes(self._truth, *inputs, self.outcome, self._known)

    def _assess(self) -> Array:
        before, reward = self._potential.copy(), np.empty(self.count)
        self._weigh(np.arange(self.count))
        reward_step(
            (self._action, self._before),
            (self._potential, before),
            self._known,
            self._weights,
            self.steps,
            self.outcome,
            reward,
        )
        return reward

    def observe(self, indices: Integers | None = None) -> Observations:
        """Observations (B, n) of the worlds' present states, or (indices, n) of some worlds."""
        which = np.arange(self.count) if indices is None else np.asarray(indices)
        inputs, unsound = self._term_inputs(), self.unsound
        return self._observer(inputs, which, self._known_arrays, unsound)

    def _term_inputs(self) -> FollowerInputs:
        home_L = self.latch.home_L
        return FollowerInputs(*self.worlds.shared, self.filtered, self._action, home_L)

    def _true_arrays(self) -> WorldArrays:
        return self._arrays(self._truth)

    def _known_arrays(self) -> WorldArrays:
        return self._arrays(self.worlds.shared)

    def _arrays(self, rows: tuple[Array, Array]) -> WorldArrays:
        """Worlds with rows (B, 13) of leader and follower."""
        follower = self.worlds.follower
        x, references = np.stack(rows, axis=1), follower.reference_rows()
        return WorldArrays(x, *references, follower.rpm, self._action)

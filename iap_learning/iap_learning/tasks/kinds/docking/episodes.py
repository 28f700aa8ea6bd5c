# SPDX-License-Identifier: BSD-3-Clause
"""Dockings in many worlds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.depth_camera import DepthCamera
from iap_learning.tasks.episodes import CameraPlacement, Episodes, Observations
from iap_learning.tasks.kinds.docking.observations import PairInputs
from iap_learning.tasks.kinds.docking.pair import Interface, PairMemory, act, sense
from iap_learning.tasks.kinds.docking.rewards import (
    DockingRules,
    DockingWeights,
    limits_of,
    note_forces,
    potentials,
    reward_step,
)
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.user_functions import UserFunctions
from iap_learning.tasks.user_inputs import WorldArrays
from iap_simulation.docking.ports import pair_of
from iap_simulation.docking.worlds import DockingWorlds


class DockingEpisodes(Episodes[DockingTask, DockingWorlds]):
    """A task of docking in B worlds.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: that both are, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Attributes:
        interface: between policy and pairs.
        measured: (B, 2, 13) state rows of target and chaser at the present instant, as they are measured.
        memory: of observers and laws.
        camera: of the chaser, whose numbers follow the terms; None where there is none.

    Raises:
        BadInput: the scenario docks nothing, or anything unknown or impossible in it.
    """

    def __init__(
        self,
        task: DockingTask,
        worlds: int,
        *,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
        threads: int = 1,
    ) -> None:
        flying = DockingWorlds.of(
            task.scenario,
            worlds,
            settings={**task.settings, **(scenario or {})},
            threads=threads,
            platform=platform or task.platform,
        )
        ready, spec = flying.scenario, flying.spec
        self.interface = Interface.of(task, ready)
        super().__init__(task, flying, self.interface.scale)
        observer, columns = self.interface.observer, self.interface.columns
        self.functions = UserFunctions.of(task, observer, columns, worlds)
        longest = spec.success.within + spec.success.settle
        chaser = pair_of(ready)[0][1]
        self.camera = None if task.depth is None else DepthCamera(task.depth, flying, chaser)
        self._limit = max(1, round(min(task.seconds, longest) / self.dt))
        seconds, pair = self._limit * self.dt, flying.laws.pair
        self._rules = DockingRules(
            ports=(pair.probe, pair.socket),
            limits=limits_of(task, flying.limits, seconds),
            weights=DockingWeights.of(task, self.dt),
            depth=ready.latches[spec.latch].depth,
        )
        self.measured = np.zeros((worlds, 2, 13))
        self.memory = PairMemory.of(worlds, self.size)
        self._out, self._peak = np.zeros((worlds, 2, 4)), np.zeros(worlds)
        self._potential, self._touched = np.zeros(worlds), np.zeros(worlds, bool)
        self._begin(np.arange(worlds))

    @property
    def limit(self) -> int:
        """Steps of an episode that nothing ends."""
        return self._limit

    @property
    def layout(self) -> TermLayout:
        """Terms of an observation with their sizes and scales."""
        pixels = () if self.camera is None else (self.camera.term,)
        return (*self.interface.observer.layout, *pixels)

    @property
    def status(self) -> Integers:
        """(B,) of the worlds."""
        return self.worlds.pairs.status

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        middle = np.asarray(self.interface.references.mean(axis=0))
        return CameraPlacement(middle, middle)

    def report(self) -> dict[str, Array]:
        """Further results of the episodes, (B,) each; NaN where there has been none.

        Largest force [N], closing speed at the first touch [m/s], times at which the latch caught last [s], at which it
        locked, and from which on the pair has been calm.
        """
        records = self.worlds.records
        return {
            "force_peak": records.force_peak.copy(),
            "closing_speed": records.closing_speed.copy(),
            "latch_time": self.worlds.pairs.caught[:, 0].copy(),
            "time": records.lock.copy(),
            "calm_from": records.calm.copy(),
        }

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._touched[indices] = False
        self.memory.actions[indices] = self.memory.missed[indices] = 0.0
        potentials(self.worlds.pairs, indices, self._rules, self._potential)
        self._sense(indices, starts=True)

    def _sense(self, indices: Integers | None, *, starts: bool) -> None:
        """Measure some worlds, or all, at an instant at which they have not been measured yet."""
        measured = self.worlds.measured(indices)
        if indices is None:
            self.measured, indices = measured, np.arange(self.count)
        else:
            self.measured[indices] = measured
        touches = self.worlds.is_touched | self.worlds.is_caught
        links, laws = (touches, self.worlds.is_locked), self.interface.control.laws
        sense(indices, self.measured, links, starts, laws, self.memory)

    def _fly(self, values: Array) -> None:
        control = self.interface.control
        self.memory.keep_action(self._before)
        self._peak[:] = 0.0
        for _ in range(self.task.repeat):
            links = (self.worlds.is_caught, self.worlds.is_locked)
            act(values, self.measured, links, control, self.memory, self._out)
            self.worlds.advance(self._out[:, :, 0], self._out[:, :, 1:])
            self._end_period()

    def _fly_scripted(self) -> None:
        self._peak[:] = 0.0
        for _ in range(self.task.repeat):
            self.worlds.step_script(self.measured)
            self._end_period()

    def _end_period(self) -> None:
        note_forces(self.worlds.pairs, self._peak)
        self._sense(None, starts=False)

    def _assess(self) -> Array:
        reward = np.empty(self.count)
        reward_step(
            self.worlds.pairs,
            self.worlds.records,
            self.worlds.times,
            self._rules,
            (self._action, self._before),
            (self._peak, self._potential, self._touched),
            (self.steps, self.outcome),
            reward,
        )
        return reward

    def observe(self, indices: Integers | None = None) -> Observations:
        """Observations (B, n) of the worlds' present states, or (indices, n) of some worlds."""
        which = np.arange(self.count) if indices is None else indices
        inputs, unsound = self._term_inputs(), self.unsound
        terms = self.interface.observer(inputs, which, self._known_arrays, unsound)
        return terms if self.camera is None else np.hstack([terms, self.camera(which)])

    def _term_inputs(self) -> PairInputs:
        state = (self.worlds.pairs.contact, self.worlds.is_caught)
        return self.interface.inputs(*state, self._action, self.memory)

    def _true_arrays(self) -> WorldArrays:
        return self.interface.worlds(self.worlds.pairs.x, self._action)

    def _known_arrays(self) -> WorldArrays:
        return self.interface.worlds(self.measured, self._action)

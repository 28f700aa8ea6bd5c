# SPDX-License-Identifier: BSD-3-Clause
"""The task of docking in many worlds: actions in; observations, rewards and ends out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from iap_control.docking.vehicle_control import VEHICLE_SIZE
from iap_description.arrays import Array, Booleans, Integers
from iap_learning.tasks.episodes import CountedEpisodes
from iap_learning.tasks.kinds.docking.actions import Control, command
from iap_learning.tasks.kinds.docking.observations import View, observe
from iap_learning.tasks.kinds.docking.pair import Interface, sense
from iap_learning.tasks.kinds.docking.rewards import (
    Weights,
    limits_of,
    note_forces,
    potentials,
    reward_step,
)
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.scaling import Step, taken
from iap_learning.tasks.terms import Layout
from iap_simulation.docking.worlds import DockingWorlds
from iap_simulation.tasks.outcomes import ARRIVED


class DockingEpisodes(CountedEpisodes[DockingWorlds]):
    """A task of docking in B worlds; world i of any B is the same, bit for bit, as alone with its seed and actions.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: that both are, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Attributes:
        task: as given.
        interface: between policy and pairs.
        observed: numbers of an observation.
        measured: (B, 2, 13) state rows of target and chaser at the present instant, as they are measured.
        memory: (B, 2, 13) of the observers of both aircraft.

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
        self.task = task
        given, chosen = {**task.settings, **(scenario or {})}, platform or task.platform
        flying = DockingWorlds.of(
            task.scenario, worlds, settings=given, threads=threads, platform=chosen
        )
        ready, spec = flying.scenario, flying.spec
        self.interface = Interface.of(task, ready)
        super().__init__(flying, task.repeat, len(self.interface.middle))
        self.observed = len(self.interface.view.factors)
        self._weights = Weights.of(task, self.dt)
        self._limit = max(1, round(min(task.seconds, spec.success.within) / self.dt))
        own = (self.interface.view.references, self._limit * self.dt)
        self._limits = limits_of(task, flying.limits, *own)
        self._depth = ready.latches[spec.latch].depth
        self._ports = (self.worlds.pair.probe, self.worlds.pair.socket)
        self.measured = np.zeros((worlds, 2, 13))
        self.memory = np.zeros((worlds, 2, VEHICLE_SIZE))
        self._out, self._peak = np.zeros((worlds, 2, 4)), np.zeros(worlds)
        self._potential, self._touched = np.zeros(worlds), np.zeros(worlds, bool)
        self._begin(np.arange(worlds))

    @property
    def limit(self) -> int:
        """Steps of an episode that nothing ends."""
        return self._limit

    @property
    def platform(self) -> str:
        """Name of what flies."""
        return str(self.worlds.scenario.vehicles[0].platform.name)

    @property
    def layout(self) -> Layout:
        """Terms of an observation with their sizes and scales."""
        return self.interface.layout

    @property
    def viewpoint(self) -> Array:
        """(3,) place to look at [m]."""
        return np.asarray(self.interface.view.references.mean(axis=0))

    def report(self) -> dict[str, Array]:
        """What else is known of the episodes, (B,) each; NaN where there has been none.

        Largest force [N], closing speed at the first touch [m/s], time at which the latch caught last [s], and that of
        the end of the coupled flight.
        """
        records = self.worlds.records
        return {
            "force_peak": records.force_peak.copy(),
            "closing_speed": records.closing_speed.copy(),
            "latch_time": self.worlds.pairs.caught[:, 0].copy(),
            "time": records.end.copy(),
        }

    def _begin(self, chosen: Integers) -> None:
        """Forget the last episodes of worlds that stand at their start."""
        self._count_anew(chosen)
        self._touched[chosen] = False
        potentials(
            self.worlds.pairs,
            chosen,
            self._ports,
            self._weights,
            self._depth,
            self._potential,
        )
        self._sense(chosen, starts=True)

    def _sense(self, chosen: Integers | None, *, starts: bool) -> None:
        """Measure some worlds, or all, at an instant at which they have not been measured yet."""
        measured = self.worlds.measured(chosen)
        control = self.interface.control
        if chosen is None:
            self.measured, chosen = measured, np.arange(self.count)
        else:
            self.measured[chosen] = measured
        touches = self.worlds.is_touched | self.worlds.is_caught
        _sense_all(chosen, self.measured, touches, starts, control, self.memory)

    def step(self, actions: ArrayLike | None) -> Step:
        """Fly a step of every world, also of those whose episodes are over and that have not been reset.

        Args:
            actions: (B, size) in [-1, 1], and clipped to it; None lets the scenario's script fly, all through an
                episode.

        Raises:
            BadInput: they have another shape.
        """
        self._remember_action()
        if actions is None:
            self._action[:] = 0.0
        else:
            inner = self.interface
            status = self.worlds.pairs.status
            values = taken(actions, inner.middle, inner.half, status, self._action)
        self._peak[:] = 0.0
        for _ in range(self.task.repeat):
            if actions is None:
                self.worlds.step_script(self.measured)
            else:
                _command_all(values, self.measured, inner.control, self.memory, self._out)
                self.worlds.advance(self._out[:, :, 0], self._out[:, :, 1:])
            note_forces(self.worlds.pairs, self._peak)
            self._sense(None, starts=False)
        return self._rewarded()

    def _rewarded(self) -> Step:
        reward = np.empty(self.count)
        reward_step(
            self.worlds.pairs,
            self.worlds.records,
            self.worlds.times,
            self._ports,
            self._limits,
            self._weights,
            self._depth,
            (self._action, self._before),
            self._peak,
            (self._potential, self._touched),
            self.steps,
            reward,
            self.outcome,
        )
        return self._counted(self.observe(), reward, self.outcome == ARRIVED)

    def observe(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """Observations (B, n) of the worlds' present states, or (chosen, n) of some worlds."""
        which = np.arange(self.count) if chosen is None else chosen
        out = np.empty((len(which), self.observed), np.float32)
        _observe_all(
            which,
            self.measured,
            self.worlds.pairs.contact,
            self.worlds.is_caught,
            self._action,
            self.memory,
            self.interface.view,
            np.empty(self.observed),
            out,
        )
        return out


@njit(cache=True)
def _sense_all(
    chosen: Integers,
    measured: Array,
    touches: Booleans,
    starts: bool,
    control: Control,
    memory: Array,
) -> None:
    for b in chosen:
        sense(measured[b], touches[b], starts, control.script, control.pair, memory[b])


@njit(cache=True)
def _command_all(
    values: Array, measured: Array, control: Control, memory: Array, out: Array
) -> None:
    for b in range(len(values)):
        command(values[b], measured[b], control, memory[b], out[b])


@njit(cache=True)
def _observe_all(
    chosen: Integers,
    measured: Array,
    contact: Array,
    latched: Booleans,
    action: Array,
    memory: Array,
    view: View,
    raw: Array,
    out: NDArray[np.float32],
) -> None:
    for n in range(len(chosen)):
        b = chosen[n]
        seen = (measured[b], contact[b], latched[b], action[b], memory[b])
        observe(*seen, view, raw, out[n])

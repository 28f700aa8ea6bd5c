# SPDX-License-Identifier: BSD-3-Clause
"""Platforms that perch on a wall, in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.perch_on_wall.counts import (
    PerchCounts,
    PerchRules,
    count,
    ending_of,
    measures,
)
from iap_learning.tasks.kinds.perch_on_wall.interface import PerchInterface
from iap_learning.tasks.kinds.perch_on_wall.observations import PerchInputs
from iap_learning.tasks.kinds.perch_on_wall.task import PerchTask
from iap_learning.tasks.touch_episodes import TouchEpisodes, WorldsOptions
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.batch_latches import BatchLatches
from iap_physics.latching.kernel import LOCKED
from iap_physics.latching.latches import Latches


class PerchEpisodes(TouchEpisodes[PerchTask, PerchInterface]):
    """A perch in B worlds, by velocities towards the wall, or by the scenario's own law and references.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Raises:
        BadInput: no such scenario, or it has no such latch of a wall.
    """

    _counts: PerchCounts

    def __init__(self, task: PerchTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        super().__init__(task, worlds, PerchInterface, PerchCounts.of(worlds), **how)
        scenario, self.line = self.worlds.scenario, self.interface.line
        self._number = list(scenario.latches).index(task.latch)
        self._rules = PerchRules.of(task, scenario.dt)
        self._least, self._before_least = np.zeros((2, worlds))
        self._sums = np.zeros((2, worlds))  # of time held [s], and of force before that [N s]
        self._begin(np.arange(worlds))

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self.line.start, self.line.wall)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._counts, self.worlds.scenario.dt)

    def latches(self, world: int) -> Latches:
        """The latches of a world, with the limits of its seed."""
        batch = self.worlds.plant.part(BatchLatches)
        assert batch is not None  # noqa: S101 - the scenario has a latch
        return batch.of_world(world)

    def least_speed(self, world: int) -> float:
        """Least closing speed at which the face of a world's seed catches [m/s]."""
        face = self.latches(world).working[self._number].face
        assert face is not None  # noqa: S101 - as `latch_of` has looked
        return face.least_speed

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        for world in indices.tolist():
            self.interface.draw(world, self.worlds.world(world))
        x = self.worlds.state[:, 0]
        self.interface.look_at_latches(self._phase_numbers)
        self.interface.begin(indices, x)
        self._least[indices] = self._before_least[indices] = self.interface.ranges(x)[indices, 0]
        self._sums[:, indices] = 0.0

    @property
    def _phase_numbers(self) -> Integers:
        """(B, m) of all latches."""
        batch = self.worlds.plant.part(BatchLatches)
        assert batch is not None  # noqa: S101 - the scenario has a latch
        return batch.phase_numbers

    def _look(self) -> None:
        """Take the end of a control period."""
        forces = np.linalg.norm(self.worlds.contact_wrenches[:, :3], axis=1)
        phases = np.ascontiguousarray(self._phase_numbers[:, self._number])
        endings = np.full(self.count, RUNNING)
        for world in np.flatnonzero(self._counts.contact.outcome == RUNNING).tolist():
            latches = self.latches(world)
            if latches.events:
                note(latches, self.task.latch, world, endings, self._counts)
        count(forces, phases, endings, self.status, self._rules, self._counts)
        x = self.worlds.state[:, 0]
        self.interface.look_at_latches(self._phase_numbers)
        self.interface.measure(x, self.worlds.contact_wrenches)
        self._least = np.minimum(self._least, self.interface.ranges(x)[:, 0])
        self._sums += self.worlds.scenario.dt * np.array(
            [phases == LOCKED, np.where(phases == LOCKED, 0.0, forces)]
        )

    def _progress(self) -> Array:
        """Rewards of what has come closer, of the time held, and of forces before, since the last step."""
        weights = self.task.reward
        closer = self._before_least - np.maximum(self._least, 0.0)
        reward = weights.approach * np.maximum(closer, 0.0)
        reward += weights.hold * self._sums[0] + weights.force * self._sums[1]
        self._before_least, self._sums[:] = np.maximum(self._least, 0.0), 0.0
        return np.asarray(reward + weights.time * self.dt)

    @property
    def true_inputs(self) -> PerchInputs:
        """Inputs of the true ranges."""
        x = self.worlds.state[:, 0]
        return self.interface.inputs_of(x, self._action, self.interface.ranges(x))


def note(latches: Latches, name: str, b: int, endings: Integers, counts: PerchCounts) -> None:
    """Note what a world's latch has done: its ending among all (B,), and the speed at the touch."""
    events = [event for event in latches.events if event.latch == name]
    latch = next(each.latch for each in latches.working if each.name == name)
    if events:
        counts.closing[b] = events[0].probe.closing
        endings[b] = ending_of(events[-1], latch)

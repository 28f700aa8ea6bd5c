# SPDX-License-Identifier: BSD-3-Clause
"""Platforms that perch on a wall, in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import Q, V, W
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.perch_on_wall.approach_line import latch_of, line_of
from iap_learning.tasks.kinds.perch_on_wall.counts import (
    PerchCounts,
    PerchRules,
    count,
    ending_of,
    measures,
)
from iap_learning.tasks.kinds.perch_on_wall.observations import TERMS, PerchInputs
from iap_learning.tasks.kinds.perch_on_wall.task import PerchTask
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.touch_episodes import TouchEpisodes, WorldsOptions
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.batch_latches import BatchLatches
from iap_physics.latching.kernel import CAUGHT, LOCKED
from iap_physics.latching.latches import Latches
from iap_simulation.batch.actions import action_of
from iap_simulation.scenario.randomization import placed_world

# Velocities are flown by the suite's law in all worlds at once.
BY_VELOCITY = {"control.admittance": False, "control.wrench_mode": "none"}
VELOCITY = "velocity"  # kind of what the law flies


class PerchEpisodes(TouchEpisodes[PerchTask]):
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
        super().__init__(task, worlds, BY_VELOCITY, **how)
        flying = self.worlds
        self.line = line_of(task, flying.scenario, flying.timeline.row(0))
        self._wall = latch_of(task, flying.scenario).socket
        self._number = list(flying.scenario.latches).index(task.latch)
        self._rules = PerchRules.of(task, flying.scenario.dt)
        self._counts = PerchCounts.of(worlds)
        sensor, samples = task.sensor, task.periods(flying.scenario.dt)
        noise = [sensor.range_noise, sensor.closing_noise]
        bias = [sensor.range_bias, sensor.closing_bias]
        how_many = {"delay": sensor.delay, "samples": samples, "batch": worlds}
        self._sensors = LateSensors(task.kind, noise, bias, window=task.repeat, **how_many)
        self._observer = TERMS.observer(task.observation, self.size)
        self._begins, self._least, self._before_least = np.zeros((3, worlds))
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
        self._counts.reset(indices)
        for world in indices.tolist():
            place = placed_world(self.worlds.world(world)).objects[self._wall].position
            way = np.array(place) - self.line.start
            self._begins[world] = float(self.line.axes[0] @ way)
        self._sensors.reset(indices, self.worlds.seeds[indices])
        self._sensors.known[indices] = self._true[indices]
        self._least[indices] = self._before_least[indices] = self._true[indices, 0]
        self._sums[:, indices] = 0.0

    @property
    def _true(self) -> Array:
        """(B, 2) ranges of patches from the walls [m], and rates at which they shrink [m/s]."""
        x, line = self.worlds.state[:, 0], self.line
        arms = so3.rotate(x[:, Q], line.tip_P)
        closing = (x[:, V] + np.cross(x[:, W], arms)) @ line.axes[0]
        return np.column_stack([self._begins - line.tips(x)[:, 0], closing])

    def _fly(self, values: Array) -> None:
        """Fly a step at velocities (B, 1) towards the wall [m/s], level and on the line of approach."""
        self._choose(by_law=False)
        for _ in range(self.task.repeat):
            x = self.worlds.state[:, 0]
            ahead = self.line.velocities(x, values[:, 0], self.task.centering)
            self.worlds.advance(action_of(VELOCITY, ahead, self.worlds))
            self._look()

    @property
    def _phases(self) -> Integers:
        """(B,) of the latches."""
        batch = self.worlds.plant.part(BatchLatches)
        assert batch is not None  # noqa: S101 - the scenario has a latch
        return np.ascontiguousarray(batch.phase_numbers[:, self._number])

    def _look(self) -> None:
        """Take the end of a control period."""
        forces = np.linalg.norm(self.worlds.contact_wrenches[:, :3], axis=1)
        phases, endings = self._phases, np.full(self.count, RUNNING)
        for world in np.flatnonzero(self._counts.contact.outcome == RUNNING).tolist():
            latches = self.latches(world)
            if latches.events:
                note(latches, self.task.latch, world, endings, self._counts)
        count(forces, phases, endings, self.status, self._rules, self._counts)
        self._sensors(self._true)
        self._least = np.minimum(self._least, self._true[:, 0])
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
        return np.asarray(reward)

    @property
    def inputs(self) -> PerchInputs:
        """Inputs of observations at present."""
        return self._inputs_of(self._sensors.known)

    @property
    def true_inputs(self) -> PerchInputs:
        """The same of the true ranges."""
        return self._inputs_of(self._true)

    def _inputs_of(self, seen: Array) -> PerchInputs:
        x = self.worlds.state[:, 0]
        up = so3.matrix_from_quaternion(x[:, Q])[:, 2]  # of the world, in axes of P
        tilt = np.column_stack([np.arctan2(up[:, 1], up[:, 2]), np.arcsin(-up[:, 0])])
        rates = so3.rotate(so3.conjugate(x[:, Q]), x[:, W])
        held = np.isin(self._phases, (CAUGHT, LOCKED)).astype(np.float64)
        return PerchInputs(seen[:, 0], seen[:, 1], tilt, rates, held, self._action)


def note(latches: Latches, name: str, b: int, endings: Integers, counts: PerchCounts) -> None:
    """Note what a world's latch has done: its ending among all (B,), and the speed at the touch."""
    events = [event for event in latches.events if event.latch == name]
    latch = next(each.latch for each in latches.working if each.name == name)
    if events:
        counts.closing[b] = events[0].probe.closing
        endings[b] = ending_of(events[-1], latch)

# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a wall in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.wall_push.counts import PushCounts, PushRules, count, measures
from iap_learning.tasks.kinds.wall_push.measurements import PushMeasurements
from iap_learning.tasks.kinds.wall_push.observations import TERMS, PushInputs
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.touch_episodes import TouchEpisodes, WorldsOptions
from iap_simulation.batch.actions import action_of

# Velocities are flown by the suite's law in all worlds at once, which takes no part in the push.
BY_VELOCITY = {"control.wrench_mode": "none", "control.wrench_source": "filtered"}
VELOCITY = "velocity"  # kind of what the law flies


class WallPushEpisodes(TouchEpisodes[WallPushTask]):
    """A push in B worlds, by velocities towards the wall, or by the scenario's own wrench control.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Raises:
        BadInput: no such scenario, or it has no push, tool or wall.
    """

    _counts: PushCounts

    def __init__(self, task: WallPushTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        super().__init__(task, worlds, BY_VELOCITY, **how)
        flying = self.worlds
        self.line = PushLine.of(task.name, task.wall, flying.scenario, flying.timeline.row(0))
        self._rules = PushRules.of(task, self.line.desired, flying.scenario.dt)
        self._counts = PushCounts.of(worlds)
        dt = flying.scenario.dt
        self._measurements = PushMeasurements.of(task, self.line, dt, worlds)
        self._observer = TERMS.observer(task.observation, self.size)
        self._force_sum, self._over_sum = np.zeros((2, worlds))
        self._begin(np.arange(worlds))

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self.line.start, self.line.wall)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._rules, self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._counts.reset(indices)
        self._measurements.reset(indices, self.worlds.seeds[indices])
        self._force_sum[indices] = self._over_sum[indices] = 0.0

    def _fly(self, values: Array) -> None:
        """Fly a step at velocities (B, 1) towards the wall [m/s], level and on the line of approach."""
        self._choose(by_law=False)
        rate = self.task.centering
        for _ in range(self.task.repeat):
            ahead = self.line.velocities(self.worlds.state[:, 0], values[:, 0], rate)
            self.worlds.advance(action_of(VELOCITY, ahead, self.worlds))
            self._look()

    def _look(self) -> None:
        """Take the end of a control period."""
        forces = self.line.forces(self.worlds.contact_wrenches)
        places = self.line.way_along(self.worlds.state[:, 0])
        count(forces, places, self.status, self._rules, self._counts)
        self._measurements.measure(forces)
        desired, dt = self._rules.desired, self.worlds.scenario.dt
        self._force_sum += dt * np.minimum(np.abs(desired - forces), desired)
        self._over_sum += dt * np.maximum(forces - 2.0 * desired, 0.0)

    def _progress(self) -> Array:
        """Rewards of errors and of forces beyond twice the desired one, since the last step."""
        weights = self.task.reward
        reward = weights.error * self._force_sum + weights.peak * self._over_sum
        self._force_sum[:] = self._over_sum[:] = 0.0
        return reward

    @property
    def inputs(self) -> PushInputs:
        """Inputs of observations at present."""
        return self._measurements.inputs(self.worlds.state[:, 0], self._action)

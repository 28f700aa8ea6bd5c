# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a wall in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.wall_push.counts import PushCounts, PushRules, count, measures
from iap_learning.tasks.kinds.wall_push.interface import PushInterface
from iap_learning.tasks.kinds.wall_push.observations import PushInputs
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_learning.tasks.push_line import nearer_walls
from iap_learning.tasks.touch_episodes import TouchEpisodes, WorldsOptions


class WallPushEpisodes(TouchEpisodes[WallPushTask, PushInterface]):
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
        super().__init__(task, worlds, PushInterface, PushCounts.of(worlds), **how)
        self.line, dt = self.interface.line, self.worlds.scenario.dt
        self._rules = PushRules.of(task, self.line.desired, dt)
        self._force_sum, self._over_sum, self._nearer, self._missing = np.zeros((4, worlds))
        self._has_touched = np.zeros(worlds, dtype=bool)
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
        self._force_sum[indices] = self._over_sum[indices] = self._missing[indices] = 0.0
        self._has_touched[indices] = False
        self._nearer[indices] = nearer_walls(self.line, self.task.wall, self.worlds, indices)

    def _look(self) -> None:
        """Take the end of a control period."""
        x, wrenches_W = self.worlds.state[:, 0], self.worlds.contact_wrenches
        forces, places = self.line.forces(wrenches_W), self.line.way_along(x)
        count(forces, places, self.status, self._rules, self._counts)
        self.interface.measure(x, wrenches_W)
        desired, dt = self._rules.desired, self.worlds.scenario.dt
        self._force_sum += dt * np.minimum(np.abs(desired - forces), desired)
        self._over_sum += dt * np.maximum(forces - 2.0 * desired, 0.0)
        self._has_touched |= forces > self.task.sensor.touch
        self._missing += dt * np.where(self._has_touched, desired - forces, 0.0)

    def _progress(self) -> Array:
        """Rewards of errors and of forces beyond twice the desired one, since the last step."""
        weights = self.task.reward
        reward = weights.error * self._force_sum + weights.peak * self._over_sum
        self._force_sum[:] = self._over_sum[:] = 0.0
        return reward

    @property
    def true_inputs(self) -> PushInputs:
        """Inputs with the true force of the last control period, its integral, and the true gap."""
        inputs, forces = self.inputs, self.line.forces(self.worlds.contact_wrenches)
        true = {"force": forces, "integral": self._missing, "has_felt": self._has_touched}
        return inputs._replace(**true, gap=inputs.gap - self._nearer)

# SPDX-License-Identifier: BSD-3-Clause
"""Slides along a wall in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import Q, V
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.slide_along_wall.counts import (
    SlideCounts,
    SlideRules,
    count,
    measures,
)
from iap_learning.tasks.kinds.slide_along_wall.observations import TERMS, SlideInputs
from iap_learning.tasks.kinds.slide_along_wall.task import SlideTask
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions
from iap_simulation.scenario.randomization import placed_world


class SlideEpisodes(TipEpisodes[SlideTask]):
    """A slide in B worlds, by velocities of the tip's reference, or by the scenario's own wrench control.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Raises:
        BadInput: no such scenario, or it has no push, tool or wall.
    """

    _counts: SlideCounts

    def __init__(self, task: SlideTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        super().__init__(task, worlds, SlideCounts.of(worlds), task.sensor, **how)
        flying = self.worlds
        self.line = PushLine.of(task.name, task.wall, flying.scenario, self._row)
        self._rules = SlideRules.of(task, self.line.desired, flying.scenario.dt)
        self._observer = TERMS.observer(task.observation, self.size)
        self._early = np.zeros(worlds)
        self._lead(self.line.tip_P)

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self.line.start, self.line.wall)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        for world in indices.tolist():
            wall = placed_world(self.worlds.world(world)).objects[self.task.wall]
            self._early[world] = self.line.axes[0] @ (self.line.wall - wall.position)

    def _fly(self, values: Array) -> None:
        """Fly a step at velocities (B, 3) of the tip's reference in the wall's axes."""
        self._choose(by_law=False)
        velocities_W, level = values @ self.line.axes, np.zeros((self.count, 3))
        for _ in range(self.task.repeat):
            self._reference.move(velocities_W, level, self.worlds.scenario.dt)
            self._reference.advance(self.worlds)
            self._look()

    def _look(self) -> None:
        """Take the end of a control period."""
        forces = self.line.forces(self.worlds.contact_wrenches)
        places = self.line.way_along(self.worlds.state[:, 0])
        count(forces, places, self.status, self._rules, self._counts)
        self._feel(np.abs(self.line.desired - forces), self.line.desired)

    def _progress(self) -> Array:
        """Rewards of path that is new, and of the force's errors since the last step."""
        weights = self.task.reward
        further, errors = self._gains(self._counts.progress, self._rules.length)
        return weights.progress * further + weights.error * errors

    @property
    def inputs(self) -> SlideInputs:
        """Inputs of observations at present; forces are means over the last step."""
        force_W = so3.rotate(self.worlds.state[:, 0, Q], self._sensors.mean[:, :3])
        return self._inputs(force_W, 0.0)

    @property
    def true_inputs(self) -> SlideInputs:
        """The same with the true forces of the last control period, and the true gaps."""
        return self._inputs(self.worlds.contact_wrenches[:, :3], self._early)

    def _inputs(self, force_W: Array, early: Array | float) -> SlideInputs:
        x, line = self.worlds.state[:, 0], self.line
        tips = line.tips(x)
        lag = (line.tips_W(x) - self._reference.tip) @ line.axes.T
        gap = line.gaps(tips) - early
        known = (-force_W @ line.axes.T, line.desired, gap, line.way_along(x), lag)
        return SlideInputs(*known, x[:, V] @ line.axes.T, self._action)

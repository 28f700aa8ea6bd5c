# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on what turns about a hinge, in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import REF_P, Q, V
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.hinge_turn.arc import Arc, PolarPlaces, turned_object
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts, TurnRules, count, measures
from iap_learning.tasks.kinds.hinge_turn.observations import TERMS, TurnInputs
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions


class TurnEpisodes(TipEpisodes[TurnTask]):
    """A turn in B worlds, by velocities of the tip's reference, or by the scenario's own law and references.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Attributes:
        arc: of the present episodes; nobody but an oracle knows the true axes.

    Raises:
        BadInput: no such scenario, or it has no tool or no such object with a hinge.
    """

    _counts: TurnCounts

    def __init__(self, task: TurnTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        super().__init__(task, worlds, TurnCounts.of(worlds), task.sensor, **how)
        flying = self.worlds
        hinge = turned_object(task, flying.scenario).hinge
        has_latch = hinge is not None and hinge.latch is not None
        self.arc = Arc.of(task, flying.scenario, self._row, worlds)
        self._rules = TurnRules.of(task, flying.scenario.dt, has_latch=has_latch)
        self._observer = TERMS.observer(task.observation, self.size)
        self._heading = np.zeros(worlds)
        self._lead(self.arc.tip_P)

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self._row[REF_P], self.arc.believed)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        for world in indices.tolist():
            self.arc.draw(world, self.task.turned, self.worlds.world(world))
        self._heading[indices] = 0.0

    def _fly(self, values: Array) -> None:
        """Fly a step at velocities (B, 3) or (B, 4) of the tip's reference about the axis."""
        self._choose(by_law=False)
        dt, level, yaw = self.worlds.scenario.dt, np.zeros(self.count), values[:, -1]
        turns = np.column_stack([level, level, yaw])
        axial = values[:, 2] if values.shape[1] > turns.shape[1] else level
        along = np.column_stack([values[:, :2], axial])
        for _ in range(self.task.repeat):
            velocities_W = self.arc.polar(self._tips).vectors(along)
            self._reference.move(velocities_W, turns, dt)
            self._heading += dt * yaw
            self._reference.advance(self.worlds)
            self._look()

    def _look(self) -> None:
        """Take the end of a control period."""
        forces, angles = self._forces, self.worlds.object_angles(self.task.turned)
        count(forces, angles, self.status, self._rules, self._counts)
        self._feel(forces, self._rules.peak)

    def _progress(self) -> Array:
        """Rewards of angles that are new, and of forces since the last step."""
        weights = self.task.reward
        further, forces = self._gains(self._counts.angle, self._rules.angle)
        return weights.angle * further + weights.force * forces

    @property
    def inputs(self) -> TurnInputs:
        """Inputs of observations at present; forces are means over the last step."""
        return self._inputs_about(self.arc.polar(self._tips), self._sensors.mean[:, :3])

    @property
    def true_inputs(self) -> TurnInputs:
        """The same about the true axes, of the true forces of the last control period."""
        q_PW = so3.conjugate(self.worlds.state[:, 0, Q])
        force_P = so3.rotate(q_PW, self.worlds.contact_wrenches[:, :3])
        return self._inputs_about(self.arc.true_polar(self._tips), force_P)

    @property
    def _tips(self) -> Array:
        return self.arc.tips(self.worlds.state[:, 0])

    def _inputs_about(self, tips: PolarPlaces, force_P: Array) -> TurnInputs:
        x, arc = self.worlds.state[:, 0], self.arc.polar(self._tips)
        lag = arc.components(self._tips - self._reference.tip)
        return TurnInputs(
            arc.components(so3.rotate(x[:, Q], force_P)),
            tips.turns,
            tips.radii,
            lag[:, :2],
            self._heading,
            arc.components(x[:, V]),
            self._action,
            tips.heights,
            lag[:, 2],
        )

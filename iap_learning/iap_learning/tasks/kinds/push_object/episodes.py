# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a loose object in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import REF_P, Q, V
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.push_object.counts import ShoveCounts, ShoveRules, count, measures
from iap_learning.tasks.kinds.push_object.goals import Goals
from iap_learning.tasks.kinds.push_object.observations import TERMS, ShoveInputs
from iap_learning.tasks.kinds.push_object.task import ShoveTask
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions


class ShoveEpisodes(TipEpisodes[ShoveTask]):
    """A push in B worlds, by velocities of the tip's reference, or by the scenario's own law and references.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Attributes:
        goals: of the present episodes.

    Raises:
        BadInput: no such scenario, or it has no tool or no such loose object.
    """

    _counts: ShoveCounts

    def __init__(self, task: ShoveTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        super().__init__(task, worlds, ShoveCounts.of(worlds), task.sensor, **how)
        flying = self.worlds
        self.goals = Goals.of(task, flying.scenario, worlds)
        self._rules, eye = ShoveRules.of(task, flying.scenario.dt), task.object_sensor
        noise = [eye.noise, eye.noise, np.deg2rad(eye.heading_noise_deg)]
        late = {"delay": eye.delay, "hold": eye.hold, "samples": self._rules.last}
        self._eyes = LateSensors(f"{task.kind}/object", noise, [0.0] * 3, **late, batch=worlds)
        self._observer = TERMS.observer(task.observation, self.size)
        self._lead(self.goals.tip_P)

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self._row[REF_P], self.goals.start)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        seeds = self.worlds.seeds[indices]
        self._eyes.reset(indices, seeds)
        for world, seed in zip(indices.tolist(), seeds.tolist(), strict=True):
            self.goals.draw(world, self.task, seed)
        self._best[indices] = -np.linalg.norm(self.goals.ways[indices], axis=1)
        self._eyes.known[indices] = self.goals.poses(self._objects)[indices]

    def _fly(self, values: Array) -> None:
        """Fly a step at velocities (B, 2) of the tip's reference in the axes of the object at its start."""
        self._choose(by_law=False)
        velocities_W = np.column_stack([values @ self.goals.axes, np.zeros(self.count)])
        still = np.zeros((self.count, 3))
        for _ in range(self.task.repeat):
            self._reference.move(velocities_W, still, self.worlds.scenario.dt)
            self._reference.advance(self.worlds)
            self._look()

    def _look(self) -> None:
        """Take the end of a control period."""
        objects, forces = self._objects, self._forces
        count(forces, self.goals.measures(objects), self.status, self._rules, self._counts)
        self._eyes(self.goals.poses(objects))
        self._feel(forces, self._rules.peak)

    def _progress(self) -> Array:
        """Rewards of ways that are new, and of forces since the last step."""
        weights = self.task.reward
        distances = np.linalg.norm(self._counts.measures[:, :2], axis=1)
        nearer, forces = self._gains(-distances, 0.0)
        return weights.nearer * nearer + weights.force * forces

    @property
    def _objects(self) -> Array:
        """(B, 13) states of the objects."""
        return np.asarray(self.worlds.object_states[:, self.goals.number])

    @property
    def inputs(self) -> ShoveInputs:
        """Inputs of observations at present; forces are means over the last step."""
        force_W = so3.rotate(self.worlds.state[:, 0, Q], self._sensors.mean[:, :3])
        return self._inputs(force_W, self._eyes.known)

    @property
    def true_inputs(self) -> ShoveInputs:
        """The same by the true forces of the last control period, and true poses."""
        return self._inputs(self.worlds.contact_wrenches[:, :3], self.goals.poses(self._objects))

    def _inputs(self, force_W: Array, poses: Array) -> ShoveInputs:
        goals, x = self.goals, self.worlds.state[:, 0]
        tips = goals.tips(x)
        return ShoveInputs(
            goals.components(force_W),
            goals.left(poses),
            poses[:, 2],
            goals.components(tips[:, :2] - poses[:, :2]),
            goals.components(tips - self._reference.tip),
            goals.components(x[:, V]),
            self._action,
        )

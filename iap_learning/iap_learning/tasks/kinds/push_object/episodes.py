# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a loose object in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.states import REF_P
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.push_object.counts import ShoveCounts, ShoveRules, count, measures
from iap_learning.tasks.kinds.push_object.interface import ShoveInterface
from iap_learning.tasks.kinds.push_object.observations import ShoveInputs
from iap_learning.tasks.kinds.push_object.task import ShoveTask
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions


class ShoveEpisodes(TipEpisodes[ShoveTask, ShoveInterface]):
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
        super().__init__(task, worlds, ShoveInterface, ShoveCounts.of(worlds), **how)
        self.goals = self.interface.goals
        self._rules = ShoveRules.of(task, self.worlds.scenario.dt)
        self._begin(np.arange(worlds))

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self._row[REF_P], self.goals.start)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        for world in indices.tolist():
            self.interface.draw(world, self.worlds.world(world))
        self._best[indices] = -np.linalg.norm(self.goals.ways[indices], axis=1)
        self.interface.look_at_objects(self.worlds.object_states)
        self.interface.begin(indices, self.worlds.state[:, 0])

    def _look(self) -> None:
        """Take the end of a control period."""
        objects, forces = self._objects, self._forces
        count(forces, self.goals.measures(objects), self.status, self._rules, self._counts)
        self.interface.look_at_objects(self.worlds.object_states)
        self._feel(forces, self._rules.peak)

    def _progress(self) -> Array:
        """Rewards of ways that are new, and of forces since the last step."""
        weights = self.task.reward
        distances = np.linalg.norm(self._counts.measures[:, :2], axis=1)
        nearer, forces = self._gains(-distances, 0.0)
        return weights.nearer * nearer + weights.force * forces + weights.time * self.dt

    @property
    def _objects(self) -> Array:
        """(B, 13) states of the objects."""
        return np.asarray(self.worlds.object_states[:, self.goals.number])

    @property
    def true_inputs(self) -> ShoveInputs:
        """Inputs by the true forces of the last control period, and true poses."""
        force_W, poses = self.worlds.contact_wrenches[:, :3], self.goals.poses(self._objects)
        return self.interface.inputs_of(self.worlds.state[:, 0], self._action, force_W, poses)

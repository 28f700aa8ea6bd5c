# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on what turns about a hinge, in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.states import REF_P
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.hinge_turn.arc import turned_object
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts, TurnRules, count, measures
from iap_learning.tasks.kinds.hinge_turn.interface import TurnInterface
from iap_learning.tasks.kinds.hinge_turn.observations import TurnInputs
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions


class TurnEpisodes(TipEpisodes[TurnTask, TurnInterface]):
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
        super().__init__(task, worlds, TurnInterface, TurnCounts.of(worlds), **how)
        scenario, self.arc = self.worlds.scenario, self.interface.arc
        hinge = turned_object(task, scenario).hinge
        has_latch = hinge is not None and hinge.latch is not None
        self._rules = TurnRules.of(task, scenario.dt, has_latch=has_latch)
        self._begin(np.arange(worlds))

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

    def _look(self) -> None:
        """Take the end of a control period."""
        forces, angles = self._forces, self.worlds.object_angles(self.task.turned)
        count(forces, angles, self.status, self._rules, self._counts)
        self._feel(forces, self._rules.peak)

    def _progress(self) -> Array:
        """Rewards of angles that are new, and of forces since the last step."""
        weights = self.task.reward
        further, forces = self._gains(self._counts.angle, self._rules.angle)
        return weights.angle * further + weights.force * forces + weights.time * self.dt

    @property
    def true_inputs(self) -> TurnInputs:
        """Inputs about the true axes, of the true forces of the last control period."""
        x = self.worlds.state[:, 0]
        tips = self.arc.true_polar(self.interface.tips(x))
        return self.interface.inputs_about(x, self._action, tips, self._force_P)

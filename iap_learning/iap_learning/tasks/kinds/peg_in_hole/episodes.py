# SPDX-License-Identifier: BSD-3-Clause
"""Pegs in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import REF_P
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.peg_in_hole.counts import PegCounts, PegRules, count, measures
from iap_learning.tasks.kinds.peg_in_hole.interface import PegInterface
from iap_learning.tasks.kinds.peg_in_hole.task import PegTask
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions


class PegEpisodes(TipEpisodes[PegTask, PegInterface]):
    """A peg in B worlds, by the twist of its tip's reference, or by the scenario's own law and references.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Attributes:
        holes: of the present episodes, which nobody but an oracle knows.

    Raises:
        BadInput: no such scenario, or it has no tool or funnel.
    """

    _counts: PegCounts

    def __init__(self, task: PegTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        super().__init__(task, worlds, PegInterface, PegCounts.of(worlds), **how)
        self.holes = self.interface.holes
        self._rules, self._peak = PegRules.of(task, self.worlds.scenario.dt), np.zeros(worlds)
        self._begin(np.arange(worlds))

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self._row[REF_P], self.holes.believed)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._rules, self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._peak[indices] = 0.0
        for world in indices.tolist():
            self.holes.draw(world, self.task.hole, self.worlds.world(world))

    def _look(self) -> None:
        """Take the end of a control period."""
        depths = self.holes.inside(self.interface.tips(self.worlds.state[:, 0]))[:, 0].copy()
        forces = self._forces
        count(forces, depths, self.status, self._rules, self._counts)
        self._feel(forces, self._rules.peak)

    def _progress(self) -> Array:
        """Rewards of depth and a largest force that are new, of forces, and of the stay, since the last step."""
        weights, peaks = self.task.reward, np.minimum(self._counts.contact.peak, self._rules.peak)
        deeper, forces = self._gains(self._counts.depth, self._rules.depth)
        harder, self._peak = peaks - self._peak, peaks
        stays = self.dt * (self._counts.depth >= self._rules.depth)
        reward = weights.depth * deeper + weights.force * forces + weights.peak * harder
        return np.asarray(reward + weights.stay * stays + weights.time * self.dt)

    def off_axis(self) -> tuple[Array, Array]:
        """Ways (B, 3) of the reference's tip to the bores' true axes [m], and turns (B, 3) to them, in P."""
        reference, axes = self.interface.reference, self.holes.axes()
        q_PW, away = so3.conjugate(reference.q), reference.tip - self.holes.positions
        along = (away * axes).sum(axis=1, keepdims=True)
        heading = so3.rotate(reference.q, np.array([-1.0, 0.0, 0.0]))
        ways = so3.rotate(q_PW, along * axes - away)
        return ways, so3.rotate(q_PW, np.cross(heading, axes))

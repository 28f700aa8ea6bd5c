# SPDX-License-Identifier: BSD-3-Clause
"""Pegs in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, Q, V
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.peg_in_hole.counts import PegCounts, PegRules, count, measures
from iap_learning.tasks.kinds.peg_in_hole.holes import Holes
from iap_learning.tasks.kinds.peg_in_hole.observations import TERMS, PegInputs
from iap_learning.tasks.kinds.peg_in_hole.task import PegTask
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions


class PegEpisodes(TipEpisodes[PegTask]):
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
        super().__init__(task, worlds, PegCounts.of(worlds), task.sensor, **how)
        flying = self.worlds
        self.holes = Holes.of(task, flying.scenario, worlds)
        self._rules = PegRules.of(task, flying.scenario.dt)
        self._observer = TERMS.observer(task.observation, self.size)
        self._lead(self.holes.tip_P)

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self._row[REF_P], self.holes.believed)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._rules, self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        for world in indices.tolist():
            self.holes.draw(world, self.task.hole, self.worlds.world(world))

    def _fly(self, values: Array) -> None:
        """Fly a step at twists (B, 5) of the tip's reference."""
        self._choose(by_law=False)
        turns_P = np.column_stack([np.zeros(self.count), values[:, 3:]])
        for _ in range(self.task.repeat):
            velocities_W = so3.rotate(self._reference.q, values[:, :3])
            self._reference.move(velocities_W, turns_P, self.worlds.scenario.dt)
            self._reference.advance(self.worlds)
            self._look()

    def _look(self) -> None:
        """Take the end of a control period."""
        depths = self.holes.inside(self.holes.tips(self.worlds.state[:, 0]))[:, 0].copy()
        forces = self._forces
        count(forces, depths, self.status, self._rules, self._counts)
        self._feel(forces, self._rules.peak)

    def _progress(self) -> Array:
        """Rewards of depth that is new, and of forces since the last step."""
        weights = self.task.reward
        deeper, forces = self._gains(self._counts.depth, self._rules.depth)
        return weights.depth * deeper + weights.force * forces

    @property
    def inputs(self) -> PegInputs:
        """Inputs of observations at present; wrenches are means over the last step."""
        x, holes = self.worlds.state[:, 0], self.holes
        q_PW = so3.conjugate(x[:, Q])
        known_P = self._sensors.mean
        force_P, torque_P = known_P[:, :3], known_P[:, 3:]
        tips = holes.tips(x)
        start = np.tile(so3.conjugate(self._row[REF_Q]), (self.count, 1))
        return PegInputs(
            force_P,
            torque_P - np.cross(holes.tip_P, force_P),
            so3.rotate(start, self._reference.tip - holes.believed),
            so3.rotate(q_PW, tips - self._reference.tip),
            so3.quaternion_log(so3.multiply(start, self._reference.q))[:, 1:],
            so3.rotate(q_PW, x[:, V]),
            self._action,
        )

    def off_axis(self) -> tuple[Array, Array]:
        """Ways (B, 3) of the reference's tip to the bores' true axes [m], and turns (B, 3) to them, in P."""
        q_PW, axes = so3.conjugate(self._reference.q), self.holes.axes()
        away = self._reference.tip - self.holes.positions
        along = (away * axes).sum(axis=1, keepdims=True)
        heading = so3.rotate(self._reference.q, np.array([-1.0, 0.0, 0.0]))
        ways = so3.rotate(q_PW, along * axes - away)
        return ways, so3.rotate(q_PW, np.cross(heading, axes))

# SPDX-License-Identifier: BSD-3-Clause
"""Picks in many worlds."""

from typing import Unpack

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.states import REF_P, STATE_SIZE
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.arm_pick.counts import (
    DISTANCE,
    PickCounts,
    PickRules,
    count,
    measures,
)
from iap_learning.tasks.kinds.arm_pick.interface import PickInterface
from iap_learning.tasks.kinds.arm_pick.observations import PickInputs
from iap_learning.tasks.kinds.arm_pick.places import gripping_arm
from iap_learning.tasks.kinds.arm_pick.task import PickTask
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import WorldsOptions
from iap_physics.arm.batch_grippers import BatchGrippers
from iap_simulation.scenario.resolving import resolved


class PickEpisodes(TipEpisodes[PickTask, PickInterface]):
    """A pick in B worlds, by velocities of the tip's reference and the gripper, or by the scenario's own law and times.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Attributes:
        places: of the present episodes.

    Raises:
        BadInput: no such scenario, or it has no arm, no gripper or no such loose object.
    """

    _counts: PickCounts

    def __init__(self, task: PickTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        settings = {**task.settings, **(how.get("scenario") or {})}
        gripping_arm(task, resolved(task.scenario, settings, {"platform": how.get("platform")})[0])
        super().__init__(task, worlds, PickInterface, PickCounts.of(worlds), **how)
        self.places = self.interface.places
        self._rules = PickRules.of(task, self.worlds.scenario.dt)
        self._object = np.zeros((worlds, STATE_SIZE))  # their states
        self._closest, self._lifted = np.zeros((2, worlds))
        self._has_taken = np.zeros(worlds, bool)
        self._begin(np.arange(worlds))

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self._row[REF_P], self.places.middle)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        for world in indices.tolist():
            self.interface.draw(world, self.worlds.world(world))
        self._look_around()
        self.interface.begin(indices, self.worlds.state[:, 0])
        self._best[indices] = -self.places.measures(self._object)[indices, DISTANCE]
        self._closest[indices] = self._gaps[indices]
        self._has_taken[indices], self._lifted[indices] = False, 0.0

    def _look_around(self) -> None:
        """Show the interface objects, joints and grippers as they are."""
        arm, objects = self.worlds.arm, self.worlds.object_states
        self._object = np.asarray(objects[:, self.places.number])
        self.interface.look_at_objects(objects)
        self.interface.look_at_joints(np.stack([arm.q, arm.v], axis=1))
        self.interface.look_at_gripper(self._readings)

    def _look(self) -> None:
        """Take the end of a control period."""
        self._look_around()
        forces, shown = self._forces, self.places.measures(self._object)
        count(forces, self._holds, shown, self.status, self._rules, self._counts)
        self._feel(forces, self._rules.peak)

    def _progress(self) -> Array:
        """Rewards of ways and heights that are new, of the first hold, and of forces since the last step."""
        weights, counts = self.task.reward, self._counts
        nearer, forces = self._gains(-counts.measures[:, DISTANCE], 0.0)
        lifted, taken = np.minimum(counts.lifted, self._rules.lift), counts.taken > 0
        closest = np.where(taken, self._closest, np.minimum(self._gaps, self._closest))
        reward = weights.nearer * nearer + weights.reach * (self._closest - closest)
        reward += weights.lift * (lifted - self._lifted) + weights.take * (
            taken & ~self._has_taken
        )
        self._closest, self._lifted, self._has_taken = closest, lifted, taken
        return np.asarray(reward + weights.force * forces + weights.time * self.dt)

    @property
    def _grippers(self) -> BatchGrippers:
        part = self.worlds.plant.part(BatchGrippers)
        assert part is not None  # noqa: S101 - the interface has looked
        return part

    @property
    def _holds(self) -> Booleans:
        """(B,) whether grippers hold the objects."""
        return self._grippers.holds

    @property
    def _readings(self) -> Array:
        """(B, 2) what grippers hold and bear."""
        return np.column_stack([self._holds.astype(np.float64), self._grippers.borne])

    @property
    def _gaps(self) -> Array:
        """(B,) from tips to where objects are taken [m]."""
        tips = self.interface.tips(self.worlds.state[:, 0])
        return np.asarray(np.linalg.norm(self.places.points(self._object) - tips, axis=1))

    @property
    def true_inputs(self) -> PickInputs:
        """Inputs by true forces of the last control period, true places, and what grippers truly hold and bear."""
        force_W, points = self.worlds.contact_wrenches[:, :3], self.places.points(self._object)
        x = self.worlds.state[:, 0]
        return self.interface.inputs_of(x, self._action, force_W, points, self._readings)

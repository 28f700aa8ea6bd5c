# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of pushes on loose objects, and references of their actions, in many worlds and in a flight."""

from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.states import V
from iap_learning.tasks.kinds.push_object.goals import Goals
from iap_learning.tasks.kinds.push_object.observations import TERMS, ShoveInputs
from iap_learning.tasks.kinds.push_object.task import ShoveTask
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.touch_interface import TipInterface
from iap_simulation.scenario.scenario import Scenario


class ShoveInterface(TipInterface):
    """Velocities of the tip's reference in the axes of the object at its start; wrenches, and poses of the object.

    Args:
        task: of it.
        goals: of the worlds.
        row: first reference of the scenario.
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        goals: as given.
    """

    TERMS, ASKS_FOR = TERMS, (Sense.WRENCH, Sense.OBJECTS)

    def __init__(
        self, task: ShoveTask, goals: Goals, row: Array, *, dt: float, batch: int
    ) -> None:
        super().__init__(task, task.sensor, row, goals.tip_P, dt=dt, batch=batch)
        self._task, self.goals, eye = task, goals, task.object_sensor
        self._poses = np.zeros((batch, 3))
        noise = [eye.noise, eye.noise, np.deg2rad(eye.heading_noise_deg)]
        late = {"delay": eye.delay, "hold": eye.hold, "samples": task.periods(dt)}
        self._eyes = LateSensors(f"{task.kind}/object", noise, [0.0] * 3, **late, batch=batch)

    @classmethod
    def of(cls, task: ShoveTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """The interface of B pushes, see `TouchInterface`."""
        return cls(task, Goals.of(task, scenario, batch), row, dt=scenario.dt, batch=batch)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""
        super().reset(worlds, seeds)
        self._eyes.reset(worlds, seeds)

    def draw(self, world: int, scenario: Scenario) -> None:
        """Take the goal that a world's seed has drawn."""
        self.goals.draw(world, self._task, scenario.seed)

    def begin(self, worlds: Integers, x: Array) -> None:  # noqa: ARG002 - as of all that touch
        """Know where the objects of some worlds are, before the first control period."""
        self._eyes.known[worlds] = self._poses[worlds]

    def look_at_objects(self, objects: Array) -> None:
        """Look at the world's objects (B, n, 13), see `TouchInterface`."""
        self._poses = self.goals.poses(objects[:, self.goals.number])

    def measure(self, x: Array, wrenches_W: Array) -> None:
        """Measure the end of a control period, see `TouchInterface`."""
        super().measure(x, wrenches_W)
        self._eyes(self._poses)

    def inputs(self, x: Array, action: Array) -> ShoveInputs:
        """Inputs of observations; forces are means over the last step."""
        return self.inputs_of(x, action, self.force_W(x), self._eyes.known)

    def inputs_of(self, x: Array, action: Array, force_W: Array, poses: Array) -> ShoveInputs:
        """Inputs of forces (B, 3) [N] and poses (B, 3) of objects."""
        goals, tips = self.goals, self.tips(x)
        return ShoveInputs(
            goals.components(force_W),
            goals.left(poses),
            poses[:, 2],
            goals.components(tips[:, :2] - poses[:, :2]),
            goals.components(tips - self.reference.tip),
            goals.components(x[:, V]),
            action,
        )

    def _move(self, x: Array, values: Array) -> None:
        """Move the reference at velocities (B, 2) forwards and to the left."""
        still = np.zeros((len(x), 3))
        velocities_W = np.column_stack([values @ self.goals.axes, still[:, 0]])
        self.reference.move(velocities_W, still, self._dt)

# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of picks, and references of their actions, in many worlds and in a flight."""

from typing import Self

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.states import REF_A, REF_ALPHA, REF_V, REF_W, V
from iap_learning.tasks.kinds.arm_pick.observations import TERMS, PickInputs
from iap_learning.tasks.kinds.arm_pick.places import Places
from iap_learning.tasks.kinds.arm_pick.task import PickTask
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.touch_interface import BY_POSE, TipInterface
from iap_simulation.batch.actions import PlatformWorlds
from iap_simulation.batch.references import References
from iap_simulation.scenario.scenario import Scenario


class PickInterface(TipInterface):
    """Velocities of the tip's reference, and the gripper; wrenches, places of the object, and what the gripper tells.

    Args:
        task: of it.
        places: of the worlds.
        row: first reference of the scenario.
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        places: as given.
    """

    TERMS = TERMS
    NEEDS = {**BY_POSE, "gripper.close": None, "gripper.open": None}
    ASKS_FOR = (Sense.WRENCH, Sense.OBJECTS, Sense.JOINTS, Sense.GRIPPER)

    def __init__(
        self, task: PickTask, places: Places, row: Array, *, dt: float, batch: int
    ) -> None:
        super().__init__(task, task.sensor, row, places.tip_P, dt=dt, batch=batch)
        self._task, self.places = task, places
        self._points, self._readings = np.zeros((batch, 3)), np.zeros((batch, 2))
        self._joints = np.zeros((batch, 2, len(places.home)))
        self._closes, self._velocities_W = np.zeros(batch, bool), np.zeros((batch, 3))
        eye, grip, samples = task.object_sensor, task.gripper_sensor, task.periods(dt)
        late = {"delay": eye.delay, "hold": eye.hold, "samples": samples, "batch": batch}
        name, errors = f"{task.kind}/object", ([eye.noise] * 3, [eye.bias] * 3)
        self._eyes = LateSensors(name, *errors, **late)
        late = {"delay": grip.delay, "samples": samples, "batch": batch}
        name, errors = f"{task.kind}/gripper", ([0.0, grip.load_noise], [0.0, grip.load_bias])
        self._grips = LateSensors(name, *errors, **late)

    @classmethod
    def of(cls, task: PickTask, scenario: Scenario, row: Array, batch: int) -> Self:
        """The interface of B picks, see `TouchInterface`."""
        places = Places.of(task, scenario, row, batch)
        return cls(task, places, row, dt=scenario.dt, batch=batch)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""
        super().reset(worlds, seeds)
        self._eyes.reset(worlds, seeds)
        self._grips.reset(worlds, seeds)
        self._closes[worlds], self._readings[worlds], self._velocities_W[worlds] = False, 0.0, 0.0
        self._joints[worlds] = np.stack([self.places.home, np.zeros_like(self.places.home)])

    def draw(self, world: int, scenario: Scenario) -> None:
        """Take the places that a world's seed has drawn."""
        self.places.draw(world, self._task, scenario)

    def begin(self, worlds: Integers, x: Array) -> None:  # noqa: ARG002 - as of all that touch
        """Know where the objects of some worlds are believed to be, before the first control period."""
        self._eyes.begin(worlds, self._points)

    def look_at_objects(self, objects: Array) -> None:
        """Look at the world's objects (B, n, 13), see `TouchInterface`."""
        self._points = self.places.points(objects[:, self.places.number])

    def look_at_joints(self, joints: Array) -> None:
        """Look at coordinates and velocities (B, 2, n) of arms, see `TouchInterface`."""
        self._joints = joints

    def look_at_gripper(self, readings: Array) -> None:
        """Look at what grippers hold and bear (B, 2), see `TouchInterface`."""
        self._readings = readings

    @property
    def closes(self) -> Booleans:
        """(B,) whether grippers shall close from now on."""
        return self._closes

    def measure(self, x: Array, wrenches_W: Array) -> None:
        """Measure the end of a control period, see `TouchInterface`."""
        super().measure(x, wrenches_W)
        self._eyes(self._points)
        self._grips(self._readings)

    def references(self, worlds: PlatformWorlds, values: Array) -> References:
        """References of one more control period, with their own velocities in place of the scenario's."""
        made = super().references(worlds, values)
        made.rows[:, REF_V], made.rows[:, REF_W] = self._velocities_W, 0.0
        made.rows[:, REF_A] = made.rows[:, REF_ALPHA] = 0.0
        return made

    def tips(self, x: Array) -> Array:
        """(B, 3) tips of arms on central bodies (B, 13) [m]."""
        return self.places.tips(x, self._joints[:, 0])

    def inputs(self, x: Array, action: Array) -> PickInputs:
        """Inputs of observations; forces are means over the last step."""
        return self.inputs_of(x, action, self.force_W(x), self._eyes.known, self._grips.known)

    def inputs_of(
        self, x: Array, action: Array, force_W: Array, points: Array, readings: Array
    ) -> PickInputs:
        """Inputs of forces (B, 3) [N], points of objects (B, 3) [m], and what grippers hold and bear (B, 2)."""
        places, tips, joints = self.places, self.tips(x), self._joints
        return PickInputs(
            places.components(force_W),
            readings[:, 1],
            readings[:, 0],
            places.components(points - tips),
            places.components(places.goals + places.point - tips),
            places.components(tips - self.reference.tip),
            places.components(x[:, V]),
            joints[:, 0] - places.home,
            joints[:, 1],
            action,
        )

    def _move(self, x: Array, values: Array) -> None:
        """Let the reference take up velocities (B, 4) forwards, to the left and up; the last number closes."""
        asked_W = values[:, :3] @ self.places.axes
        self._velocities_W += -np.expm1(-self._dt / self._task.ease) * (
            asked_W - self._velocities_W
        )
        self.reference.move(self._velocities_W, np.zeros((len(x), 3)), self._dt)
        self._closes = values[:, 3] > 0.0

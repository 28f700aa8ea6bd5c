# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of platforms that touch, and references of their actions: the same in many worlds and in a flight."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, P, Q
from iap_learning.tasks.late_sensors import WrenchSensorSpec
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.terms import TermTable
from iap_learning.tasks.touch_task import TouchTask
from iap_simulation.batch.actions import PlatformWorlds, action_of
from iap_simulation.batch.references import References
from iap_simulation.scenario.scenario import Scenario

# Poses and velocities are flown by the suite's law in all worlds at once, which takes no part in the contact.
BY_POSE = {"control.admittance": False, "control.wrench_mode": "none"}
BY_VELOCITY = {"control.wrench_mode": "none", "control.wrench_source": "filtered"}
VELOCITY = "velocity"  # kind of what the law flies


class TouchInterface(ABC):
    """The interface between B platforms that touch and those who act for them.

    Attributes:
        TERMS: of observations.
        NEEDS: values of the scenario's keys by their dotted paths while actions fly.
        ASKS_FOR: its senses beside states.
    """

    TERMS: ClassVar[TermTable]
    NEEDS: ClassVar[Mapping[str, Any]]
    ASKS_FOR: ClassVar[tuple[Sense, ...]] = (Sense.WRENCH,)

    @classmethod
    @abstractmethod
    def of(cls, task: Any, scenario: Scenario, row: Array, batch: int) -> Self:  # noqa: ANN401 - of the kind
        """The interface of B platforms of a task.

        Args:
            task: of the kind.
            scenario: that is flown.
            row: its first reference.
            batch: B.

        Raises:
            BadInput: the scenario lacks what is touched, or what touches it.
        """

    @abstractmethod
    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""

    def draw(self, world: int, scenario: Scenario) -> None:  # noqa: B027 - most need nothing
        """Take what a world's seed has drawn of its scenario."""

    def begin(self, worlds: Integers, x: Array) -> None:  # noqa: B027 - likewise
        """Know, before the first control period of some worlds, what is measured at states (B, 13)."""

    def look_at_objects(self, objects: Array) -> None:  # noqa: B027 - likewise
        """Look at the world's objects (B, n, 13), before `measure` or `begin`."""

    def look_at_latches(self, phases: Integers) -> None:  # noqa: B027 - likewise
        """Look at the phases (B, m) of latches, before `measure` or `begin`."""

    def look_at_joints(self, joints: Array) -> None:  # noqa: B027 - likewise
        """Look at coordinates and velocities (B, 2, n) of arms, before `measure` or `begin`."""

    def look_at_gripper(self, readings: Array) -> None:  # noqa: B027 - likewise
        """Look at what grippers hold and bear (B, 2), see `Senses`, before `measure`."""

    @property
    def closes(self) -> Booleans | None:
        """(B,) whether grippers shall close from now on; None where nobody commands one."""
        return None

    @abstractmethod
    def measure(self, x: Array, wrenches_W: Array) -> None:
        """Measure the end of a control period.

        Args:
            x: (B, 13) states of central bodies.
            wrenches_W: (B, 6) of contacts on them, means over the period.
        """

    @abstractmethod
    def inputs(self, x: Array, action: Array) -> Any:  # noqa: ANN401 - of the kind's terms
        """Inputs of observations of central bodies (B, 13), after the last actions (B, n)."""

    @abstractmethod
    def references(self, worlds: PlatformWorlds, values: Array) -> References:
        """References of one more control period, by actions (B, n) in SI units."""


class LineInterface(TouchInterface):
    """An interface whose action is the velocity along a line towards a wall, level and on that line.

    Args:
        line: towards the wall.
        centering: rate at which platforms go back to the line, and turn back [1/s].

    Attributes:
        line: as given.
    """

    def __init__(self, line: PushLine, centering: float) -> None:
        self.line, self._centering = line, centering

    def references(self, worlds: PlatformWorlds, values: Array) -> References:
        """References of one more control period, see `TouchInterface`."""
        ahead = self.line.velocities(worlds.state[:, 0], values[:, 0], self._centering)
        return cast(References, action_of(VELOCITY, ahead, worlds))


class TipReference:
    """References of B platforms, all of which begin at one.

    Args:
        row: the first reference.
        tip_P: (3,) the tool's tip in P [m].
        batch: number of worlds.

    Attributes:
        tip: (B, 3) references of the tips [m].
        q: (B, 4) of the attitudes.
    """

    def __init__(self, row: Array, tip_P: Array, batch: int) -> None:
        self._tip_P, self._first_q = tip_P, row[REF_Q].copy()
        self._first_tip = row[REF_P] + so3.rotate(self._first_q, tip_P)
        self.tip, self.q = np.tile(self._first_tip, (batch, 1)), np.tile(self._first_q, (batch, 1))

    def reset(self, worlds: Integers) -> None:
        """Let some worlds begin anew."""
        self.tip[worlds], self.q[worlds] = self._first_tip, self._first_q

    def move(self, velocities_W: Array, turns_P: Array, dt: float) -> None:
        """Go on at velocities (B, 3) of tips [m/s] and rates (B, 3) in axes of P [rad/s] for a time [s]."""
        self.tip += dt * velocities_W
        q = so3.multiply(self.q, so3.quaternion_exp(dt * turns_P))
        self.q[:] = q / np.linalg.norm(q, axis=1, keepdims=True)

    def among(self, references: References) -> References:
        """A scenario's references with the poses of these."""
        rows = references.rows.copy()
        rows[:, REF_P] = self.tip - so3.rotate(self.q, self._tip_P)
        rows[:, REF_Q] = self.q
        return References.of(rows)


class TipInterface(TouchInterface):
    """An interface whose actions move the reference of a tool's tip, and that measures wrenches.

    Args:
        task: of it.
        sensor: of the wrench.
        row: first reference of the scenario.
        tip_P: (3,) the tool's tip in P [m].
        dt: control period [s].
        batch: number of worlds.

    Attributes:
        tip_P: as given.
        row: as given.
        reference: that actions move.
        mean_P: (B, 6) wrench in P that came to be known over the last step.
    """

    NEEDS = BY_POSE

    def __init__(
        self,
        task: TouchTask,
        sensor: WrenchSensorSpec,
        row: Array,
        tip_P: Array,
        *,
        dt: float,
        batch: int,
    ) -> None:
        self.tip_P, self.row, self._dt = tip_P, row, dt
        self._sensors = sensor.sensors(task, task.periods(dt), batch)
        self.reference = TipReference(row, tip_P, batch)

    @property
    def mean_P(self) -> Array:
        """(B, 6) mean of the wrenches in P that came to be known over the last step."""
        return self._sensors.mean

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Begin anew in some worlds, with the errors of their seeds."""
        self._sensors.reset(worlds, seeds)
        self.reference.reset(worlds)

    def measure(self, x: Array, wrenches_W: Array) -> None:
        """Measure the end of a control period, see `TouchInterface`."""
        self._sensors.measure(x, wrenches_W)

    def references(self, worlds: PlatformWorlds, values: Array) -> References:
        """References of one more control period, see `TouchInterface`."""
        self._move(worlds.state[:, 0], values)
        return self.reference.among(worlds.references())

    @abstractmethod
    def _move(self, x: Array, values: Array) -> None:
        """Move the reference for a control period, of central bodies (B, 13)."""

    def tips(self, x: Array) -> Array:
        """(B, 3) tips of central bodies (B, 13) [m]."""
        tips: Array = x[:, P] + so3.rotate(x[:, Q], self.tip_P)
        return tips

    def force_W(self, x: Array) -> Array:
        """(B, 3) the mean force that came to be known over the last step, in world axes."""
        force: Array = so3.rotate(x[:, Q], self.mean_P[:, :3])
        return force

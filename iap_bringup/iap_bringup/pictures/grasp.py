# SPDX-License-Identifier: BSD-3-Clause
"""The object that a gripper carries, which no recording has: its joint is taken as rigid."""

from functools import cached_property
from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import P, Q, resting_state
from iap_description.vehicles.arm_links import JointState, link_rows
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.mounted_arm import MountedArm
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import RunData
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario


class Grasp:
    """An object at the tip of an arm with a gripper.

    Args:
        name: of the object in the world.
        row: (13,) where it began.
        gripper: at the arm's tip.
        arm: of the vehicle.
        columns: of the vehicle.
    """

    def __init__(
        self, name: str, row: Array, gripper: GripperSpec, arm: MountedArm, columns: Columns
    ) -> None:
        self.name, self._row, self._gripper = name, row, gripper
        self._arm, self._columns = arm, columns

    @classmethod
    def of(cls, scenario: Scenario, run: RunData) -> Self | None:
        """The grasp of a run; None without a gripper at a recorded arm."""
        gripper = scenario.gripper
        for vehicle, recorded in zip(scenario.vehicles, run.vehicles, strict=True):
            arm = Assembly.of(vehicle.platform, vehicle.name).arm
            if gripper is not None and arm is not None and recorded.columns.arm is not None:
                row = placed_world(scenario).objects[gripper.object].row(0.0)
                return cls(gripper.object, row, gripper, arm, recorded.columns)
        return None

    def row(self, tick: int) -> Array:
        """(13,) the object, at rest, at a row of the recording."""
        first = self._first
        if first is None or tick < first:
            return self._row
        last = min(tick, int(self._ticks[-1]))
        start, end = self._link(first), self._link(last)
        turn = so3.multiply(end[Q], so3.conjugate(start[Q]))
        position = end[P] + so3.rotate(turn, self._row[P] - start[P])
        return resting_state(position, so3.multiply(turn, self._row[Q]))

    def pose(self, t: float) -> Array:
        """(7,) the object's pose at a time [s]."""
        tick = int(np.searchsorted(self._columns.t, t, side="right")) - 1
        return self.row(max(tick, 0))[:7]

    @property
    def times(self) -> tuple[float, float] | None:
        """Times at which it is taken and let go [s]; None where it never hangs on the tip."""
        if self._first is None:
            return None
        return float(self._columns.t[self._first]), float(self._columns.t[self._ticks[-1]])

    @cached_property
    def _ticks(self) -> Integers:
        """Rows at which the gripper is closed."""
        t = self._columns.t
        return np.flatnonzero((t >= self._gripper.close) & (t < self._gripper.open))

    @cached_property
    def _first(self) -> int | None:
        """First row at which the object hangs on the tip."""
        item, gripper = self._row, self._gripper
        point = item[P] + so3.rotate(item[Q], np.array(gripper.point))
        near = (
            k
            for k in self._ticks.tolist()
            if np.linalg.norm(self._tip(k) - point) <= gripper.reach
        )
        return next(near, None)

    def _link(self, tick: int) -> Array:
        """Row (13,) of the last link."""
        joints = self._columns.arm
        assert joints is not None  # noqa: S101 - of a vehicle with an arm
        state = JointState(joints.q[tick], joints.v[tick])
        return np.asarray(link_rows(self._arm, self._columns.x[tick, 0], state)[-1])

    def _tip(self, tick: int) -> Array:
        row = self._link(tick)
        return np.asarray(row[P] + so3.rotate(row[Q], self._arm.chain.tip))

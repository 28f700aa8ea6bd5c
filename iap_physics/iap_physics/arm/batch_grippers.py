# SPDX-License-Identifier: BSD-3-Clause
"""Grippers in many worlds: compiled code finds worlds in which something is taken or let go, in no others is one."""

from collections.abc import Mapping
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.gripper import GripperSpec, Load
from iap_description.vehicles.serial_chain import Chain, tip_pose
from iap_description.world.world import World
from iap_physics.arm.gripper import Gripper, GrippingEngine
from iap_physics.engines.batch_engine import ArmJointBatch
from iap_physics.engines.engine import RUNNING
from iap_physics.plant.part import PlantPart

ROUNDING = 1e-9  # [m] by which distances are wider here than those by which grippers decide


@runtime_checkable
class GrippingBatch(Protocol):
    """An engine of many worlds in which arms hold objects."""

    @property
    def arm_batches(self) -> Mapping[int, ArmJointBatch]:
        """Arms of vehicles by their numbers."""

    @property
    def status(self) -> Integers:
        """(B,) of worlds."""

    @property
    def step_counts(self) -> Integers:
        """(B,) steps of each world since its reset."""

    def state(self) -> Array:
        """(B, bodies, 13) states."""

    def world(self, number: int) -> GrippingEngine:
        """One of the worlds."""

    def object_points(self, item: int, point: Array) -> Array:
        """(B, 3) where a point (3,) of an object's frame is in each world [m]."""


class BatchGrippers(PlantPart):
    """A gripper in each of B worlds.

    Args:
        engine: of the worlds, loaded.
        grippers: of each world.
        vehicle: number of the one whose arm it is.
        row: state row of that vehicle's central body.
        item: number of the object.
        dt: physics step [s].

    Attributes:
        grippers: as given.
        spec: of all of them.
        closes: (B,) whether they are commanded to close, if they go by commands.
    """

    def __init__(
        self,
        engine: GrippingBatch,
        grippers: list[Gripper],
        vehicle: int,
        row: int,
        item: int,
        dt: float,
    ) -> None:
        self._engine, self.grippers, self.spec = engine, grippers, grippers[0].spec
        self._vehicle, self._row, self._item, self._dt = vehicle, row, item, dt
        self._holds, self._has_lost, self.closes = np.zeros((3, len(grippers)), bool)
        self._margins = np.full(len(grippers), ROUNDING)  # by which tips may be elsewhere

    @classmethod
    def of(
        cls, spec: GripperSpec, engine: GrippingBatch, world: World, rows: list[int], dt: float
    ) -> Self:
        """Grippers of worlds whose vehicles' central bodies have these rows.

        Raises:
            BadInput: no vehicle has an arm, or there is no such object.
        """
        if not engine.arm_batches:
            raise BadInput("key 'gripper': no vehicle has an arm in this engine")
        vehicle = min(engine.arm_batches)
        row, batch = rows[vehicle], len(engine.step_counts)
        grippers = [
            Gripper(engine.world(number), spec, world, vehicle, row) for number in range(batch)
        ]
        return cls(engine, grippers, vehicle, row, list(world.objects).index(spec.object), dt)

    @property
    def vehicle(self) -> int:
        """Number of the vehicle whose arm it is."""
        return self._vehicle

    @property
    def holds(self) -> Booleans:
        """(B,) whether grippers hold the object."""
        return self._holds

    @property
    def known_loads(self) -> list[Load | None]:
        """Loads as far as controllers know of them."""
        return [gripper.known_load for gripper in self.grippers]

    @property
    def borne(self) -> Array:
        """(B,) sizes of the forces on the objects in the last step [N]; 0 where nothing is held."""
        out = np.zeros(len(self.grippers))
        for world in np.flatnonzero(self._holds).tolist():
            out[world] = self.grippers[world].borne
        return out

    def set_world(self, number: int, world: World) -> None:
        """Let one of them grip in a world of its own, like that of all but for its numbers."""
        self.grippers[number].set_world(world)

    def reset(self, x: Array, worlds: Integers) -> None:
        """Nothing is held in some worlds."""
        for world in worlds.tolist():
            self.grippers[world].reset(x, worlds)
            self._margins[world] = ROUNDING + self._shift(world)
        self._holds[worlds] = self._has_lost[worlds] = self.closes[worlds] = False

    def _shift(self, world: int) -> float:
        """Distance of a world's arm on its platform, whose CoM may be drawn, from that of all [m]."""
        own = self._engine.world(world).arms[self._vehicle].arm.chain
        base = self._engine.arm_batches[self._vehicle].arm.chain
        return float(np.linalg.norm(own.origins[0] - base.origins[0]))

    def begin_period(self, k: int, t: float) -> None:
        """Take, keep or let go, each world at its own time."""
        engine, spec = self._engine, self.spec
        times = np.multiply(engine.step_counts, self._dt, dtype=np.float64)
        x, arm = engine.state()[:, self._row], engine.arm_batches[self._vehicle]
        tips = np.empty((len(times), 3))
        find_tips(arm.arm.chain, x[:, P], so3.matrix_from_quaternion(x[:, Q]), arm.q, tips)
        points = engine.object_points(self._item, np.array(spec.point))
        gaps = np.linalg.norm(tips - points, axis=1)
        closes = self._closed_at(times)
        may_take = closes & (gaps <= spec.reach + self._margins) & ~self._holds & ~self._has_lost
        may_leave = self._holds & (~closes | (gaps > spec.reach - self._margins))
        changes = may_take | may_leave | (self._has_lost & ~closes)
        for world in np.flatnonzero(changes & (engine.status == RUNNING)).tolist():
            gripper = self.grippers[world]
            gripper.closes = bool(self.closes[world])
            gripper.begin_period(k, float(times[world]))
            self._holds[world], self._has_lost[world] = gripper.holds, gripper.is_spent

    def _closed_at(self, times: Array) -> Booleans:
        """(B,) whether they are closed at times (B,) [s]."""
        spec = self.spec
        if spec.close is None or spec.open is None:
            return self.closes
        return (spec.close <= times) & (times < spec.open)


@njit(cache=True)
def find_tips(chain: Chain, places: Array, attitudes: Array, q: Array, tips: Array) -> None:
    """Write the tips (B, 3) of arms at coordinates (B, n) on platforms at places (B, 3) and attitudes (B, 3, 3)."""
    for b in range(len(tips)):
        tips[b] = tip_pose(chain, places[b].copy(), attitudes[b], q[b].copy())[0]

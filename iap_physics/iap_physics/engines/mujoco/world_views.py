# SPDX-License-Identifier: BSD-3-Clause
"""Views of many MuJoCo worlds: of one of them as parts of a plant take it, of all objects, and of the first world."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import IapError
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.mounted_arm import MountedArm
from iap_physics.engines.engine import (
    JOINT_FORCE,
    LAST_LINK,
    OBJECT,
    WORLD,
    AddedJoint,
    Contact,
)
from iap_physics.engines.jointless import JointlessEngine
from iap_physics.engines.mujoco.arm_joints import ArmBatch
from iap_physics.engines.mujoco.bonds import Bond
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.model import MuJoCoModel
from iap_physics.engines.mujoco.native_worlds import NativeWorlds
from iap_physics.engines.mujoco.objects import Objects
from iap_physics.engines.mujoco.points import ContactPoints
from iap_physics.engines.mujoco.rays import cast

RECORD_BYTES = 200_000  # of a world's vehicles, objects and names, beside MuJoCo's own model of it


class ArmPose(NamedTuple):
    """An arm, and the coordinates (n,) of its joints [rad], [m]."""

    arm: MountedArm
    q: Array


class BatchWorld:
    """A world of a batch.

    Args:
        engine: of all of them.
        world: its number.

    Attributes:
        batch: 1.
    """

    batch = 1

    def __init__(self, engine: "MuJoCoWorldViews", world: int) -> None:
        self._engine, self._world = engine, world

    @property
    def arms(self) -> Mapping[int, ArmPose]:
        """Arms of vehicles by their numbers."""
        batches, world = self._engine.arm_batches, self._world
        return {
            k: ArmPose(self._engine.arm_of(world, k), each.q[world]) for k, each in batches.items()
        }

    def state(self) -> Array:
        """(1, bodies, 13) the present states."""
        return self._engine.native.x[self._world : self._world + 1]

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of its objects."""
        return self._engine.object_states_of(self._world)

    def grip(
        self,
        item: int,
        vehicle: int,
        p_OJ_O: Array,
        p_LJ_L: Array,
        q_OL: Array,
        max_force: float,
    ) -> int:
        """Fix an object to the last link of an arm, see `Engine.grip`."""
        made = self._engine.own_model(self._world)
        codes = (OBJECT - item, LAST_LINK - vehicle)
        place = p_OJ_O - made.centers[item]
        joint = AddedJoint(codes, place, p_LJ_L, q_OL, "fixed", max_force)
        return self._join(made, (made.objects[item], made.arms[vehicle][-1]), joint)

    def add_joint(
        self,
        body_a: int,
        body_b: int,
        p_AJ_A: Array,
        p_BJ_B: Array,
        *,
        type: str = "spherical",
        max_force: float = JOINT_FORCE,
        q_AB: Array | None = None,
    ) -> int:
        """Join two bodies, or a body and the world, see `Engine.add_joint`."""
        made, rows = self._engine.own_model(self._world), (body_a, body_b)
        joint = AddedJoint.of(self.state()[0], rows, (p_AJ_A, p_BJ_B), type, max_force, q_AB)
        first, second = (0 if row == WORLD else made.bodies[row] for row in rows)
        return self._join(made, (first, second), joint)

    def _join(self, made: MuJoCoModel, bodies: tuple[int, int], joint: AddedJoint) -> int:
        bonds = self._engine.native.bonds
        k = bonds.free(self._world)
        bonds.make(self._world, Bond(k, bodies, joint))
        bonds.write(self._world, made)
        return k

    def remove_joint(self, handle: int) -> None:
        """Undo `grip` or `add_joint`."""
        self._engine.native.bonds.remove(self._world, handle)

    def joint_wrench(self, handle: int) -> Array:
        """(6,) what a joint bore in the last step, see `Engine.joint_wrench`."""
        return self._engine.native.bonds.wrenches[self._world, handle].copy()


class MuJoCoWorldViews(JointlessEngine):
    """Objects of B worlds, and contacts and rays of the first.

    Attributes:
        native: numbers of all worlds.
        arm_batches: arms of vehicles by their numbers.
    """

    native: NativeWorlds
    _made: list[MuJoCoModel]
    _first_made: MuJoCoModel
    _objects: list[Objects]
    _own: dict[int, tuple[Assembly, ...]]
    arm_batches: dict[int, ArmBatch]

    @abstractmethod
    def own_model(self, world: int) -> MuJoCoModel:
        """The model of a world, which no other has from now on."""

    def arm_of(self, world: int, vehicle: int) -> MountedArm:
        """The arm of a vehicle of a world, where that world's CoM has it."""
        own = self._own.get(world)
        arm = None if own is None else own[vehicle].arm
        return arm or self.arm_batches[vehicle].arm

    def world(self, number: int) -> BatchWorld:
        """One of the worlds."""
        return BatchWorld(self, number)

    def contacts(self) -> list[Contact]:
        """Contact points of the first world, without forces."""
        made = self._made[0]
        return ContactPoints.of(made, self._first(), has_forces=False).listed(made)

    def contact_wrench(self, row: int) -> Array:
        """Refuse: see `measure_contacts`."""
        raise IapError("worlds of a batch sum contact wrenches up, see measure_contacts")

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of the first world's objects."""
        return self.object_states_of(0)

    @property
    def own_bytes(self) -> int:
        """Memory that a world with vehicles and objects of its own takes [B]: its model, and records of them."""
        return int(self._made[0].model.nbuffer) + RECORD_BYTES

    def object_states_of(self, world: int) -> Array:
        """(objects, 13) state rows of the frames of a world's objects."""
        qpos, qvel = self.native.qpos[world], self.native.qvel[world]
        return self._objects[world].states(qpos, qvel, float(self.native.times[world]))

    def object_angles(self, item: int) -> Array:
        """(B,) angles of an object about its hinge [rad].

        Raises:
            IapError: it has none.
        """
        objects = self._objects[0]
        if objects.items[item].hinge is None:
            raise IapError(f"object {item} of the world has no hinge")
        return self.native.qpos[:, objects.places[item][0]].copy()

    def object_points(self, item: int, point: Array) -> Array:
        """(B, 3) where a point (3,) of a loose object's frame is in each world [m]."""
        objects = self._objects[0]
        at, _ = objects.places[item]
        place, turn = self.native.qpos[:, at : at + 3], self.native.qpos[:, at + 3 : at + 7]
        return place + so3.rotate(np.roll(turn, -1, axis=1), point - objects.centers[item])

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray at its first hit in the first world."""
        return cast(self._made[0].model, self._first(), starts_W, ends_W, world_only=world_only)

    def _first(self) -> Any:  # noqa: ANN401 - MuJoCo's
        """MuJoCo's data of the first world, with what touches there."""
        model = self._made[0].model
        data = mj.MjData(self._first_made.model)  # a drawn world's has no memory for contacts
        data.qpos[:], data.qvel[:] = self.native.qpos[0], self.native.qvel[0]
        mj.mj_fwdPosition(model, data)
        return data

# SPDX-License-Identifier: BSD-3-Clause
"""One of many MuJoCo worlds as parts of a single one take it: states, arms, and an object in a gripper."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from iap_description.arrays import Array
from iap_description.vehicles.mounted_arm import MountedArm
from iap_physics.engines.engine import LAST_LINK, OBJECT, AddedJoint
from iap_physics.engines.mujoco.arm_joints import ArmBatch
from iap_physics.engines.mujoco.bonds import Bond
from iap_physics.engines.mujoco.model import MuJoCoModel
from iap_physics.engines.mujoco.native_worlds import NativeWorlds


class ArmPose(NamedTuple):
    """An arm, and the coordinates (n,) of its joints [rad], [m]."""

    arm: MountedArm
    q: Array


class JoiningBatch(Protocol):
    """Many MuJoCo worlds in which joints can be added."""

    @property
    def native(self) -> NativeWorlds:
        """Numbers of all worlds."""

    @property
    def arm_batches(self) -> Mapping[int, ArmBatch]:
        """Arms of vehicles by their numbers."""

    def arm_of(self, world: int, vehicle: int) -> MountedArm:
        """The arm of a vehicle of a world."""

    def object_states_of(self, world: int) -> Array:
        """(objects, 13) state rows of the frames of a world's objects."""

    def own_model(self, world: int) -> MuJoCoModel:
        """The model of a world, which no other has from now on."""


class BatchWorld:
    """A world of a batch.

    Args:
        engine: of all of them.
        world: its number.
    """

    def __init__(self, engine: JoiningBatch, world: int) -> None:
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
        made, bonds = self._engine.own_model(self._world), self._engine.native.bonds
        codes = (OBJECT - item, LAST_LINK - vehicle)
        place = p_OJ_O - made.centers[item]
        joint = AddedJoint(codes, place, p_LJ_L, q_OL, "fixed", max_force)
        k = bonds.free(self._world)
        bonds.make(self._world, Bond(k, (made.objects[item], made.arms[vehicle][-1]), joint))
        bonds.write(self._world, made)
        return k

    def remove_joint(self, handle: int) -> None:
        """Undo `grip`."""
        self._engine.native.bonds.remove(self._world, handle)

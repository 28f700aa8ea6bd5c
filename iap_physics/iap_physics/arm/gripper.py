# SPDX-License-Identifier: BSD-3-Clause
"""A gripper in the engine: a fixed joint of limited force between an arm's last link and an object of the world."""

from collections.abc import Mapping
from typing import Protocol, Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.geometry.solids import Bulk
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.gripper import GripperSpec, Load
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.serial_chain import tip_pose
from iap_description.world.world import World
from iap_physics.engines.engine import Engine
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant import Plant

NO_COMMANDED_GRIPPER = "there is no gripper with gripper.close=null and gripper.open=null"


class PosedArm(Protocol):
    """An arm in a pose."""

    @property
    def arm(self) -> MountedArm:
        """The arm."""

    @property
    def q(self) -> Array:
        """(n,) coordinates of its joints [rad], [m]."""


class GrippingEngine(Protocol):
    """A world in which arms hold objects."""

    @property
    def arms(self) -> Mapping[int, PosedArm]:
        """Arms of vehicles by their numbers."""

    def state(self) -> Array:
        """(1, bodies, 13) states."""

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of its objects."""

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

    def remove_joint(self, handle: int) -> None:
        """Undo `grip`."""

    def joint_wrench(self, handle: int) -> Array:
        """(6,) what a joint bore in the last step, on the object in world axes."""


class Gripper(PlantPart):
    """Takes an object when the tip of the arm is near enough, and lets it go.

    Args:
        engine: loaded with vehicles and world.
        spec: what it does.
        world: of the engine.
        vehicle: number of the one whose arm it is.
        row: state row of that vehicle's central body.

    Attributes:
        spec: as given.
        closes: whether it is commanded to close, if it goes by commands.
        load: what it holds; None of nothing.
        taken: whether it has ever held the object.
        lost: whether the object was pulled out of it, and not taken again.
        is_spent: whether it was, and the gripper has not opened since.

    Raises:
        BadInput: there is no such object, or it does not move freely.
    """

    def __init__(
        self, engine: GrippingEngine, spec: GripperSpec, world: World, vehicle: int, row: int
    ) -> None:
        self.spec, self._engine, self._vehicle, self._row = spec, engine, vehicle, row
        self.set_world(world)
        self._handle: int | None = None
        self.load: Load | None = None
        self.closes = self.taken = self.lost = self.is_spent = False

    def set_world(self, world: World) -> None:
        """Grip in a world like that of the engine but for its numbers.

        Raises:
            BadInput: there is no such object, or it does not move freely.
        """
        item = world.objects.get(self.spec.object)
        if item is None or item.mass is None or not item.is_free:
            raise BadInput(
                f"key 'gripper.object': no object '{self.spec.object}' of the world that moves freely"
            )
        self._number, self._mass = list(world.objects).index(self.spec.object), item.mass
        bulk = Bulk.of(item.pieces())
        self._com, self._inertia = bulk.center, item.mass / bulk.volume * bulk.inertia

    @classmethod
    def of(cls, spec: GripperSpec, engine: Engine, world: World, rows: list[int]) -> Self:
        """The gripper of an engine whose vehicles' central bodies have these rows.

        Raises:
            BadInput: no vehicle has an arm.
        """
        if not engine.arms:
            raise BadInput("key 'gripper': no vehicle has an arm in this engine")
        vehicle = min(engine.arms)
        return cls(engine, spec, world, vehicle, rows[vehicle])

    def reset(self, x: Array, worlds: Integers) -> None:
        """Nothing is held: the engine has begun anew, without its joints."""
        self._handle, self.load = None, None
        self.closes = self.taken = self.lost = self.is_spent = False

    @property
    def borne(self) -> float:
        """Size of the force on the object in the last step [N]; 0 while it holds nothing."""
        if self._handle is None:
            return 0.0
        return float(np.linalg.norm(self._engine.joint_wrench(self._handle)[:3]))

    @property
    def holds(self) -> bool:
        """True while it holds the object."""
        return self._handle is not None

    @property
    def vehicle(self) -> int:
        """Number of the vehicle whose arm it is."""
        return self._vehicle

    @property
    def known_load(self) -> Load | None:
        """The load as far as controllers know of it (`GripperSpec.known_load`); None while it holds nothing."""
        return self.load if self.spec.known_load else None

    @property
    def object_row(self) -> Array:
        """(13,) state row of the object's frame O."""
        return self._engine.object_states()[self._number]

    def begin_period(self, k: int, t: float) -> None:
        """Take, keep or let go; what was pulled out of it is taken again after it has opened."""
        closes = self.closes if self.spec.is_commanded else self.spec.closes_at(t)
        if self._handle is None:
            self.is_spent &= closes
            if closes and not self.is_spent:
                self._take()
            return
        pulled_out = self._gap() > self.spec.reach
        if pulled_out or not closes:
            self._engine.remove_joint(self._handle)
            self._handle, self.load = None, None
            self.lost = self.is_spent = pulled_out

    def _link(self) -> tuple[Array, Array, Array]:
        """Place of the tip (3,), of the last link (3,), and its attitude (3, 3), in the world."""
        motors, base = self._engine.arms[self._vehicle], self._engine.state()[0, self._row]
        chain = motors.arm.chain
        tip, R = tip_pose(chain, base[P], so3.matrix_from_quaternion(base[Q]), motors.q)
        return tip, tip - R @ chain.tip, R

    def _gap(self) -> float:
        item = self.object_row
        point = item[P] + so3.rotate(item[Q], np.array(self.spec.point))
        return float(np.linalg.norm(self._link()[0] - point))

    def _take(self) -> None:
        if self._gap() > self.spec.reach:
            return
        tip, origin, R = self._link()
        item = self.object_row
        R_O = R.T @ so3.matrix_from_quaternion(item[Q])  # of O in the link
        p_LO = R.T @ (item[P] - origin)
        q_OL = so3.conjugate(so3.quaternion_from_matrix(R_O))
        in_item = so3.rotate(so3.conjugate(item[Q]), tip - item[P])
        in_link = R.T @ (tip - origin)
        pair = (self._number, self._vehicle)
        self._handle = self._engine.grip(*pair, in_item, in_link, q_OL, self.spec.max_force)
        J = R_O @ self._inertia @ R_O.T
        self.load = Load(self._mass, p_LO + R_O @ self._com, 0.5 * (J + J.T))
        self.taken, self.lost = True, False


def known_load(plant: Plant, vehicle: int) -> Load | None:
    """The load of a vehicle's arm as far as its controller knows of it; None of nothing, and without a gripper."""
    gripper = plant.part(Gripper)
    return None if gripper is None or gripper.vehicle != vehicle else gripper.known_load

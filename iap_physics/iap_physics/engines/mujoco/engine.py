# SPDX-License-Identifier: BSD-3-Clause
"""Multi-body dynamics with contact by MuJoCo.

Its integrator here is semi-implicit Euler, as PyBullet's is: velocities lag by half a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.errors import FlightFailed, IapError
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.engines.arm_motors import arm_motors
from iap_physics.engines.engine import (
    BOUND,
    DIVERGED,
    JOINT_FORCE,
    LAST_LINK,
    OBJECT,
    RUNNING,
    WORLD,
    AddedJoint,
    Contact,
    Engine,
    world_indices,
)
from iap_physics.engines.joint_resistance import resist, resisting_joints
from iap_physics.engines.joints import at_rest, body_names, check_start
from iap_physics.engines.mujoco.arms import DrivenArm
from iap_physics.engines.mujoco.bonds import STATE, Bond, Bonds
from iap_physics.engines.mujoco.latches import Latches, push_latches
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.model import FIRST_STEP, MuJoCoModel, build
from iap_physics.engines.mujoco.objects import Objects
from iap_physics.engines.mujoco.passing import Pairs, PassingPairs
from iap_physics.engines.mujoco.points import ContactPoints
from iap_physics.engines.mujoco.rays import cast
from iap_physics.engines.mujoco.stepping import step
from iap_physics.engines.mujoco.tree import Tree, read_states


@dataclass(frozen=True)
class MuJoCoSnapshot:
    """State for `restore`: MuJoCo's own, and joints added in flight."""

    made: MuJoCoModel
    joints: tuple[tuple[int, Bond], ...]
    passing: Pairs
    resets: int
    t: float
    x: Array
    arms: dict[int, Array]
    state: Array


class MuJoCoEngine(Engine):
    """One MuJoCo world. Vehicles collide with the ground, the scene, objects, each other and themselves.

    Objects that stand still or move as prescribed do not collide, nor bodies of one vehicle that are one rigid
    part or overlap at rest.
    """

    batch = 1

    def __init__(self) -> None:
        """Prepare for one world, which `load` builds."""
        self.t, self._resets = 0.0, 0
        self._points: ContactPoints | None = None  # of the last step, once they are asked for
        self.status = np.full(1, RUNNING, dtype=np.int64)

    def load(self, world: World, assemblies: Sequence[Assembly], x: Array | None = None) -> None:
        """Build the world; without states, every vehicle rests at the origin."""
        self._assemblies = tuple(assemblies)
        self._made = build(world, self._assemblies)
        self._model, self._data = self._made.model, mj.MjData(self._made.model)
        self._seen_from = mj.MjData(self._made.model)
        self._bonds = Bonds(self._model, self._data)
        self._passing = PassingPairs(self._model)
        self._objects = Objects.of(world, self._made)
        self._latches = Latches.of(world, self._model, self._made.objects, self.batch)
        self._tree = Tree.of(assemblies, self._model, self._made.bodies)
        self._resisting = resisting_joints(assemblies)
        self.arms = arm_motors(assemblies)
        self._arms = {
            k: DrivenArm(self._model, self._data, self._made.arms[k], motors)
            for k, motors in self.arms.items()
        }
        self._x = at_rest(self._assemblies)[None]
        self._wrenches = np.zeros((1, len(self._made.bodies), 6))
        self._qpos, self._qvel = self._data.qpos, self._data.qvel
        self._loads = self._data.xfrc_applied
        self._rows = np.array(self._made.bodies)
        self._set_step(FIRST_STEP)
        self.reset(self._x.copy() if x is None else x)

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Start anew from states (1, bodies, 13); joints added in flight are gone."""
        if not len(world_indices(worlds, self.batch)):
            return
        self._x[:] = check_start(self._assemblies, x, self.batch)
        self.status[:] = RUNNING
        mj.mj_resetData(self._model, self._data)
        self._tree.put(self._x[0], self._qpos, self._qvel)
        for arm in self._arms.values():
            arm.reset()
        self._bonds.hold(())
        self._passing.hold(frozenset())
        self._wrenches[:] = 0.0
        self.t, self._resets = 0.0, self._resets + 1
        self._objects.prescribe(self._qpos, self._qvel, self.t, self._dt)
        self._detect()

    def snapshot(self) -> MuJoCoSnapshot:
        """Time, states and MuJoCo's own state; a run goes on from it bit for bit, in contact too."""
        state = np.empty(mj.mj_stateSize(self._model, STATE))
        mj.mj_getState(self._model, self._data, state, STATE)
        added = (self._bonds.held, self._passing.pairs)
        arms = {k: motors.held for k, motors in self.arms.items()}
        return MuJoCoSnapshot(
            self._made, *added, self._resets, self.t, self._x.copy(), arms, state
        )

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot."""
        here = (self._made, self._resets)
        if not isinstance(snapshot, MuJoCoSnapshot) or (snapshot.made, snapshot.resets) != here:
            raise IapError("restore: the snapshot is not of this engine since its last reset")
        self._bonds.hold(snapshot.joints)
        self._passing.hold(snapshot.passing)
        mj.mj_setState(self._model, self._data, snapshot.state, STATE)
        self.t = snapshot.t
        self.status[:] = RUNNING
        self._x[:] = snapshot.x
        for k, held in snapshot.arms.items():
            self.arms[k].held = held
        self._wrenches[:] = 0.0
        self._detect()

    def apply(self, wrenches_W: Array) -> None:
        """Set the wrenches (1, bodies, 6) of the next step."""
        self._wrenches[:] = wrenches_W

    def step(self, dt: float) -> None:
        """Advance by `dt` [s]."""
        if dt != self._dt:
            self._set_step(dt)
        self._objects.prescribe(self._qpos, self._qvel, self.t, self._dt)
        for joints in self._resisting:
            resist(self._x, self._wrenches, joints, dt, self.status)
        if not np.isfinite(self._wrenches).all():
            row = int(np.argwhere(~np.isfinite(self._wrenches[0]))[0, 0])
            self._fail(f"the wrench on '{self._name(row)}' is not finite")
        self._loads[self._rows] = self._wrenches[0]
        self._wrenches[:] = 0.0
        for arm in self._arms.values():
            arm.push()
        push_latches(self._latches, 0, self._qpos, self._qvel, self._data.qfrc_applied)
        if self._bonds:
            self._bonds.step()
        else:
            step(self._model, self._data)
        self.t += dt
        self._has_forces, self._points = True, None
        for arm in self._arms.values():
            arm.read()
        failed = read_states(self._tree, self._qpos, self._qvel, self._x[0])
        if failed >= 0:
            self._fail(f"the state of '{self._name(failed)}' is not finite or beyond {BOUND:g}")

    def state(self) -> Array:
        """(1, bodies, 13) the present states."""
        return self._x

    def contacts(self) -> list[Contact]:
        """Contact points of the last step."""
        return self._contact_points().listed(self._made)

    def contact_wrench(self, row: int) -> Array:
        """(6,) wrench of the last step's contacts on a body about its CoM."""
        if not self._data.ncon or not self._has_forces:
            return np.zeros(6)
        body = self._made.bodies[row]
        return self._contact_points().wrench_on(self._made, row, self._data.xipos[body])

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of the world's objects."""
        return self._objects.states(self._qpos, self._qvel, self.t)

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray at its first hit."""
        self._seen_from.qpos[:] = self._qpos  # contacts are still those of the last step
        return cast(self._model, self._seen_from, starts_W, ends_W, world_only=world_only)

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
        """Join two bodies, or a body and the world, by a joint that yields to more than `max_force` [N]."""
        rows = (body_a, body_b)
        joint = AddedJoint.of(self._x[0], rows, (p_AJ_A, p_BJ_B), type, max_force, q_AB)
        first, second = (0 if row == WORLD else self._made.bodies[row] for row in rows)
        return self._bonds.add((first, second), joint)

    def remove_joint(self, handle: int) -> None:
        """Undo `add_joint`."""
        self._bonds.remove(handle)

    def let_pass(self, body_a: int, body_b: int, *, passes: bool) -> None:
        """Let two bodies go through each other, or touch again."""
        a, b = (self._made.bodies[row] for row in (body_a, body_b))
        self._passing.let((a, b), passes=passes)

    def joint_wrench(self, handle: int) -> Array:
        """(6,) what a joint added in flight bore in the last step."""
        return self._bonds.wrench(handle)

    def grip(
        self,
        item: int,
        vehicle: int,
        p_OJ_O: Array,
        p_LJ_L: Array,
        q_OL: Array,
        max_force: float,
    ) -> int:
        """Fix an object to the last link of an arm."""
        codes = (OBJECT - item, LAST_LINK - vehicle)
        place = p_OJ_O - self._made.centers[item]
        joint = AddedJoint(codes, place, p_LJ_L, q_OL, "fixed", max_force)
        return self._bonds.add((self._made.objects[item], self._made.arms[vehicle][-1]), joint)

    def put_arm(self, vehicle: int, q: Array, v: Array) -> None:
        """Set an arm's joint coordinates and velocities, (n,) each."""
        motors = self.arms[vehicle]
        motors.q[:], motors.v[:] = q, v
        self._arms[vehicle].put()
        self._detect()

    def close(self) -> None:
        """Nothing is held but memory."""

    def _set_step(self, dt: float) -> None:
        self._made.set_step(dt)
        self._dt = dt

    def _detect(self) -> None:
        """Find what touches here, before a step tells with which force."""
        mj.mj_fwdPosition(self._model, self._data)
        self._has_forces = False
        self._points = None

    def _contact_points(self) -> ContactPoints:
        if self._points is None:
            self._points = ContactPoints.of(self._made, self._data, has_forces=self._has_forces)
        return self._points

    def _fail(self, reason: str) -> NoReturn:
        self.status[:] = DIVERGED
        raise FlightFailed("diverged", self.t, reason)

    def _name(self, row: int) -> str:
        return body_names(self._assemblies)[row]

# SPDX-License-Identifier: BSD-3-Clause
"""Multi-body dynamics with contact by PyBullet.

What was found out about PyBullet 3.2.7 and is relied on here:

- Link states, velocities too, are those of the last forward kinematics, and a force's point of
  application is taken relative to them. So every read asks for forward kinematics; then they are
  exact.
- Link states 0 and 1, position of the CoM and attitude of the principal axes, are doubles; 4 and
  5, the link's frame, pass through single precision. So the principal axes are turned back here.
- Its integrator is semi-implicit Euler, of first order: velocities lag by half a step.
"""

import math
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from struct import Struct
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.errors import FlightFailed, IapError
from iap_description.process.native_output import native_output_to
from iap_description.states import P, Q
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
    AddedJoint,
    Contact,
    Engine,
    world_indices,
)
from iap_physics.engines.joint_resistance import resist, resisting_joints
from iap_physics.engines.joints import at_rest, body_names, check_start
from iap_physics.engines.pybullet import hinges
from iap_physics.engines.pybullet.added_joints import (
    AddedJoints,
    CollisionFilter,
    KeptJoints,
    PassingPairs,
)
from iap_physics.engines.pybullet.arms import LoadedArms
from iap_physics.engines.pybullet.client import STDERR, bullet, connect, shut_down
from iap_physics.engines.pybullet.contact import StepContacts
from iap_physics.engines.pybullet.native import LOST, NativeWorld, native_world, settle, step_world
from iap_physics.engines.pybullet.objects import models, prescribe, ray_cast, states
from iap_physics.engines.pybullet.world import (
    LoadedWorld,
    build,
    model,
    place,
    write_scene,
)

SPREAD_DISTANCE = 1e3  # [m] no two vehicles touch at this distance
FIRST_STEP = 1e-3  # that gives moving objects a velocity before the first step tells its own [s]


@dataclass(frozen=True)
class PyBulletSnapshot:
    """State for `restore` besides PyBullet's own, whose number is `state_id`."""

    loaded: LoadedWorld
    joints: KeptJoints
    passing: PassingPairs
    t: float
    x: Array
    arms: dict[int, Array]
    state_id: int


class PyBulletEngine(Engine):
    """One PyBullet world. Vehicles collide with the ground, the scene, objects, each other and themselves.

    Objects that stand still or move as prescribed do not collide, nor bodies of one vehicle that are one rigid
    part or overlap at rest.
    """

    batch = 1

    def __init__(self, *, view: bool = False) -> None:
        """Start PyBullet.

        Args:
            view: open PyBullet's window.

        Raises:
            BadInput: there is no display for the window.
        """
        self.t = 0.0
        self.status = np.full(1, RUNNING, dtype=np.int64)
        self.native: NativeWorld | None = None  # of compiled steps, until the next reset
        self._view = view
        with native_output_to(STDERR):
            self._client = connect(view=view)
        self._at = {"physicsClientId": self._client}
        self._files = tempfile.TemporaryDirectory(prefix="iap_")
        self._finalizer = weakref.finalize(self, shut_down, self._client, self._files)

    def load(self, world: World, assemblies: Sequence[Assembly], x: Array | None = None) -> None:
        """Build the world; without states, every vehicle rests at the origin."""
        self._world, self._assemblies = world, tuple(assemblies)
        for assembly, path in zip(assemblies, self._urdfs(), strict=True):
            folder = path.parent
            path.write_text(model(assembly, folder, visuals=self._view), encoding="utf-8")
        self._models = models(world, Path(self._files.name))
        self._items = [each.item for each in self._models]
        self._scene = write_scene(world, Path(self._files.name))
        self._resisting = resisting_joints(assemblies)
        self.arms = arm_motors(assemblies)
        rest = at_rest(self._assemblies)[None]
        self._x, self._raw = rest.copy(), np.zeros_like(rest[0])
        self._contacts = StepContacts(self._client, self._raw)
        doubles = Struct(
            f"={self._raw.size}d"
        )  # which fills an array twice as fast as numpy does from a list
        self._write_raw = partial(doubles.pack_into, memoryview(self._raw).cast("B"))
        self.reset(rest if x is None else x)

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Start anew from states (1, bodies, 13); joints added in flight are gone.

        The world is rebuilt: with contact caches and solver state there is no other way to equal a
        fresh run bit for bit.
        """
        if not len(world_indices(worlds, self.batch)):
            return
        self._x[:] = check_start(self._assemblies, x, self.batch)
        self.status[:] = RUNNING
        with native_output_to(STDERR):
            vehicles = list(zip(self._assemblies, self._urdfs(), strict=True))
            world = (self._world, vehicles, self._models, self._scene)
            self._loaded = build(self._client, *world, seen=self._view)
        self._joints = AddedJoints(self._client, self._loaded.handles, self._loaded.q_BC)
        self._passing = CollisionFilter(self._client, self._loaded.handles)
        self._arms = LoadedArms(self._client, self._loaded, self.arms, self._world.surface)
        self._place(self._x[0])
        self._loads = np.zeros((len(self._raw), 6))
        self.t, self._dt = 0.0, 0.0
        self.native = self._native()
        self._prescribe(FIRST_STEP)
        self._read()
        bullet.performCollisionDetection(**self._at)
        self._contacts.begin()

    def snapshot(self) -> PyBulletSnapshot:
        """Time, states and PyBullet's own saved state.

        In free flight a run goes on from it bit for bit. In contact it goes on closely only, since
        PyBullet does not save the contact caches of bodies with several shapes, but every time in
        the same way, see `restore`.
        """
        loaded, state_id = self._loaded, bullet.saveState(**self._at)
        added = (self._joints.held, self._passing.pairs)
        arms = {k: motors.held for k, motors in self.arms.items()}
        snapshot = PyBulletSnapshot(loaded, *added, self.t, self._x.copy(), arms, state_id)
        weakref.finalize(snapshot, self._forget, loaded, state_id).atexit = False
        return snapshot

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot.

        The vehicles are first taken out of each other's reach, their joints as at rest: what remains of contacts would
        else depend on what was flown since the snapshot.
        """
        if not isinstance(snapshot, PyBulletSnapshot) or snapshot.loaded is not self._loaded:
            raise IapError("restore: the snapshot is not of this engine since its last reset")
        self._joints.hold(())
        self._place(at_rest(self._assemblies), spread=SPREAD_DISTANCE)
        bullet.performCollisionDetection(**self._at)
        bullet.restoreState(stateId=snapshot.state_id, **self._at)
        self._joints.hold(snapshot.joints)
        self._passing.hold(snapshot.passing)
        self.t = snapshot.t
        self.status[:] = RUNNING
        self._x[:] = snapshot.x
        for k, held in snapshot.arms.items():
            self.arms[k].held = held
        self._loads[:] = 0.0
        self._read()
        self._contacts.begin()

    def apply(self, wrenches_W: Array) -> None:
        """Set the wrenches (1, bodies, 6) of the next step."""
        self._loads[:] = wrenches_W[0]

    def step(self, dt: float) -> None:
        """Advance by `dt` [s]."""
        self.begin(dt)
        if self.native is not None:
            failed = step_world(self.native, self._loads, self._x[0])
            self._loads[:] = 0.0
            self.end(1, failed)
            return
        self._prescribe(dt)
        self._resist(dt)
        self._push()
        self._arms.push()
        hinges.push(self._client, self._world.objects, self._loaded.objects)
        bullet.stepSimulation(self._client)
        self.t += dt
        self._contacts.begin()
        self._read()

    def begin(self, dt: float) -> None:
        """Make ready for steps of `dt` [s]."""
        if dt != self._dt:
            bullet.setTimeStep(dt, **self._at)
            self._dt = dt
            self._joints.limit()
            hinges.rub(self._client, self._items, self._loaded.objects)

    def end(self, steps: int, failed: int) -> None:
        """Take note of steps in compiled code, of which the last one returned `failed`, see `native.step_world`.

        Raises:
            FlightFailed: a wrench or a state was none of a flight.
        """
        rows = len(self._raw)
        for _ in range(steps - (0 <= failed < rows)):  # which was not made
            self.t += self._dt
        self._contacts.forget()
        if failed == LOST:
            raise IapError("PyBullet does not know its own body")
        if failed >= rows:
            self._fail_state(failed - rows)
        if failed >= 0:
            self._fail_wrench(failed)

    def state(self) -> Array:
        """(1, bodies, 13) the present states."""
        return self._x

    def contacts(self) -> list[Contact]:
        """Contact points of the last step, with force 0 those that are only about to touch."""
        return self._contacts.listed(self._loaded.rows)

    def contact_wrench(self, row: int) -> Array:
        """(6,) wrench of the last step's contacts on a body about its CoM."""
        return self._contacts.wrench(row, self._loaded.rows)

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of the world's objects."""
        pairs = list(zip(self._models, self._loaded.objects, strict=True))
        rows = states(self._client, pairs, self.t)
        self._world.carry(rows)
        return rows

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray at its first hit."""
        return ray_cast(self._client, starts_W, ends_W, world_only=world_only)

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
        """Join two bodies, or a body and the world; along each world axis the joint yields to more than `max_force`."""
        bodies, places = (body_a, body_b), (p_AJ_A, p_BJ_B)
        return self._joints.add(AddedJoint.of(self._x[0], bodies, places, type, max_force, q_AB))

    def remove_joint(self, handle: int) -> None:
        """Undo `add_joint`."""
        self._joints.remove(handle)

    def let_pass(self, body_a: int, body_b: int, *, passes: bool) -> None:
        """Let two bodies go through each other, or touch again."""
        self._passing.let((body_a, body_b), passes=passes)

    def joint_wrench(self, handle: int) -> Array:
        """(6,) what a joint added in flight bore in the last step."""
        a = self._joints.body_a(handle)
        row = self._x[0, a] if a >= 0 else self.object_states()[OBJECT - a]
        return self._joints.wrench(handle, row[Q])

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
        bodies = (OBJECT - item, LAST_LINK - vehicle)
        model = self._models[item]
        object_handle = self._loaded.objects[item]
        self._joints.others[bodies[0]] = (object_handle, model.p_OC_O, model.q_OC)
        link = (self._loaded.vehicles[vehicle].body, self._arms.last_link(vehicle))
        _, _, _, p_LC, q_LC = bullet.getDynamicsInfo(*link, **self._at)[:5]
        self._joints.others[bodies[1]] = (link, np.array(p_LC), np.array(q_LC))
        return self._joints.add(AddedJoint(bodies, p_OJ_O, p_LJ_L, q_OL, "fixed", max_force))

    def put_arm(self, vehicle: int, q: Array, v: Array) -> None:
        """Set an arm's joint coordinates and velocities, (n,) each."""
        motors = self.arms[vehicle]
        motors.q[:], motors.v[:] = q, v
        self._arms.put(vehicle)
        self._read()

    def close(self) -> None:
        """End PyBullet."""
        self._finalizer()

    def _urdfs(self) -> list[Path]:
        return [Path(self._files.name) / f"{i}.urdf" for i in range(len(self._assemblies))]

    def _place(self, x: Array, spread: float = 0.0) -> None:
        """Set every vehicle's states (bodies, 13), moved up and apart by `spread` [m]."""
        first = 0
        for k, vehicle in enumerate(self._loaded.vehicles):
            rows = slice(first, first + 1 + len(vehicle.links))
            shifted = x[rows].copy()
            shifted[:, P] += spread * np.array([k, 0.0, 1.0])
            place(self._client, vehicle, shifted, self._loaded.q_BC[rows])
            first = rows.stop

    def _prescribe(self, dt: float) -> None:
        for each, (body, _) in zip(self._models, self._loaded.objects, strict=True):
            prescribe(self._client, body, each.item, self.t, dt)

    def _native(self) -> NativeWorld | None:
        """The world for compiled code; None where more acts in a step than wrenches, or PyBullet tells too little."""
        is_driven = any(each.motion is not None or each.hinge is not None for each in self._items)
        if self.arms or self._resisting or is_driven:
            return None
        return native_world(self._client, self._loaded, self._raw, self._contacts.acted_at)

    def _resist(self, dt: float) -> None:
        """Add the torques of joints that resist to the loads."""
        for joints in self._resisting:
            resist(self._x, self._loads[None], joints, dt, self.status)

    def _push(self) -> None:
        """Hand the loads over; PyBullet would take NaN, print, and go on."""
        client, frame = self._client, bullet.WORLD_FRAME
        places = self._raw[:, P].tolist()
        for row, (x, y, z, tx, ty, tz) in enumerate(self._loads.tolist()):
            if not math.isfinite(x + y + z + tx + ty + tz):
                self._fail_wrench(row)
            body, link = self._loaded.handles[row]
            if x or y or z:
                bullet.applyExternalForce(body, link, (x, y, z), places[row], frame, client)
            if tx or ty or tz:
                bullet.applyExternalTorque(body, link, (tx, ty, tz), frame, client)
        self._loads[:] = 0.0

    def _read(self) -> None:
        client, numbers = self._client, []
        self._contacts.forget()
        for vehicle in self._loaded.vehicles:
            body, links = vehicle.body, vehicle.links
            p, q = bullet.getBasePositionAndOrientation(body, client)
            v, w = bullet.getBaseVelocity(body, client)
            numbers += p + q + v + w
            if links:
                for link in bullet.getLinkStates(body, links, 1, 1, client):
                    numbers += link[0] + link[1] + link[6] + link[7]
        self._arms.read()
        self._write_raw(0, *numbers)
        failed = settle(self._raw, self._loaded.q_BC, self._x[0])
        if failed >= 0:
            self._fail_state(failed)

    def _fail_wrench(self, row: int) -> NoReturn:
        self._fail(f"the wrench on '{self._name(row)}' is not finite")

    def _fail_state(self, row: int) -> NoReturn:
        self._fail(f"the state of '{self._name(row)}' is not finite or beyond {BOUND:g}")

    def _fail(self, reason: str) -> NoReturn:
        self.status[:] = DIVERGED
        raise FlightFailed("diverged", self.t, reason)

    def _name(self, row: int) -> str:
        return body_names(self._assemblies)[row]

    def _forget(self, loaded: LoadedWorld, state_id: int) -> None:
        """Free a snapshot's memory in PyBullet, unless its world is gone already."""
        if loaded is self._loaded and self._finalizer.alive:
            bullet.removeState(state_id, **self._at)

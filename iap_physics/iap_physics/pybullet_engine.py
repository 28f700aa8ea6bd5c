# SPDX-License-Identifier: BSD-3-Clause
"""Multi-body dynamics with contact by PyBullet; the only module that imports it.

What was found out about PyBullet 3.2.7 and is relied on here:

- It prints, in C, to standard error when imported and to standard output when something is amiss with a model: the
  first is dropped and the second sent to standard error, see `native_output`.
- Link states are those of the last forward kinematics, for velocities too, and a force's point of application is compared with
  them: every read asks for forward kinematics, after which positions and velocities are exact.
- Link states 0 and 1, CoM position and attitude of the principal axes, are doubles; 4 and 5, the link's frame, pass
  through single precision. So the principal axes are turned back here.
- Links on fixed joints remain bodies of their own unless URDF_MERGE_FIXED_LINKS asks otherwise.
- Spherical joints and bodies have a motor and damping by default: all switched off.
"""

import math
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description import so3
from iap_description.assembly import Assembly
from iap_description.errors import FlightFailed, IapError
from iap_description.kernels import Quat, put, put4, qconj, qmul, quat, vec
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.urdf import urdf_text
from iap_description.world import World
from iap_physics.engine import WORLD, Contact, Engine
from iap_physics.joints import at_rest, check_start
from iap_physics.native_output import native_output_discarded, native_output_to

with native_output_discarded():
    import pybullet as bullet

Array = NDArray[np.float64]

SPEED_LIMIT = 1000.0  # of every coordinate [m/s, rad/s]; PyBullet's own is 100
FAR = 1e6  # a coordinate beyond this means divergence [m, m/s, rad/s]
JOINT_FORCE = 1e5  # that a joint added in flight can bear [N]
RAYS = 16384  # PyBullet's most rays per call
STDERR = 2


@dataclass(frozen=True)
class _Vehicle:
    """A loaded assembly: PyBullet's body, its first state row, and its links in the order of the rows."""

    assembly: Assembly
    body: int
    first: int
    links: tuple[int, ...]


@dataclass
class _Built:
    """The world as loaded.

    Attributes:
        vehicles: in the order of the state rows.
        handles: (body, link) of every row; link -1 is the base.
        rows: the inverse of `handles`.
        q_BC: (bodies, 4) attitude of each body's principal axes in the body.
        joints: handles of the joints added in flight.
    """

    vehicles: list[_Vehicle]
    handles: list[tuple[int, int]]
    rows: dict[tuple[int, int], int]
    q_BC: Array
    joints: set[int]


@dataclass(frozen=True)
class _Snapshot:
    built: _Built
    joints: frozenset[int]
    t: float
    x: Array
    state_id: int


@njit(cache=True)
def settle(raw: Array, q_BC: Array, x: Array) -> int:
    """Take over PyBullet's rows (bodies, 13), which give the attitude of the principal axes C.

    Quaternions keep the sign of the rows `x` they replace, so that they are continuous in time.

    Returns:
        The first body whose row is not finite or is out of all bounds, or -1.
    """
    failed = -1
    for i in range(x.shape[0]):
        row = raw[i]
        q: Quat = qmul(quat(row[3:7]), qconj(quat(q_BC[i])))
        if q[0] * x[i, 3] + q[1] * x[i, 4] + q[2] * x[i, 5] + q[3] * x[i, 6] < 0.0:
            q = (-q[0], -q[1], -q[2], -q[3])
        put(x[i, 0:3], vec(row[0:3]))
        put4(x[i, 3:7], q)
        put(x[i, 7:10], vec(row[7:10]))
        put(x[i, 10:13], vec(row[10:13]))
        for k in range(13):
            if not abs(x[i, k]) < FAR and failed < 0:
                failed = i
    return failed


class PyBulletEngine(Engine):
    """One PyBullet world. Bodies of one vehicle do not collide with each other; vehicles and the ground do."""

    batch = 1

    def __init__(self, *, view: bool = False, solver_iterations: int = 50) -> None:
        """Start PyBullet.

        Args:
            view: open PyBullet's window.
            solver_iterations: of the contact and constraint solver, per step.

        Raises:
            IapError: no window could be opened.
        """
        self.t = 0.0
        self._solver_iterations = solver_iterations
        with native_output_to(STDERR):
            self._client = bullet.connect(bullet.GUI if view else bullet.DIRECT)
        if self._client < 0:
            raise IapError("PyBullet cannot open its window: is there a display?")
        if view:
            bullet.configureDebugVisualizer(bullet.COV_ENABLE_GUI, 0, physicsClientId=self._client)
        self._files = tempfile.TemporaryDirectory(prefix="iap_")
        self._finalizer = weakref.finalize(self, _shut_down, self._client, self._files)

    def load(self, world: World, assemblies: Sequence[Assembly]) -> None:
        """Build the world; every vehicle rests at the origin."""
        self._world, self._assemblies = world, tuple(assemblies)
        for i, assembly in enumerate(self._assemblies):
            text = urdf_text(assembly, target="bullet")
            (Path(self._files.name) / f"{i}.urdf").write_text(text, encoding="utf-8")
        self.reset(at_rest(self._assemblies)[None])

    def reset(self, x: Array) -> None:
        """Start anew from states (1, bodies, 13); joints added in flight are gone.

        The world is rebuilt: contact caches and solver state leave no other way to equal a fresh run bit for bit.
        """
        x = check_start(self._assemblies, x, self.batch)
        with native_output_to(STDERR):
            self._built = self._build()
        self._x = x
        self._raw = np.zeros_like(x[0])
        for vehicle in self._built.vehicles:
            self._place(vehicle, x[0])
        self._loads: list[list[float]] = []
        self.t, self._dt = 0.0, 0.0
        self._read()

    def snapshot(self) -> _Snapshot:
        """Time, states and PyBullet's own saved state."""
        built = self._built
        state_id = bullet.saveState(physicsClientId=self._client)
        snapshot = _Snapshot(built, frozenset(built.joints), self.t, self._x.copy(), state_id)
        weakref.finalize(snapshot, self._forget, built, state_id).atexit = False
        return snapshot

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot."""
        built = self._built
        if not isinstance(snapshot, _Snapshot) or snapshot.built is not built or snapshot.joints != built.joints:
            raise IapError("restore: the snapshot is of another world, or joints were added or removed since")
        bullet.restoreState(stateId=snapshot.state_id, physicsClientId=self._client)
        self.t = snapshot.t
        self._x[:] = snapshot.x
        self._loads = []
        self._read()

    def apply(self, wrenches_W: Array) -> None:
        """Set the wrenches (1, bodies, 6) of the next step."""
        self._loads = wrenches_W[0].tolist()

    def step(self, dt: float) -> None:
        """Advance by `dt` [s]."""
        if dt != self._dt:
            bullet.setTimeStep(dt, self._client)
            self._dt = dt
        self._push()
        bullet.stepSimulation(self._client)
        self.t += dt
        self._read()

    def state(self) -> Array:
        """(1, bodies, 13) the present states."""
        return self._x

    def contacts(self) -> list[Contact]:
        """Contact points of the last step, also those within PyBullet's margin that do not touch (force 0)."""
        return [self._contact(point) for point in bullet.getContactPoints(physicsClientId=self._client)]

    def ray_cast(self, starts_W: Array, ends_W: Array) -> Array:
        """Fraction (rays,) of each ray at its first hit."""
        starts, ends = np.asarray(starts_W).tolist(), np.asarray(ends_W).tolist()
        hits: list[float] = []
        for i in range(0, len(starts), RAYS):
            chunk = slice(i, i + RAYS)
            hits += [ray[2] for ray in bullet.rayTestBatch(starts[chunk], ends[chunk], physicsClientId=self._client)]
        return np.array(hits)

    def add_joint(self, body_a: int, body_b: int, p_AJ_A: Array, p_BJ_B: Array) -> int:
        """Join two bodies, or a body and the world, by a spherical joint."""
        joint = bullet.createConstraint(
            *self._built.handles[body_a],
            *(self._built.handles[body_b] if body_b != WORLD else (-1, -1)),
            bullet.JOINT_POINT2POINT,
            [0.0, 0.0, 0.0],
            self._in_principal_axes(body_a, p_AJ_A),
            self._in_principal_axes(body_b, p_BJ_B) if body_b != WORLD else list(p_BJ_B),
            physicsClientId=self._client,
        )
        bullet.changeConstraint(joint, maxForce=JOINT_FORCE, physicsClientId=self._client)
        self._built.joints.add(joint)
        return joint

    def remove_joint(self, handle: int) -> None:
        """Undo `add_joint`."""
        if handle not in self._built.joints:
            raise IapError(f"remove_joint: there is no joint {handle}")
        bullet.removeConstraint(handle, physicsClientId=self._client)
        self._built.joints.discard(handle)

    def close(self) -> None:
        """End PyBullet."""
        self._finalizer()

    def _build(self) -> _Built:
        client, world = self._client, self._world
        bullet.resetSimulation(physicsClientId=client)
        bullet.setPhysicsEngineParameter(
            deterministicOverlappingPairs=1,
            numSolverIterations=self._solver_iterations,
            enableFileCaching=0,
            physicsClientId=client,
        )
        bullet.setGravity(0.0, 0.0, -world.gravity, physicsClientId=client)
        if world.ground:
            plane = bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=[0, 0, 1], physicsClientId=client)
            self._set_surface(bullet.createMultiBody(0.0, plane, physicsClientId=client), -1)
        built = _Built([], [], {}, np.zeros((0, 4)), set())
        for i, assembly in enumerate(self._assemblies):
            vehicle = self._load_vehicle(assembly, Path(self._files.name) / f"{i}.urdf", len(built.handles))
            built.vehicles.append(vehicle)
            built.handles += [(vehicle.body, link) for link in (-1, *vehicle.links)]
        built.rows = {handle: row for row, handle in enumerate(built.handles)}
        frames = [bullet.getDynamicsInfo(body, link, client)[4] for body, link in built.handles]
        built.q_BC = np.array(frames).reshape(-1, 4)
        return built

    def _load_vehicle(self, assembly: Assembly, urdf: Path, first: int) -> _Vehicle:
        client = self._client
        body = bullet.loadURDF(str(urdf), flags=bullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client)
        count = bullet.getNumJoints(body, client)
        link_of = {bullet.getJointInfo(body, link, client)[12].decode(): link for link in range(count)}
        links = tuple(link_of[other.name] for other in assembly.bodies[1:])
        for link in (-1, *links):
            bullet.changeDynamics(body, link, linearDamping=0.0, angularDamping=0.0, physicsClientId=client)
            bullet.changeDynamics(body, link, jointDamping=0.0, maxJointVelocity=SPEED_LIMIT, physicsClientId=client)
            self._set_surface(body, link)
        for joint in assembly.joints:
            if joint.type == "spherical":
                self._release_motor(body, links[joint.child - 1])
        return _Vehicle(assembly, body, first, links)

    def _release_motor(self, body: int, link: int) -> None:
        bullet.setJointMotorControlMultiDof(
            body,
            link,
            bullet.POSITION_CONTROL,
            targetPosition=[0.0, 0.0, 0.0, 1.0],
            positionGain=0.0,
            velocityGain=0.0,
            force=[0.0, 0.0, 0.0],
            physicsClientId=self._client,
        )

    def _set_surface(self, body: int, link: int) -> None:
        """PyBullet multiplies the coefficients of the two bodies in contact, so each gets the root."""
        surface = self._world.surface
        friction, restitution = math.sqrt(surface.friction), math.sqrt(surface.restitution)
        bullet.changeDynamics(
            body, link, lateralFriction=friction, restitution=restitution, physicsClientId=self._client
        )

    def _place(self, vehicle: _Vehicle, x: Array) -> None:
        """Set a vehicle's states: the base in world axes, each joint relative to its rest position, in the child's axes."""
        body, client, q_BC = vehicle.body, self._client, self._built.q_BC[vehicle.first :]
        rows = x[vehicle.first : vehicle.first + len(vehicle.assembly.bodies)]
        q_WC = so3.multiply(rows[:, Q], q_BC[: len(rows)])
        bullet.resetBasePositionAndOrientation(body, rows[0, P], q_WC[0], client)
        bullet.resetBaseVelocity(body, rows[0, V], rows[0, W], client)
        for joint in vehicle.assembly.joints:
            if joint.type != "spherical":
                continue
            a, b = joint.parent, joint.child
            q_rest = so3.multiply(so3.conjugate(q_BC[a]), so3.multiply(joint.q_PJ, q_BC[b]))
            q = so3.multiply(so3.conjugate(q_rest), so3.multiply(so3.conjugate(q_WC[a]), q_WC[b]))
            w = so3.rotate(so3.conjugate(q_WC[b]), rows[b, W] - rows[a, W])
            link = vehicle.links[b - 1]
            bullet.resetJointStateMultiDof(body, link, targetValue=q, targetVelocity=w, physicsClientId=client)

    def _push(self) -> None:
        """Hand the loads over; a load that is not finite would make PyBullet print and go on with NaN."""
        client, flag = self._client, bullet.WORLD_FRAME
        for row, (x, y, z, tx, ty, tz) in enumerate(self._loads):
            if not math.isfinite(x + y + z + tx + ty + tz):
                raise FlightFailed("diverged", self.t, f"the wrench on {self._name(row)} is not finite")
            body, link = self._built.handles[row]
            if x or y or z:
                bullet.applyExternalForce(body, link, (x, y, z), self._places[row], flag, client)
            if tx or ty or tz:
                bullet.applyExternalTorque(body, link, (tx, ty, tz), flag, client)
        self._loads = []

    def _read(self) -> None:
        client, places = self._client, []
        flat: list[float] = []
        for vehicle in self._built.vehicles:
            p, q = bullet.getBasePositionAndOrientation(vehicle.body, client)
            v, w = bullet.getBaseVelocity(vehicle.body, client)
            places.append(p)
            flat += p + q + v + w
            if vehicle.links:
                for link in bullet.getLinkStates(vehicle.body, vehicle.links, 1, 1, client):
                    places.append(link[0])
                    flat += link[0] + link[1] + link[6] + link[7]
        self._places = places
        self._raw.reshape(-1)[:] = flat
        failed = settle(self._raw, self._built.q_BC, self._x[0])
        if failed >= 0:
            raise FlightFailed("diverged", self.t, f"the state of {self._name(failed)} is not finite or out of bounds")

    def _name(self, row: int) -> str:
        vehicle = [vehicle for vehicle in self._built.vehicles if vehicle.first <= row][-1]
        return f"'{vehicle.assembly.name}/{vehicle.assembly.bodies[row - vehicle.first].name}'"

    def _contact(self, point: tuple) -> Contact:
        _, body_a, body_b, link_a, link_b, on_a, _, normal, distance, push, slip_1, along_1, slip_2, along_2 = point
        force = push * np.array(normal) + slip_1 * np.array(along_1) + slip_2 * np.array(along_2)
        a = self._built.rows.get((body_a, link_a), WORLD)
        b = self._built.rows.get((body_b, link_b), WORLD)
        return Contact(a, b, on_a, normal, distance, tuple(force.tolist()))

    def _in_principal_axes(self, row: int, p_B: Array) -> list[float]:
        return so3.rotate(so3.conjugate(self._built.q_BC[row]), p_B).tolist()

    def _forget(self, built: _Built, state_id: int) -> None:
        """Free a snapshot's memory in PyBullet, unless its world is gone already."""
        if built is self._built and self._finalizer.alive:
            bullet.removeState(state_id, physicsClientId=self._client)


def _shut_down(client: int, files: tempfile.TemporaryDirectory) -> None:
    with native_output_to(STDERR):
        bullet.disconnect(client)
    files.cleanup()

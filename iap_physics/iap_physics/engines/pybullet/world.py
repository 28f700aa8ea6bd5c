# SPDX-License-Identifier: BSD-3-Clause
"""Builds worlds in PyBullet.

Spherical joints have a motor and bodies have damping by default: both are switched off. Links on
fixed joints stay bodies of their own unless URDF_MERGE_FIXED_LINKS is given. Links of one body pass
through each other unless URDF_USE_SELF_COLLISION is given, and a link through its parent unless
URDF_USE_SELF_COLLISION_INCLUDE_PARENT is given as well.

The scene is one body of triangles, for this reason, found with PyBullet 3.2.7: to the broad phase all of the scene is
one box, in which vehicles always are. With a compound of convex shapes each step then takes 16 us
longer even for a single sphere, with a surface of triangles 6 us for a platform with three aircraft;
and rays hit the surface exactly, several times faster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Surface
from iap_description.geometry.solids import triangles
from iap_description.geometry.tessellation import joined, mesh
from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly, Joint
from iap_description.vehicles.joint_motion import joint_coordinates
from iap_description.vehicles.urdf import urdf_of
from iap_description.world.world import World
from iap_physics.engines.engine import OBJECT
from iap_physics.engines.joints import check_joint_types
from iap_physics.engines.pybullet.client import MARGIN, SPEED_LIMIT, Handle, bullet, set_surface
from iap_physics.engines.pybullet.objects import ObjectModel, load, stl_bytes

CONTACT_GAP = 0.005  # gap of a contact point, in sizes of the smaller shape, by default 0.02
SOLVER_ITERATIONS = 50  # of the contact and constraint solver, per step
URDF_FLAGS = (
    bullet.URDF_USE_INERTIA_FROM_FILE
    | bullet.URDF_USE_SELF_COLLISION
    | bullet.URDF_USE_SELF_COLLISION_INCLUDE_PARENT
)
GROUND_REACH, GROUND_DEPTH = 1000.0, 10.0  # half extents of the ground [m]


@dataclass(frozen=True)
class LoadedVehicle:
    """A loaded assembly: PyBullet's body, and its links in the order of the bodies after the base."""

    assembly: Assembly
    body: int
    links: tuple[int, ...]


@dataclass(frozen=True)
class LoadedWorld:
    """The world as loaded.

    Attributes:
        vehicles: one for each assembly.
        objects: PyBullet's body and link of each object of the world.
        handles: of every state row.
        rows: number of a body by its handle, as contacts give it.
        q_BC: (bodies, 4) attitude of each body's principal axes C in the body.
    """

    vehicles: list[LoadedVehicle]
    objects: list[Handle]
    handles: list[Handle]
    rows: dict[Handle, int]
    q_BC: Array


def model(assembly: Assembly, folder: Path, *, visuals: bool) -> str:
    """The URDF of an assembly, with a file in `folder` for each of its hulls.

    Visual shapes are kept on request only: unseen they take time, since PyBullet meshes each of them at every reset.
    """
    robot = urdf_of(assembly if visuals else assembly.without_visuals(), target="bullet")
    at_joint = {joint.child: joint.p_CJ_C for joint in assembly.joints}
    links = {link.get("name"): link for link in robot.iter("link")}
    for i, body in enumerate(assembly.bodies):
        link = links[body.name]
        hulls = [shape for shape in body.collision if shape.vertices is not None]
        for k, hull in enumerate(hulls):
            path = folder / f"{assembly.name}_{body.name}_{k}.stl"
            vertices, faces = triangles(hull)
            path.write_bytes(stl_bytes(vertices - at_joint.get(i, 0.0), faces))
            _add_hull(link, path)
    ElementTree.indent(robot)  # PyBullet reads lines of some thousand letters at most
    return ElementTree.tostring(robot, encoding="unicode")


def _add_hull(link: ElementTree.Element, path: Path) -> None:
    """Let a link be touched as the convex hull of a file's vertices."""
    collision = ElementTree.SubElement(link, "collision")
    geometry = ElementTree.SubElement(collision, "geometry")
    ElementTree.SubElement(geometry, "mesh", filename=str(path))


def build(
    client: int,
    world: World,
    vehicles: Sequence[tuple[Assembly, Path]],
    objects: Sequence[ObjectModel],
    scene: Path | None,
    *,
    seen: bool,
) -> LoadedWorld:
    """Empty PyBullet's world and load vehicles with their models, objects and the scene's file; `seen` in a window."""
    at = {"physicsClientId": client}
    bullet.resetSimulation(**at)
    bullet.setPhysicsEngineParameter(
        deterministicOverlappingPairs=1,
        numSolverIterations=SOLVER_ITERATIONS,
        enableFileCaching=0,
        contactBreakingThreshold=CONTACT_GAP,
        **at,
    )
    bullet.setGravity(0.0, 0.0, -world.gravity, **at)
    if world.has_ground:
        set_surface(client, (_add_ground(client), -1), world.surface)
    if scene is not None:
        add_scene(client, scene, world.surface)
    bodies = load(client, objects, seen=seen)
    loaded = [_load(client, assembly, urdf, world.surface) for assembly, urdf in vehicles]
    handles = [(each.body, link) for each in loaded for link in (-1, *each.links)]
    q_BC = [bullet.getDynamicsInfo(*handle, **at)[4] for handle in handles]
    rows = {handle: row for row, handle in enumerate(handles)}
    rows |= {handle: OBJECT - k for k, handle in enumerate(bodies)}
    return LoadedWorld(loaded, bodies, handles, rows, np.array(q_BC))


def write_scene(world: World, folder: Path) -> Path | None:
    """An OBJ file with all that can be touched of a world's scene; None if there is no such thing."""
    solids = () if world.scene is None else load_scene(world.scene).solids
    if not solids:
        return None
    vertices, _, faces = joined(mesh(solid) for solid in solids)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()]
    path = folder / "scene.obj"
    path.write_text("\n".join(["o scene", *lines, ""]), encoding="utf-8")
    return path


def add_scene(client: int, path: Path, surface: Surface) -> None:
    """Load a scene's file; contacts give its body as the world, as every body that has no row."""
    at = {"physicsClientId": client}
    flags = bullet.GEOM_FORCE_CONCAVE_TRIMESH
    shape = bullet.createCollisionShape(bullet.GEOM_MESH, fileName=str(path), flags=flags, **at)
    body = bullet.createMultiBody(0.0, shape, **at)
    bullet.changeDynamics(body, -1, collisionMargin=MARGIN, **at)
    set_surface(client, (body, -1), surface)


def _add_ground(client: int) -> int:
    """The ground, PyBullet's body: a block, because a plane is near everything and costs 4 us a step."""
    at = {"physicsClientId": client}
    half = [GROUND_REACH, GROUND_REACH, GROUND_DEPTH]
    shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=half, **at)
    return bullet.createMultiBody(0.0, shape, basePosition=[0.0, 0.0, -GROUND_DEPTH], **at)


def _load(client: int, assembly: Assembly, urdf: Path, surface: Surface) -> LoadedVehicle:
    check_joint_types(assembly, "pybullet", JOINTS, arms=True)
    at = {"physicsClientId": client}
    body = bullet.loadURDF(str(urdf), flags=URDF_FLAGS, **at)
    count = bullet.getNumJoints(body, **at)
    names = [bullet.getJointInfo(body, link, **at)[12].decode() for link in range(count)]
    links = tuple(names.index(part.name) for part in assembly.bodies[1:])
    undamped = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0}
    rigid = surface.model_copy(update={"stiffness": None, "damping": None})
    for link, part in zip((-1, *links), assembly.bodies, strict=True):
        bullet.changeDynamics(body, link, maxJointVelocity=SPEED_LIMIT, **undamped, **at)
        set_surface(client, (body, link), part.surface or rigid)
    bullet.changeDynamics(body, -1, collisionMargin=MARGIN, **at)  # of links it would do nothing
    _let_pass(client, body, (-1, *links), assembly)
    for joint in assembly.joints:
        JOINTS[joint.type].release(client, body, links[joint.child - 1])
    return LoadedVehicle(assembly, body, links)


def _let_pass(client: int, body: int, links: tuple[int, ...], assembly: Assembly) -> None:
    """Let pairs of a vehicle's bodies pass through each other that cannot move apart, or that overlap at rest.

    The second are neighbours whose shapes meet at their joint, which no motion of the joint would part.
    """
    at = {"physicsClientId": client}
    for a, b in combinations(range(len(links)), 2):
        pair = {"linkIndexA": links[a], "linkIndexB": links[b]}
        is_rigid = assembly.rigid_part[a] == assembly.rigid_part[b]
        if is_rigid or bullet.getClosestPoints(body, body, 0.0, **pair, **at):
            bullet.setCollisionFilterPair(body, body, links[a], links[b], 0, **at)


def _release_spherical(client: int, body: int, link: int) -> None:
    bullet.setJointMotorControlMultiDof(
        body,
        link,
        bullet.POSITION_CONTROL,
        targetPosition=[0.0, 0.0, 0.0, 1.0],
        positionGain=0.0,
        velocityGain=0.0,
        force=[0.0, 0.0, 0.0],
        physicsClientId=client,
    )


def place(client: int, vehicle: LoadedVehicle, x: Array, q_BC: Array) -> None:
    """Set a vehicle's states, rows (bodies, 13) that fit its joints.

    To PyBullet, a joint's attitude is that of the child's principal axes relative to where they are
    at rest, and its velocity is in the child's principal axes.
    """
    at = {"physicsClientId": client}
    q_WC = so3.multiply(x[:, Q], q_BC)
    bullet.resetBasePositionAndOrientation(vehicle.body, x[0, P], q_WC[0], **at)
    bullet.resetBaseVelocity(vehicle.body, x[0, V], x[0, W], **at)
    for joint in vehicle.assembly.joints:
        JOINTS[joint.type].place(client, vehicle, joint, x, q_BC)


def _place_spherical(
    client: int, vehicle: LoadedVehicle, joint: Joint, x: Array, q_BC: Array
) -> None:
    a, b = joint.parent, joint.child
    rest = so3.multiply(x[a, Q], so3.multiply(joint.q_PJ, q_BC[b]))
    q_WC = so3.multiply(x[b, Q], q_BC[b])
    bullet.resetJointStateMultiDof(
        vehicle.body,
        vehicle.links[b - 1],
        targetValue=so3.multiply(so3.conjugate(rest), q_WC),
        targetVelocity=so3.rotate(so3.conjugate(q_WC), x[b, W] - x[a, W]),
        physicsClientId=client,
    )


def _release_turning(client: int, body: int, link: int) -> None:
    bullet.setJointMotorControl2(
        body, link, bullet.VELOCITY_CONTROL, force=0.0, physicsClientId=client
    )


def _release_universal(client: int, body: int, link: int) -> None:
    for each in (link, _before(client, body, link)):
        _release_turning(client, body, each)
        bullet.changeDynamics(
            body,
            each,
            maxJointVelocity=SPEED_LIMIT,
            linearDamping=0.0,
            angularDamping=0.0,
            jointDamping=0.0,
            physicsClientId=client,
        )


def _before(client: int, body: int, link: int) -> int:
    """The link, without mass, between the two axes of a universal joint."""
    return int(bullet.getJointInfo(body, link, physicsClientId=client)[16])


def _place_turning(
    client: int, vehicle: LoadedVehicle, joint: Joint, x: Array, _q_BC: Array
) -> None:
    q, v = joint_coordinates(joint, x[joint.parent], x[joint.child])
    link = vehicle.links[joint.child - 1]
    links = (link,) if len(q) == 1 else (_before(client, vehicle.body, link), link)
    for each, angle, rate in zip(links, q.tolist(), v.tolist(), strict=True):
        bullet.resetJointState(vehicle.body, each, angle, rate, physicsClientId=client)


class _JointFunctions(NamedTuple):
    """Actions of PyBullet for a type of joint: an end to its default motor, and its state set."""

    release: Callable[[int, int, int], None]
    place: Callable[[int, LoadedVehicle, Joint, Array, Array], None]


def _nothing(*_: object) -> None:
    """There is nothing to do."""


JOINTS = {
    "spherical": _JointFunctions(_release_spherical, _place_spherical),
    "universal": _JointFunctions(_release_universal, _place_turning),
    "revolute": _JointFunctions(_release_turning, _place_turning),
    "fixed": _JointFunctions(_nothing, _nothing),
}

# SPDX-License-Identifier: BSD-3-Clause
"""The world's objects in PyBullet: one body each, with one compound shape.

What was found out about PyBullet 3.2.7 and is relied on here:

- createCollisionShapeArray takes 16 shapes at most, but an OBJ file with many groups ("o") becomes
  one compound with a convex hull for each; its numbers pass through single precision.
- A hull is rounded outwards by its margin, 1 mm by default, which changeDynamics(collisionMargin)
  sets for the hulls of a base; boxes and cylinders keep their size at any margin.
- A contact point costs the solver several microseconds, and there is one for each piece within
  centimetres. A gap is closed in one step at most, so that those far off can wait.
- A body without mass is moved by the velocity that it is given, and contacts feel that velocity.
- A body with mass gets the inertia of its bounding box; the right one is set afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import Bulk, triangles
from iap_description.math import euler, so3
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.world.objects import WorldObject
from iap_description.world.world import World
from iap_physics.engines.pybullet import hinges
from iap_physics.engines.pybullet.client import MARGIN, SPEED_LIMIT, Handle, bullet, set_surface

# Groups that rays are filtered by: PyBullet puts what has no mass in group 2 and all else in 1; free
# bodies are put in one more, so that those of vehicles alone are in neither. What turns about a hinge is in this one
# only, and meets what is in the first.
ANY, FREE = 1, 64
STANDING = 2 | FREE  # everything but vehicles
RAYS_PER_CALL = 16000  # PyBullet drops those beyond 16383
REACH = 0.002  # gap of a contact point up to which the solver takes it into account [m]


@dataclass(frozen=True)
class ObjectModel:
    """An object made ready to be loaded.

    Attributes:
        item: what it is.
        shape: arguments of createCollisionShape.
        p_OC_O: (3,) its CoM in its frame O; the origin for what does not move freely.
        q_OC: (4,) attitude of its principal axes C in O.
        moments: (3,) principal moments [kg m^2].
        carrier: number of the object that carries it, or None.
    """

    item: WorldObject
    shape: dict[str, Any]
    p_OC_O: Array
    q_OC: Array
    moments: Array
    carrier: int | None


def models(world: World, folder: Path) -> list[ObjectModel]:
    """Prepare a world's objects; what is made of triangles goes to files in `folder`."""
    carriers = dict(world.carried)
    return [
        _model(item, folder / f"object_{k}.obj", carriers.get(k))
        for k, item in enumerate(world.objects.values())
    ]


def load(client: int, made: Sequence[ObjectModel], *, seen: bool) -> list[Handle]:
    """Load objects where they stand at the start."""
    handles: dict[int, Handle] = {}
    for k, model in enumerate(made):
        if model.carrier is None:
            carried = [n for n, other in enumerate(made) if other.carrier == k]
            bodies = _make(client, model, [made[n] for n in carried])
            handles |= dict(zip([k, *carried], bodies, strict=True))
    for k, model in enumerate(made):
        _set_up(client, model, handles[k], seen=seen)
    return [handles[k] for k in range(len(made))]


def _set_up(client: int, model: ObjectModel, handle: Handle, *, seen: bool) -> None:
    at, item = {"physicsClientId": client}, model.item
    bullet.changeDynamics(
        *handle,
        linearDamping=0.0,
        angularDamping=0.0,
        maxJointVelocity=SPEED_LIMIT,
        collisionMargin=MARGIN,
        contactProcessingThreshold=REACH,
        **at,
    )
    if item.mass is not None:
        bullet.changeDynamics(*handle, localInertiaDiagonal=model.moments.tolist(), **at)
        groups = (ANY | FREE, -1) if item.is_free else (FREE, ANY)
        bullet.setCollisionFilterGroupMask(*handle, *groups, **at)
    set_surface(client, handle, item.surface)
    if seen:
        bullet.changeVisualShape(*handle, rgbaColor=item.color, **at)


def _leaf(client: int, model: ObjectModel) -> hinges.Leaf:
    assert model.item.hinge is not None  # noqa: S101 - as the caller has looked
    frame, shape = np.append(model.p_OC_O, model.q_OC), _shape_of(client, model)
    return hinges.Leaf(model.item, model.item.hinge, shape, frame)


def _shape_of(client: int, model: ObjectModel) -> int:
    return int(bullet.createCollisionShape(**model.shape, physicsClientId=client))


def _make(client: int, model: ObjectModel, carried: Sequence[ObjectModel]) -> list[Handle]:
    """Body and link of an object, and of those that it carries."""
    item = model.item
    if item.hinge is not None:
        return hinges.make(client, _leaf(client, model), [_leaf(client, each) for each in carried])
    shape = _shape_of(client, model)
    body = bullet.createMultiBody(
        item.mass or 0.0,
        shape,
        basePosition=item.position,
        baseOrientation=item.q_WO.tolist(),
        baseInertialFramePosition=model.p_OC_O.tolist(),
        baseInertialFrameOrientation=model.q_OC.tolist(),
        physicsClientId=client,
    )
    return [(body, -1)]


def prescribe(client: int, body: int, item: WorldObject, t: float, dt: float) -> None:
    """Place an object that moves as prescribed, with its mean velocity of the coming step."""
    if item.motion is None:
        return
    here, there = item.motion.at(t)[0], item.motion.at(t + dt)[0]
    at = {"physicsClientId": client}
    position = (here + item.position).tolist()
    bullet.resetBasePositionAndOrientation(body, position, item.q_WO.tolist(), **at)
    bullet.resetBaseVelocity(body, ((there - here) / dt).tolist(), [0.0, 0.0, 0.0], **at)


def states(client: int, loaded: Sequence[tuple[ObjectModel, Handle]], t: float) -> Array:
    """(objects, 13) state rows of the frames O."""
    rows = np.zeros((len(loaded), STATE_SIZE))
    for row, (model, handle) in zip(rows, loaded, strict=True):
        item = model.item
        if item.hinge is not None:
            row[:] = hinges.read(client, item, item.hinge, handle)
        elif item.mass is None:
            row[:] = item.row(t)
        else:
            _read(client, model, handle[0], row)
    return rows


def _read(client: int, model: ObjectModel, body: int, row: Array) -> None:
    """The state of a free body's frame O."""
    p_WC_W, q_WC = map(np.array, bullet.getBasePositionAndOrientation(body, client))
    v_WC_W, row[W] = map(np.array, bullet.getBaseVelocity(body, client))
    row[Q] = so3.multiply(q_WC, so3.conjugate(model.q_OC))
    arm_W = so3.rotate(row[Q], -model.p_OC_O)
    row[P] = p_WC_W + arm_W
    row[V] = v_WC_W + np.cross(row[W], arm_W)


def _model(item: WorldObject, path: Path, carrier: int | None) -> ObjectModel:
    pieces = item.pieces()
    p_OC_O, moments, R_OC = np.zeros(3), np.ones(3), np.eye(3)
    if item.mass is not None:
        bulk = Bulk.of(pieces)
        p_OC_O = bulk.center
        moments, R_OC = np.linalg.eigh(item.mass / bulk.volume * bulk.inertia)
        R_OC[:, 2] *= np.linalg.det(R_OC)
    q_OC = so3.quaternion_from_matrix(R_OC)
    origin = np.zeros(3) if item.hinge is None else np.array(item.hinge.point)
    return ObjectModel(item, _shape(pieces, path, origin), p_OC_O, q_OC, moments, carrier)


def _shape(pieces: Sequence[Shape], path: Path, origin: Array) -> dict[str, Any]:
    """Arguments of createCollisionShape, of which this is the origin in O: a primitive, or a file with all hulls."""
    first = pieces[0]
    if first.vertices is None:
        return _primitive(first, origin)
    path.write_text(obj_text([triangles(piece) for piece in pieces]), encoding="utf-8")
    flags = bullet.GEOM_FORCE_CONCAVE_TRIMESH if first.shape == "surface" else 0
    placed = {"collisionFramePosition": (-origin).tolist()} if origin.any() else {}
    return {"shapeType": bullet.GEOM_MESH, "fileName": str(path), "flags": flags, **placed}


def _primitive(shape: Shape, origin: Array) -> dict[str, Any]:
    turned = euler.quaternion_from_rpy_deg(shape.rpy_deg)
    placed = {
        "collisionFramePosition": (shape.position - origin).tolist(),
        "collisionFrameOrientation": turned.tolist(),
    }
    if shape.size is not None:
        half = [0.5 * side for side in shape.size]
        return {"shapeType": bullet.GEOM_BOX, "halfExtents": half, **placed}
    size = {"radius": shape.radius, "height": shape.length}
    return {"shapeType": bullet.GEOM_CYLINDER, **size, **placed}


def obj_text(pieces: Sequence[tuple[Array, Integers]]) -> str:
    """An OBJ file with a group for each piece, its vertices (n, 3) and triangles (m, 3)."""
    lines: list[str] = []
    first = 1
    for k, (vertices, faces) in enumerate(pieces):
        lines.append(f"o piece_{k}")
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
        lines += [f"f {a} {b} {c}" for a, b, c in (faces + first).tolist()]
        first += len(vertices)
    return "\n".join([*lines, ""])


def stl_bytes(vertices: Array, faces: Integers) -> bytes:
    """A binary STL file, for one hull: of an OBJ file a link's hull lies in a compound, out of reach of margins."""
    rows = np.zeros(
        len(faces), np.dtype([("normal", "<f4", 3), ("at", "<f4", (3, 3)), ("end", "<u2")])
    )
    rows["at"] = vertices[faces]
    return bytes(80) + len(faces).to_bytes(4, "little") + rows.tobytes()


def ray_cast(client: int, starts_W: Array, ends_W: Array, *, world_only: bool) -> Array:
    """Fraction (rays,) of each ray at its first hit, see `iap_physics.engines.engine.Engine.ray_cast`."""
    starts, ends = np.asarray(starts_W).tolist(), np.asarray(ends_W).tolist()
    filters = {"collisionFilterMask": STANDING} if world_only else {}
    hits: list[float] = []
    for i in range(0, len(starts), RAYS_PER_CALL):
        rays = bullet.rayTestBatch(
            starts[i : i + RAYS_PER_CALL],
            ends[i : i + RAYS_PER_CALL],
            **filters,
            physicsClientId=client,
        )
        hits += [ray[2] for ray in rays]
    return np.array(hits)

# SPDX-License-Identifier: BSD-3-Clause
"""Shapes as MuJoCo's geoms.

MuJoCo lets meshes touch as convex hulls. A surface that is touched as it is becomes a thin prism under each of its
triangles. It takes the larger friction of two geoms, and mixes their softness by weights: neither is what surfaces
mean here. So a shape is there once more for each different thing that counts between its surface and others. Each two
surfaces that can touch do so once, with what counts between the two.

Two of MuJoCo's geoms touch where the type of one is in the affinity of the other, and the one of higher priority says
what counts. Surfaces stand in an order. A shape has one geom for each different `SurfaceContact` with the surfaces
before its own, whose affinity names those surfaces; what is alike shares a geom. The first one's type is its own
surface's bit, by which later ones find it, and which its affinity names, too, where a surface touches itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.values import RpyDegrees
from iap_description.errors import BadInput
from iap_description.geometry.mesh_files import mesh_path, read_mesh
from iap_description.geometry.shapes import Shape, Surface
from iap_description.geometry.solids import triangles, wide_normals
from iap_description.math import euler, so3
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.surfaces import SurfaceContact

BITS = 31  # of MuJoCo's masks
VEHICLES, FREE, STANDING, COPIES = range(4)  # groups that rays are filtered by
SKIN = 0.002  # thickness of the prisms under a surface of triangles [m]
ORIGIN = np.zeros(3)


class SurfaceKind(NamedTuple):
    """A surface of what moves freely, or of what does not, which touches nothing but the former."""

    surface: Surface
    moves_freely: bool


@dataclass(frozen=True)
class Extent:
    """Shapes and parts of a kind.

    Attributes:
        pieces: number of shapes.
        parts: that they are on; shapes of one rigid part never touch each other.
    """

    pieces: int
    parts: frozenset[Any]


class GeomRole(NamedTuple):
    """A geom that stands for a shape, in MuJoCo's terms."""

    contact: SurfaceContact
    type: int
    affinity: int
    priority: int


def roles(kinds: Mapping[SurfaceKind, Extent]) -> dict[SurfaceKind, list[GeomRole]]:
    """The geoms that each shape of a kind has, one at least.

    Raises:
        BadInput: there are more kinds than MuJoCo's masks can tell apart.
    """
    if len(kinds) > BITS:
        raise BadInput(
            f"engine 'mujoco': tells {BITS} surfaces apart, what moves freely from what does not,"
            f" and here are {len(kinds)}"
        )
    order = _ordered(kinds)
    groups = {kind: _alike(kind, order[: k + 1], kinds) for k, kind in enumerate(order)}
    met = {other for each in groups.values() for others in each.values() for other in others}
    bits = {kind: 1 << k if kind in met else 0 for k, kind in enumerate(order)}
    out = {}
    for k, kind in enumerate(order):
        affinities = {
            contact: sum(bits[other] for other in others)
            for contact, others in groups[kind].items()
        } or {SurfaceContact.of(kind.surface, kind.surface): 0}
        out[kind] = [
            GeomRole(contact, 0 if i else bits[kind], affinity, k)
            for i, (contact, affinity) in enumerate(affinities.items())
        ]
    return out


def _ordered(kinds: Mapping[SurfaceKind, Extent]) -> list[SurfaceKind]:
    """Kinds, last those of which few more geoms are needed."""
    left = list(kinds)
    order: list[SurfaceKind] = []

    def cost(kind: SurfaceKind) -> tuple[int, int]:
        pieces = kinds[kind].pieces
        return pieces * (len(_alike(kind, left, kinds)) - 1), pieces

    while left:
        last = min(left, key=cost)
        left.remove(last)
        order.insert(0, last)
    return order


def _alike(
    kind: SurfaceKind, others: Sequence[SurfaceKind], kinds: Mapping[SurfaceKind, Extent]
) -> dict[SurfaceContact, list[SurfaceKind]]:
    """The kinds that one touches, itself first, by what counts between the two."""
    out: dict[SurfaceContact, list[SurfaceKind]] = {}
    for other in sorted(others, key=lambda other: other != kind):
        if (kind.moves_freely or other.moves_freely) and (
            len(kinds[kind].parts | kinds[other].parts) > 1
        ):
            contact = SurfaceContact.of(kind.surface, other.surface)
            out.setdefault(contact, []).append(other)
    return out


@dataclass(frozen=True)
class Piece:
    """A shape on a body of MuJoCo's: a primitive, or the corners (n, 3) of a hull."""

    type: Any
    size: tuple[float, ...] = ()
    position: Array = field(default_factory=lambda: np.zeros(3))
    q: Array = field(default_factory=lambda: so3.IDENTITY)
    corners: Array | None = None


GROUND = Piece(mj.mjtGeom.mjGEOM_PLANE, (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Skin:
    """Contact geometry of one body."""

    body: Any
    pieces: Sequence[Piece]
    surface: Surface
    group: int

    @property
    def kind(self) -> SurfaceKind:
        """By what it meets others."""
        return SurfaceKind(self.surface, self.group in (VEHICLES, FREE))


def pieces_of(shapes: Iterable[Shape], p: Array = ORIGIN, q: Array = so3.IDENTITY) -> list[Piece]:
    """Shapes in a frame that has its origin at `p` (3,) [m] on the body and is turned by `q` (4,)."""
    return [piece for shape in shapes for piece in _pieces(shape, p, q)]


def add_skins(spec: Any, skins: Sequence[Skin]) -> list[tuple[Any, SurfaceContact]]:  # noqa: ANN401
    """Give bodies what they are touched with; returns all geoms and what counts for each.

    Raises:
        BadInput: there are more surfaces than MuJoCo's masks can tell apart.
    """
    plan = roles(_extents(skins))
    contacts = []
    for number, skin in enumerate(skins):
        bodies = _bodies(skin, plan[skin.kind])
        for piece, mesh in _with_meshes(spec, number, skin):
            for k, (body, role) in enumerate(zip(bodies, plan[skin.kind], strict=True)):
                geom = _add(body, piece, mesh, role, COPIES if k else skin.group)
                contacts.append((geom, role.contact))
    return contacts


def _bodies(skin: Skin, roles: Sequence[GeomRole]) -> list[Any]:
    """The body that has the geoms of each role: one for all, but for what stands still.

    By bodies MuJoCo soon sees what does not touch, by geoms at last.
    """
    if skin.kind.moves_freely or skin.body.joints:
        return [skin.body] * len(roles)
    return [skin.body, *(skin.body.add_body() for _ in roles[1:])]


def _extents(skins: Sequence[Skin]) -> dict[SurfaceKind, Extent]:
    out: dict[SurfaceKind, Extent] = {}
    for skin in skins:
        before = out.get(skin.kind, Extent(0, frozenset()))
        parts = before.parts | {_part(skin.body)}
        out[skin.kind] = Extent(before.pieces + len(skin.pieces), parts)
    return out


def _part(body: Any) -> Any:  # noqa: ANN401
    """The body by which a rigid part moves."""
    while body.parent is not None and not body.joints:
        body = body.parent
    return body


def _with_meshes(spec: Any, number: int, skin: Skin) -> Iterator[tuple[Piece, str]]:  # noqa: ANN401
    """Pieces with the names of their meshes."""
    for k, piece in enumerate(skin.pieces):
        name = ""
        if piece.corners is not None:
            name = f"mesh_{number}_{k}"
            mesh = spec.add_mesh(name=name, uservert=piece.corners.astype(np.float32).ravel())
            mesh.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        yield piece, name


def _add(body: Any, piece: Piece, mesh: str, role: GeomRole, group: int) -> Any:  # noqa: ANN401
    x, y, z, w = piece.q.tolist()
    geom = body.add_geom(type=piece.type, pos=piece.position, quat=[w, x, y, z], group=group)
    if piece.size:
        geom.size = [*piece.size, *[0.0] * (3 - len(piece.size))]
    if mesh:
        geom.meshname = mesh
    geom.contype, geom.conaffinity, geom.priority = role.type, role.affinity, role.priority
    geom.condim = 3
    return geom


def _pieces(shape: Shape, p: Array, q: Array) -> Iterator[Piece]:
    if shape.shape == "surface":
        vertices, faces = triangles(shape)
        for corners in _prisms(vertices, faces):
            yield _hull(p + so3.rotate(q, corners))
    elif shape.shape == "hull":
        yield _hull(p + so3.rotate(q, triangles(shape)[0]))
    elif shape.mesh is not None:
        R = euler.matrix_from_rpy_deg(shape.rpy_deg)
        vertices = read_mesh(mesh_path(shape.mesh))[0] @ R.T + shape.position
        yield _hull(p + so3.rotate(q, vertices))
    else:
        turn = _turn(shape.rpy_deg)
        place = p + so3.rotate(q, np.array(shape.position))
        yield Piece(*_primitive(shape), place, so3.multiply(q, turn))


@lru_cache(maxsize=1024)
def _turn(rpy_deg: RpyDegrees) -> Array:
    """Attitude (4,) of a shape on its body, which worlds of a batch have alike."""
    return euler.quaternion_from_rpy_deg(rpy_deg)


def _hull(corners: Array) -> Piece:
    return Piece(mj.mjtGeom.mjGEOM_MESH, corners=corners)


def _primitive(shape: Shape) -> tuple[Any, tuple[float, ...]]:
    if shape.size is not None:
        x, y, z = shape.size
        return mj.mjtGeom.mjGEOM_BOX, (0.5 * x, 0.5 * y, 0.5 * z)
    radius = shape.radius or 0.0
    if shape.length is None:
        return mj.mjtGeom.mjGEOM_SPHERE, (radius,)
    kinds = {"cylinder": mj.mjtGeom.mjGEOM_CYLINDER, "capsule": mj.mjtGeom.mjGEOM_CAPSULE}
    return kinds[shape.shape], (radius, 0.5 * shape.length)


def _prisms(vertices: Array, faces: Integers) -> Iterator[Array]:
    """Corners (6, 3) of a prism inwards of every triangle that has an area."""
    corners = vertices[faces]
    for triangle, normal, size in zip(corners, *wide_normals(corners), strict=True):
        if size > 0.0:
            yield np.vstack([triangle, triangle - SKIN / size * normal])

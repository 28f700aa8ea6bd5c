# SPDX-License-Identifier: BSD-3-Clause
"""All parts of a scene and its bodies as a few large arrays, and what of it a camera can see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.math.kernels import quat, rotate
from iap_description.scenes.scene import Scene

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
PLAIN = 0  # layer of parts without a texture
BINS = 256  # by distance; within one, faces are drawn as they come

ATTRIBUTES = np.dtype(
    [("uv", np.float32, 2), ("layer", np.float32), ("color", np.float32, 4), ("label", np.float32)]
)


@dataclass(frozen=True, eq=False)
class Geometry:
    """The triangles of a scene and of bodies; the vertices of bodies come behind those of the scene.

    Attributes:
        corners: (vertices, 6) position [m] and normal: of the scene in `map`, of bodies in the body.
        attributes: (vertices,) of ATTRIBUTES.
        owners: (vertices,) the body of each, -1 for the scene.
        faces: (faces, 3) by vertex, those of a part one behind the other.
        firsts: (parts + 1,) the first face of each part, and the end.
        rows: (parts,) the body of each part, -1 for the scene.
        spheres: (parts, 4) centre and radius around each part [m], in the frame of its vertices.
        opacity: (parts,).
        static: number of vertices of the scene.
        layers: names of the textures, in the order of their layers; the first one is plain.
    """

    corners: Floats
    attributes: NDArray[np.void]
    owners: Ints
    faces: Ints
    firsts: Ints
    rows: Ints
    spheres: Floats
    opacity: Floats
    static: int
    layers: tuple[str, ...]

    @classmethod
    def of(cls, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> Self:
        """All parts of a scene and bodies.

        Raises:
            BadInput: a part has a texture that the scene does not have.
        """
        parts = [(-1, part) for part in scene.parts]
        parts += [(row, part) for row, body in enumerate(bodies) for part in body]
        layers = ("", *scene.textures)
        sizes = np.cumsum([0, *(len(part.vertices) for _, part in parts)])
        faces = [np.asarray(p.faces) + first for (_, p), first in zip(parts, sizes, strict=False)]
        rows = np.array([row for row, _ in parts], dtype=np.int32)
        return cls(
            _stacked([np.hstack([p.vertices, p.normals]) for _, p in parts], 6, np.float32),
            np.concatenate(
                [_attributes(p, layers) for _, p in parts] or [np.zeros(0, ATTRIBUTES)]
            ),
            np.repeat(rows, np.diff(sizes)),
            _stacked(faces, 3, np.int32),
            np.cumsum([0, *(len(part.faces) for _, part in parts)], dtype=np.int32),
            rows,
            _stacked([_sphere(part) for _, part in parts], 4, np.float32),
            np.array([part.color[3] for _, part in parts], dtype=np.float32),
            int(sizes[len(scene.parts)]),
            layers,
        )


class PlacedParts(NamedTuple):
    """Parts as they are placed.

    Attributes:
        corners: (vertices, 6) in `map`.
        faces: (faces, 3).
        firsts: (parts + 1,) first face of each part.
        spheres: (parts, 4) around each part, in `map`.
    """

    corners: Floats
    faces: Ints
    firsts: Ints
    spheres: Floats


def _stacked(arrays: Sequence[NDArray], columns: int, kind: type) -> NDArray:
    return np.ascontiguousarray(np.vstack([np.zeros((0, columns)), *arrays]), dtype=kind)


def _attributes(part: MeshPart, layers: Sequence[str]) -> NDArray[np.void]:
    if part.texture is not None and part.texture not in layers:
        raise BadInput(f"part '{part.name}': the scene has no texture '{part.texture}'")
    each = np.zeros(len(part.vertices), ATTRIBUTES)
    each["uv"] = part.uv
    each["layer"] = PLAIN if part.texture is None else layers.index(part.texture)
    each["color"] = part.color
    each["label"] = part.label
    return each


def _sphere(part: MeshPart) -> Array:
    """Centre and radius (1, 4) around a part's box."""
    lower, upper = part.vertices.min(axis=0), part.vertices.max(axis=0)
    return np.append(0.5 * (lower + upper), 0.5 * np.linalg.norm(upper - lower))[None]


@njit(cache=True)
def place(corners: Floats, owners: Ints, poses: Array, out: Floats) -> None:
    """Write corners (n, 6) of bodies in `map` to `out`, from owners (n,) and poses (bodies, 7)."""
    for i in range(corners.shape[0]):
        pose = poses[owners[i]]
        q = quat(pose[3:])
        p = rotate(q, (corners[i, 0], corners[i, 1], corners[i, 2]))
        n = rotate(q, (corners[i, 3], corners[i, 4], corners[i, 5]))
        for k in range(3):
            out[i, k] = pose[k] + p[k]
            out[i, 3 + k] = n[k]


@njit(cache=True)
def place_spheres(spheres: Floats, rows: Ints, poses: Array, out: Floats) -> None:
    """Write the spheres (parts, 4) of bodies' parts in `map` to `out`; those of the scene stay as they are."""
    for i in range(spheres.shape[0]):
        if rows[i] >= 0:
            pose = poses[rows[i]]
            c = rotate(quat(pose[3:]), (spheres[i, 0], spheres[i, 1], spheres[i, 2]))
            for k in range(3):
                out[i, k] = pose[k] + c[k]


@njit(cache=True)
def visible(
    parts: PlacedParts,
    drawn: Booleans,
    p_WC_W: Array,
    planes: Array,
    far_first: bool,
    out: Ints,
    keys: Ints,
) -> int:
    """Write the faces that may be seen to `out`, sorted by their distance, and return their number.

    Args:
        parts: where they are.
        drawn: (parts,) whether a part is drawn at all.
        p_WC_W: (3,) the camera's place.
        planes: (6, 4) around its field of view, in `map`: what is inside has n . p >= d.
        far_first: the farthest faces come first.
        out: (faces, 3), written to.
        keys: (2, faces) for the sorting, overwritten.
    """
    corners, faces, firsts, spheres = parts
    count = 0
    counts = np.zeros(BINS + 1, np.int32)
    for part in range(len(drawn)):
        if not drawn[part] or _is_outside(planes, spheres[part]):
            continue
        for face in range(firsts[part], firsts[part + 1]):
            a, b, c = corners[faces[face, 0]], corners[faces[face, 1]], corners[faces[face, 2]]
            if _faces_away(a, b, c, p_WC_W) or _is_face_outside(planes, a, b, c):
                continue
            key = _bin(a, b, c, p_WC_W)
            keys[0, count] = face
            keys[1, count] = BINS - 1 - key if far_first else key
            counts[keys[1, count] + 1] += 1
            count += 1
    for key in range(BINS):
        counts[key + 1] += counts[key]
    for i in range(count):
        place = counts[keys[1, i]]
        counts[keys[1, i]] += 1
        out[place] = faces[keys[0, i]]
    return count


@njit(cache=True)
def _is_outside(planes: Array, sphere: Floats) -> bool:
    for j in range(6):
        side = planes[j, 0] * sphere[0] + planes[j, 1] * sphere[1] + planes[j, 2] * sphere[2]
        if side + sphere[3] < planes[j, 3]:
            return True
    return False


@njit(cache=True)
def _is_face_outside(planes: Array, a: Floats, b: Floats, c: Floats) -> bool:
    """True if all three corners lie beyond one of the planes."""
    for j in range(6):
        x, y, z, d = planes[j]
        if (
            x * a[0] + y * a[1] + z * a[2] < d
            and x * b[0] + y * b[1] + z * b[2] < d
            and x * c[0] + y * c[1] + z * c[2] < d
        ):
            return True
    return False


@njit(cache=True)
def _faces_away(a: Floats, b: Floats, c: Floats, p: Array) -> bool:
    """True if a face with corners counter-clockwise from outside is seen from behind, or not at all."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return bool(nx * (p[0] - a[0]) + ny * (p[1] - a[1]) + nz * (p[2] - a[2]) <= 0.0)


@njit(cache=True)
def _bin(a: Floats, b: Floats, c: Floats, p: Array) -> int:
    """The distance of a face's middle on a scale of equal ratios, from 5 cm to 5 km."""
    square = 0.0
    for k in range(3):
        square += ((a[k] + b[k] + c[k]) / 3.0 - p[k]) ** 2
    ratio = np.log(square / 0.0025 + 1e-12) / np.log(1e10)
    return int(min(max(ratio, 0.0), 0.999) * BINS)

# SPDX-License-Identifier: BSD-3-Clause
"""The world's objects as pictures see them: pieces and where they are, whole or cut open."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import triangles
from iap_description.geometry.tessellation import MeshPart, parts_by_color
from iap_description.math import euler, so3
from iap_description.states import P, Q
from iap_description.world.objects import Funnel, WorldObject
from iap_description.world.world import World

OBJECT_LABEL = 50  # of the first object in segmented images
SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))  # of a box's corners
PARALLEL = 1e-9  # stands for a ray's zero component [m]
FLUSH = 1e-6  # pieces whose middle is so near to the cut belong to what stays [m]


@dataclass(frozen=True)
class SceneObject:
    """An object of the world, or a vehicle's body, at some time.

    Attributes:
        pieces: its shapes in its frame O, as they are seen.
        row: (13,) state row of O.
        is_tube: whether what goes into it, along -x of O, is hidden unless it is cut open.
    """

    pieces: Sequence[Shape]
    row: Array
    is_tube: bool = False

    @property
    def corners_O(self) -> Array:
        """(n, 3) points in O whose convex hull holds all pieces [m]."""
        return np.vstack([_corners(piece) for piece in self.pieces])

    @property
    def corners_W(self) -> Array:
        """The same in `map`."""
        return so3.rotate(self.row[Q], self.corners_O) + self.row[P]

    def to_O(self, points_W: Array) -> Array:
        """Points (..., 3) of `map` in O."""
        return so3.rotate(so3.conjugate(self.row[Q]), points_W - self.row[P])

    def holds(self, points_W: Array) -> Booleans:
        """Flags (n,) of points (n, 3) within the box around the object, cavities included."""
        corners, points = self.corners_O, self.to_O(points_W)
        inside = (points >= corners.min(axis=0)) & (points <= corners.max(axis=0))
        return np.asarray(inside.all(axis=1))

    def hides(self, points_W: Array, eye_W: Array) -> Booleans:
        """Flags (n,) of points (n, 3) that the box around the object hides from a viewpoint (3,)."""
        corners, eye = self.corners_O, self.to_O(eye_W)
        rays = self.to_O(points_W) - eye
        rays[np.abs(rays) < PARALLEL] = PARALLEL
        faces = [(corners.min(axis=0) - eye) / rays, (corners.max(axis=0) - eye) / rays]
        enters, leaves = np.min(faces, axis=0).max(axis=1), np.max(faces, axis=0).min(axis=1)
        return (enters < leaves) & (leaves > 0.0) & (enters < 1.0)

    def opened(self, towards_W: Array) -> "SceneObject":
        """The object without its half on the side of a direction (3,), cut along x of O."""
        side = so3.rotate(so3.conjugate(self.row[Q]), towards_W) * [0.0, 1.0, 1.0]
        kept = [p for p in self.pieces if _corners(p).mean(axis=0) @ side < FLUSH]
        return replace(self, pieces=kept)


def standing(world: World, t: float) -> list[SceneObject]:
    """A world's objects at simulation time t [s].

    Objects that move freely are where they began; recordings say where they were.
    """
    return [
        SceneObject(item.visual(), item.row(t), isinstance(item, Funnel))
        for item in world.objects.values()
    ]


def object_parts(item: WorldObject, *, label: int = OBJECT_LABEL) -> tuple[MeshPart, ...]:
    """The visible parts of an object of the world in its frame O: one part for each of its colours."""
    return parts_by_color("object", item.visual(), label)


def _corners(shape: Shape) -> Array:
    """(n, 3) points in the object's frame whose convex hull holds a shape."""
    if shape.vertices is not None:
        return triangles(shape)[0]
    r, length = shape.radius or 0.0, shape.length or 0.0
    size = np.array(shape.size if shape.size is not None else (2.0 * r, 2.0 * r, length))
    R = euler.matrix_from_rpy_deg(shape.rpy_deg)
    return (0.5 * SIGNS * size) @ R.T + shape.position

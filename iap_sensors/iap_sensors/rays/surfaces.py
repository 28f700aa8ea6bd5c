# SPDX-License-Identifier: BSD-3-Clause
"""Triangles that rays end at, with what is known of each: what it is part of, and whether it closes a solid."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.geometry.shapes import Shape
from iap_description.geometry.tessellation import mesh
from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.states import P, Q
from iap_description.vehicles.body_parts import BODY_LABEL
from iap_description.world.objects import WorldObject
from iap_description.world.obstacles import Obstacles
from iap_description.world.scene_objects import OBJECT_LABEL
from iap_description.world.world import World
from iap_sensors.rays.caster import Numbers

SIDES = 64  # of a cylinder: its flat sides are 0.12 % of the radius too far in
GROUND_REACH = 1000.0  # half extent of the ground [m]
GROUND, GROUND_LABEL = "ground", 1  # as scenes name and number it


@dataclass(frozen=True, eq=False)
class TriangleSurface:
    """Triangles in a frame of their own.

    Attributes:
        corners: (n, 3 corners, 3) [m].
        is_solid: (n,) whether a triangle lets rays out of the solid that it closes, counter-clockwise from outside;
            others stop rays from both sides.
        segments: (n,) label in segmented images, as the renderers' are.
        pieces: (n,) number of the shape that a triangle belongs to, from 0 on.
    """

    corners: Array
    is_solid: Booleans
    segments: Numbers
    pieces: Numbers

    @property
    def radius(self) -> float:
        """Distance of the farthest corner from the frame's origin [m]."""
        return float(np.linalg.norm(self.corners, axis=-1).max(initial=0.0))

    @classmethod
    def of(cls, parts: Sequence[Array], *, is_solid: bool, label: int) -> Self:
        """Of the corners (n, 3, 3) of some pieces that are alike."""
        counts = [len(part) for part in parts]
        corners = np.concatenate([np.zeros((0, 3, 3)), *parts])
        pieces = np.repeat(np.arange(len(parts), dtype=np.int32), counts)
        segments = np.full(len(corners), label, np.int32)
        return cls(corners, np.full(len(corners), is_solid), segments, pieces)

    @classmethod
    def of_shapes(cls, shapes: Sequence[Shape], label: int) -> Self:
        """Of the shapes of one thing."""
        is_solid = not shapes or shapes[0].shape != "surface"
        return cls.of([corners_of([shape]) for shape in shapes], is_solid=is_solid, label=label)

    @classmethod
    def joined(cls, surfaces: Iterable[Self]) -> Self:
        """Several as one; pieces are numbered on."""
        parts = [cls.of([], is_solid=True, label=0), *surfaces]
        return cls(
            np.concatenate([part.corners for part in parts]),
            np.concatenate([part.is_solid for part in parts]),
            np.concatenate([part.segments for part in parts]),
            numbered_on([part.pieces for part in parts]),
        )

    def placed(self, row: Array) -> Self:
        """The same at the pose of a state row (13,)."""
        corners = placed(self.corners, row)
        return type(self)(corners, self.is_solid, self.segments, self.pieces)


def numbered_on(parts: Sequence[Numbers]) -> Numbers:
    """Numbers of pieces, (n,) from 0 on in each part, as numbers over all parts."""
    firsts = np.cumsum([0, *(int(part.max(initial=-1)) + 1 for part in parts[:-1])])
    shifted = [part + first for part, first in zip(parts, firsts, strict=True)]
    return np.concatenate(shifted).astype(np.int32)


def standing_surface(world: World) -> TriangleSurface:
    """The surfaces that stand still in a world, in `map`: the ground, what is seen of its scene, and objects."""
    parts_of_world = []
    if world.has_ground:
        parts_of_world.append(TriangleSurface.of([ground()], is_solid=False, label=GROUND_LABEL))
    if world.scene is not None:
        visible = [part for part in load_scene(world.scene).parts if part.name != GROUND]
        for part in visible:
            corners = part.vertices[part.faces].astype(np.float64)
            parts_of_world.append(TriangleSurface.of([corners], is_solid=False, label=part.label))
    for k, item in enumerate(world.objects.values()):
        if not item.moves:
            parts_of_world.append(object_surface(item, k).placed(item.row(0.0)))
    return TriangleSurface.joined(parts_of_world)


def object_surface(item: WorldObject, number: int) -> TriangleSurface:
    """An object of the world in its frame O, by its number."""
    if isinstance(item, Obstacles):
        return TriangleSurface.of(item.corners(), is_solid=True, label=OBJECT_LABEL + number)
    return TriangleSurface.of_shapes(item.visual(), OBJECT_LABEL + number)


def body_surface(shapes: Sequence[Shape], row: int) -> TriangleSurface:
    """The shapes of contact of a body or link, by its row among those of all vehicles, in its frame."""
    return TriangleSurface.of_shapes(shapes, BODY_LABEL + row)


def corners_of(shapes: Iterable[Shape]) -> Array:
    """Corners (n, 3, 3) of the triangles of shapes in their body's frame [m]."""
    meshes = (mesh(shape, sides=SIDES) for shape in shapes)
    return np.concatenate([np.zeros((0, 3, 3)), *(points[faces] for points, _, faces in meshes)])


def placed(corners: Array, row: Array) -> Array:
    """Corners at the pose of a state row (13,)."""
    return row[P] + so3.rotate(row[Q], corners)


def ground() -> Array:
    """(2, 3, 3) the ground plane."""
    a = GROUND_REACH
    corners = np.array([[-a, -a, 0.0], [a, -a, 0.0], [a, a, 0.0], [-a, a, 0.0]])
    return corners[[[0, 1, 2], [0, 2, 3]]]

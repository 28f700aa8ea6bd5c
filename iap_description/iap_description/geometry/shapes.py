# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of bodies and of objects of the world, and what their surfaces do to a contact."""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import (
    Length,
    NonNegative,
    Position,
    Positive,
    RpyDegrees,
    Share,
    Vec3,
)
from iap_description.math import euler, so3

Rgba = tuple[Share, Share, Share, Share]
MAX_SHAPES = 500  # that a body is made of: a mesh takes the place of more


class Surface(Record):
    """The contact properties of a body.

    Of two bodies in contact the friction and restitution that count are the geometric means, so
    that two equal surfaces have what is written here. A rigid surface has no stiffness; a soft one
    gives way at each contact point like a spring with a damper beside it, and two soft ones in
    contact like two springs in series and with the sum of their damping. Restitution comes on top
    of what a spring gives back.
    """

    friction: NonNegative  # lateral friction coefficient
    restitution: NonNegative  # 0 = no rebound, 1 = full
    stiffness: Positive | None = None  # of one contact point [N/m]; None: rigid
    damping: NonNegative | None = None  # of one contact point [N s/m]

    @model_validator(mode="after")
    def _is_rigid_or_soft(self) -> Self:
        if (self.stiffness is None) != (self.damping is None):
            raise ValueError("keys 'stiffness' and 'damping' come together or not at all")
        return self


class Shape(Record):
    """A collision or visual shape, placed in its body's frame.

    A ``hull`` and a ``surface`` are made of triangles; a hull is touched as the convex hull of its
    vertices, a surface as it is. In files only objects of the world take them; docking ports are made of hulls.
    """

    shape: Literal["box", "cylinder", "capsule", "sphere", "mesh", "hull", "surface"]
    position: Position = (0.0, 0.0, 0.0)  # [m]
    rpy_deg: RpyDegrees = (0.0, 0.0, 0.0)
    size: tuple[Length, Length, Length] | None = None  # [m], box
    radius: Length | None = None  # [m], cylinder, capsule and sphere
    length: Length | None = None  # [m], cylinder, and capsule between its caps' centres; along z
    mesh: str | None = None  # file or package:// URI
    vertices: tuple[Vec3, ...] | None = None  # [m], hull and surface
    faces: tuple[tuple[int, int, int], ...] | None = None  # by vertex, ccw from outside
    color: Rgba = (0.6, 0.6, 0.6, 1.0)

    @model_validator(mode="after")
    def _has_its_dimensions(self) -> Self:
        needed = DIMENSIONS[self.shape]
        for key in ("size", "radius", "length", "mesh", "vertices", "faces"):
            if (getattr(self, key) is not None) != (key in needed):
                raise ValueError(f"a {self.shape} takes {' and '.join(needed)}, check '{key}'")
        return self

    def moved(self, p: Array, q: Array) -> Self:
        """The same shape seen from another frame, in which its own has the origin (3,) [m] and attitude (4,)."""
        x, y, z = (p + so3.rotate(q, np.array(self.position))).tolist()
        changes = {"position": (x, y, z)}
        if abs(q[3]) < 1.0:
            R = so3.matrix_from_quaternion(q) @ euler.matrix_from_rpy_deg(self.rpy_deg)
            changes["rpy_deg"] = euler.rpy_deg_from_matrix(R)
        return self.model_copy(update=changes)


DIMENSIONS = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "mesh": ("mesh",),
    "hull": ("vertices", "faces"),
    "surface": ("vertices", "faces"),
}


def _on_a_body(shape: Shape) -> Shape:
    if shape.vertices is not None:
        raise ValueError(
            f"key 'shape': a {shape.shape} is for objects of the world, not for bodies"
        )
    return shape


BodyShape = Annotated[Shape, AfterValidator(_on_a_body)]
BodyShapes = Annotated[tuple[BodyShape, ...], Field(max_length=MAX_SHAPES)]

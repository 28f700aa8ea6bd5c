# SPDX-License-Identifier: BSD-3-Clause
"""Objects of the world: what they are, how they stand or move, and the pieces they are made of.

An object's frame O is placed in `map` by `position` and `rpy_deg`. What has a face to be touched
(wall, board, funnel) faces +x of O, a floor faces +z; their `position` is on that face or, for the
funnel, where its bore begins.
"""

import math
from abc import abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Flag, Length, Mass, Position, Positive, RpyDegrees, Vec3
from iap_description.geometry.cavities import arc, pipe, rectangular, thick
from iap_description.geometry.mesh_files import read_mesh
from iap_description.geometry.shapes import Rgba, Shape, Surface
from iap_description.geometry.solids import hull, prism
from iap_description.math import euler
from iap_description.states import P, V, resting_state
from iap_description.world.hinge import Hinge
from iap_description.world.object_motions import AnyObjectMotion

CAP = 0.04  # radius of a socket's flat pole relative to the socket's
FILLET_STEPS, BOTTOM_STEPS = 2, 5  # stretches of the profile's arcs
Segments = Annotated[int, Field(strict=True, ge=6, le=128)]


class WorldObject(Record):
    """An object of the world. Without `mass` and `motion` an object stands still."""

    position: Position  # of O in map [m]
    rpy_deg: RpyDegrees = (0.0, 0.0, 0.0)  # of O in map
    surface: Surface
    color: Rgba = (0.62, 0.66, 0.70, 1.0)
    mass: Mass | None = None  # of a body that moves freely, or turns about its hinge [kg]
    hinge: Hinge | None = None
    motion: AnyObjectMotion | None = None  # as prescribed

    HAS_FACE: ClassVar[bool] = (
        False  # whether its position is on a flat face, out of which x of O is
    )

    @model_validator(mode="after")
    def _moves_one_way(self) -> Self:
        if self.mass is not None and self.motion is not None:
            raise ValueError("key 'motion': an object with a mass moves freely, give one of both")
        if self.hinge is not None and self.mass is None:
            raise ValueError("key 'mass': an object with a hinge needs one")
        return self

    @property
    def moves(self) -> bool:
        """True if it does not stand still."""
        return self.mass is not None or self.motion is not None

    @property
    def is_free(self) -> bool:
        """True if it moves freely in all directions."""
        return self.mass is not None and self.hinge is None

    @property
    def is_placed(self) -> bool:
        """True if its `position` says where it stands, turns or moves as prescribed."""
        return not self.is_free

    @property
    def q_WO(self) -> Array:
        """(4,) its attitude at the start; not to be written in."""
        return _attitude(self.rpy_deg)

    def row(self, t: float) -> Array:
        """(13,) state row of O at time t [s], for what does not move freely."""
        x = resting_state(np.array(self.position), self.q_WO)
        if self.motion is not None:
            away, x[V] = self.motion.at(t)
            x[P] += away
        return x

    @abstractmethod
    def pieces(self) -> tuple[Shape, ...]:
        """Shapes in O that are touched."""

    def visual(self) -> tuple[Shape, ...]:
        """Shapes in O that rays and pictures see: those that are touched, where an object has no others."""
        return self.pieces()


class Wall(WorldObject):
    """A slab whose front, through the origin of O, faces +x."""

    HAS_FACE = True

    type: Literal["wall"]
    width: Length  # along y [m]
    height: Length  # along z [m]
    thickness: Length = 0.1  # [m]

    def pieces(self) -> tuple[Shape, ...]:
        """One box."""
        size = (self.thickness, self.width, self.height)
        return (_box(size, (-0.5 * self.thickness, 0.0, 0.0), self.color),)


class Floor(WorldObject):
    """A slab whose top, through the origin of O, faces +z."""

    type: Literal["floor"]
    length: Length  # along x [m]
    width: Length  # along y [m]
    thickness: Length = 0.1  # [m]

    def pieces(self) -> tuple[Shape, ...]:
        """One box."""
        size = (self.length, self.width, self.thickness)
        return (_box(size, (0.0, 0.0, -0.5 * self.thickness), self.color),)


class Box(WorldObject):
    """A box around the origin of O."""

    type: Literal["box"]
    size: tuple[Length, Length, Length]  # [m]

    def pieces(self) -> tuple[Shape, ...]:
        """Itself."""
        return (_box(self.size, (0.0, 0.0, 0.0), self.color),)


class Cylinder(WorldObject):
    """A cylinder along z around the origin of O."""

    type: Literal["cylinder"]
    radius: Length  # [m]
    length: Length  # [m]

    def pieces(self) -> tuple[Shape, ...]:
        """Itself."""
        return (Shape(shape="cylinder", radius=self.radius, length=self.length, color=self.color),)


class Funnel(WorldObject):
    """A cone that narrows into a bore; things enter it along -x.

    The bore begins at the origin of O and ends at x = -throat_length; the cone opens from there to
    its mouth at x = cone_length.
    """

    type: Literal["funnel"]
    throat_radius: Length  # of the bore [m]
    throat_length: Length  # of the bore [m]
    mouth_radius: Length  # [m]
    cone_length: Length  # [m]
    wall: Positive = 0.01  # [m], measured across the axis
    segments: Segments = 32  # flat sides

    @model_validator(mode="after")
    def _narrows(self) -> Self:
        if self.mouth_radius < self.throat_radius:
            raise ValueError(
                f"key 'mouth_radius': {self.mouth_radius} is below throat_radius {self.throat_radius}"
            )
        return self

    def pieces(self) -> tuple[Shape, ...]:
        """Two for each flat side, of the cone and of the bore."""
        profile = [
            (self.cone_length, self.mouth_radius),
            (0.0, self.throat_radius),
            (-self.throat_length, self.throat_radius),
        ]
        return tuple(pipe(np.array(profile), self.segments, thick(self.wall), self.color))


class Hole(Record):
    """A round hole through a board."""

    type: Literal["through"]
    radius: Length  # [m]
    fillet: Positive | None = None  # radius of the mouth's rounded edge [m]

    def profile(self, thickness: float) -> Array:
        """Points (x, r) from the mouth inwards, in a board of this thickness [m]."""
        return np.array([*_mouth(self.radius, self.fillet), (-thickness, self.radius)])


class BlindHole(Record):
    """A blind hole: straight, then a hemispherical bottom."""

    type: Literal["socket"]
    radius: Length  # [m]
    straight: Positive  # depth of the straight part from the board's front, fillet included [m]
    fillet: Positive | None = None  # radius of the mouth's rounded edge [m]

    @property
    def depth(self) -> float:
        """To the bottom [m]."""
        return self.straight + self.radius

    def profile(self, thickness: float) -> Array:
        """Points (x, r) from the mouth down to a flat pole, which the board's back closes."""
        bottom = arc(
            (-self.straight, 0.0), self.radius, 0.5 * np.pi, np.pi - math.asin(CAP), BOTTOM_STEPS
        )
        return np.vstack([_mouth(self.radius, self.fillet), bottom])


class Board(WorldObject):
    """A wall with a hole or a socket, whose mouth is around the origin of O and opens towards +x."""

    type: Literal["board"]
    width: Length  # along y [m]
    height: Length  # along z [m]
    thickness: Length  # [m]
    hole: Annotated[Hole | BlindHole, Field(discriminator="type")]
    segments: Segments = 16  # flat sides

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        hole = self.hole
        mouth = hole.radius + (hole.fillet or 0.0)
        if 2.0 * mouth >= min(self.width, self.height):
            raise ValueError(f"key 'hole.radius': {hole.radius} does not fit into the board")
        straight = hole.straight if isinstance(hole, BlindHole) else self.thickness
        if hole.fillet is not None and hole.fillet >= straight:
            raise ValueError(f"key 'hole.fillet': {hole.fillet} is not below the depth {straight}")
        if isinstance(hole, BlindHole) and hole.depth >= self.thickness:
            raise ValueError(
                f"key 'thickness': {self.thickness} is not above the socket's depth {hole.depth:g}"
            )
        return self

    def pieces(self) -> tuple[Shape, ...]:
        """Some for each flat side of the hole, and the back of a socket."""
        border = rectangular(self.width, self.height)
        profile = self.hole.profile(self.thickness)
        pieces = pipe(profile, self.segments, border, self.color)
        end = float(profile[-1, 0])
        if isinstance(self.hole, BlindHole):
            y, z = 0.5 * self.width, 0.5 * self.height
            sheet = np.array([[0.0, y, z], [0.0, -y, z], [0.0, -y, -z], [0.0, y, -z]])
            back = sheet - [self.thickness, 0.0, 0.0]
            pieces.append(prism(back, sheet + [end, 0.0, 0.0], self.color))
        return tuple(pieces)


class Mesh(WorldObject):
    """A mesh file; what is touched is its convex hull, or the mesh itself where `concave` is set."""

    type: Literal["mesh"]
    file: str  # path
    scale: Positive = 1.0  # metres per unit of the file
    concave: Flag = False  # only of what does not move freely; contact is best with round tips

    @model_validator(mode="after")
    def _is_a_solid(self) -> Self:
        if self.concave and self.mass is not None:
            raise ValueError("key 'concave': a free body is touched as a convex hull only")
        try:
            read_mesh(str(Path(self.file).expanduser()))
        except ValueError as error:
            raise ValueError(f"key 'file': {error}") from error
        return self

    def pieces(self) -> tuple[Shape, ...]:
        """The mesh."""
        vertices, faces = read_mesh(str(Path(self.file).expanduser()))
        kind = "surface" if self.concave else "hull"
        return (hull(self.scale * vertices, faces, self.color, shape=kind),)


def _box(size: tuple[float, float, float], position: Vec3, color: Rgba) -> Shape:
    return Shape(shape="box", size=size, position=position, color=color)


def _mouth(radius: float, fillet: float | None) -> Array:
    """The profile's points on the rounded edge of a hole, or its sharp edge."""
    if fillet is None:
        return np.array([[0.0, radius]])
    return arc((-fillet, radius + fillet), fillet, 0.0, -0.5 * np.pi, FILLET_STEPS)


@lru_cache(maxsize=256)
def _attitude(rpy_deg: RpyDegrees) -> Array:
    """(4,) quaternion; remembered, for engines ask for it in each step."""
    q = euler.quaternion_from_rpy_deg(rpy_deg)
    q.setflags(write=False)
    return q

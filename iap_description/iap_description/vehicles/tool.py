# SPDX-License-Identifier: BSD-3-Clause
"""Tools: a rod on the central body that touches the world, merged into that body."""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Length, NonNegative, Position, RpyDegrees
from iap_description.geometry.shapes import Rgba, Shape, Surface
from iap_description.math import euler
from iap_description.vehicles.mount import Mount

TOOL = "tool"  # the mount at the tip


class SphereTip(Record):
    """A ball whose centre is the end of the rod."""

    type: Literal["sphere"]
    radius: Length  # [m]


class PlateTip(Record):
    """A plate across the rod whose outer face is at the end of the rod."""

    type: Literal["plate"]
    size: tuple[Length, Length, Length]  # thickness along the rod, width, height [m]


class Tool(Record):
    """A rod along +x of its own frame, whose origin is the rod's base.

    The tip, on which forces are meant to act, is the end of the rod: the centre of a ball, or the
    middle of a plate's outer face.
    """

    type: Literal["rod"]
    length: Length  # from the base to the tip [m]
    radius: Length  # [m]
    tip: Annotated[SphereTip | PlateTip, Field(discriminator="type")] | None
    position: Position  # of the base in the central body's frame [m]
    rpy_deg: RpyDegrees  # of the tool's frame in the central body's
    mass: NonNegative = 0.0  # spread evenly over the rod [kg]
    surface: Surface | None = None  # of the whole body that holds it; None: as the world's
    color: Rgba = (0.85, 0.75, 0.55, 1.0)

    @model_validator(mode="after")
    def _is_longer_than_its_plate(self) -> Self:
        if isinstance(self.tip, PlateTip) and self.tip.size[0] >= self.length:
            raise ValueError(
                f"key 'tip.size': the plate, {self.tip.size[0]} m thick, is no thinner than the rod is long"
            )
        return self

    @property
    def R_PT(self) -> Array:
        """(3, 3) attitude of the tool in the central body."""
        return euler.matrix_from_rpy_deg(self.rpy_deg)

    def point(self, along: float) -> Array:
        """(3,) a point on the rod's axis in the central body's frame, `along` from its base [m]."""
        return np.array(self.position) + along * self.R_PT[:, 0]

    @property
    def mount(self) -> Mount:
        """The tip's frame, x along the rod."""
        x, y, z = self.point(self.length).tolist()
        return Mount(position=(x, y, z), rpy_deg=self.rpy_deg)

    @property
    def inertia(self) -> Array:
        """(3, 3) of the rod about its middle, in the central body's axes [kg m^2]."""
        across = self.mass * (self.radius**2 / 4.0 + self.length**2 / 12.0)
        about_axis = np.diag([0.5 * self.mass * self.radius**2, across, across])
        return self.R_PT @ about_axis @ self.R_PT.T

    @property
    def visual(self) -> tuple[Shape, ...]:
        """The visible shapes, in the central body's frame."""
        end = self.length
        if isinstance(self.tip, PlateTip):
            end -= self.tip.size[0]
        return (self._cylinder(0.0, end), *self._tip_shapes)

    @property
    def collision(self) -> tuple[Shape, ...]:
        """The shapes that are touched: a rod that ends in a ball is a capsule, which is round to engines too."""
        if not isinstance(self.tip, SphereTip) or self.tip.radius < self.radius:
            return self.visual
        start = min(self.radius, 0.5 * self.length)
        capsule = self._cylinder(start, self.length).model_copy(update={"shape": "capsule"})
        return (capsule,) if self.tip.radius == self.radius else (capsule, *self._tip_shapes)

    @property
    def _tip_shapes(self) -> tuple[Shape, ...]:
        if isinstance(self.tip, SphereTip):
            return (self._shape(self.length, shape="sphere", radius=self.tip.radius),)
        if isinstance(self.tip, PlateTip):
            middle = self.length - 0.5 * self.tip.size[0]
            return (self._shape(middle, shape="box", size=self.tip.size, rpy_deg=self.rpy_deg),)
        return ()

    def _cylinder(self, start: float, end: float) -> Shape:
        R_PZ = self.R_PT @ euler.matrix_from_rpy_deg([0.0, 90.0, 0.0])
        rpy_deg = euler.rpy_deg_from_matrix(R_PZ)
        size = {"radius": self.radius, "length": end - start}
        return self._shape(0.5 * (start + end), shape="cylinder", rpy_deg=rpy_deg, **size)

    def _shape(self, along: float, **dimensions: object) -> Shape:
        tree = {"position": self.point(along).tolist(), "color": self.color, **dimensions}
        return Shape.model_validate(tree)

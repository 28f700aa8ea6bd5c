# SPDX-License-Identifier: BSD-3-Clause
"""Docking ports of aircraft: a probe with a cone, and the socket or the drogue that it goes into.

A port's frame T has its x axis along the port's axis and out of the aircraft. A docked probe's frame therefore looks
the opposite way of the socket's, along -x of which things go in, as they do into a funnel.
"""

from itertools import pairwise
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Length, NonNegative, Position, Positive, RpyDegrees
from iap_description.geometry.cavities import pipe, thick
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.solids import hull, stacked_rings
from iap_description.math import euler
from iap_description.vehicles.mount import Mount

Segments = Annotated[int, Field(strict=True, ge=6, le=128)]
TAPER_END = 0.05  # share of its radius to which a convex piece narrows within a probe
STEPS = 10  # cylinders that stand for a cone where it is drawn
Z_ALONG_X = euler.matrix_from_rpy_deg([0.0, 90.0, 0.0])  # of a cylinder on the axis


class Boom(Record):
    """A tube from the aircraft to the port, along the port's axis."""

    radius: Length  # [m]
    length: Length  # [m]


class _Port(Record):
    """Place and looks of a port."""

    position: Position  # of T in the aircraft's frame [m]
    rpy_deg: RpyDegrees  # of T in the aircraft's frame
    boom: Boom
    segments: Segments  # flat sides of what is touched, as far from the axis as the round thing on average
    color: Rgba = (0.85, 0.75, 0.55, 1.0)

    @property
    def R_BT(self) -> Array:
        """(3, 3) attitude of T in the aircraft's frame."""
        return euler.matrix_from_rpy_deg(self.rpy_deg)

    @property
    def mount(self) -> Mount:
        """The frame T."""
        return Mount(position=self.position, rpy_deg=self.rpy_deg)

    def _placed(self, pieces: list[Shape]) -> tuple[Shape, ...]:
        """Hulls in T as shapes on the aircraft."""
        place = {"position": self.position, "rpy_deg": self.rpy_deg}
        return tuple(Shape.model_construct(**{**dict(piece), **place}) for piece in pieces)

    def _cylinder(self, start: float, end: float, radius: float) -> Shape:
        """A cylinder on the axis, between two places along x of T [m]."""
        size: dict[str, object] = {
            "shape": "cylinder",
            "radius": radius,
            "length": abs(end - start),
        }
        return self._shape([0.5 * (start + end), 0.0, 0.0], Z_ALONG_X, size)

    def _shape(self, p_T: list[float], R_TS: Array, size: dict[str, object]) -> Shape:
        place = np.array(self.position) + self.R_BT @ p_T
        rpy_deg = euler.rpy_deg_from_matrix(self.R_BT @ R_TS)
        tree = {"position": place.tolist(), "rpy_deg": rpy_deg, "color": self.color, **size}
        return Shape.model_validate(tree)


class Probe(_Port):
    """A solid of revolution that narrows towards its end, in front of a flange; T is at its end.

    Attributes:
        profile: distance from the end and radius at points from the end to the flange [m].
        flange: radius of the flange [m].
        thickness: of the flange [m].
    """

    type: Literal["probe"]
    profile: Annotated[tuple[tuple[NonNegative, Positive], ...], Field(min_length=2)]
    flange: Positive
    thickness: Length

    @model_validator(mode="after")
    def _widens_to_its_flange(self) -> Self:
        positions, radii = zip(*self.profile, strict=True)
        if positions[0] != 0.0 or any(a >= b for a, b in pairwise(positions)):
            raise ValueError("key 'profile': distances must begin at 0 and grow")
        if any(a > b for a, b in pairwise((*radii, self.flange))):
            raise ValueError("key 'profile': radii must not shrink towards the flange")
        return self

    @property
    def length(self) -> float:
        """From the end to the flange [m]."""
        return self.profile[-1][0]

    @property
    def collision(self) -> tuple[Shape, ...]:
        """Collision shapes: convex pieces along the profile, flange and boom."""
        pieces = [self._convex(run) for run in self._runs]
        return (*self._placed(pieces), *self._behind)

    @property
    def visual(self) -> tuple[Shape, ...]:
        """Visual shapes: the same of cylinders."""
        shapes = []
        for (s_a, r_a), (s_b, r_b) in pairwise(self.profile):
            count = 1 if r_a == r_b else STEPS
            s = np.linspace(s_a, s_b, count + 1)
            r = r_a + (r_b - r_a) * (np.arange(count) + 0.5) / count
            shapes += [
                self._cylinder(-a, -b, float(r_k))
                for (a, b), r_k in zip(pairwise(s), r, strict=True)
            ]
        return (*shapes, *self._behind)

    @property
    def _behind(self) -> tuple[Shape, ...]:
        """Flange and boom."""
        end = self.length + self.thickness
        flange = self._cylinder(-self.length, -end, self.flange)
        return (flange, self._cylinder(-end, -end - self.boom.length, self.boom.radius))

    @property
    def _runs(self) -> list[Array]:
        """Points (n, 2) of the profile between which the solid is convex: it widens ever less towards the flange."""
        points = np.array(self.profile)
        slopes = np.diff(points[:, 1]) / np.diff(points[:, 0])
        inner = [i + 1 for i, (a, b) in enumerate(pairwise(slopes)) if b > a]
        ends = pairwise([0, *inner, len(points) - 1])
        return [_tapered(points[a - 1 : b + 1]) if a else points[: b + 1] for a, b in ends]

    def _convex(self, run: Array) -> Shape:
        angles = 2.0 * np.pi * np.arange(self.segments) / self.segments
        ring = np.stack([0.0 * angles, np.cos(angles), np.sin(angles)], -1)
        ring *= _corner(self.segments)
        rings = [r * ring - [s, 0.0, 0.0] for s, r in run.tolist()]
        return hull(*stacked_rings(rings), self.color)


class Socket(_Port):
    """A round blind hole; T is in the middle of its mouth."""

    type: Literal["socket"]
    radius: Length  # of the hole [m]
    depth: Length  # to the bottom [m]
    wall: Positive  # thickness around the hole [m]

    @property
    def collision(self) -> tuple[Shape, ...]:
        """Collision shapes: a piece for each flat side, the bottom and the boom."""
        radius = self.radius * _corner(self.segments)
        profile = np.array([(0.0, radius), (-self.depth, radius)])
        pieces = pipe(profile, self.segments, thick(self.wall), self.color)
        return (*self._placed(pieces), *self._behind)

    @property
    def visual(self) -> tuple[Shape, ...]:
        """Visual shapes: a box for each flat side."""
        angles = 2.0 * np.pi * np.arange(self.segments) / self.segments
        middle = self.radius + 0.5 * self.wall
        width = 2.0 * (self.radius + self.wall) * np.tan(np.pi / self.segments)
        size: dict[str, object] = {"shape": "box", "size": (self.depth, self.wall, width)}
        staves = [
            self._shape(
                [-0.5 * self.depth, middle * np.cos(angle), middle * np.sin(angle)],
                euler.matrix_from_rpy([angle, 0.0, 0.0]),
                size,
            )
            for angle in angles.tolist()
        ]
        return (*staves, *self._behind)

    @property
    def _behind(self) -> tuple[Shape, ...]:
        """Bottom and boom."""
        end = self.depth + self.wall
        bottom = self._cylinder(-self.depth, -end, self.radius + self.wall)
        return (bottom, self._cylinder(-end, -end - self.boom.length, self.boom.radius))


class Drogue(_Port):
    """A cone that narrows from its mouth, where T is, to its bottom: what comes in off its axis slides there.

    Attributes:
        mouth: radius at the mouth [m].
        throat: radius at the bottom [m].
        depth: from the mouth to the bottom [m].
        wall: thickness around the cone [m].
    """

    type: Literal["drogue"]
    mouth: Positive
    throat: Positive
    depth: Length
    wall: Positive

    @model_validator(mode="after")
    def _narrows(self) -> Self:
        if self.throat >= self.mouth:
            raise ValueError("key 'throat': it must be narrower than the mouth")
        return self

    @property
    def collision(self) -> tuple[Shape, ...]:
        """Collision shapes: a piece for each flat side, the bottom and the boom."""
        return (*self._placed(self._sides), *self._behind)

    @property
    def visual(self) -> tuple[Shape, ...]:
        """Visual shapes: rings at the mouth and on the way, of boxes, and the bottom."""
        shapes = []
        for share in (0.0, 0.5, 1.0):
            radius = self.mouth + share * (self.throat - self.mouth)
            middle, width = radius + 0.5 * self.wall, 2.0 * (radius + self.wall)
            size: dict[str, object] = {
                "shape": "box",
                "size": (self.wall, self.wall, width * np.tan(np.pi / self.segments)),
            }
            for k in range(self.segments):
                angle = 2.0 * np.pi * k / self.segments
                place = [-share * self.depth, middle * np.cos(angle), middle * np.sin(angle)]
                turn = euler.matrix_from_rpy([angle, 0.0, 0.0])
                shapes.append(self._shape(place, turn, size))
        return (*shapes, *self._behind)

    @property
    def _sides(self) -> list[Shape]:
        corner = _corner(self.segments)
        profile = np.array([(0.0, self.mouth * corner), (-self.depth, self.throat * corner)])
        return pipe(profile, self.segments, thick(self.wall), self.color)

    @property
    def _behind(self) -> tuple[Shape, ...]:
        """Bottom and boom."""
        end = self.depth + self.wall
        bottom = self._cylinder(-self.depth, -end, self.throat + self.wall)
        return (bottom, self._cylinder(-end, -end - self.boom.length, self.boom.radius))


def _tapered(points: Array) -> Array:
    """Points (n, 2) of a convex run of a profile from the second on, which begin with a taper within the solid.

    Cut off flat, a run would have an end face that the solid has not. Engines keep the normal of a point of contact for
    some steps: that of the face would stop what slides by. The first point is of the narrower part before the run.
    """
    (s_before, _), (s, r), (s_next, r_next) = points[:3]
    slope = (r_next - r) / (s_next - s)
    start = max(s_before, s - (1.0 - TAPER_END) * r / slope)
    return np.vstack([[start, r - slope * (s - start)], points[1:]])


def _corner(sides: int) -> float:
    """Radius of a polygon's corners over the mean of theirs and its sides'."""
    return 2.0 / (1.0 + float(np.cos(np.pi / sides)))


Port = Annotated[Probe | Socket | Drogue, Field(discriminator="type")]

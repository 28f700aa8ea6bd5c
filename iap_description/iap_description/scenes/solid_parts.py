# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of parts that are made of a few flat or round sides."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.values import Length, Positive
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.solids import prism
from iap_description.scenes.builder import WHITE
from iap_description.scenes.part_record import PartRecord, Placement, Site, SolidRecord

COLUMN_SIDES = 12
SHEET = 0.02  # thickness of a plane, below its face [m]


class GroundPart(PartRecord):
    """The ground plane z = 0 of the world, in square patches."""

    type: Literal["ground"]
    texture: str | None = "paving"
    color: Rgba | None = None
    reach: Positive = 60.0  # along x and y [m]
    patches: Annotated[int, Field(strict=True, ge=1, le=64)] = 8

    def build(self, site: Site) -> None:
        """Its patches."""
        texture = self.texture if self.texture is None else site.texture(self.texture)
        site.builder.ground(texture, self.color, self.reach, self.patches)


class BoxPart(SolidRecord):
    """A box around its place, or on the ground."""

    type: Literal["box"]
    size: tuple[Length, Length, Length]  # along its axes [m]

    def build(self, site: Site) -> None:
        """A box at each place."""
        for place in self.placements():
            _add(self, site, place, 0.5 * self.size[2], shape="box", size=self.size)


class CylinderPart(SolidRecord):
    """A cylinder around its axis z."""

    type: Literal["cylinder"]
    radius: Length  # [m]
    length: Length  # [m]

    def build(self, site: Site) -> None:
        """A cylinder at each place."""
        size = {"radius": self.radius, "length": self.length}
        for place in self.placements():
            _add(self, site, place, 0.5 * self.length, shape="cylinder", **size)


class SpherePart(SolidRecord):
    """A ball."""

    type: Literal["sphere"]
    radius: Length  # [m]

    def build(self, site: Site) -> None:
        """A ball at each place."""
        for place in self.placements():
            _add(self, site, place, self.radius, shape="sphere", radius=self.radius)


class PlanePart(SolidRecord):
    """A sheet whose face, through its place, looks along its z."""

    type: Literal["plane"]
    size: tuple[Length, Length]  # along x and y [m]

    def build(self, site: Site) -> None:
        """A thin box below its face at each place."""
        for place in self.placements():
            p = place.origin - 0.5 * SHEET * place.R[:, 2]
            size = (*self.size, SHEET)
            _add(self, site, Placement(p, place.rpy_deg), 0.0, shape="box", size=size)


class ColumnPart(SolidRecord):
    """A round column on the ground, of flat sides."""

    type: Literal["column"]
    radius: Length  # [m]
    height: Length  # [m]
    tile: Positive = 4.0

    def build(self, site: Site) -> None:
        """A column at each place."""
        angles = 2.0 * np.pi * np.arange(COLUMN_SIDES) / COLUMN_SIDES
        circle = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], -1)
        for place in self.placements():
            foot = self.radius * circle + place.origin
            _add_prism(self, site, foot, foot + [0.0, 0.0, self.height])


class RoofPart(SolidRecord):
    """A gabled roof, placed by the middle of its underside; its ridge is along its x axis."""

    type: Literal["roof"]
    size: tuple[Length, Length, Length]  # length, width and height [m]

    def build(self, site: Site) -> None:
        """A roof at each place."""
        length, width, height = self.size
        ends = np.array([[0.0, -0.5 * width, 0.0], [0.0, 0.5 * width, 0.0], [0.0, 0.0, height]])
        for place in self.placements():
            below, above = (
                (ends + [x, 0.0, 0.0]) @ place.R.T + place.origin
                for x in (-0.5 * length, 0.5 * length)
            )
            _add_prism(self, site, below, above)


def _add(part: SolidRecord, site: Site, place: Placement, half: float, **shape: object) -> None:
    """Add a shape, by half of its height on the ground where no height is given."""
    p = np.where(np.isnan(place.p), half, place.p)
    pose = {"position": tuple(p.tolist()), "rpy_deg": place.rpy_deg}
    placed = Shape.model_validate({**shape, **pose})
    site.builder.solid(part.finish(site), placed, p, place.R, touched=part.contact == "solid")


def _add_prism(part: SolidRecord, site: Site, below: Array, above: Array) -> None:
    shape = prism(below, above, WHITE)
    touched = part.contact == "solid"
    site.builder.solid(part.finish(site), shape, below.mean(axis=0), np.eye(3), touched=touched)

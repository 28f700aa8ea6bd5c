# SPDX-License-Identifier: BSD-3-Clause
"""Keys that all kinds of parts of a scene's file have in common: a place, a label, a look."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.assets.images import read_image
from iap_description.config.record import Record
from iap_description.config.values import Positive, Real, RpyDegrees, Vec3
from iap_description.errors import BadInput
from iap_description.geometry.shapes import Rgba
from iap_description.math import euler
from iap_description.scenes.builder import GROUND, Builder, Finish
from iap_description.scenes.textures import MAKERS

LabelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Spot = tuple[Real, Real] | Vec3 | tuple[Real, Real, Real, Real]  # x, y, z [m] and yaw [deg]


class Placement(NamedTuple):
    """Place (3,) [m] and attitude [deg] of a part; z is NaN where its file does not say it."""

    p: Array
    rpy_deg: RpyDegrees

    @property
    def R(self) -> Array:
        """(3, 3) its attitude."""
        return euler.matrix_from_rpy_deg(self.rpy_deg)

    @property
    def origin(self) -> Array:
        """(3,) its place, on the ground where no height is given [m]."""
        return np.asarray(np.nan_to_num(self.p))


@dataclass(frozen=True)
class Site:
    """Site at which a part is built.

    Attributes:
        builder: that collects it.
        folder: that paths of files begin at.
        key: names the part in errors.
        chain: files of scenes that are being read, the outermost first.
    """

    builder: Builder
    folder: Path
    key: str
    chain: tuple[Path, ...]

    def file(self, name: str) -> Path:
        """The path of a file that the part names."""
        return self.folder / Path(name).expanduser()

    def texture(self, name: str) -> str:
        """The name of a texture in the scene; an image's file is read.

        Raises:
            BadInput: it is not an image that can be drawn.
        """
        if name in MAKERS:
            return name
        path = self.file(name)
        try:
            self.builder.images[str(path)] = read_image(path)
        except ValueError as error:
            raise self.refusal(f"key 'texture': {error}") from error
        return str(path)

    def refusal(self, text: str) -> BadInput:
        """The error of this part."""
        return BadInput(f"{self.chain[-1]}: {self.key}: {text}")


class PartRecord(Record):
    """A part of a scene. Without a height it stands on the ground, or in `map` as its file has it."""

    name: str | None = None  # in errors and in the viewer; None: its label
    label: LabelName | None = None  # in segmented images; None: its type
    position: Spot = (0.0, 0.0)
    rpy_deg: RpyDegrees = (0.0, 0.0, 0.0)
    at: tuple[Spot, ...] = ()  # in place of `position`, where it stands several times

    @model_validator(mode="after")
    def _stands_somewhere(self) -> Self:
        if self.at and "position" in self.model_fields_set:
            raise ValueError("keys 'position' and 'at': a part has one of both")
        return self

    @property
    def title(self) -> str:
        """Its label."""
        return self.label or str(getattr(self, "type", "object"))

    @property
    def part_name(self) -> str:
        """Its name."""
        return self.name or (f"{GROUND}_part" if self.title == GROUND else self.title)

    def placements(self) -> Iterator[Placement]:
        """Everywhere that it stands."""
        for spot in self.at or (self.position,):
            x, y, z, yaw = (*spot, np.nan, 0.0)[:4] if len(spot) == 2 else (*spot, 0.0)[:4]
            roll, pitch, turn = self.rpy_deg
            yield Placement(np.array([x, y, z]), (roll, pitch, turn + yaw))

    def files(self) -> tuple[str, ...]:
        """Files that it needs."""
        return ()

    @abstractmethod
    def build(self, site: Site) -> None:
        """Add it to a scene.

        Raises:
            BadInput: a file that it names cannot be used.
        """


class SolidRecord(PartRecord):
    """A solid of a simple shape."""

    texture: str | None = None  # of scenes.textures, or an image's file
    material: str | None = None  # for physical light; None: the one under the texture
    color: Rgba | None = None
    tile: Positive = 8.0  # side of the texture on it [m]
    contact: Literal["solid", "none"] = "solid"

    def files(self) -> tuple[str, ...]:
        """The image on it."""
        return (self.texture,) if self.texture is not None and self.texture not in MAKERS else ()

    def finish(self, site: Site) -> Finish:
        """Its look."""
        texture = None if self.texture is None else site.texture(self.texture)
        return Finish(self.part_name, self.title, texture, self.material, self.color, self.tile)

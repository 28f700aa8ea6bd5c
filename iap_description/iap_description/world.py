# SPDX-License-Identifier: BSD-3-Clause
"""The world that vehicles fly in: gravity, the ground, and the objects that they touch."""

from typing import Annotated

from pydantic import Field

from iap_description.config import Flag, NonNegative, Record
from iap_description.surface import Surface
from iap_description.world_objects import WorldObject

__all__ = ["Surface", "World", "WorldObject"]

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class World(Record):
    """Gravity along -z of `map`, a ground plane at z = 0, and objects by name.

    The surface is that of the ground; its friction and restitution are also those of vehicles that
    say nothing else. Engines number the objects in the order in which they are given.
    """

    gravity: NonNegative = 9.81  # [m/s^2]
    ground: Flag = True
    surface: Surface = Surface(friction=0.8, restitution=0.1)
    objects: dict[Name, WorldObject] = {}
    scene: str | None = None  # a place with things that are seen and touched; None is an open field

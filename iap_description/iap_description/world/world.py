# SPDX-License-Identifier: BSD-3-Clause
"""The world that vehicles fly in: gravity, the ground, and the objects that they touch."""

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from iap_description.arrays import Array
from iap_description.config.record import Flag, NonNegative, Record
from iap_description.earth import GRAVITY
from iap_description.geometry.shapes import Surface
from iap_description.scenes.library import check_scene
from iap_description.states import STATE_SIZE
from iap_description.world.objects import Board, Box, Cylinder, Floor, Funnel, Mesh, Wall
from iap_description.world.obstacles import Boxes, Rods, Trees

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


WorldObject = Annotated[
    Wall | Floor | Box | Cylinder | Funnel | Board | Mesh | Boxes | Rods | Trees,
    Field(discriminator="type"),
]
Scene = Annotated[str, AfterValidator(check_scene)]


class World(Record):
    """Gravity along -z of `map`, a ground plane at z = 0, a scene around it, and objects by name.

    The surface is that of the ground and the scene; its friction and restitution are also those of vehicles that
    say nothing else. Engines number the objects in the order in which they are given.
    """

    gravity: NonNegative = GRAVITY  # [m/s^2]
    ground: Flag = True
    surface: Surface = Surface(friction=0.8, restitution=0.1)
    scene: Scene | None = None  # of scenes.library; None: an open field
    objects: dict[Name, WorldObject] = {}

    @property
    def has_free_objects(self) -> bool:
        """True if an object moves freely, so that time alone does not say where it is."""
        return any(item.mass is not None for item in self.objects.values())

    def object_states(self, t: float) -> Array:
        """(objects, 13) states of the objects at a time [s], none of which moves freely."""
        rows = [item.row(t) for item in self.objects.values()]
        return np.array(rows).reshape(-1, STATE_SIZE)

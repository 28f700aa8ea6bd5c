# SPDX-License-Identifier: BSD-3-Clause
"""The world that vehicles fly in: gravity, the ground, and the objects that they touch."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Flag, NonNegative
from iap_description.earth import GRAVITY
from iap_description.geometry.shapes import Surface
from iap_description.scenes.library import check_scene, has_ground, load_scene
from iap_description.scenes.lighting import Lighting, TimeOfDay, Weather
from iap_description.states import STATE_SIZE, resting_state
from iap_description.world.asset_obstacles import Assets
from iap_description.world.hinge import carried, check_names
from iap_description.world.objects import Board, Box, Cylinder, Floor, Funnel, Mesh, Wall
from iap_description.world.obstacles import Boxes, Rods, Trees
from iap_description.world.person import Person

if TYPE_CHECKING:  # scenes are made where they are drawn
    from iap_description.scenes.scene import Scene as SceneOfParts

OPEN_FIELD = "open_field"  # the scene of a world without one
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


WorldObject = Annotated[
    Wall | Floor | Box | Cylinder | Funnel | Board | Mesh | Person | Boxes | Rods | Trees | Assets,
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
    scene: Scene | None = None  # of scenes.library, or a file's path; None: an open field
    objects: dict[Name, WorldObject] = {}
    light: Lighting | None = None  # these three for renderer `physical`
    weather: Weather | None = None
    time_of_day: TimeOfDay | None = None

    @model_validator(mode="after")
    def _has_one_sun(self) -> Self:
        if self.time_of_day is not None and self.light is not None and self.light.sun is not None:
            raise ValueError("keys 'time_of_day' and 'light.sun': the sun has one place")
        return self

    @model_validator(mode="after")
    def _has_what_hinges_name(self) -> Self:
        check_names({name: each.hinge for name, each in self.objects.items() if each.hinge})
        return self

    def lit(self, scene: "SceneOfParts") -> "SceneOfParts":
        """A scene in the light and weather of this world, where it says some, or else in its own."""
        if self.light is None and self.weather is None and self.time_of_day is None:
            return scene
        lighting = scene.lighting if self.light is None else self.light
        if self.time_of_day is not None and lighting is not None:
            lighting = lighting.model_copy(update={"sun": None})
        has_sun = self.light is not None and self.light.sun is not None
        return replace(
            scene,
            lighting=lighting,
            weather=scene.weather if self.weather is None else self.weather,
            time_of_day=None if has_sun else self.time_of_day or scene.time_of_day,
            is_lit_by_file=False,
        )

    def surroundings(self) -> "SceneOfParts":
        """The scene of this world, an open field where it names none, in its light and weather."""
        return self.lit(load_scene(self.scene or OPEN_FIELD))

    @property
    def has_ground(self) -> bool:
        """True if there is a ground plane at z = 0: it is asked for, and the scene has it."""
        return self.ground and (self.scene is None or has_ground(self.scene))

    @property
    def has_free_objects(self) -> bool:
        """True if an object moves freely or turns about a hinge, so that time alone does not say where it is."""
        return any(item.mass is not None for item in self.objects.values())

    def with_objects(self, *, moving: bool) -> Self:
        """The world with the objects alone that move, or with those alone that stand still."""
        kept = {name: item for name, item in self.objects.items() if item.moves == moving}
        return self.model_copy(update={"objects": kept})

    @property
    def carried(self) -> list[tuple[int, int]]:
        """Numbers of the objects that another one carries, each with its carrier's."""
        names = list(self.objects)
        hinges = [item.hinge for item in self.objects.values()]
        return [
            (k, names.index(h.carrier))
            for k, h in enumerate(hinges)
            if h is not None and h.carrier
        ]

    def carry(self, rows: Array) -> None:
        """Move rows (objects, 13) of objects that others carry, which are as if these stood at angle 0, with them."""
        for k, carrier in self.carried:
            item = list(self.objects.values())[carrier]
            start = resting_state(np.array(item.position), item.q_WO)
            rows[k] = carried(rows[k], start, rows[carrier])

    def resting_rows(self) -> Array:
        """(objects, 13) states of the objects where they stand before any motion."""
        rows = [resting_state(np.array(o.position), o.q_WO) for o in self.objects.values()]
        return np.array(rows).reshape(-1, STATE_SIZE)

    def object_states(self, t: float) -> Array:
        """(objects, 13) states of the objects at a time [s], none of which has a mass."""
        rows = [item.row(t) for item in self.objects.values()]
        return np.array(rows).reshape(-1, STATE_SIZE)

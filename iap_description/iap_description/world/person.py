# SPDX-License-Identifier: BSD-3-Clause
"""A person who stands or walks, for vehicles that fly among people."""

from typing import Annotated, Literal

from pydantic import Field

from iap_description.config.values import Position
from iap_description.geometry.shapes import Rgba, Shape, Surface
from iap_description.world.objects import WorldObject

SKIN = (0.78, 0.60, 0.48, 1.0)
TROUSERS = (0.16, 0.18, 0.26, 1.0)
# Lengths over the body's height, after Drillis and Contini, "Body segment parameters" (1966), as Winter,
# "Biomechanics and motor control of human movement", Fig. 4.1, has them.
HIP, CHIN, HEAD = 0.530, 0.870, 0.065  # heights of hip and chin, and half of the head's
SHOULDERS, HIPS = 0.129, 0.0955  # from the middle to a shoulder and to a hip's side
DEEP = 0.6  # depth of the trunk over its width


class Person(WorldObject):
    """A person of upright pieces, whose feet are at the origin of O and who looks along +x."""

    type: Literal["person"]
    position: Position = (0.0, 0.0, 0.0)  # of O in map [m]
    height: Annotated[float, Field(strict=True, ge=0.3, le=3.0)] = 1.75  # [m]
    color: Rgba = (0.75, 0.25, 0.2, 1.0)  # of the shirt
    surface: Surface = Surface(friction=0.5, restitution=0.0)

    def pieces(self) -> tuple[Shape, ...]:
        """Two legs, a trunk with its arms, and a head."""
        h = self.height
        leg, foot = 0.5 * HIPS * h, 0.5 * HIP * h
        legs = [
            Shape(
                shape="cylinder",
                radius=leg,
                length=HIP * h,
                position=(0.0, side * leg, foot),
                color=TROUSERS,
            )
            for side in (-1.0, 1.0)
        ]
        size = 2.0 * DEEP * HIPS * h, 2.0 * SHOULDERS * h, (CHIN - HIP) * h
        trunk = Shape(
            shape="box", size=size, position=(0.0, 0.0, 0.5 * (HIP + CHIN) * h), color=self.color
        )
        head = Shape(
            shape="sphere", radius=HEAD * h, position=(0.0, 0.0, (1.0 - HEAD) * h), color=SKIN
        )
        return (*legs, trunk, head)

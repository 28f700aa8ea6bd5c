# SPDX-License-Identifier: BSD-3-Clause
"""An eight-sided arena in fog, of which a third of the light is left on the way to its far walls."""

import numpy as np

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Fog, Light, Scene, Sky

FOG = (0.74, 0.76, 0.78)
WALL_DISTANCE = 17.0  # of the walls from the middle [m]
WALLS = "bricks", "posters", "concrete", "container"
COLUMNS = ((12.3, 8.8), (-12.3, -8.8), (-11.6, 8.9), (11.8, -9.0), (0.0, 11.2), (-0.5, -11.2))
CRATES = ((4.6, 9.6), (-3.2, 9.8), (6.8, -9.4), (-5.4, -9.9), (-13.2, 0.8), (13.0, -1.6))


def build() -> Scene:
    """Walls, columns, and stacks of crates."""
    builder = Builder("foggy_arena", seed=4)
    builder.ground("paving", reach=60.0, patches=6)
    for k, angle in enumerate(np.deg2rad(np.arange(0, 360, 45))):
        place = (WALL_DISTANCE * np.cos(angle), WALL_DISTANCE * np.sin(angle))
        size = (0.6, 14.4, 6.0 + 2.0 * (k % 2))
        builder.box("wall", place, size, WALLS[k % len(WALLS)], yaw_deg=45.0 * k)
    for place in COLUMNS:
        builder.column(place, 0.55, 8.0, "tiles")
    for k, (x, y) in enumerate(CRATES):
        builder.box("box", (x, y), (2.2, 2.2, 2.2), "crates", yaw_deg=15.0 * k, tile=4.4)
        builder.box("box", (x, y, 2.9), (1.4, 1.4, 1.4), "posters", yaw_deg=40.0 * k, tile=3.0)
    return builder.scene(
        light=Light(direction_W=(0.3, 0.2, 0.9), strength=0.35, ambient=0.7),
        sky=Sky(zenith=FOG, horizon=FOG),
        fog=Fog(density=0.09, color=FOG),
    )

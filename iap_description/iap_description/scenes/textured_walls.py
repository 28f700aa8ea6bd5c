# SPDX-License-Identifier: BSD-3-Clause
"""A yard of 37 m by 27 m between high walls that are papered, tiled and bricked; piers in its corners."""

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Light, Scene, Sky

X, Y = 18.0, 13.0  # to the walls' middles [m]
THICK = 0.6  # of a slab [m]
TEXTURES = "posters", "bricks", "mosaic", "facade", "concrete", "tiles", "crates"


def build() -> Scene:
    """Walls of slabs that are not in one plane, so that their edges stand out."""
    builder = Builder("textured_walls", seed=2)
    builder.ground("paving", reach=60.0, patches=6)
    count = 0
    for sign in (-1.0, 1.0):
        for k in range(-1, 2):
            _slab(builder, (sign * X, 8.6 * k), count, along_y=True)
            count += 1
        for k in range(-2, 3):
            _slab(builder, (7.2 * k, sign * Y), count, along_y=False)
            count += 1
    for x in (-14.0, 14.0):
        for y in (-10.2, 10.2):
            builder.column((x, y), 0.5, 6.0, "bricks")
            size = (1.4, 1.4, 1.4)
            builder.box("box", (x - 2.6, 1.02 * y), size, "crates", yaw_deg=20.0, tile=2.8)
    return builder.scene(
        light=Light(direction_W=(0.55, 0.5, 0.65), strength=0.6, ambient=0.6),
        sky=Sky(zenith=(0.33, 0.52, 0.82), horizon=(0.78, 0.85, 0.92)),
    )


def _slab(builder: Builder, place: tuple[float, float], k: int, *, along_y: bool) -> None:
    """One slab of a wall, somewhat in front of its neighbours or behind them."""
    away = 1.0 + 0.05 * (k % 3 - 1)
    height = (8.5, 7.0, 9.5)[k * 2 % 3]
    x, y = (away * place[0], place[1]) if along_y else (place[0], away * place[1])
    size = (THICK, 9.5, height) if along_y else (8.0, THICK, height)
    builder.box("wall", (x, y), size, TEXTURES[k % len(TEXTURES)])

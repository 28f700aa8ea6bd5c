# SPDX-License-Identifier: BSD-3-Clause
"""A station whose only platform, 16 m wide, runs along y between two trains, under a roof of beams.

Its hall reaches farther: between the carriages one sees the outer walls, and so are seen beacons
that stand in the corners.
"""

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Light, Scene, Sky

X, Y = 42.0, 50.0  # of the hall's walls [m]
CARRIAGE = (2.9, 15.0, 3.8)
COLUMN_Y = tuple(range(-40, 41, 10))


def build() -> Scene:
    """Trains, columns with beams across, kiosks behind, and the hall's walls."""
    builder = Builder("narrow_station", seed=5)
    builder.ground("paving", reach=60.0)
    for sign in (-1.0, 1.0):
        for k in range(-2, 3):
            builder.box("vehicle", (sign * 10.6, 17.5 * k + 3.0 * sign), CARRIAGE, "container")
        for k in range(-3, 4):
            texture = ("tiles", "posters", "bricks")[k % 3]
            builder.box("wall", (sign * X, 14.0 * k), (0.6, 14.0, 8.0 + k % 2), texture)
            builder.box("wall", (12.0 * k, sign * Y), (12.0, 0.6, 8.5 + k % 2), texture)
        for y in COLUMN_Y:
            builder.column((sign * 8.1, y + 3.0), 0.35, 10.0, "concrete")
        for y in (-24.0, -6.0, 12.0, 30.0):
            size = (4.0, 5.0, 6.5)
            builder.box("box", (sign * 22.0, y), size, "posters")
    for y in COLUMN_Y:
        builder.box("column", (0.0, y + 3.0, 10.3), (18.0, 0.5, 0.6), "concrete")
    return builder.scene(
        light=Light(direction_W=(0.5, 0.35, 0.8), strength=0.5, ambient=0.62),
        sky=Sky(zenith=(0.55, 0.62, 0.70), horizon=(0.80, 0.83, 0.86)),
    )

# SPDX-License-Identifier: BSD-3-Clause
"""A station whose only platform, 16 m wide, runs along x between two trains, under a roof of beams.

Its hall reaches farther: between the carriages one sees the outer walls, and so are seen beacons
that stand in the corners.
"""

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Light, Scene, Sky

X, Y = 48.0, 50.0  # of the hall's walls [m]
CARRIAGE = (15.0, 2.9, 3.8)
BEAMS = tuple(float(x) for x in range(-37, 44, 10))


def build() -> Scene:
    """Trains, columns with beams across, kiosks behind, and the hall's walls."""
    builder = Builder("narrow_station", seed=5)
    builder.ground("paving", reach=60.0)
    for sign in (-1.0, 1.0):
        for k in range(-2, 3):
            builder.box("vehicle", (17.5 * k + 3.0 * sign, sign * 10.6), CARRIAGE, "container")
        for k in range(-3, 4):
            texture = ("tiles", "posters", "bricks")[k % 3]
            builder.box("wall", (sign * X, 14.0 * k), (0.6, 14.0, 8.0 + k % 2), texture)
            builder.box("wall", (14.0 * k, sign * Y), (14.0, 0.6, 8.5 + k % 2), texture)
        for x in BEAMS:
            builder.column((x, sign * 8.1), 0.35, 10.0, "concrete")
        for x in (-24.0, -6.0, 12.0, 30.0):
            builder.box("box", (x, sign * 22.0), (5.0, 4.0, 6.5), "posters")
    for x in BEAMS:
        builder.box("column", (x, 0.0, 10.3), (0.5, 18.0, 0.6), "concrete")
    return builder.scene(
        light=Light(direction_W=(0.5, 0.35, 0.8), strength=0.5, ambient=0.62),
        sky=Sky(zenith=(0.55, 0.62, 0.70), horizon=(0.80, 0.83, 0.86)),
    )

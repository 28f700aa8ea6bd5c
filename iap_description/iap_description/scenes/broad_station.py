# SPDX-License-Identifier: BSD-3-Clause
"""A station's hall of 84 m by 100 m: rows of columns, benches and kiosks, trains along two walls."""

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Light, Scene, Sky

X, Y = 42.0, 50.0  # of the walls [m]
KIOSKS = ((16.0, 16.0), (-15.0, -17.0), (-20.0, 18.0), (21.0, -15.0), (-27.0, 1.0), (28.0, -2.0))
BENCHES = ((5.0, 9.4), (-6.0, 9.4), (6.0, -9.4), (-5.0, -9.4), (-13.5, 3.0), (13.5, -4.0))


def build() -> Scene:
    """Columns stand 16 m apart; the roof is of glass, of which only the beams are seen."""
    builder = Builder("broad_station", seed=6)
    builder.ground("paving", reach=60.0)
    for k in range(-3, 4):
        texture = ("posters", "tiles", "facade")[k % 3]
        for sign in (-1.0, 1.0):
            builder.box("wall", (sign * X, 14.0 * k), (0.6, 14.0, 10.0), texture)
            builder.box("wall", (12.0 * k, sign * Y), (12.0, 0.6, 11.0), texture)
    for sign in (-1.0, 1.0):
        for k in range(-2, 3):
            builder.box("vehicle", (sign * 36.3, 16.5 * k), (2.9, 15.0, 3.8), "container")
        for y in (-40.0, -24.0, -8.0, 8.0, 24.0, 40.0):
            builder.column((sign * 12.0, y), 0.5, 12.0, "concrete")
            builder.column((sign * 27.0, y), 0.5, 12.0, "concrete")
            builder.box("column", (sign * 19.5, y, 12.3), (16.0, 0.6, 0.6), "concrete")
    for k, (x, y) in enumerate(KIOSKS):
        builder.box("building", (x, y), (5.0, 4.0, 3.4), "posters", yaw_deg=15.0 * k)
        builder.box("building", (x, y, 3.6), (5.8, 4.8, 0.4), "container", yaw_deg=15.0 * k)
    for k, (x, y) in enumerate(BENCHES):
        builder.box("box", (x, y), (0.6, 2.4, 0.9), "crates", yaw_deg=90.0 * (k < 4), tile=3.0)
    return builder.scene(
        light=Light(direction_W=(0.4, 0.5, 0.8), strength=0.5, ambient=0.62),
        sky=Sky(zenith=(0.62, 0.68, 0.74), horizon=(0.82, 0.85, 0.88)),
    )

# SPDX-License-Identifier: BSD-3-Clause
"""A square between houses of several heights, with containers, crates and lamp posts on it."""

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Light, Scene, Sky

# Of each house: middle (x, y), length, width and height [m], heading [deg], walls, and the roof's height [m].
HOUSES = (
    ((9.0, 17.5), (11.0, 9.0, 12.0), 90.0, "facade", 3.0),
    ((-4.0, 18.0), (10.0, 10.0, 17.0), 90.0, "bricks", 0.0),
    ((-18.0, 19.5), (9.0, 9.0, 9.0), 102.0, "facade", 3.5),
    ((-21.5, 5.0), (12.0, 9.0, 14.0), 90.0, "facade", 0.0),
    ((-22.0, -8.0), (10.0, 10.0, 8.0), 82.0, "bricks", 3.5),
    ((-15.0, -19.0), (9.0, 11.0, 11.0), 96.0, "facade", 3.0),
    ((-1.0, -18.0), (10.0, 11.0, 15.0), 90.0, "tiles", 0.0),
    ((13.0, -19.0), (11.0, 10.0, 9.0), 80.0, "bricks", 3.0),
    ((21.0, -6.0), (10.0, 9.0, 12.0), 90.0, "facade", 0.0),
    ((21.5, 7.0), (11.0, 9.0, 8.5), 95.0, "bricks", 3.5),
    ((18.0, 36.0), (12.0, 12.0, 26.0), 110.0, "facade", 0.0),
    ((-14.0, 38.0), (12.0, 12.0, 22.0), 90.0, "facade", 0.0),
    ((-42.0, 2.0), (14.0, 12.0, 28.0), 90.0, "facade", 0.0),
    ((-28.0, -36.0), (14.0, 12.0, 20.0), 120.0, "facade", 0.0),
    ((8.0, -38.0), (12.0, 14.0, 24.0), 90.0, "facade", 0.0),
    ((40.0, -16.0), (14.0, 12.0, 22.0), 105.0, "facade", 0.0),
    ((40.0, 22.0), (12.0, 12.0, 18.0), 70.0, "facade", 0.0),
)
CONTAINERS = ((13.6, 10.8, 170.0), (-12.6, -10.6, 190.0), (-13.2, 9.9, 100.0))
CRATES = ((2.6, 10.0), (8.4, -10.2), (-6.0, -9.6), (13.4, -3.0), (-13.6, 4.2), (-8.8, 10.4))
POSTS = ((-2.6, 9.4), (2.8, -9.4), (-13.8, -6.6), (13.8, 6.2))


def build() -> Scene:
    """Seventeen houses in two rows around the square."""
    builder = Builder("building_cluster", seed=3)
    builder.ground("paving", reach=80.0)
    for (x, y), size, yaw_deg, walls, gable in HOUSES:
        builder.box("building", (x, y), size, walls, yaw_deg=yaw_deg, tile=12.0)
        length, width, height = size
        if gable > 0.0:
            builder.roof((x, y, height), (length + 0.8, width + 0.8, gable), "concrete", yaw_deg)
        else:
            builder.box(
                "building", (x, y, height + 0.75), (3.0, 2.4, 1.5), "container", yaw_deg=yaw_deg
            )
    for x, y, yaw_deg in CONTAINERS:
        builder.box("box", (x, y), (6.0, 2.4, 2.6), "container", yaw_deg=yaw_deg)
    for k, (x, y) in enumerate(CRATES):
        side = 1.0 + 0.3 * (k % 3)
        builder.box("box", (x, y), (side, side, side), "crates", yaw_deg=25.0 * k, tile=2.5)
    for place in POSTS:
        builder.column(place, 0.12, 6.5, "concrete")
    return builder.scene(
        light=Light(direction_W=(0.45, -0.6, 0.7), strength=0.6, ambient=0.55),
        sky=Sky(zenith=(0.30, 0.50, 0.82), horizon=(0.80, 0.86, 0.92)),
    )

# SPDX-License-Identifier: BSD-3-Clause
"""An arena in full light: blocks on a pitch, and stands in steps around it."""

import numpy as np

from iap_description.scenes.builder import Builder
from iap_description.scenes.scene import Light, Scene, Sky

STEP_DISTANCE = 62.0  # of the lowest step from the middle [m]
STEPS = 3
BOARDS = "posters", "mosaic", "bricks", "facade"
BLOCKS = (
    ((7.0, 10.5), (2.0, 2.0, 3.0)),
    ((-5.0, 11.0), (2.0, 3.0, 1.5)),
    ((-8.5, -10.5), (3.0, 2.0, 4.0)),
    ((5.0, -10.0), (1.5, 1.5, 2.5)),
    ((-14.0, 2.5), (1.5, 4.0, 2.0)),
    ((14.5, -3.5), (2.0, 3.0, 3.5)),
    ((-16.0, 16.0), (3.0, 3.0, 6.0)),
    ((-17.0, -16.5), (2.0, 4.0, 5.0)),
    ((15.5, -17.0), (3.0, 3.0, 6.0)),
    ((17.5, 17.0), (4.0, 2.0, 4.0)),
    ((-1.0, 26.0), (6.0, 3.0, 5.0)),
    ((2.0, -25.0), (6.0, 3.0, 5.0)),
    ((-30.0, 0.0), (3.0, 6.0, 5.0)),
    ((27.0, 1.0), (3.0, 6.0, 5.0)),
)


def build() -> Scene:
    """Twelve sides of boards and stands."""
    builder = Builder("bright_arena", seed=7)
    builder.ground("field", reach=100.0, patches=10)
    for k in range(12):
        angle = np.deg2rad(30.0 * k)
        for step in range(STEPS):
            away = STEP_DISTANCE + 3.0 * step
            place = (away * np.cos(angle), away * np.sin(angle))
            size = (3.0, 2.0 * (away + 1.5) * np.tan(np.deg2rad(15.0)), 3.0 + 2.5 * step)
            texture = BOARDS[(k + step) % len(BOARDS)]
            builder.box("wall", place, size, texture, yaw_deg=30.0 * k)
        mast = (STEP_DISTANCE + 4.0 * STEPS) * np.array(
            [np.cos(angle + 0.26), np.sin(angle + 0.26)]
        )
        builder.column(mast.tolist(), 0.5, 18.0, "concrete")
    for k, (place, size) in enumerate(BLOCKS):
        texture = ("crates", "mosaic", "container", "posters")[k % 4]
        builder.box("box", place, size, texture, yaw_deg=20.0 * k, tile=5.0)
    return builder.scene(
        light=Light(direction_W=(-0.4, 0.5, 0.75), strength=0.55, ambient=0.68),
        sky=Sky(zenith=(0.45, 0.65, 0.92), horizon=(0.90, 0.94, 0.97)),
    )

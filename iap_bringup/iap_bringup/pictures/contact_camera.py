# SPDX-License-Identifier: BSD-3-Clause
"""Points of view from which nothing hides the vehicles, and a tool's contact is seen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iap_bringup.pictures.picture import TO_SUN, Viewpoint, camera_around
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.world.scene_objects import SceneObject

Size = tuple[int, int]

ASIDE_DEG = 70.0, 80.0, 90.0, 100.0, 112.0  # to the camera, from straight behind the tool
ELEVATION_DEG = 14.0, 22.0, 30.0, 40.0
WATCHED = np.linspace(0.4, 1.0, 12)[:, None]  # of the way to the tip: points that should be seen
TIP_SURROUNDINGS = 0.55  # what of an object is so near to the tip is in the picture [m]
STEEP = 0.25  # horizontal share below which a tool points up or down
AROUND_DEG, HEIGHTS_DEG = (-35.0, 35.0, -145.0, 145.0), (18.0, 40.0)  # where there is no tool


@dataclass(frozen=True)
class Rod:
    """A vehicle's tool in `map`.

    Attributes:
        tip: (3,) [m].
        axis: (3,) unit vector towards the tip.
        points: (n, 3) on the way from the platform's origin to the tip, which should be seen [m].
    """

    tip: Array
    axis: Array
    points: Array

    @classmethod
    def of(cls, row: Array, tip_P: Sequence[float], axis_P: Sequence[float]) -> "Rod":
        """The tool on a central body with a state row (13,)."""
        tip = row[P] + so3.rotate(row[Q], np.array(tip_P))
        points = row[P] + WATCHED * (tip - row[P])
        return cls(tip, so3.rotate(row[Q], np.array(axis_P)), points)

    def is_in(self, tube: SceneObject) -> bool:
        """True if it is in an object that would hide it."""
        return tube.is_tube and bool(tube.holds(self.points).any())


def contact_camera(
    assembly: Assembly, rows: Array, rod: Rod, objects: Sequence[SceneObject], size: Size
) -> Viewpoint:
    """Beside the tool, where as little as possible is in the way, rather in the sun and low.

    Args:
        assembly: the vehicle.
        rows: (bodies, 13) its states.
        rod: its tool.
        objects: of the world; a tube that the tool is in will be cut open and hides nothing.
        size: width and height of the picture [pixels].
    """
    near = [each.corners_W for each in objects]
    near = [
        corners[np.linalg.norm(corners - rod.tip, axis=1) < TIP_SURROUNDINGS] for corners in near
    ]
    points = np.vstack([rows[:, P], rod.tip, *near])
    aircraft = zip(assembly.bodies[1:], rows[1:], strict=True)
    in_the_way = [SceneObject(body.visual, row) for body, row in aircraft]
    in_the_way += [each for each in objects if not rod.is_in(each)]
    return _clearest(_directions(rod.axis), points, rod.points, in_the_way, size)


def free_camera(points_W: Array, objects: Sequence[SceneObject], size: Size) -> Viewpoint:
    """The nearest camera that sees vehicles at points (n, 3), where no object is in the way."""
    directions = [(azimuth, elevation) for elevation in HEIGHTS_DEG for azimuth in AROUND_DEG]
    return _clearest(directions, points_W, points_W, objects, size)


def _clearest(
    directions: Sequence[tuple[float, float]],
    points_W: Array,
    watched_W: Array,
    in_the_way: Sequence[SceneObject],
    size: Size,
) -> Viewpoint:
    """Choice among cameras in directions (azimuth, elevation) from some points, the first of the best."""
    cameras = [
        camera_around(points_W, azimuth_deg=azimuth, elevation_deg=elevation, size=size)
        for azimuth, elevation in directions
    ]

    def hidden(camera: Viewpoint) -> int:
        position = np.array(camera.position)
        hidden = [each.hides(watched_W, position) for each in in_the_way]
        return int(np.any(hidden, axis=0).sum()) if hidden else 0

    return min(cameras, key=hidden)


def _directions(axis: Array) -> list[tuple[float, float]]:
    """Azimuths and elevations [deg] of the camera, the nicest first."""
    behind = AROUND_DEG[0] - ASIDE_DEG[0]
    if math.hypot(axis[0], axis[1]) > STEEP:
        behind = math.degrees(math.atan2(-axis[1], -axis[0]))
    sun = math.degrees(math.atan2(TO_SUN[1], TO_SUN[0]))
    sides = sorted(
        (-1.0, 1.0), key=lambda side: -math.cos(math.radians(behind + 90.0 * side - sun))
    )
    return [
        (behind + side * aside, elevation)
        for elevation in ELEVATION_DEG
        for side in sides
        for aside in ASIDE_DEG
    ]

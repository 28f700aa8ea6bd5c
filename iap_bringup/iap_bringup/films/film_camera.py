# SPDX-License-Identifier: BSD-3-Clause
"""The way of a film's camera: beside the vehicles and along with them, or still with all of a flight in view."""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter1d

from iap_bringup.films.film_picture import FOCAL, View
from iap_bringup.films.film_stage import Size
from iap_description.arrays import Array
from iap_description.world.scene_objects import SceneObject

FROM = np.array([-0.55, -0.75, 0.35])  # direction of the camera from the middle of a flight
AZIMUTHS_DEG, ELEVATIONS_DEG = (0.0, 55.0, -55.0, 110.0, -110.0, 180.0), (0.0, 14.0)  # beside FROM
MARGIN = 0.5  # around the places of all bodies, for what is around a body [m]
CLOSE_MARGIN = 0.45  # likewise where the camera goes along [m]
SMOOTHING = 0.8  # standard deviation of the filter of the way that a camera goes [s]
LOWEST = 0.25  # place of a camera [m]


def standpoint(points_W: Array, size: Size, back: Array = FROM) -> tuple[Array, Array]:
    """Place of a camera that sees all points (n, 3), and the point that it looks at, (3,) each [m].

    Args:
        points_W: places of bodies [m].
        size: of the picture.
        back: direction (3,) from their middle to the camera.
    """
    low, high = points_W.min(axis=0) - MARGIN, points_W.max(axis=0) + MARGIN
    middle, back = 0.5 * (low + high), back / np.linalg.norm(back)
    around, tall = 0.5 * np.hypot(*(high - low)[:2]), 0.5 * (high - low)[2]  # an upright cylinder
    per_width = 2.0 * FOCAL * around
    per_height = 2.0 * FOCAL * size[0] / size[1] * (tall * np.hypot(*back[:2]) + around * back[2])
    depth = around * np.hypot(*back[:2]) + tall * back[2]  # its nearest place
    return middle + (max(per_width, per_height) + depth) * back, middle


def fixed_views(bodies_W: Array, size: Size, objects: Sequence[SceneObject]) -> list[View]:
    """Views of a camera that stands still.

    Args:
        bodies_W: (pictures, bodies, 3) places of all bodies [m].
        size: of the pictures.
        objects: that may hide the vehicles.
    """
    points = bodies_W.reshape(-1, 3)
    views = [_view(*standpoint(points, size, back)) for back in _directions()]
    return [_clearest([[each] for each in views], bodies_W, objects)[0]] * len(bodies_W)


def following_views(
    bodies_W: Array, rate: float, size: Size, objects: Sequence[SceneObject]
) -> list[View]:
    """Views of a camera that goes along smoothly, so close that all bodies are in the picture.

    Args:
        bodies_W: (pictures, bodies, 3) places of all bodies [m].
        rate: pictures in a second of the flight.
        size: of the pictures.
        objects: that may hide the vehicles.
    """
    low, high = bodies_W.min(axis=1), bodies_W.max(axis=1)
    sigma = SMOOTHING * rate
    middle = gaussian_filter1d(0.5 * (low + high), sigma, axis=0, mode="nearest")
    radius = np.linalg.norm(bodies_W - middle[:, None], axis=2).max(axis=1) + CLOSE_MARGIN
    radius = gaussian_filter1d(radius, sigma, mode="nearest")
    half_angle = np.arctan(0.5 / FOCAL * min(1.0, size[1] / size[0]))
    distance = radius / np.sin(half_angle)
    ways = [
        [
            _view(p + d * back / np.linalg.norm(back), p)
            for p, d in zip(middle, distance, strict=True)
        ]
        for back in _directions()
    ]
    return _clearest(ways, bodies_W, objects)


def _view(position: Array, target: Array) -> View:
    return View.towards(np.array([*position[:2], max(position[2], LOWEST)]), target)


def _directions() -> list[Array]:
    """Directions from a flight to its camera, the nicest first."""
    azimuth, elevation = np.arctan2(FROM[1], FROM[0]), np.arctan2(FROM[2], np.hypot(*FROM[:2]))
    out = []
    for higher in np.deg2rad(ELEVATIONS_DEG):
        for turn in np.deg2rad(AZIMUTHS_DEG):
            a, e = azimuth + turn, elevation + higher
            out.append(np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)]))
    return out


def _clearest(
    ways: Sequence[list[View]], bodies_W: Array, objects: Sequence[SceneObject]
) -> list[View]:
    """The way from which objects hide the fewest bodies, the first of the best."""
    instants = np.unique(np.linspace(0, len(bodies_W) - 1, 9).astype(int))

    def hidden(way: list[View]) -> int:
        count = 0
        for k in instants:
            view = way[min(k, len(way) - 1)]
            count += sum(int(each.hides(bodies_W[k], view.p_WC_W).sum()) for each in objects)
            count += sum(int(each.holds(view.p_WC_W[None])[0]) for each in objects) * len(
                bodies_W[k]
            )
        return count

    return min(ways, key=hidden)

# SPDX-License-Identifier: BSD-3-Clause
"""Round cavities out of convex pieces: a funnel, and a board with a hole or a socket.

A cavity is a polygonal pipe around the x axis, whose edges are on its profile, points (x, r) along
the axis: a round thing in it gets no farther off the axis than the profile lets it. Each side of
each stretch of the profile is one convex piece that reaches outwards to the border.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.geometry.solids import prism

Border = Callable[[Array, float], Array]  # from rays (n, 2) in y and z, and r, to points (m, 2)


def pipe(profile: Array, segments: int, border: Border, color: Rgba) -> list[Shape]:
    """The pieces around a cavity.

    Args:
        profile: (n, 2) points x and r [m].
        segments: number of flat sides.
        border: where the pieces end, for the rays at the two ends of a side: corners in order.
        color: of all pieces.
    """
    return list(_pieces(tuple(map(tuple, profile.tolist())), segments, border, color))


@lru_cache(maxsize=64)  # each world of a batch has its own cavity, alike but for its place
def _pieces(
    profile: tuple[tuple[float, float], ...], segments: int, border: Border, color: Rgba
) -> tuple[Shape, ...]:
    angles = 2.0 * np.pi * (np.arange(segments + 1) - 0.5) / segments
    rays = np.stack([np.cos(angles), np.sin(angles)], -1)
    pieces = []
    for side in np.stack([rays[:-1], rays[1:]], 1):
        for a, b in pairwise(profile):
            pieces.append(prism(_section(side, a, border), _section(side, b, border), color))
    return tuple(pieces)


@lru_cache(maxsize=64)
def thick(wall: float) -> Border:
    """A border at the same distance from the cavity everywhere [m]."""
    return lambda rays, r: (r + wall) * rays[::-1]


@lru_cache(maxsize=64)
def rectangular(width: float, height: float) -> Border:
    """A rectangle around the cavity, along y and z [m]."""
    half = np.array([0.5 * width, 0.5 * height])
    corners = half * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])

    def border(rays: Array, _: float) -> Array:
        first, last = (ray / np.max(np.abs(ray) / half) for ray in rays)
        between = [c for c in corners if _turn(first, c) > 0.0 and _turn(c, last) > 0.0]
        between.sort(key=lambda corner: _turn(first, corner) / float(np.linalg.norm(corner)))
        return np.array([last, *between[::-1], first])

    return border


def arc(center: tuple[float, float], radius: float, start: float, end: float, steps: int) -> Array:
    """Points (steps + 1, 2) on a circle of the profile's plane, angles [rad] from x towards r."""
    angles = np.linspace(start, end, steps + 1)
    return np.array(center) + radius * np.stack([np.cos(angles), np.sin(angles)], -1)


def _section(side: Array, point: tuple[float, float], border: Border) -> Array:
    """Corners (n, 3) of a piece at one end of a stretch."""
    x, r = point
    corners = np.vstack([r * side, border(side, r)])
    return np.column_stack([np.full(len(corners), x), corners])


def _turn(a: Array, b: Array) -> float:
    """Positive where b is ccw of a by less than half a turn, zero (not rounded) where it is not."""
    area = float(a[0] * b[1] - a[1] * b[0])
    return area if abs(area) > 1e-9 * float(np.linalg.norm(a) * np.linalg.norm(b)) else 0.0

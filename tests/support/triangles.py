# SPDX-License-Identifier: BSD-3-Clause
"""Rays against triangles, by the equation of Moller and Trumbore."""

import numpy as np


def distances(starts, directions, corners):
    """Distance (rays,) to the nearest of triangles (n, 3, 3), infinite where there is none."""
    nearest = np.full(len(starts), np.inf)
    for a, b, c in corners.astype(float):
        across = np.cross(directions, c - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1.0 / (across @ (b - a))
            away = starts - a
            u = scale * (away * across).sum(axis=1)
            other = np.cross(away, b - a)
            v = scale * (directions * other).sum(axis=1)
            t = scale * (other @ (c - a))
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 0.0)
        nearest[hit] = np.minimum(nearest[hit], t[hit])
    return nearest

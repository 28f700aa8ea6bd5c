# SPDX-License-Identifier: BSD-3-Clause
"""Extents of shapes, worked out by hand."""

import numpy as np

from iap_description.math import so3


def reach(shape, direction):
    """Farthest coordinate [m] of a shape along a unit vector, in its body's frame."""
    along = so3.matrix_from_euler(np.deg2rad(shape.rpy_deg)).T @ np.asarray(direction)
    if shape.shape == "box":
        own = 0.5 * np.abs(along) @ np.array(shape.size)
    elif shape.shape == "cylinder":
        own = 0.5 * shape.length * abs(along[2]) + shape.radius * np.hypot(along[0], along[1])
    elif shape.shape == "hull":
        own = (np.array(shape.vertices) @ along).max()
    else:
        own = shape.radius
    return np.asarray(direction) @ np.array(shape.position) + own


def lowest(shapes):
    """Lowest coordinate [m] of shapes in their body's frame."""
    return min(-reach(shape, [0.0, 0.0, -1.0]) for shape in shapes)


def segment_distance(point, a, b):
    """Distance [m] of a point from the segment a to b."""
    point, a, b = (np.asarray(v, dtype=float) for v in (point, a, b))
    t = np.clip((point - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return float(np.linalg.norm(point - a - t * (b - a)))

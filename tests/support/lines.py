# SPDX-License-Identifier: BSD-3-Clause
"""Platforms whose joints lie on a line, whichever way it points."""

import numpy as np
import pytest
from flying import model_of, platform_with_joints

from iap_control.laws.decomposition import Decomposition
from iap_description.math import so3
from iap_description.vehicles.platform import load_platform

ALONG_Y = platform_with_joints([(0.0, 1.0, 0.05), (0.0, 0.0, 0.05), (0.0, -1.0, 0.05)])
UPRIGHT = platform_with_joints([(0.0, 0.0, 0.5), (0.0, 0.0, 0.1), (0.0, 0.0, -0.5)])
TILTED = platform_with_joints([(0.8, 0.5, 0.15), (0.0, 0.0, 0.05), (-0.8, -0.5, -0.05)])
LINES = {
    "two_line": load_platform("two_line"),
    "three_line": load_platform("three_line"),
    "star_2": load_platform("star_2"),
    "line_7": load_platform("line_7"),
    "along_y": ALONG_Y,
    "tilted": TILTED,
    "upright": UPRIGHT,
}
every_line = pytest.mark.parametrize("line", LINES)


def split_of(line, *, com_coupling=True):
    model = model_of(LINES[line], com_coupling=com_coupling)
    return model, Decomposition.of(model)


def hanging(model, q):
    """An attitude, turned about the line until the CoM hangs below it."""
    axis = model.line.direction_P
    up_P = model.line.point_P - model.inertia.d_0
    up_P = up_P - axis * (axis @ up_P)
    r = so3.rotate(q, axis)
    up = np.array([0.0, 0.0, 1.0]) - r[2] * r
    if np.linalg.norm(up_P) < 1e-9 or np.linalg.norm(up) < 1e-9:
        return q
    now = so3.rotate(q, up_P)
    return so3.multiply(q, so3.quaternion_exp(np.arctan2(r @ np.cross(now, up), now @ up) * axis))

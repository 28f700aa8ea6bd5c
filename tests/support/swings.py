# SPDX-License-Identifier: BSD-3-Clause
"""References that wrenches are felt on: in place, and in motion."""

import numpy as np

from iap_description.math import so3


def still(t, count):
    row = np.zeros(19 + count)
    row[6] = 1.0
    return row


def swinging(t, count):
    """Sines of 0.3 m and 0.2 rad with a period of 3 s along and about every axis, as the platform begins at rest."""
    row, s = still(t, count), 2.0 * np.pi / 3.0
    shape = np.array([0.3, -0.2, 0.2])
    row[:3], row[7:10] = (1.0 - np.cos(s * t)) * shape, s * np.sin(s * t) * shape
    row[13:16] = s * s * np.cos(s * t) * shape
    row[3:7] = so3.quaternion_exp((1.0 - np.cos(s * t)) * np.array([0.1, 0.1, 0.1]))
    row[10:13] = s * np.sin(s * t) * 0.1
    return row

# SPDX-License-Identifier: BSD-3-Clause
"""A path of poses, and the same turned and moved as a whole."""

import numpy as np

from iap_description.math import so3

TURN = np.array([0.0, 0.0, 0.4])  # about the vertical [rad]
MOVE = np.array([1.0, -2.0, 0.5])  # [m]


def curve(t: np.ndarray) -> np.ndarray:
    """A path with turns in all directions, as poses."""
    p = np.stack([np.sin(0.5 * t), 2.0 * np.cos(0.3 * t), 1.0 + 0.5 * np.sin(0.7 * t)], 1)
    q = so3.quaternion_exp(np.stack([0.2 * np.sin(t), 0.1 * np.cos(t), 0.3 * t], 1))
    return np.hstack([p, q])


def moved(poses: np.ndarray, phi: np.ndarray, by: np.ndarray) -> np.ndarray:
    turns = np.tile(so3.quaternion_exp(phi), (len(poses), 1))
    return np.hstack([so3.rotate(turns, poses[:, :3]) + by, so3.multiply(turns, poses[:, 3:])])

# SPDX-License-Identifier: BSD-3-Clause
r"""Roll, pitch and yaw at the borders of the suite: what people write and read in YAML, URDF, tables and messages.

.. math:: R_{WB} = R_z(\text{yaw})\,R_y(\text{pitch})\,R_x(\text{roll})

Angles about fixed axes, of transforms3d (its ``sxyz``). At a pitch of +-90 deg, where roll and yaw turn alike, the yaw
is 0. Inside the suite there are quaternions and matrices; `iap_description.math.so3` has angles of whole trajectories,
for plots and errors.
"""

from collections.abc import Sequence

import numpy as np
from transforms3d.euler import euler2mat, mat2euler

from iap_description.arrays import Array
from iap_description.math import so3

AXES = "sxyz"  # static: about fixed axes, x first


def matrix_from_rpy(rpy: Sequence[float] | Array) -> Array:
    """R_WB (3, 3) of roll, pitch and yaw [rad]."""
    roll, pitch, yaw = rpy
    return np.asarray(euler2mat(roll, pitch, yaw, AXES))


def rpy_from_matrix(R_WB: Array) -> list[float]:
    """Roll, pitch and yaw [rad] of R_WB (3, 3)."""
    return [float(angle) for angle in mat2euler(R_WB, AXES)]


def matrix_from_rpy_deg(rpy_deg: Sequence[float] | Array) -> Array:
    """R_WB (3, 3) of roll, pitch and yaw [deg]."""
    return matrix_from_rpy(np.deg2rad(rpy_deg))


def quaternion_from_rpy_deg(rpy_deg: Sequence[float] | Array) -> Array:
    """q_WB (4,) xyzw of roll, pitch and yaw [deg]."""
    return so3.quaternion_from_matrix(matrix_from_rpy_deg(rpy_deg))


def rpy_deg_from_matrix(R_WB: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw [deg] of R_WB (3, 3)."""
    roll, pitch, yaw = np.rad2deg(rpy_from_matrix(R_WB)).tolist()
    return roll, pitch, yaw


def quaternions_from_rpy(rows: Array) -> Array:
    """q_WB (n, 4) xyzw of rows of roll, pitch and yaw (n, 3) [rad], as a table has them."""
    if not len(rows):
        return np.empty((0, 4))
    return so3.quaternion_from_matrix(np.array([matrix_from_rpy(row) for row in rows]))

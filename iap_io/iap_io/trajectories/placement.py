# SPDX-License-Identifier: BSD-3-Clause
"""Flights of data sets, moved to where a platform can fly them.

Level and with zero yaw at the start, at (0, 0, 1.5) m there, or higher where it goes down: nowhere below 0.6 m.
The wait before take-off is cut.
"""

from dataclasses import replace

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.mounting import axes_by_angles, nearest_axes
from iap_io.trajectories.samples import Samples

START_HEIGHT = 1.5  # [m]
LOWEST_HEIGHT = 0.6  # [m]
_MIN_DISTANCE = 0.05  # [m] from the first row: the aircraft is under way
_ROWS_BEFORE = 200  # rows kept before that
_UPRIGHT = 0.5  # least cosine of the tilt of the axis that is up at rest


def placed(samples: Samples, stamps: Integers, mounting: str) -> tuple[Samples, Integers]:
    """The samples of a platform's flight, from shortly before it moves.

    Args:
        samples: of an inertial unit or another body, in ENU, in the order of their stamps.
        stamps: (K,) [ns].
        mounting: ``auto`` and ``rest`` find it from the first attitude, ``none`` has it level.

    Raises:
        BadInput: the body hangs upside down at the start.
    """
    distance = np.linalg.norm(samples.p - samples.p[0], axis=1)
    begin = max(0, int(np.argmax(distance > _MIN_DISTANCE)) - _ROWS_BEFORE)
    samples, stamps = samples.at(slice(begin, None)), stamps[begin:]
    R_WI = so3.matrix_from_quaternion(samples.q)
    R_IA, words = _axes(samples, R_WI[0], mounting)
    p, q, lift = _shifted(samples.p, R_WI @ R_IA)
    notes = (
        [f"raised by {lift:.2f} m, since it goes down to {p[:, 2].min():.2f} m"] if lift else []
    )
    about = replace(samples.about, mounting=words).noted(*notes)
    return replace(samples, about=about, p=p, q=q), stamps


def _shifted(p_WI_W: Array, R_WP: Array) -> tuple[Array, Array, float]:
    """Positions and attitudes of the platform, level and yaw 0 in the first row, and by how much it is raised [m]."""
    yaw = so3.euler_from_matrix(R_WP[0])[2]
    turn = so3.exp(np.array([0.0, 0.0, -yaw]))
    tilt = turn @ R_WP[0]  # of the body's mounting: no yaw is left in it
    p = (p_WI_W - p_WI_W[0]) @ turn.T + np.array([0.0, 0.0, START_HEIGHT])
    lift = max(0.0, LOWEST_HEIGHT - float(p[:, 2].min()))
    p[:, 2] += lift
    return p, so3.quaternion_from_matrix(turn @ R_WP @ tilt.T), lift


def _axes(samples: Samples, R_WI: Array, mounting: str) -> tuple[Array, str]:
    """The platform's axes (3, 3) in those of the body, and what they are.

    Raises:
        BadInput: EuRoC's way up, the body's x axis, looks down, and no mounting is asked for.
    """
    if mounting == "auto" and R_WI[2, 0] < -_UPRIGHT:
        raise BadInput(
            f"{samples.source}: the IMU's x axis starts downwards; is --convention right? --mounting rest takes it so"
        )
    if mounting in ("auto", "rest"):
        return nearest_axes(R_WI)
    if mounting == "none":
        return np.eye(3), mounting
    return axes_by_angles(samples.source, mounting), f"{mounting} deg"

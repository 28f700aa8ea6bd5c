# SPDX-License-Identifier: BSD-3-Clause
"""Ground-truth CSV files of the EuRoC MAV data set [Burri2016] as a platform's motion.

Columns: time [ns], position [m], quaternion w x y z, and optionally velocity [m/s] and biases.
Those are not used: a CSV replay is to be the same motion as a bag of its poses, and the velocity
is the positions' derivative (to 5 mm/s) anyway. The body is the IMU: x up, z forward. The motion
is moved to where a platform can fly it: forward-left-up axes, level and with zero yaw at the
start, starting at (0, 0, 1.5) m, never below 0.6 m; the wait before take-off is cut.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.config.text_files import table_lines
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.recorded import RecordedTrajectory
from iap_io.trajectories.samples import MAX_GAP, Samples, checked, from_ned, ordered, to_recorded

START_HEIGHT = 1.5  # [m]
LOWEST_HEIGHT = 0.6  # [m]
_MIN_DISTANCE = 0.05  # [m] from the first row: the aircraft is under way
_ROWS_BEFORE = 200  # rows kept before that
_COLUMNS = ("time", "px", "py", "pz", "qw", "qx", "qy", "qz")
# Platform axes (forward, left, up) in those of the IMU (x up, z forward).
_R_IMU_P: Array = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
_R_IMU_P.setflags(write=False)


def read_euroc(
    path: Path, *, convention: str = "enu", max_gap: float = MAX_GAP
) -> RecordedTrajectory:
    """Read a EuRoC ground-truth CSV.

    Args:
        path: the file.
        convention: frames of its numbers: ``enu`` as published, or ``ned``: world NED and body y
            and z turned, which is undone first.
        max_gap: longest time without a row that is accepted [s].

    Raises:
        BadInput: the file cannot be read, a value is not a number, or the IMU hangs upside down at
            the start.
    """
    samples = checked(_parsed(path))
    if convention == "ned":
        samples = from_ned(samples)
    samples, stamps = ordered(samples)
    distance = np.linalg.norm(samples.p - samples.p[0], axis=1)
    begin = max(0, int(np.argmax(distance > _MIN_DISTANCE)) - _ROWS_BEFORE)
    p, q = _as_platform(str(path), samples.p[begin:], samples.q[begin:])
    stamps = stamps[begin:]
    return to_recorded(replace(samples, header_ns=stamps, p=p, q=q), stamps, max_gap=max_gap)


def _as_platform(source: str, p_WI_W: Array, q_WI: Array) -> tuple[Array, Array]:
    """Positions and attitudes of the platform; level, yaw 0 and START_HEIGHT in the first row."""
    R_WP = so3.matrix_from_quaternion(q_WI) @ _R_IMU_P
    if R_WP[0, 2, 2] < 0.5:
        raise BadInput(
            f"{source}: the IMU's x axis does not start upwards; is --convention right?"
        )
    yaw = so3.euler_from_matrix(R_WP[0])[2]
    turn = so3.exp(np.array([0.0, 0.0, -yaw]))
    tilt = turn @ R_WP[0]  # of the IMU's mounting: no yaw is left in it
    p = (p_WI_W - p_WI_W[0]) @ turn.T + np.array([0.0, 0.0, START_HEIGHT])
    p[:, 2] = np.maximum(p[:, 2], LOWEST_HEIGHT)
    return p, so3.quaternion_from_matrix(turn @ R_WP @ tilt.T)


def _parsed(path: Path) -> Samples:
    rows = [_row(path, number, line) for number, line in table_lines(path)]
    values = np.array([row[1] for row in rows]).reshape(-1, 7)
    stamps = np.array([row[0] for row in rows], dtype=np.int64)
    return Samples(str(path), stamps, None, p=values[:, :3], q=values[:, [4, 5, 6, 3]])


def _row(path: Path, number: int, line: str) -> tuple[int, list[float]]:
    """Stamp [ns] and the seven numbers of the pose."""
    texts = [text.strip() for text in line.split(",")]
    if len(texts) < len(_COLUMNS):
        expected = f"a EuRoC ground truth has {', '.join(_COLUMNS)}, ..."
        raise BadInput(f"{path}: line {number}: {len(texts)} columns; {expected}")
    column = 0
    try:
        stamp = int(texts[0])
        values = []
        for column in range(1, len(_COLUMNS)):
            values.append(float(texts[column]))
    except ValueError as error:
        raise BadInput(
            f"{path}: line {number}: {_COLUMNS[column]} is {texts[column]!r}, not a number"
        ) from error
    if not 0 <= stamp < 2**63:
        raise BadInput(f"{path}: line {number}: time is {stamp}, not a stamp in ns")
    return stamp, values

# SPDX-License-Identifier: BSD-3-Clause
"""An odometry so far: where it says that its aircraft was at any time."""

from bisect import bisect_left, bisect_right

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Vec,
    add,
    put,
    put4,
    qconj,
    qlog,
    qmul,
    qnormalize,
    quat,
    rotate,
    scale,
    sub,
    vec,
)
from iap_estimation.virpo.algebra.matrices import qexp
from iap_estimation.virpo.messages import Estimate

ODOMETRY, POSE = 11, 14  # columns: t, p, q xyzw, v; and the angular velocity in the body
STAMP_TOLERANCE = 1e-3  # stamps that differ by less are of one time [s]


class OdometryPath:
    """Recent samples of one odometry.

    Args:
        gap: longest between two of its poses that determine what lies between [s].

    Attributes:
        refused: odometries that were too old, received twice or not finite.
    """

    def __init__(self, gap: float) -> None:
        self._gap, self._stamps = gap, list[float]()
        self._odometries: list[Estimate] = []
        self._rows = np.zeros((0, ODOMETRY))
        self._begin = -np.inf
        self.refused = 0

    def add(self, measured: Estimate) -> None:
        """Take an odometry; order does not matter."""
        row = np.concatenate([[measured.t], measured.p_WB_W, measured.q_WB, measured.v_WB_W])
        at = bisect_left(self._stamps, measured.t - STAMP_TOLERANCE)
        is_known = at < len(self._stamps) and self._stamps[at] < measured.t + STAMP_TOLERANCE
        if is_known or measured.t < self._begin or not np.isfinite(row).all():
            self.refused += 1
            return
        self._stamps.insert(at, measured.t)
        self._odometries.insert(at, measured)
        self._rows = np.insert(self._rows, at, row, axis=0)

    @property
    def newest(self) -> float:
        """Its newest stamp [s]; minus infinity before the first."""
        return self._stamps[-1] if self._stamps else -np.inf

    def after(self, t: float) -> float | None:
        """The first stamp after a time, if there is one."""
        at = bisect_right(self._stamps, t)
        return self._stamps[at] if at < len(self._stamps) else None

    def at(self, t: float) -> Array | None:
        """Pose and motion (14,) at a time; None if it is not known."""
        out = np.empty(POSE)
        return out if pose_at(self._rows, t, self._gap, out) else None

    def measured(self, t: float) -> Estimate:
        """The newest that is not after a time, else the first."""
        return self._odometries[max(bisect_right(self._stamps, t + STAMP_TOLERANCE) - 1, 0)]

    def points(self, times: Array, p_BA_B: Array, pivot: Array) -> Array:
        """A point of the body against a pivot (n, 3) at some times; NaN where it is not known."""
        out = np.empty((len(times), 3))
        points_at(self._rows, times, self._gap, p_BA_B, pivot, out)
        return out

    def forget(self, before: float) -> None:
        """Keep what determines the time from `before` on."""
        first = bisect_right(self._stamps, before) - 1
        if first > 0:
            del self._stamps[:first], self._odometries[:first]
            self._rows = self._rows[first:].copy()
        self._begin = before


@njit(cache=True)
def pose_at(rows: Array, t: float, gap: float, out: Array) -> bool:
    """Pose and motion at a time between two rows (n, 11), or at one; says whether they determine it.

    The position is the cubic of both positions and velocities.
    """
    j = int(np.searchsorted(rows[:, 0], t - STAMP_TOLERANCE))
    if j == len(rows) or (j == 0 and rows[j, 0] > t + STAMP_TOLERANCE):
        return False
    if j == 0 and len(rows) == 1:
        out[:ODOMETRY] = rows[0]
        out[ODOMETRY:] = 0.0
        return True
    j = max(j, 1)
    a, b = rows[j - 1], rows[j]
    T = b[0] - a[0]
    is_at = abs(b[0] - t) < STAMP_TOLERANCE or abs(a[0] - t) < STAMP_TOLERANCE
    if T > gap and not is_at:
        return False
    s = min(max((t - a[0]) / T, 0.0), 1.0)
    turn = qlog(qmul(qconj(quat(a[4:8])), quat(b[4:8])))
    out[0] = t
    put(out[1:], _cubic(a, b, T, s))
    put4(out[4:], qnormalize(qmul(quat(a[4:8]), qexp(scale(s, turn)))))
    put(out[8:], add(scale(1.0 - s, vec(a[8:])), scale(s, vec(b[8:]))))
    put(out[11:], scale(1.0 / T if gap >= T else 0.0, turn))
    return True


@njit(cache=True)
def _cubic(a: Array, b: Array, T: float, s: float) -> Vec:
    way, r = sub(vec(b[1:]), vec(a[1:])), 1.0 - s
    bend = add(scale(r, sub(scale(T, vec(a[8:])), way)), scale(s, sub(way, scale(T, vec(b[8:])))))
    return add(add(vec(a[1:]), scale(s, way)), scale(s * r, bend))


@njit(cache=True)
def points_at(
    rows: Array, times: Array, gap: float, p_BA_B: Array, pivot: Array, out: Array
) -> None:
    """A point of the body against a pivot (n, 3) at times (n,), NaN where rows do not determine it."""
    pose = np.empty(POSE)
    for n in range(len(times)):
        if pose_at(rows, times[n], gap, pose):
            tip = rotate(quat(pose[4:8]), vec(p_BA_B))
            put(out[n], add(sub(vec(pose[1:]), vec(pivot)), tip))
        else:
            out[n] = np.nan

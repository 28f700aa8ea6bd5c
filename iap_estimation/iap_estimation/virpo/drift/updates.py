# SPDX-License-Identifier: BSD-3-Clause
"""The drift filter's equations, compiled: errors are [dp, dpsi] of every aircraft, then [dtheta, dbg] of the centre.

A measurement's rows change an error that waits to be moved into the states, so that all rows of one kind are
linearised at the same states.
"""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans
from iap_description.math.kernels import Vec, add, mv, norm, put, quat, scale, sub, vec
from iap_estimation.virpo.algebra.matrices import (
    about_z,
    block,
    matrix,
    mskew,
    put_block,
    transpose,
)
from iap_estimation.virpo.algebra.states import turn_right
from iap_estimation.virpo.factors.gyro_preintegration import Turn, predict_turn, tilting
from iap_estimation.virpo.factors.ranging import to_world

TIME, ANCHOR, PLACE, RANGE, SIGMA = 0, 1, 2, 5, 6  # columns of a range's row (n, 7)


@njit(cache=True)
def carry(x: Array, at: int, way: Vec, P: Array) -> None:
    """Move an aircraft's (4,) place by its odometry's way; its yaw's error turns that.

    Args:
        x: place in W and yaw of the odometry's drift.
        at: place of its error.
        way: in the odometry's frame [m].
        P: covariance, changed in place.
    """
    turned = mv(about_z(x[3]), way)
    for i in range(3):
        x[i] += turned[i]
    for j in range(len(P)):
        P[at, j] -= turned[1] * P[at + 3, j]
        P[at + 1, j] += turned[0] * P[at + 3, j]
    for j in range(len(P)):
        P[j, at] -= turned[1] * P[j, at + 3]
        P[j, at + 1] += turned[0] * P[j, at + 3]


@njit(cache=True)
def turn_centre(centre: Array, z: Turn, at: int, P: Array) -> None:
    """Turn the centre (7,) by its gyroscope: P becomes F P F^T + Q, F = [R^T slope; 0 1] of its error."""
    before = centre.copy()
    predict_turn(before, z, centre)
    back, by_bias = transpose(matrix(quat(z.delta))), block(z.slope, 0, 0)
    for j in range(len(P)):
        top = (P[at, j], P[at + 1, j], P[at + 2, j])
        bias = (P[at + 3, j], P[at + 4, j], P[at + 5, j])
        put(P[at : at + 3, j], add(mv(back, top), mv(by_bias, bias)))
    for j in range(len(P)):
        top = (P[j, at], P[j, at + 1], P[j, at + 2])
        bias = (P[j, at + 3], P[j, at + 4], P[j, at + 5])
        put(P[j, at : at + 3], add(mv(back, top), mv(by_bias, bias)))
    for i in range(6):
        for j in range(6):
            P[at + i, at + j] += z.covariance[i, j]


@njit(cache=True)
def move(x: Array, centre: Array, error: Array) -> None:
    """Move an error into the states x (A, 4) and centre (7,), and forget it."""
    at = 4 * len(x)
    for a in range(len(x)):
        for i in range(4):
            x[a, i] += error[4 * a + i]
    turn_right(centre[:4], error[at : at + 3])
    for i in range(3):
        centre[4 + i] += error[at + 3 + i]
    error[:] = 0.0


@njit(cache=True)
def variance_of(h: Array, P: Array) -> float:
    """The variance h P h^T."""
    total = 0.0
    for i in range(len(h)):
        if h[i] != 0.0:
            for j in range(len(h)):
                total += h[i] * P[i, j] * h[j]
    return total


@njit(cache=True)
def apply_row(h: Array, rest: float, noise: float, error: Array, P: Array, gain: Array) -> float:
    """One row: rest = h error + noise of a variance; returns its chi-square. `gain` is scratch."""
    variance = noise
    for i in range(len(h)):
        gain[i] = 0.0
        for j in range(len(h)):
            gain[i] += P[i, j] * h[j]
        variance += h[i] * gain[i]
        rest -= h[i] * error[i]
    for i in range(len(h)):
        error[i] += gain[i] * rest / variance
        for j in range(len(h)):
            P[i, j] -= gain[i] * gain[j] / variance
    return rest * rest / variance


@njit(cache=True)
def apply_rows(rests: Array, h: Array, gate: float, error: Array, P: Array) -> bool:
    """Rows (m, n) of unit variance as one measurement; not taken, and False, if it is beyond the gate."""
    error_before, P_before, gain = error.copy(), P.copy(), np.empty(len(error))
    chi_square = 0.0
    for m in range(len(rests)):
        chi_square += apply_row(h[m], rests[m], 1.0, error, P, gain)
    if chi_square <= gate * gate:
        return True
    error[:] = error_before
    P[:] = P_before
    return False


@njit(cache=True)
def apply_tilt(centre: Array, row: Array, gate: float, at: int, error: Array, P: Array) -> bool:
    """A measured attitude's roll and pitch, `row` as of `tilting`; says whether it was taken."""
    r, J, h = np.empty(2), np.empty((2, 3)), np.zeros((2, len(error)))
    tilting(centre, row, r, J)
    h[:, at : at + 3] = J
    return apply_rows(-r, h, gate, error, P)


@njit(cache=True)
def apply_joints(
    x: Array,
    centre: Array,
    joints: tuple[Array, Array, Booleans],
    deviation: float,
    gate: float,
    estimate: tuple[Array, Array],
    agreed: Booleans,
) -> None:
    """Joints are where the centre has them: the contrasts of `joint_constraints`, each gated by itself.

    Args:
        x: (A, 4) places and yaws.
        centre: (7,).
        joints: (A, 3) from each place to its joint, in the odometry's frame [m]; (A, 3) places of the joints on B0
            [m]; (A,) which aircraft are present.
        deviation: of each joint's place [m].
        gate: deviations beyond which a contrast is refused.
        estimate: error and its covariance, changed in place.
        agreed: (A,) result: whose contrasts were taken.
    """
    (arms, d, present), (error, P) = joints, estimate
    n, at, m, total = len(error), 4 * len(x), 0, (0.0, 0.0, 0.0)
    sums, one, r, h = np.zeros((3, n)), np.empty((3, n)), np.empty(3), np.empty((3, n))
    R_0 = matrix(quat(centre))
    for i in range(len(x)):
        if not present[i]:
            continue
        tip, joint = to_world(x[i], vec(arms[i])), vec(d[i])
        y = sub(tip, mv(R_0, joint))
        one[:] = 0.0
        for k in range(3):
            one[k, 4 * i + k] = 1.0
        one[0, 4 * i + 3], one[1, 4 * i + 3] = x[i, 1] - tip[1], tip[0] - x[i, 0]
        put_block(one, 0, at, mskew(R_0, joint), 1.0)
        if m > 0:
            f = 1.0 / (deviation * math.sqrt(m * (m + 1.0)))
            put(r, scale(-f, sub(total, scale(m, y))))
            for k in range(3):
                for c in range(n):
                    h[k, c] = f * (sums[k, c] - m * one[k, c])
            if apply_rows(r, h, gate, error, P):
                for j in range(i + 1):
                    agreed[j] = agreed[j] or present[j]
        sums += one
        total = add(total, y)
        m += 1


@njit(cache=True)
def apply_ranges(
    x: Array,
    at: int,
    rows: Array,
    points: Array,
    limits: tuple[float, float, float],
    memory: Array,
    estimate: tuple[Array, Array],
) -> int:
    """All ranges of an aircraft since the last update, the mean of each anchor's as one row.

    A range beyond the gate is left out of its mean, and a mean beyond the gate altogether. Since a wall that a
    range goes around makes it too long by little for long, the running mean of what an anchor's ranges are off
    is gated too: their errors are independent if all is well, so that its variance is known.

    Args:
        x: (4,) place and yaw.
        at: place of their error.
        rows: (n, 7) time, anchor, its place (3), range, deviation; those of one anchor together.
        points: (n, 3) from the place to the antenna, in the odometry's frame [m].
        limits: gate in deviations, deviation that a mean keeps [m], weight of the newest in a running mean.
        memory: (M, 3) running mean, its variance and whether it is wrong of every anchor, changed in place.
        estimate: error and its covariance, changed in place.

    Returns:
        How many means were taken.
    """
    (gate, floor, share), (error, P) = limits, estimate
    h, gain = np.zeros(len(error)), np.empty(len(error))
    first, used = 0, 0
    while first < len(rows):
        end = first
        while end < len(rows) and rows[end, ANCHOR] == rows[first, ANCHOR]:
            end += 1
        rest, variance = _mean(x, at, rows[first:end], points[first:end], gate, error, P, h)
        if variance > 0.0:
            variance += floor * floor
            off = rest
            for i in range(4):
                off -= h[at + i] * error[at + i]
            known = variance_of(h, P)
            run = memory[int(rows[first, ANCHOR])]
            run[0] += share * (off - run[0])
            run[1] = (1.0 - share) ** 2 * run[1] + share**2 * (variance + known)
            is_lasting = run[0] * run[0] > gate * gate * (run[1] + known)
            run[2] = 1.0 if is_lasting else 0.0
            if not is_lasting and off * off <= gate * gate * (variance + known):
                apply_row(h, rest, variance, error, P, gain)
                used += 1
        first = end
    return used


@njit(cache=True)
def _mean(
    x: Array,
    at: int,
    rows: Array,
    points: Array,
    gate: float,
    error: Array,
    P: Array,
    h: Array,
) -> tuple[float, float]:
    """Mean of the ranges' rests and its variance, 0 if there are none; `h` becomes its row."""
    h[:] = 0.0
    _slope(x, rows[len(rows) // 2], points[len(rows) // 2], 1.0, h[at : at + 4])
    known, foreseen = variance_of(h, P), 0.0
    for i in range(4):
        foreseen += h[at + i] * error[at + i]
    h[:] = 0.0
    total, weights = 0.0, 0.0
    for n in range(len(rows)):
        noise = rows[n, SIGMA] * rows[n, SIGMA]
        rest = _rest(x, rows[n], points[n])
        if (rest - foreseen) ** 2 <= gate * gate * (known + noise):
            total += rest / noise
            weights += 1.0 / noise
            _slope(x, rows[n], points[n], 1.0 / noise, h[at : at + 4])
    if weights == 0.0:
        return 0.0, 0.0
    for i in range(4):
        h[at + i] /= weights
    return total / weights, 1.0 / weights


@njit(cache=True)
def _rest(x: Array, row: Array, point: Array) -> float:
    """Range less what the state foresees [m]."""
    return row[RANGE] - norm(sub(to_world(x, vec(point)), vec(row[PLACE:])))


@njit(cache=True)
def _slope(x: Array, row: Array, point: Array, weight: float, h: Array) -> None:
    """Add the weighted derivative of a range by [dp, dpsi] to h (4,)."""
    tip = to_world(x, vec(point))
    way = sub(tip, vec(row[PLACE:]))
    f = weight / norm(way)
    for i in range(3):
        h[i] += f * way[i]
    h[3] += f * (way[1] * (tip[0] - x[0]) - way[0] * (tip[1] - x[1]))

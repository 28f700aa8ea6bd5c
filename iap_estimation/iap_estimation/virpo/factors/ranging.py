# SPDX-License-Identifier: BSD-3-Clause
r"""Ranges between keyframes, iap_simulator's r_uwb (virpo eqs. 17-19), and the frame L they are not in.

The samples between two keyframes say where an aircraft was at a range's time t_j. With s = (t_j - t_k) / T
the end point is taken out of them, so that neither the velocity nor its error remains:

.. math::
    p(t_j) = (1-s)\,p_k + s\,p_{k+1} + \tfrac{g}{2} s(1-s)T^2 e_z + R_k d_j, \quad
    d_j = \Delta p_j - s\,\Delta p_{k+1} + \Delta R_j\,l ,

l being the antenna's place on the body. The paper's (19) propagates from p_k alone. The window's states are
in the aircraft's frame L; p_W = R_z(psi) p_L + t, with the alignment (t, psi) a state as well.
"""

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import Vec, add, mv, norm, put, quat, rotate, scale, sub, vec
from iap_estimation.virpo.algebra.matrices import about_z, matrix, mm, mskew
from iap_estimation.virpo.algebra.normal_equations import (
    Indices,
    accumulate_row,
    add_block,
    huber,
    run,
    soften,
)
from iap_estimation.virpo.factors.preintegration import motions_at

WIDTH = 13  # columns of a waypoint's row
FRAME, AIRCRAFT, SHARE, LIFT, ARM, ANCHOR, RANGE, SIGMA, NAME = 0, 1, 2, 3, 4, 7, 10, 11, 12


@njit(cache=True, error_model="numpy")
def waypoints(
    samples: Array, bias: Array, times: Array, antenna: Array, gravity: float, rows: Array
) -> None:
    """Fill share, lift and arm of rows (n, >=7) for instants between two keyframes.

    Args:
        samples: (S, 7) of the inertial unit from one to the other.
        bias: (6,) of the unit.
        times: (n,) ascending, since the first keyframe [s].
        antenna: (3,) place on the body that the rows are of [m].
        gravity: [m/s^2].
        rows: changed in place.
    """
    span = 0.0
    for s in range(len(samples)):
        span += samples[s, 0]
    asked = np.empty(len(times) + 1)
    asked[:-1] = times
    asked[-1] = span
    motions = np.empty((len(asked), 10))
    motions_at(samples, bias, asked, motions)
    whole = vec(motions[-1])
    for n in range(len(times)):
        share = times[n] / span
        tip = rotate(quat(motions[n, 3:7]), vec(antenna))
        rows[n, SHARE] = share
        rows[n, LIFT] = 0.5 * gravity * share * (1.0 - share) * span * span
        put(rows[n, ARM:], add(sub(vec(motions[n]), scale(share, whole)), tip))


@njit(cache=True, error_model="numpy")
def point_between(x_i: Array, x_j: Array, row: Array) -> Vec:
    """Place of a row's point, in L."""
    s = row[SHARE]
    p = add(scale(1.0 - s, vec(x_i)), scale(s, vec(x_j)))
    return add(p, add((0.0, 0.0, row[LIFT]), rotate(quat(x_i[3:7]), vec(row[ARM:]))))


@njit(cache=True, error_model="numpy")
def to_world(alignment: Array, p: Vec) -> Vec:
    """A point of L in W; alignment (4,) = x, y, z, psi."""
    return add(mv(about_z(alignment[3]), p), vec(alignment))


@njit(cache=True, error_model="numpy")
def point_jacobians(x_i: Array, alignment: Array, p: Vec, row: Array, J: Array) -> None:
    """Derivative (3, 13) of a row's point in W by [dp, dtheta] of i, dp of j, and the alignment."""
    turn = about_z(alignment[3])
    by_rotation = mskew(mm(turn, matrix(quat(x_i[3:7]))), vec(row[ARM:]))
    s = row[SHARE]
    for i in range(3):
        for k in range(3):
            J[i, k] = (1.0 - s) * turn[3 * i + k]
            J[i, 3 + k] = -by_rotation[3 * i + k]
            J[i, 6 + k] = s * turn[3 * i + k]
            J[i, 9 + k] = 1.0 if i == k else 0.0
    turned = mv(turn, p)
    J[0, 12] = -turned[1]
    J[1, 12] = turned[0]
    J[2, 12] = 0.0


@njit(cache=True, error_model="numpy")
def point_indices(k: int, aircraft: int, stride: int, globals_at: int, indices: Array) -> None:
    """Places of those thirteen in the state."""
    at = k * stride + 15 * aircraft
    run(at, 6, indices, 0)
    run(at + stride, 3, indices, 6)
    run(globals_at + 4 * aircraft, 4, indices, 9)


@njit(cache=True, error_model="numpy")
def ranging(
    x_i: Array, x_j: Array, alignment: Array, row: Array, r: Array, J: Array, work: Array
) -> None:
    """Whitened residual (1,) of one range and its derivatives (1, 13); `work` is (3, 13) scratch."""
    p = point_between(x_i, x_j, row)
    way = sub(to_world(alignment, p), vec(row[ANCHOR:]))
    length = norm(way)
    r[0] = (length - row[RANGE]) / row[SIGMA]
    point_jacobians(x_i, alignment, p, row, work)
    f = 1.0 / (length * row[SIGMA])
    for c in range(13):
        J[0, c] = f * (way[0] * work[0, c] + way[1] * work[1, c] + way[2] * work[2, c])


@njit(cache=True, error_model="numpy")
def add_ranges(
    x: Array,
    alignments: Array,
    rows: Array,
    only_frame: int,
    width: float,
    H: Array,
    g: Array,
    stride: int,
) -> float:
    """Add all ranges, or those that follow one keyframe, to the normal equations; returns their cost."""
    r, J, work = np.zeros(1), np.zeros((1, 13)), np.zeros((3, 13))
    indices = np.zeros(13, dtype=np.int64)
    block, slope = np.zeros((13, 13)), np.zeros(13)
    gathered = (indices, block, slope)
    cost, last = 0.0, (-1, -1)
    for n in range(len(rows)):
        k, a = int(rows[n, FRAME]), int(rows[n, AIRCRAFT])
        if only_frame >= 0 and k != only_frame:
            continue
        if (k, a) != last:  # many ranges are of the same places
            _add_and_clear(last, x.shape[0], stride, gathered, H, g)
            last = (k, a)
        ranging(x[k, a], x[k + 1, a], alignments[a], rows[n], r, J, work)
        cost += soften(r, J, width)
        accumulate_row(block, slope, J[0], r[0])
    _add_and_clear(last, x.shape[0], stride, gathered, H, g)
    return cost


@njit(cache=True, error_model="numpy")
def _add_and_clear(
    of: tuple[int, int],
    frames: int,
    stride: int,
    gathered: tuple[Indices, Array, Array],
    H: Array,
    g: Array,
) -> None:
    """Add what was gathered `of` one interval of one aircraft, if there is one, to the normal equations."""
    k, a = of
    indices, block, slope = gathered
    if k >= 0:
        point_indices(k, a, stride, frames * stride, indices)
        add_block(H, g, indices, block, slope)
        block[:] = 0.0
        slope[:] = 0.0


@njit(cache=True, error_model="numpy")
def ranges_cost(x: Array, alignments: Array, rows: Array, width: float) -> float:
    """The cost alone."""
    r, cost = np.zeros(1), 0.0
    for row in rows:
        r[0] = (norm(_way(x, alignments, row)) - row[RANGE]) / row[SIGMA]
        cost += huber(r, width)[1]
    return cost


@njit(cache=True, error_model="numpy")
def _way(x: Array, alignments: Array, row: Array) -> Vec:
    """The way from a range's anchor to the antenna in W [m], as states foresee it."""
    k, a = int(row[FRAME]), int(row[AIRCRAFT])
    p = to_world(alignments[a], point_between(x[k, a], x[k + 1, a], row))
    return sub(p, vec(row[ANCHOR:]))


@njit(cache=True, error_model="numpy")
def ranges_off(x: Array, alignments: Array, rows: Array, out: Array) -> None:
    """Excess of each range over what states foresee, and its direction.

    Args:
        x: (K, A, 16) keyframes.
        alignments: (A, 4).
        rows: (n, 13).
        out: (n, 4) result: range less foreseen range [m], direction (3) in W from anchor to aircraft.
    """
    for n in range(len(rows)):
        way = _way(x, alignments, rows[n])
        length = norm(way)
        out[n, 0] = rows[n, RANGE] - length
        put(out[n, 1:], scale(1.0 / length, way))

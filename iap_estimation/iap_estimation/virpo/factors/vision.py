# SPDX-License-Identifier: BSD-3-Clause
r"""Every view of every landmark into the normal equations, and the landmarks out of them (Schur complement).

A landmark touches the poses that see it and nothing else, so that each is eliminated by itself:

.. math::
    H \leftarrow H - W C W^T, \quad g \leftarrow g - W C g_l, \quad C = H_{ll}^{-1}, \qquad
    \delta_l = -C\,(g_l + W^T \delta) .
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_estimation.virpo.algebra.normal_equations import huber, soften
from iap_estimation.virpo.factors.camera import StereoRig, project, project_jacobians, scaled_point
from iap_estimation.virpo.factors.landmarks import CLOSEST, FARTHEST, LEFT, RIGHT, Landmarks

NEAREST = 0.2  # a view of a landmark nearer to its camera than this [m] is not used: its derivatives explode
NEARER = 0.1  # nor one from this share of the first distance
INDEPENDENT = 1e-6  # least determinant of a block that is inverted, of its diagonal's product
Views = tuple[Array, Landmarks, StereoRig]  # states, landmarks and cameras
Residual = tuple[Array, Array]  # (2,) of a view, and its derivatives (2, 15)
POSE = 6  # a view depends on position and rotation


class LandmarkElimination(NamedTuple):
    """Data by which landmarks follow after the states are solved for.

    Attributes:
        C: (M, 3, 3) inverse of each landmark's own block; all zero where it took no part.
        g: (M, 3) its gradient.
        W: (M, F, 6, 3) its coupling with the pose of each keyframe.
    """

    C: Array
    g: Array
    W: Array

    @classmethod
    def empty(cls, landmarks: int, frames: int) -> Self:
        """Room for so many."""
        return cls(
            np.zeros((landmarks, 3, 3)),
            np.zeros((landmarks, 3)),
            np.zeros((landmarks, frames, POSE, 3)),
        )


class System(NamedTuple):
    """Normal equations of the states, and landmarks that are eliminated from them.

    Attributes:
        H: lower triangle of the normal matrix, added to.
        g: gradient, added to.
        stride: places of a keyframe in the state; an aircraft has 15 of them.
        out: overwritten where a landmark takes part.
    """

    H: Array
    g: Array
    stride: int
    out: LandmarkElimination


@njit(cache=True)
def add_vision(
    x: Array,
    table: Landmarks,
    rig: StereoRig,
    aircraft: int,
    only_host: int,
    width: float,
    damping: float,
    system: System,
) -> float:
    """Add one aircraft's landmarks to the normal equations, eliminated; returns their cost.

    Args:
        x: (F, A, 16) states.
        table: landmarks of all aircraft.
        rig: this aircraft's cameras.
        aircraft: its index.
        only_host: take only landmarks first seen in this keyframe; -1 takes all.
        width: of Huber's kernel, in deviations.
        damping: on the diagonal of each landmark's block.
        system: see there.
    """
    scratch, views, out = (np.zeros(2), np.zeros((2, 15))), (x, table, rig), system.out
    cost = 0.0
    for m in range(len(table.host)):
        out.C[m] = 0.0
        if not takes_part(table, m, aircraft, only_host):
            continue
        out.g[m] = 0.0
        out.W[m] = 0.0
        cost = _add_views(cost, views, m, width, 1.0, system, scratch)
        if _invert(out.C[m], damping):
            _eliminate(table, m, x.shape[0], system)
        else:
            # Its views do not determine its place: they are taken out again.
            cost -= _add_views(0.0, views, m, width, -1.0, system, scratch)
            out.C[m] = 0.0
    return cost


@njit(cache=True)
def _add_views(
    cost: float,
    views: Views,
    m: int,
    width: float,
    sign: float,
    system: System,
    scratch: Residual,
) -> float:
    """Add all views of landmark m, or with sign -1 take them out again; returns the cost with theirs."""
    x, table, _ = views
    for j in range(table.host[m], x.shape[0]):
        for side in range(2):
            if table.sides[m, j] & (LEFT if side == 0 else RIGHT):
                cost += _add_view(views, m, j, side, width, sign, system, scratch)
    return cost


@njit(cache=True)
def takes_part(table: Landmarks, m: int, aircraft: int, only_host: int) -> bool:
    """True if a landmark of known depth is this aircraft's, and first seen where asked."""
    if table.host[m] < 0 or table.known[m] == 0 or table.aircraft[m] != aircraft:
        return False
    return only_host < 0 or table.host[m] == only_host


@njit(cache=True)
def _add_view(
    views: Views,
    m: int,
    j: int,
    side: int,
    width: float,
    sign: float,
    system: System,
    scratch: Residual,
) -> float:
    """The part of `_add_views` of one view."""
    (x, table, rig), (r, J), (H, g, stride, out) = views, scratch, system
    i, a, point = table.host[m], table.aircraft[m], table.place[m]
    s = scaled_point(x[i, a], x[j, a], point, rig, side)
    if s[2] < max(NEAREST * point[2], NEARER):
        return 0.5 * width * width
    view = table.views[m, j, 2 * side : 2 * side + 2]
    project(s, view, rig.deviation, r)
    project_jacobians(x[i, a], x[j, a], point, rig, side, s, J)
    cost = soften(r, J, width)
    for row in range(2):
        for p in range(3):
            out.g[m, p] += J[row, 12 + p] * r[row]
            for q in range(3):
                out.C[m, p, q] += J[row, 12 + p] * J[row, 12 + q]
    if i != j:
        _add_poses(J, r, sign, i * stride + 15 * a, j * stride + 15 * a, H, g)
        for row in range(2):
            for p in range(POSE):
                for q in range(3):
                    out.W[m, i, p, q] += J[row, p] * J[row, 12 + q]
                    out.W[m, j, p, q] += J[row, POSE + p] * J[row, 12 + q]
    return cost


@njit(cache=True)
def _add_poses(J: Array, r: Array, sign: float, at_i: int, at_j: int, H: Array, g: Array) -> None:
    """Add the blocks of the two poses; that of i comes first."""
    g_i, g_j = g[at_i:], g[at_j:]
    H_ii, H_ji, H_jj = H[at_i:, at_i:], H[at_j:, at_i:], H[at_j:, at_j:]
    for row in range(2):
        for p in range(POSE):
            u, v = sign * J[row, p], sign * J[row, POSE + p]
            g_i[p] += u * r[row]
            g_j[p] += v * r[row]
            for q in range(POSE):
                H_ji[p, q] += v * J[row, q]
            for q in range(p + 1):
                H_ii[p, q] += u * J[row, q]
                H_jj[p, q] += v * J[row, POSE + q]


@njit(cache=True)
def _eliminate(
    table: Landmarks,
    m: int,
    frames: int,
    system: System,
) -> None:
    """Subtract what a landmark couples; its block is inverted already."""
    H, g, stride, out = system
    C, W, b = out.C[m], out.W[m], out.g[m]
    base = 15 * table.aircraft[m]
    for j in range(table.host[m], frames):
        if table.sides[m, j] == 0:
            continue
        for p in range(POSE):
            u0 = W[j, p, 0] * C[0, 0] + W[j, p, 1] * C[1, 0] + W[j, p, 2] * C[2, 0]
            u1 = W[j, p, 0] * C[0, 1] + W[j, p, 1] * C[1, 1] + W[j, p, 2] * C[2, 1]
            u2 = W[j, p, 0] * C[0, 2] + W[j, p, 1] * C[1, 2] + W[j, p, 2] * C[2, 2]
            row = j * stride + base + p
            g[row] -= u0 * b[0] + u1 * b[1] + u2 * b[2]
            for k in range(table.host[m], j + 1):
                if table.sides[m, k] == 0:
                    continue
                part, V = H[row, k * stride + base :], W[k]
                for q in range(POSE if k < j else p + 1):
                    part[q] -= u0 * V[q, 0] + u1 * V[q, 1] + u2 * V[q, 2]


@njit(cache=True)
def _invert(C: Array, damping: float) -> bool:
    """Invert a symmetric 3 x 3 block in place, damped; False if its place is not determined."""
    a, d, f = (1.0 + damping) * C[0, 0], (1.0 + damping) * C[1, 1], (1.0 + damping) * C[2, 2]
    b, c, e = C[0, 1], C[0, 2], C[1, 2]
    A, B, D = d * f - e * e, c * e - b * f, b * e - c * d
    det = a * A + b * B + c * D
    if not det > INDEPENDENT * a * d * f:
        return False
    s = 1.0 / det
    C[0, 0], C[0, 1], C[0, 2] = s * A, s * B, s * D
    C[1, 1], C[1, 2], C[2, 2] = s * (a * f - c * c), s * (b * c - a * e), s * (a * d - b * b)
    C[1, 0], C[2, 0], C[2, 1] = C[0, 1], C[0, 2], C[1, 2]
    return True


@njit(cache=True)
def vision_cost(x: Array, table: Landmarks, rig: StereoRig, aircraft: int, width: float) -> float:
    """The cost alone."""
    r, cost = np.zeros(2), 0.0
    for m in range(len(table.host)):
        if not takes_part(table, m, aircraft, -1):
            continue
        for j in range(table.host[m], x.shape[0]):
            for side in range(2):
                if table.sides[m, j] & (LEFT if side == 0 else RIGHT):
                    i, point = table.host[m], table.place[m]
                    s = scaled_point(x[i, aircraft], x[j, aircraft], point, rig, side)
                    if s[2] < max(NEAREST * point[2], NEARER):
                        cost += 0.5 * width * width
                        continue
                    project(s, table.views[m, j, 2 * side : 2 * side + 2], rig.deviation, r)
                    cost += huber(r, width)[1]
    return cost


@njit(cache=True)
def step_landmarks(
    dx: Array, table: Landmarks, frames: int, stride: int, out: LandmarkElimination
) -> None:
    """Move every landmark that took part by what the states' step `dx` leaves for it."""
    for m in range(len(table.host)):
        if table.host[m] < 0 or out.C[m, 0, 0] == 0.0:
            continue
        b0, b1, b2 = out.g[m, 0], out.g[m, 1], out.g[m, 2]
        base = 15 * table.aircraft[m]
        for j in range(table.host[m], frames):
            if table.sides[m, j]:
                for p in range(POSE):
                    d = dx[j * stride + base + p]
                    b0 += out.W[m, j, p, 0] * d
                    b1 += out.W[m, j, p, 1] * d
                    b2 += out.W[m, j, p, 2] * d
        for p in range(3):
            C = out.C[m, p]
            table.place[m, p] -= C[0] * b0 + C[1] * b1 + C[2] * b2
        table.place[m, 2] = min(max(table.place[m, 2], FARTHEST), CLOSEST)

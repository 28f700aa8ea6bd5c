# SPDX-License-Identifier: BSD-3-Clause
r"""Identified velocity dynamics of a quadrotor with an arm of three joints, aerial_manipulator eqs. (18), (23), (24).

    M(q) v' + C(q, v) v + g(q) = v_d,     v = (u_l, u_m, u_n, w, q1', q2', q3')

u is the platform's velocity along the axes of its heading, w its yaw rate, v_d the commanded v. M, C and g are those of
the paper's appendix without its misprints (docs/design/departures.md). M is no mass matrix of a conservative
system: motors, their controllers and the aircraft's velocity loop are in it; it is neither symmetric nor positive
definite.

`z` is (33,): z[k] is zeta_k of TABLE 3, z[0] is gravity [m/s^2], so that formulas read as in print.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array

CHANNELS = ("u_l", "u_m", "u_n", "w", "q1_p", "q2_p", "q3_p")
SIZE = len(CHANNELS)
JOINTS = 3
PARAMETERS = 32


class Dynamics(NamedTuple):
    """Parameters of the model.

    Attributes:
        z: (33,) gravity [m/s^2], then zeta_1 to zeta_32.
        l2: length of the second link that zeta was fitted with [m].
        l3: of the third link [m].
    """

    z: Array
    l2: float
    l3: float


class _Pose(NamedTuple):
    """Sines and cosines of the arm's pose, with the appendix's repeated terms."""

    s1: float
    c1: float
    s23: float
    c23: float
    s3: float
    c3: float
    a: float
    A: float
    B: float


@njit(cache=True)
def _pose(model: Dynamics, q: Array) -> _Pose:
    """Repeated terms: a = z5 + z6, A = c2 a + c23 z7, B = s2 a + s23 z7."""
    s23, c23 = math.sin(q[1] + q[2]), math.cos(q[1] + q[2])
    a = model.z[5] + model.z[6]
    A = math.cos(q[1]) * a + c23 * model.z[7]
    B = math.sin(q[1]) * a + s23 * model.z[7]
    s1, c1 = math.sin(q[0]), math.cos(q[0])
    return _Pose(s1, c1, s23, c23, math.sin(q[2]), math.cos(q[2]), a, A, B)


@njit(cache=True)
def inertia(model: Dynamics, q: Array) -> Array:
    """M(q), (7, 7), of an arm at q (3,) [rad]."""
    z, l2, l3, pose = model.z, model.l2, model.l3, _pose(model, q)
    s1, c1, s23, c23, A, B = pose.s1, pose.c1, pose.s23, pose.c23, pose.A, pose.B
    both, elbow = 2.0 * (q[1] + q[2]), 2.0 * pose.c3 * l3 * z[6]
    D = z[23] + elbow + math.cos(2.0 * q[1]) * l2 * pose.a
    D += 2.0 * math.cos(2.0 * q[1] + q[2]) * l3 * z[6] + math.cos(both) * l3 * z[7]
    lever = z[24] * z[7] * (l3 + pose.c3 * l2)
    M = np.zeros((SIZE, SIZE))
    M[0, 0], M[0, 1], M[0, 2], M[0, 3] = z[1], -z[2], z[3], -z[4] * (s1 * A - z[8])
    M[0, 4], M[0, 5], M[0, 6] = -z[4] * s1 * A, -z[4] * c1 * B, -z[4] * z[7] * c1 * s23
    M[1, 0], M[1, 1], M[1, 2], M[1, 3] = -z[9], z[10], z[11], z[12] * (c1 * A - z[8])
    M[1, 4], M[1, 5], M[1, 6] = z[12] * c1 * A, -z[12] * s1 * B, -z[12] * z[7] * s1 * s23
    M[2, 0], M[2, 1], M[2, 2], M[2, 3] = z[13], z[14], z[15], z[16]
    M[2, 5], M[2, 6] = -z[17] * A, -z[17] * z[7] * c23
    M[3, 0], M[3, 1], M[3, 2] = z[18] * (z[19] - s1 * A), -z[18] * (z[20] - c1 * A), z[21]
    M[3, 3], M[3, 4] = 0.5 * z[18] * (z[22] + D), 0.5 * z[18] * D
    M[4, 0], M[4, 1], M[4, 3] = -z[24] * s1 * A, z[24] * c1 * A, 0.5 * z[24] * D
    M[4, 4] = 0.5 * z[24] * (D + 2.0 * z[25])
    M[5, 0], M[5, 1], M[5, 2] = -z[24] * c1 * B, -z[24] * s1 * B, -z[24] * A
    M[5, 5], M[5, 6] = z[24] * (z[23] + z[25] + elbow), lever
    M[6, 0], M[6, 1] = -z[24] * z[7] * c1 * s23, -z[24] * z[7] * s1 * s23
    M[6, 2], M[6, 5], M[6, 6] = -z[24] * z[7] * c23, lever, z[24] * (z[25] + l3 * z[7])
    return M


@njit(cache=True)
def damping(model: Dynamics, q: Array, v: Array) -> Array:
    """C(q, v), (7, 7), of an arm at q (3,) [rad] and velocities v (7,); more than Coriolis terms."""
    z, l2, l3, pose = model.z, model.l2, model.l3, _pose(model, q)
    s1, c1, s23, c23, A, B = pose.s1, pose.c1, pose.s23, pose.c23, pose.A, pose.B
    w, u, d2, d3, p = v[3], v[3] + v[4], v[5], v[6], v[5] + v[6]
    dA = math.cos(q[1]) * d2 * pose.a + c23 * p * z[7]
    dB = math.sin(q[1]) * d2 * pose.a + s23 * p * z[7]
    two, three, both = math.sin(2.0 * q[1]), math.sin(2.0 * q[1] + q[2]), 2.0 * (q[1] + q[2])
    four, a = math.sin(both), pose.a
    E = pose.s3 * l3 * d3 * z[6] + two * l2 * d2 * a + three * l3 * (2.0 * d2 + d3) * z[6]
    E += four * l3 * p * z[7]
    F = two * l2 * a + 2.0 * three * l3 * z[6] + four * l3 * z[7]
    H = pose.s3 * l2 + three * l2 + four * l3
    elbow = pose.s3 * l3 * z[6] * z[24]
    C = np.zeros((SIZE, SIZE))
    C[0, 0], C[0, 1] = z[26], -w * z[4] * z[27]
    C[0, 3] = C[0, 4] = z[4] * (s1 * dB - c1 * A * u)
    C[0, 5] = z[4] * (s1 * B * u - c1 * dA)
    C[0, 6] = z[4] * z[7] * (s1 * s23 * u - c1 * c23 * p)
    C[1, 0], C[1, 1] = w * z[12] * z[27], -z[28]
    C[1, 3] = C[1, 4] = -z[12] * (s1 * A * u + c1 * dB)
    C[1, 5] = -z[12] * (c1 * B * u + s1 * dA)
    C[1, 6] = -z[12] * z[7] * (c1 * s23 * u + s1 * c23 * p)
    C[2, 2], C[2, 5], C[2, 6] = -z[29], z[17] * dB, z[17] * z[7] * s23 * p
    for row, k in ((3, z[18]), (4, z[24])):
        C[row, 0], C[row, 1] = c1 * w * k * A, s1 * w * k * A
        C[row, 3] = C[row, 4] = -0.5 * k * E
        C[row, 5], C[row, 6] = -0.5 * k * u * F, -0.5 * k * z[7] * u * H
    C[3, 3] -= z[18] * z[30]
    C[4, 4] -= z[24] * z[31]
    C[5, 0], C[5, 1] = -s1 * w * z[24] * B, c1 * w * z[24] * B
    C[5, 3] = C[5, 4] = 0.5 * z[24] * u * F
    C[5, 5], C[5, 6] = -z[24] * z[31] - elbow * d3, -elbow * p
    C[6, 0], C[6, 1] = -s1 * s23 * w * z[7] * z[24], c1 * s23 * w * z[7] * z[24]
    C[6, 3] = C[6, 4] = 0.5 * z[7] * z[24] * u * H
    C[6, 5], C[6, 6] = elbow * d2, -z[32]
    return C


@njit(cache=True)
def gravity(model: Dynamics, q: Array) -> Array:
    """g(q), (7,), of an arm at q (3,) [rad]."""
    z, pose = model.z, _pose(model, q)
    g = np.zeros(SIZE)
    g[2] = z[0] * z[17] * z[27]
    g[5] = -z[0] * z[24] * pose.A
    g[6] = -z[0] * z[7] * z[24] * pose.c23
    return g


@njit(cache=True)
def held_command(model: Dynamics, q: Array, v: Array) -> Array:
    """The command (7,) at which velocities v (7,) do not change, v_d = C(q, v) v + g(q): the static inverse of (18)."""
    out, C = gravity(model, q), damping(model, q, v)
    for i in range(SIZE):
        for j in range(SIZE):
            out[i] += C[i, j] * v[j]
    return out


@njit(cache=True)
def command(model: Dynamics, q: Array, v: Array, dv: Array) -> Array:
    """Left side (7,) of (18): the command that gives the accelerations dv (7,), which is Y zeta of (19)."""
    out, M = held_command(model, q, v), inertia(model, q)
    for i in range(SIZE):
        for j in range(SIZE):
            out[i] += M[i, j] * dv[j]
    return out


@njit(cache=True)
def acceleration(model: Dynamics, q: Array, v: Array, v_d: Array) -> Array:
    """Accelerations (7,) of (18); not a number where M is singular."""
    return solved(inertia(model, q), v_d - held_command(model, q, v))


@njit(cache=True)
def advance(model: Dynamics, q: Array, v: Array, v_d: Array, h: float) -> None:
    """Advance q (3,) and v (7,) in place by a step h [s] of Runge-Kutta's fourth order with v_d held, eq. (24)."""
    q_0, v_0, dq, dv = q.copy(), v.copy(), np.zeros(JOINTS), np.zeros(SIZE)
    for weight, reach in ((1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)):
        slope_q, slope_v = v[4:].copy(), acceleration(model, q, v, v_d)
        dq += weight / 6.0 * slope_q
        dv += weight / 6.0 * slope_v
        q[:] = q_0 + reach * h * slope_q
        v[:] = v_0 + reach * h * slope_v
    q[:] = q_0 + h * dq
    v[:] = v_0 + h * dv


@njit(cache=True)
def solved(A: Array, b: Array) -> Array:
    """X of A x = b by elimination with the largest pivots; A and b are used up. Not a number where A is singular.

    Compiled by numba alone, whose own solver would need scipy.
    """
    n = len(b)
    for k in range(n):
        best = k + np.argmax(np.abs(A[k:, k]))
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            b[k], b[best] = b[best], b[k]
        if A[k, k] == 0.0:
            return np.full(n, np.nan)
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            b[i] -= factor * b[k]
            for j in range(k, n):
                A[i, j] -= factor * A[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    return b

# SPDX-License-Identifier: BSD-3-Clause
"""Rotation matrices as tuples of nine floats, row by row, compiled: they live in registers, so nothing allocates.

Companions of `iap_description.math.kernels`, whose vectors and quaternions they act on.
"""

import math

from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import Mat, Quat, Vec

IDENTITY: Mat = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@njit(cache=True)
def matrix(q: Quat) -> Mat:
    """Rotation matrix of a unit quaternion (x, y, z, w)."""
    x, y, z, w = q
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - z * w),
        2.0 * (x * z + y * w),
        2.0 * (x * y + z * w),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - x * w),
        2.0 * (x * z - y * w),
        2.0 * (y * z + x * w),
        1.0 - 2.0 * (x * x + y * y),
    )


@njit(cache=True)
def mtv(M: Mat, a: Vec) -> Vec:
    """M^T a."""
    return (
        M[0] * a[0] + M[3] * a[1] + M[6] * a[2],
        M[1] * a[0] + M[4] * a[1] + M[7] * a[2],
        M[2] * a[0] + M[5] * a[1] + M[8] * a[2],
    )


@njit(cache=True)
def transpose(M: Mat) -> Mat:
    """M^T."""
    return (M[0], M[3], M[6], M[1], M[4], M[7], M[2], M[5], M[8])


@njit(cache=True)
def mm(A: Mat, B: Mat) -> Mat:
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@njit(cache=True)
def mtm(A: Mat, B: Mat) -> Mat:
    """A^T B."""
    return mm(transpose(A), B)


@njit(cache=True)
def ms(s: float, A: Mat) -> Mat:
    """Product s A."""
    return (
        s * A[0],
        s * A[1],
        s * A[2],
        s * A[3],
        s * A[4],
        s * A[5],
        s * A[6],
        s * A[7],
        s * A[8],
    )


@njit(cache=True)
def ma(A: Mat, B: Mat) -> Mat:
    """Sum A + B."""
    return (
        A[0] + B[0],
        A[1] + B[1],
        A[2] + B[2],
        A[3] + B[3],
        A[4] + B[4],
        A[5] + B[5],
        A[6] + B[6],
        A[7] + B[7],
        A[8] + B[8],
    )


@njit(cache=True)
def skew(a: Vec) -> Mat:
    """The matrix of a x."""
    return (0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0)


@njit(cache=True)
def mskew(M: Mat, a: Vec) -> Mat:
    """M times the matrix of a x."""
    return (
        M[1] * a[2] - M[2] * a[1],
        M[2] * a[0] - M[0] * a[2],
        M[0] * a[1] - M[1] * a[0],
        M[4] * a[2] - M[5] * a[1],
        M[5] * a[0] - M[3] * a[2],
        M[3] * a[1] - M[4] * a[0],
        M[7] * a[2] - M[8] * a[1],
        M[8] * a[0] - M[6] * a[2],
        M[6] * a[1] - M[7] * a[0],
    )


@njit(cache=True)
def about_z(angle: float) -> Mat:
    """Rotation by an angle [rad] about z."""
    c, s = math.cos(angle), math.sin(angle)
    return (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)


@njit(cache=True)
def qexp(a: Vec) -> Quat:
    """Unit quaternion of a rotation vector [rad]."""
    angle = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    s = 0.5 - angle * angle / 48.0 if angle < 1e-4 else math.sin(0.5 * angle) / angle
    return (s * a[0], s * a[1], s * a[2], math.cos(0.5 * angle))


@njit(cache=True)
def _series(a: Vec, first: float, second: float) -> Mat:
    """The matrix I + first [a]x + second [a]x^2."""
    x, y, z = a
    xx, yy, zz = x * x, y * y, z * z
    return (
        1.0 - second * (yy + zz),
        second * x * y - first * z,
        second * x * z + first * y,
        second * x * y + first * z,
        1.0 - second * (xx + zz),
        second * y * z - first * x,
        second * x * z - first * y,
        second * y * z + first * x,
        1.0 - second * (xx + yy),
    )


@njit(cache=True)
def right_jacobian(a: Vec) -> Mat:
    """J_r of SO(3): exp(a + d) = exp(a) exp(J_r d) for small d."""
    n2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
    if n2 < 1e-8:
        return _series(a, -0.5 + n2 / 24.0, 1.0 / 6.0 - n2 / 120.0)
    n = math.sqrt(n2)
    return _series(a, -(1.0 - math.cos(n)) / n2, (n - math.sin(n)) / (n2 * n))


@njit(cache=True)
def right_jacobian_inverse(a: Vec) -> Mat:
    """The inverse of J_r of SO(3): log(exp(a) exp(d)) = a + J_r^-1 d for small d."""
    n2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
    if n2 < 1e-6:
        return _series(a, 0.5, 1.0 / 12.0 + n2 / 720.0)
    n = math.sqrt(n2)
    return _series(a, 0.5, 1.0 / n2 - (1.0 + math.cos(n)) / (2.0 * n * math.sin(n)))


@njit(cache=True)
def put_block(J: Array, row: int, col: int, M: Mat, s: float) -> None:
    """Write s M into J at (row, col)."""
    for i in range(3):
        J[row, col + i] = s * M[i]
        J[row + 1, col + i] = s * M[3 + i]
        J[row + 2, col + i] = s * M[6 + i]


@njit(cache=True)
def block(J: Array, row: int, col: int) -> Mat:
    """The 3 x 3 block of J at (row, col)."""
    return (
        J[row, col],
        J[row, col + 1],
        J[row, col + 2],
        J[row + 1, col],
        J[row + 1, col + 1],
        J[row + 1, col + 2],
        J[row + 2, col],
        J[row + 2, col + 1],
        J[row + 2, col + 2],
    )

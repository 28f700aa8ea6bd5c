# SPDX-License-Identifier: BSD-3-Clause
r"""Rotations on arrays of any leading shape: SO(3) and unit quaternions (xyzw).

For trajectories, errors and tests. The 200 Hz loop uses the scalar kernels of `iap_description.math.kernels`,
which are tested against this module. :math:`q_{WB}` and :math:`R_{WB}` map coordinates in B to
coordinates in W. Angles in YAML, messages and tables go through `iap_description.math.euler`; those here
are of whole trajectories. transforms3d, which takes one rotation at a time, is the oracle of the tests.
"""

import math
from typing import Any

import numpy as np

from iap_description.arrays import Array

# The quaternion of no turn. Nobody writes into it; it is writable, as kernels are compiled for.
IDENTITY: Array = np.array([0.0, 0.0, 0.0, 1.0])
_SERIES_ANGLE = 1e-6  # below this angle [rad] the series are exact to double precision


def _components(a: Array) -> Any:  # noqa: ANN401 - floats or arrays, which compute alike
    """Components along the last axis: floats of a single vector, which cost a tenth of arrays, else arrays."""
    a = np.asarray(a)
    if a.ndim == 1:
        return a.tolist()
    return a.T if a.ndim == 2 else np.moveaxis(a, -1, 0)


def _joined(components: list[Any]) -> Array:
    """Inverse of `_components`."""
    if isinstance(components[0], np.ndarray):
        return np.stack(components, -1)
    return np.array(components, dtype=float)


def hat(v: Array) -> Array:
    """Skew matrix (..., 3, 3) with ``hat(v) @ u = v x u``."""
    v = np.asarray(v, dtype=float)
    if v.ndim == 1:  # at a fifth of the cost
        a, b, c = v.tolist()
        return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    o = np.zeros_like(x)
    return np.stack(
        [np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2
    )


def normalized(q: Array) -> Array:
    """Quaternions (..., 4) scaled to unit length."""
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def multiply(q: Array, r: Array) -> Array:
    """Hamilton product (..., 4): rotation `r` first, then `q`."""
    qx, qy, qz, qw = _components(q)
    rx, ry, rz, rw = _components(r)
    return _joined(
        [
            qw * rx + qx * rw + qy * rz - qz * ry,
            qw * ry - qx * rz + qy * rw + qz * rx,
            qw * rz + qx * ry - qy * rx + qz * rw,
            qw * rw - qx * rx - qy * ry - qz * rz,
        ]
    )


def conjugate(q: Array) -> Array:
    """Inverse rotation of unit quaternions (..., 4)."""
    return np.asarray(q) * np.array([-1.0, -1.0, -1.0, 1.0])


def cross(a: Array, b: Array) -> Array:
    """Cross product a x b (..., 3), at a tenth of the cost of `numpy.cross` for a single pair."""
    ax, ay, az = _components(a)
    bx, by, bz = _components(b)
    return _joined([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def rotate(q: Array, v: Array) -> Array:
    """Vectors (..., 3) rotated by unit quaternions (..., 4)."""
    qx, qy, qz, qw = _components(q)
    x, y, z = _components(v)
    tx, ty, tz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return _joined(
        [
            x + qw * tx + (qy * tz - qz * ty),
            y + qw * ty + (qz * tx - qx * tz),
            z + qw * tz + (qx * ty - qy * tx),
        ]
    )


def matrix_from_quaternion(q: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    x, y, z, w = _components(q)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    if np.ndim(x) == 0:
        return np.array(rows, dtype=float)
    return np.stack([np.stack(row, -1) for row in rows], -2)


def quaternion_from_matrix(R: Array) -> Array:
    """Unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3); the largest element is found first."""
    R = np.asarray(R, dtype=float)
    if R.ndim == 2:  # the same bits, at a tenth of the cost
        return _quaternion_of_one(R)
    d = np.stack([R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]], -1)
    squares = np.stack(
        [
            1 + d[..., 0] - d[..., 1] - d[..., 2],
            1 - d[..., 0] + d[..., 1] - d[..., 2],
            1 - d[..., 0] - d[..., 1] + d[..., 2],
            1 + d.sum(-1),
        ],
        -1,
    )
    sums = [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]]
    off = [R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]]
    columns = np.stack(
        [
            np.stack([squares[..., 0], off[0], off[1], sums[0]], -1),
            np.stack([off[0], squares[..., 1], off[2], sums[1]], -1),
            np.stack([off[1], off[2], squares[..., 2], sums[2]], -1),
            np.stack([sums[0], sums[1], sums[2], squares[..., 3]], -1),
        ],
        -2,
    )
    best = np.argmax(squares, axis=-1)[..., None, None]
    q = normalized(np.take_along_axis(columns, best, axis=-2)[..., 0, :])
    return np.where(q[..., 3:] < 0.0, -q, q)


def _quaternion_of_one(R: Array) -> Array:
    """The quaternion (4,) of one rotation matrix (3, 3)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R.tolist()
    x, y, z, w = 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + (xx + yy + zz)
    a, b, c = zy - yz, xz - zx, yx - xy
    d, e, f = xy + yx, xz + zx, yz + zy
    columns = ((x, d, e, a), (d, y, f, b), (e, f, z, c), (a, b, c, w))
    squares = (x, y, z, w)
    i, j, k, m = columns[squares.index(max(squares))]
    n = math.sqrt(i * i + j * j + k * k + m * m)
    n = -n if m < 0.0 else n
    return np.array([i / n, j / n, k / n, m / n])


def quaternion_exp(phi: Array) -> Array:
    """Unit quaternions (..., 4) of rotation vectors (..., 3) [rad]."""
    phi = np.asarray(phi, dtype=float)
    if phi.ndim == 1:  # the same bits, at a fifth of the cost
        x, y, z = phi.tolist()
        half = 0.5 * math.sqrt(x * x + y * y + z * z)
        angle = np.pi * (half / np.pi or 1e-20)
        share = 0.5 * (np.sin(angle) / angle)
        return np.array([share * x, share * y, share * z, np.cos(half)])
    half = 0.5 * np.linalg.norm(phi, axis=-1, keepdims=True)
    return np.concatenate([0.5 * np.sinc(half / np.pi) * phi, np.cos(half)], -1)


def quaternion_log(q: Array) -> Array:
    """Rotation vectors (..., 3) [rad], at most pi long, of unit quaternions (..., 4)."""
    if np.ndim(q) == 1:  # the same bits, at a sixth of the cost
        x, y, z, w = np.asarray(q).tolist()
        sign = -1.0 if w < 0.0 else 1.0
        n = math.sqrt(x * x + y * y + z * z)
        scale = 2.0 / (sign * w or 1.0) if n < _SERIES_ANGLE else 2.0 * np.arctan2(n, sign * w) / n
        return np.array([scale * (sign * x), scale * (sign * y), scale * (sign * z)])
    q = np.where(np.asarray(q)[..., 3:] < 0.0, -np.asarray(q), q)
    u, w = q[..., :3], q[..., 3:]
    n = np.linalg.norm(u, axis=-1, keepdims=True)
    safe = np.where(n < _SERIES_ANGLE, 1.0, n)
    return (
        np.where(
            n < _SERIES_ANGLE, 2.0 / np.where(w == 0.0, 1.0, w), 2.0 * np.arctan2(n, w) / safe
        )
        * u
    )


def exp(phi: Array) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3) [rad]."""
    return matrix_from_quaternion(quaternion_exp(phi))


def log(R: Array) -> Array:
    """Rotation vectors (..., 3) [rad] of rotation matrices (..., 3, 3)."""
    return quaternion_log(quaternion_from_matrix(R))


def right_jacobian(phi: Array) -> Array:
    r"""Right Jacobian (..., 3, 3): :math:`\omega_B = J_r(\phi)\,\dot\phi` for :math:`R_{WB} = \exp(\phi)`."""
    phi = np.asarray(phi, dtype=float)
    angle = np.linalg.norm(phi, axis=-1)[..., None, None]
    a = np.where(angle < 1e-4, 1.0, angle)
    first = np.where(angle < 1e-4, 0.5 - angle**2 / 24.0, (1.0 - np.cos(a)) / a**2)
    second = np.where(angle < 1e-4, 1.0 / 6.0 - angle**2 / 120.0, (a - np.sin(a)) / a**3)
    S = hat(phi)
    return np.eye(3) - first * S + second * (S @ S)


def matrix_from_euler(roll_pitch_yaw: Array) -> Array:
    """R_WB (..., 3, 3) = Rz(yaw) Ry(pitch) Rx(roll) of angles (..., 3) [rad]."""
    roll, pitch, yaw = np.moveaxis(np.asarray(roll_pitch_yaw, dtype=float), -1, 0)
    zero = np.zeros_like(roll)
    about_z = quaternion_exp(np.stack([zero, zero, yaw], -1))
    about_y = quaternion_exp(np.stack([zero, pitch, zero], -1))
    about_x = quaternion_exp(np.stack([roll, zero, zero], -1))
    return matrix_from_quaternion(multiply(about_z, multiply(about_y, about_x)))


def euler_from_matrix(R_WB: Array) -> Array:
    """Roll, pitch, yaw (..., 3) [rad] of R_WB = Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = np.arcsin(np.clip(-R_WB[..., 2, 0], -1.0, 1.0))
    roll = np.arctan2(R_WB[..., 2, 1], R_WB[..., 2, 2])
    yaw = np.arctan2(R_WB[..., 1, 0], R_WB[..., 0, 0])
    return np.stack([roll, pitch, yaw], -1)


def transform(p: tuple[float, ...] | Array, q: tuple[float, ...] | Array) -> Array:
    """(4, 4) matrix of a position (3,) [m] and an attitude (4,) xyzw."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = matrix_from_quaternion(np.array(q)), p
    return T

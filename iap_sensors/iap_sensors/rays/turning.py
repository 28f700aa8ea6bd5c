# SPDX-License-Identifier: BSD-3-Clause
"""Rays turned from a sensor's frame into others, in compiled loops; computed in double, kept in single numbers."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans
from iap_description.math.kernels import quat, rotate
from iap_sensors.rays.caster import NO_FACE, Bundle, Numbers, Single

Indices = NDArray[np.int64]


def turned(bundle: Bundle, p: Array, R: Array) -> tuple[Single, Single]:
    """Starts (n, 3) [m] and ways (n, 3) of rays in a frame in which the sensor is at `p` (3,), attitude `R` (3, 3)."""
    starts, ways = np.empty_like(bundle.starts_S), np.empty_like(bundle.ways_S)
    _turn(bundle.starts_S, bundle.ways_S, p, R, starts, ways)
    return starts, ways


@njit(cache=True, nogil=True)
def _turn(
    starts_S: Single, ways_S: Single, p: Array, R: Array, starts: Single, ways: Single
) -> None:
    for i in range(len(starts_S)):
        x, y, z = starts_S[i, 0], starts_S[i, 1], starts_S[i, 2]
        u, v, w = ways_S[i, 0], ways_S[i, 1], ways_S[i, 2]
        for k in range(3):
            starts[i, k] = p[k] + R[k, 0] * x + R[k, 1] * y + R[k, 2] * z
            ways[i, k] = R[k, 0] * u + R[k, 1] * v + R[k, 2] * w


@njit(cache=True)
def matrix_of(q: Array) -> Array:
    """Rotation matrix (3, 3) of a unit quaternion (4,), xyzw."""
    R = np.empty((3, 3))
    for k in range(3):
        axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        R[0, k], R[1, k], R[2, k] = rotate(quat(q), axis)
    return R


@njit(cache=True)
def relative_pose(p_WS_W: Array, R_WS: Array, row: Array) -> tuple[Array, Array, Array]:
    """Place (3,) [m] and attitude (3, 3) of a sensor in a body of state `row` (13,), and the body's (3, 3) in `map`."""
    R_WB = matrix_of(row[3:7])
    p_BS_B, R_BS = np.zeros(3), np.zeros((3, 3))
    for i in range(3):
        for k in range(3):
            p_BS_B[i] += R_WB[k, i] * (p_WS_W[k] - row[k])
            for j in range(3):
                R_BS[i, j] += R_WB[k, i] * R_WS[k, j]
    return p_BS_B, R_BS, R_WB


@njit(cache=True, nogil=True)
def rays_near(
    starts_S: Single, ways_S: Single, reach: Single, center_S: Array, radius: float
) -> Indices:
    """Numbers (m,) of the rays that come as near to a point (3,) as a radius [m]."""
    indices = np.empty(len(reach), np.int64)
    count = 0
    for i in range(len(reach)):
        x = center_S[0] - starts_S[i, 0]
        y = center_S[1] - starts_S[i, 1]
        z = center_S[2] - starts_S[i, 2]
        along = x * ways_S[i, 0] + y * ways_S[i, 1] + z * ways_S[i, 2]
        along = min(max(along, 0.0), np.float64(reach[i]))
        x -= along * ways_S[i, 0]
        y -= along * ways_S[i, 1]
        z -= along * ways_S[i, 2]
        if x * x + y * y + z * z <= radius * radius:
            indices[count] = i
            count += 1
    return indices[:count]


@njit(cache=True, nogil=True)
def bodies_near(
    p_WS_W: Array, axis_W: Array, half: float, reach: float, rows: Array, radii: Array
) -> Indices:
    """Numbers (m,) of the spheres around bodies that a cone from a point meets, or might meet.

    Args:
        p_WS_W: (3,) its tip [m].
        axis_W: (3,) along it, of unit length.
        half: its half angle [rad].
        reach: its length [m].
        rows: (bodies, 13) states of the bodies, at whose origins the spheres are.
        radii: (bodies,) of the spheres [m].
    """
    indices = np.empty(len(radii), np.int64)
    count = 0
    for i in range(len(radii)):
        x, y, z = rows[i, 0] - p_WS_W[0], rows[i, 1] - p_WS_W[1], rows[i, 2] - p_WS_W[2]
        d = np.sqrt(x * x + y * y + z * z)
        if d > reach + radii[i]:
            continue
        if d > radii[i]:
            cosine = (x * axis_W[0] + y * axis_W[1] + z * axis_W[2]) / d
            angle = np.arccos(min(max(cosine, -1.0), 1.0))
            if angle > half + np.arcsin(radii[i] / d) + 1e-6:
                continue
        indices[count] = i
        count += 1
    return indices[:count]


@njit(cache=True, nogil=True)
def settle(
    tfar: Single,
    prim: Numbers,
    normal: Single,
    ways: Single,
    is_solid: Booleans,
    distance: Single,
    face: Numbers,
) -> int:
    """Write the hits of rays that end there, and count those that leave a solid instead; these keep what they had."""
    leaving = 0
    for i in range(len(tfar)):
        k = prim[i]
        if k < 0:
            continue
        if is_solid[k]:
            along = (
                normal[i, 0] * ways[i, 0] + normal[i, 1] * ways[i, 1] + normal[i, 2] * ways[i, 2]
            )
            if along > 0.0:
                leaving += 1
                continue
        distance[i] = tfar[i]
        face[i] = k
    return leaving


@njit(cache=True, nogil=True)
def merge(
    rays: Indices,
    of_mover: tuple[Single, Numbers, Single],
    first: int,
    R: Array,
    hits: tuple[Single, Numbers, Single],
) -> None:
    """Put the hits of some rays on a body in the place of those farther away.

    Args:
        rays: (m,) numbers of the rays.
        of_mover: distance, face and normal of each, the normal in the body's frame.
        first: number of the body's first face among all faces.
        R: (3, 3) attitude of the body.
        hits: of all rays, written to.
    """
    distance, face, normal = of_mover
    for j in range(len(rays)):
        if face[j] == NO_FACE:
            continue
        i = rays[j]
        hits[0][i] = distance[j]
        hits[1][i] = first + face[j]
        x, y, z = normal[j, 0], normal[j, 1], normal[j, 2]
        for k in range(3):
            hits[2][i, k] = R[k, 0] * x + R[k, 1] * y + R[k, 2] * z

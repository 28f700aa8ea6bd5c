# SPDX-License-Identifier: BSD-3-Clause
r"""Physical terms between an aircraft and its neighbours' odometry, which one rigid body joins (virpo III-D).

All terms are of the differences of two joints i (the own one) and o, :math:`a_o = p_i - p_o, b_o = v_i - v_o`;
how those depend on the states is in `iap_estimation.virpo.factors.neighbours`.

* r_kp (9)-(11): :math:`|a_o| - l_o`.
* r_kv (12)-(13): :math:`|\omega| - |\omega_0|`, with the :math:`\omega` that leaves the least of
  :math:`\sum |b_o - \omega \times a_o|^2`. The paper's (12) is its closed form for two neighbours, up to a sign that
  the norm does not see. Joints on a line show no angular velocity about it: no term. A norm has no derivative at
  zero, so that both are :math:`\sqrt{|\omega|^2 + \epsilon^2}`: smooth, and still equal where the norms are.
* r_kq (14)-(16): for joints in a plane :math:`e_z^T R_0 n_0 - n_z` with n along :math:`a_1 \times a_2` and n_0 the same
  in the centre; for joints on a line :math:`e_z^T R_0 e_0 - e_z`, e from i to o. Where the plane is level in the centre
  and the line along its x axis, these are the paper's cosines of alpha and beta, and n_0, e_0 say with what sign.
"""

import math

from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import Mat, Vec, add, cross, dot, mv, norm, scale, sub, vec
from iap_estimation.virpo.algebra.matrices import ma, ms, mskew, skew
from iap_estimation.virpo.factors.neighbours import (
    CENTRE,
    EACH,
    FIRST,
    JOINT,
    KNOWN,
    RATE,
    VERTICAL,
    Neighbours,
)

P, V, Q = 0, 1, 2  # the terms
ZERO_MATRIX: Mat = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
FLOOR = 0.01  # epsilon [rad/s]
FLAT = 1e-6  # determinant of M over its cubed trace, and squared sine of a_1 and a_2, at which joints are on a line


@njit(cache=True)
def most_residuals(neighbours: int) -> int:
    """Most numbers of one row."""
    return neighbours + 1 + max(neighbours, neighbours * (neighbours - 1) // 2)


@njit(cache=True)
def residuals(joints: Array, row: Array, neighbours: Neighbours, r: Array, G: Array) -> int:
    """Whitened residuals of one instant; returns how many there are.

    Args:
        joints: (1 + O, 6) place and velocity in W of the own joint and each neighbour's.
        row: what is measured.
        neighbours: see there.
        r: (`most_residuals(O)`,) changed in place.
        G: (the same, 6 (1 + O)) their derivatives by the joints, changed in place.
    """
    G[:] = 0.0
    n = 0
    if neighbours.terms[P]:
        n = _distances(joints, row, neighbours, r, G, n)
    if row[CENTRE] == 0.0:
        return n
    if neighbours.terms[V] and _is_plane(row, neighbours):
        n = _rate(joints, row, neighbours, r, G, n)
    if neighbours.terms[Q] and neighbours.is_line:
        n = _slants(joints, row, neighbours, r, G, n)
    elif neighbours.terms[Q]:
        n = _normals(joints, row, neighbours, r, G, n)
    return n


@njit(cache=True)
def _distances(
    joints: Array, row: Array, neighbours: Neighbours, r: Array, G: Array, n: int
) -> int:
    """r_kp, virpo (10)."""
    f = 1.0 / neighbours.deviations[P]
    for o in range(len(neighbours.d_B0)):
        if is_known(row, o):
            a = _way(joints, o, 0)
            length = norm(a)
            r[n] = f * (length - norm(vec(neighbours.d_B0[o])))
            _pull(G[n], o, 0, scale(f / length, a))
            n += 1
    return n


@njit(cache=True)
def _rate(joints: Array, row: Array, neighbours: Neighbours, r: Array, G: Array, n: int) -> int:
    """r_kv, virpo (13)."""
    is_measured, w, inverse = angular_velocity(joints, row)
    if not is_measured:
        return n
    f = 1.0 / neighbours.deviations[V]
    size, measured = math.sqrt(dot(w, w) + FLOOR * FLOOR), math.hypot(row[RATE], FLOOR)
    r[n] = f * (size - measured)
    u = mv(inverse, scale(f / size, w))
    for o in range(len(joints) - 1):
        if is_known(row, o):  # of u^T (dc - dM w), where M w = c
            a, b = _way(joints, o, 0), _way(joints, o, 3)
            by_a = add(scale(dot(a, w), u), scale(dot(a, u), w))
            by_a = add(by_a, sub(cross(b, u), scale(2.0 * dot(u, w), a)))
            _pull(G[n], o, 0, by_a)
            _pull(G[n], o, 3, cross(u, a))
    return n + 1


@njit(cache=True)
def angular_velocity(joints: Array, row: Array) -> tuple[bool, Vec, Mat]:
    r"""Angular velocity of the joints in W by least squares (virpo 12), from M w = c.

    Returns:
        Whether there is one, it [rad/s], and the inverse of :math:`M = \sum a^T a I - a a^T`.
    """
    M, c = ZERO_MATRIX, (0.0, 0.0, 0.0)
    for o in range(len(joints) - 1):
        if is_known(row, o):
            a = _way(joints, o, 0)
            M = ma(M, mskew(ms(-1.0, skew(a)), a))
            c = add(c, cross(a, _way(joints, o, 3)))
    x, y, z = cross(M[3:6], M[6:9]), cross(M[6:9], M[0:3]), cross(M[0:3], M[3:6])
    determinant, trace = dot(M[0:3], x), M[0] + M[4] + M[8]
    if determinant <= FLAT * trace * trace * trace:
        return False, c, ZERO_MATRIX
    inverse = ms(1.0 / determinant, x + y + z)
    return True, mv(inverse, c), inverse


@njit(cache=True)
def _normals(joints: Array, row: Array, neighbours: Neighbours, r: Array, G: Array, n: int) -> int:
    """r_kq of joints in a plane, virpo (14)-(15)."""
    f = 1.0 / neighbours.deviations[Q]
    for o in range(len(joints) - 1):
        for e in range(o + 1, len(joints) - 1):
            if not (is_known(row, o) and is_known(row, e) and _is_bent(neighbours, o, e)):
                continue
            a, b = _way(joints, o, 0), _way(joints, e, 0)
            m = cross(a, b)
            area = norm(m)
            if area * area <= FLAT * dot(a, a) * dot(b, b):
                continue
            z = m[2] / area
            r[n] = f * (dot(vec(row[VERTICAL:]), vec(neighbours.normals[o, e])) - z)
            u = scale(-f / area, sub((0.0, 0.0, 1.0), scale(z / area, m)))
            _pull(G[n], o, 0, cross(b, u))
            _pull(G[n], e, 0, cross(u, a))
            n += 1
    return n


@njit(cache=True)
def _slants(joints: Array, row: Array, neighbours: Neighbours, r: Array, G: Array, n: int) -> int:
    """r_kq of joints on a line, virpo (16)."""
    f = 1.0 / neighbours.deviations[Q]
    for o in range(len(joints) - 1):
        if is_known(row, o):
            a, d = _way(joints, o, 0), vec(neighbours.d_B0[o])
            length = norm(a)
            z = a[2] / length
            r[n] = f * (dot(vec(row[VERTICAL:]), d) / norm(d) + z)
            _pull(G[n], o, 0, scale(f / length, sub((0.0, 0.0, 1.0), scale(z / length, a))))
            n += 1
    return n


@njit(cache=True)
def is_known(row: Array, o: int) -> bool:
    """True if a row has a neighbour's odometry."""
    return bool(row[FIRST + EACH * o + KNOWN] != 0.0)


@njit(cache=True)
def _is_bent(neighbours: Neighbours, o: int, e: int) -> bool:
    """True if two neighbours, o < e, make a plane with the own joint."""
    normal = neighbours.normals[o, e]
    return bool(dot(vec(normal), vec(normal)) > 0.0)


@njit(cache=True)
def _is_plane(row: Array, neighbours: Neighbours) -> bool:
    """True if any two known neighbours do."""
    for o in range(len(neighbours.d_B0)):
        for e in range(o + 1, len(neighbours.d_B0)):
            if is_known(row, o) and is_known(row, e) and _is_bent(neighbours, o, e):
                return True
    return False


@njit(cache=True)
def _way(joints: Array, o: int, at: int) -> Vec:
    """From a neighbour's joint to the own one; of their velocities with at = 3."""
    return sub(vec(joints[0, at:]), vec(joints[1 + o, at:]))


@njit(cache=True)
def _pull(out: Array, o: int, at: int, slope: Vec) -> None:
    """Add a derivative by that difference to those by both joints."""
    for i in range(3):
        out[at + i] += slope[i]
        out[JOINT * (1 + o) + at + i] -= slope[i]

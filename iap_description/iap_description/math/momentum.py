# SPDX-License-Identifier: BSD-3-Clause
"""Momentum of a platform about its CoM in world axes, where no Coriolis term appears; beatle eqs. (28), (29)."""

from numba import njit

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import (
    Mat,
    Quat,
    Vec,
    add,
    cross,
    formula,
    mat,
    mv,
    quat_at,
    rotate,
    scale,
    unrotate,
    vec,
    vec_at,
)


def inertia_about_com(J: Array, mass: float, d_0: Array) -> Array:
    """Inertia (3, 3) about the CoM [kg m^2] out of that about P's origin, by the parallel axes.

    Args:
        J: (3, 3) inertia about P's origin, axes of P [kg m^2].
        mass: [kg].
        d_0: (3,) the CoM in P [m].
    """
    d = so3.hat(d_0)
    return J + mass * d @ d


@njit(cache=True)
def momentum_about_com(row: Array, mass: float, d_0: Array, J_C: Array) -> tuple[Vec, Vec]:
    """Linear and angular momentum m v_C and R J_C R^T w about the common CoM, world axes [N s, N m s].

    The aircraft on spherical joints are points.

    Args:
        row: (13,) state row of the central body.
        mass: of the platform [kg].
        d_0: (3,) the CoM in P [m].
        J_C: (3, 3) inertia about it, axes of P [kg m^2].
    """
    motion = (quat_at(row, 3), vec_at(row, 7), vec_at(row, 10))
    return momenta(*motion, mass, vec(d_0), mat(J_C))


@formula
def momenta(q: Quat, v_W: Vec, w_W: Vec, mass: float, d_0: Vec, J_C: Mat) -> tuple[Vec, Vec]:
    """`momentum_about_com` of an attitude, and of velocities in world axes [m/s], [rad/s]."""
    v_C = add(v_W, cross(w_W, rotate(q, d_0)))
    return scale(mass, v_C), rotate(q, mv(J_C, unrotate(q, w_W)))

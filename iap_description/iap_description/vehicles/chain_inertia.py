# SPDX-License-Identifier: BSD-3-Clause
r"""Inertia and momentum of serial chains, compiled: what an arm does to the platform that carries it.

All follows from one matrix A(q), which takes the velocities to the momentum about the platform's origin P:

    (sum m_i v_i, sum I_i w_i + (c_i - p_P) x m_i v_i) = A(q) (v_WP,W, w_WP,W, q')

Its columns are those of the bodies' geometric Jacobians (B. Siciliano et al., Robotics: Modelling, Planning and
Control, eqs. (7.16) ff.) weighed by the bodies' inertias; about the CoM it is the centroidal momentum matrix of
D. E. Orin, A. Goswami, S.-H. Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 35 (2013), eq. (5).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.vehicles.serial_chain import (
    REVOLUTE,
    Chain,
    new_frames,
    product,
    times,
    walk,
)


class Bodies(NamedTuple):
    """The rigid bodies of a chain of n joints, the platform's own first; without mass if only the arm counts.

    Attributes:
        masses: (n + 1,) [kg].
        coms: (n + 1, 3) in the frames of platform and links [m].
        inertias: (n + 1, 3, 3) about the CoMs, axes of those frames [kg m^2].
    """

    masses: Array
    coms: Array
    inertias: Array


class Composite(NamedTuple):
    """A chain as one rigid body, for as long as its joints stand still.

    Attributes:
        mass: [kg].
        p_PC_W: (3,) the common CoM C from the platform's origin, world axes [m].
        inertia: (3, 3) about C, world axes [kg m^2].
    """

    mass: float
    p_PC_W: Array
    inertia: Array


@njit(cache=True)
def momentum_matrix(chain: Chain, bodies: Bodies, R_WP: Array, q: Array) -> Array:
    """A(q) (6, 6 + n) of the module's equation, linear rows before angular ones, all in world axes.

    Args:
        chain: the arm.
        bodies: its links, and the platform.
        R_WP: (3, 3) attitude of the platform.
        q: (n,) joint coordinates [rad], [m].
    """
    n = len(q)
    frames, A = new_frames(n), np.zeros((6, 6 + n))
    walk(chain, np.zeros(3), R_WP, q, frames)
    for i in range(n + 1):
        R = R_WP if i == 0 else frames.rotations[i - 1]
        place = np.zeros(3) if i == 0 else frames.points[i - 1]
        c = place + times(R, bodies.coms[i])
        body = (bodies.masses[i], product(product(R, bodies.inertias[i]), R.T), c)
        for k in range(3):
            axis = np.zeros(3)
            axis[k] = 1.0
            _add_shift(A, k, body, axis)
            _add_turn(A, 3 + k, body, axis, np.zeros(3))
        for j in range(i):
            if chain.kinds[j] == REVOLUTE:
                _add_turn(A, 6 + j, body, frames.axes[j], frames.points[j])
            else:
                _add_shift(A, 6 + j, body, frames.axes[j])
    return A


@njit(cache=True)
def composite(chain: Chain, bodies: Bodies, R_WP: Array, q: Array) -> Composite:
    """Mass, CoM and inertia of platform and arm, or of the arm alone; see `momentum_matrix`."""
    A = momentum_matrix(chain, bodies, R_WP, q)
    mass = A[0, 0]
    x, y, z = A[5, 1] / mass, A[3, 2] / mass, A[4, 0] / mass
    inertia = A[3:, 3:6].copy()  # about P; to C by the parallel axes, I_C = I_P + m c^ c^
    inertia[0, 0] -= mass * (y * y + z * z)
    inertia[1, 1] -= mass * (x * x + z * z)
    inertia[2, 2] -= mass * (x * x + y * y)
    for a, b, product_ab in ((0, 1, x * y), (0, 2, x * z), (1, 2, y * z)):
        inertia[a, b] += mass * product_ab
        inertia[b, a] += mass * product_ab
    return Composite(mass, np.array([x, y, z]), inertia)


@njit(cache=True)
def holding_torques(chain: Chain, bodies: Bodies, R_WP: Array, q: Array, gravity: float) -> Array:
    """Torques [N m] and forces [N] (n,) with which the motors hold the links against gravity [m/s^2] at rest."""
    return gravity * momentum_matrix(chain, bodies, R_WP, q)[2, 6:]


@njit(cache=True)
def _add_shift(A: Array, column: int, body: tuple[float, Array, Array], axis: Array) -> None:
    """The momentum of a body (mass, inertia, CoM) that moves along an axis."""
    mass, _, c = body
    _add_linear(A, column, mass * axis, c)


@njit(cache=True)
def _add_turn(
    A: Array, column: int, body: tuple[float, Array, Array], axis: Array, point: Array
) -> None:
    """The momentum of a body (mass, inertia, CoM) that turns about an axis through a point."""
    mass, inertia, c = body
    _add_linear(A, column, mass * np.cross(axis, c - point), c)
    A[3:, column] += times(inertia, axis)


@njit(cache=True)
def _add_linear(A: Array, column: int, momentum: Array, c: Array) -> None:
    A[:3, column] += momentum
    A[3:, column] += np.cross(c, momentum)

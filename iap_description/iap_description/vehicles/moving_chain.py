# SPDX-License-Identifier: BSD-3-Clause
r"""Wrench that a moving arm asks of the platform that carries it, compiled.

With the momentum (l, k) = A(q) (v, w, q') of `iap_description.vehicles.chain_inertia` about the platform's origin P,
all in axes of P, and (f, tau) what acts from outside, about P (G. Kirchhoff's equations in a moving frame; H. Lamb,
Hydrodynamics, art. 124):

    l' + w x l = f            k' + w x k + v x l = tau

Of l' = A (v', w', q'') + A' (v, w, q') the laws of a rigid platform know A (v', w', 0) and the products of (v, w). The
rest is what an arm adds that moves.
"""

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.vehicles.chain_inertia import Bodies, momentum_matrix
from iap_description.vehicles.serial_chain import Chain

STEP = 1e-4  # of A', by central differences along q' [s]


@njit(cache=True)
def arm_momentum(chain: Chain, bodies: Bodies, q: Array, v: Array) -> Array:
    """Momentum (6,) about P, axes of P, that the joints' velocities add to the platform's [N s, N m s].

    Args:
        chain: the arm.
        bodies: its links.
        q: (n,) joint coordinates [rad], [m].
        v: (n,) their velocities.
    """
    A, out = momentum_matrix(chain, bodies, np.eye(3), q), np.zeros(6)
    _add_product(A[:, 6:], v, out)
    return out


@njit(cache=True)
def arm_wrench(
    chain: Chain, bodies: Bodies, q: Array, v: Array, a: Array, twist_P: Array
) -> Array:
    """Wrench (6,) about P's origin, axes of P, that carries on an arm's motion beside its weight [N, N m].

    It is A_q q'' + A' (v, w, q') + (w x l_q, w x k_q + v x l_q) with (l_q, k_q) = A_q q', zero while the joints stand
    still.

    Args:
        chain: the arm.
        bodies: its links.
        q: (n,) joint coordinates [rad], [m].
        v: (n,) their velocities.
        a: (n,) their accelerations.
        twist_P: (6,) velocity of P's origin and angular velocity of the platform, axes of P.
    """
    level, n = np.eye(3), len(q)
    A = momentum_matrix(chain, bodies, level, q)
    ahead = momentum_matrix(chain, bodies, level, q + STEP * v)
    behind = momentum_matrix(chain, bodies, level, q - STEP * v)
    velocities = np.empty(6 + n)
    velocities[:6], velocities[6:] = twist_P, v
    out, momentum = np.zeros(6), np.zeros(6)
    _add_product(A[:, 6:], a, out)
    _add_product((ahead - behind) / (2.0 * STEP), velocities, out)
    _add_product(A[:, 6:], v, momentum)
    out[:3] += np.cross(twist_P[3:], momentum[:3])
    out[3:] += np.cross(twist_P[3:], momentum[3:]) + np.cross(twist_P[:3], momentum[:3])
    return out


@njit(cache=True)
def _add_product(A: Array, x: Array, out: Array) -> None:
    """Add A x, without BLAS."""
    for i in range(len(out)):
        for j in range(len(x)):
            out[i] += A[i, j] * x[j]

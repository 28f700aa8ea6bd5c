# SPDX-License-Identifier: BSD-3-Clause
"""Platforms whose joints turn about one or two axes, in any pose, and the accelerations that statics give them."""

import numpy as np

from iap_description.math import so3
from iap_description.states import Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_motion import free_axes, joint_angles
from iap_description.vehicles.platform import load_platform
from iap_physics.engines.joints import joined_rows

PLATFORMS = ("three_star_universal", "three_star_hinge", "three_star_mixed")


def assembly_of(name):
    """A platform without shapes."""
    return Assembly.of(load_platform(name)).without_shapes()


def any_rows(assembly, seed, *, angle=0.4, rate=0.0):
    """State rows (bodies, 13) whose joints hold, at random attitudes and turning at up to some rate [rad/s]."""
    rng, count = np.random.default_rng(seed), len(assembly.joints)
    base = np.zeros(13)
    base[:3], base[7:10] = (0.0, 0.0, 2.0), rate * rng.uniform(-1.0, 1.0, 3)
    base[Q], base[10:] = (
        so3.quaternion_exp(rng.normal(0.0, angle, 3)),
        rate * rng.uniform(-1, 1, 3),
    )
    rest = so3.multiply(base[Q], np.array([joint.q_PJ for joint in assembly.joints]))
    q_WB = so3.multiply(rest, so3.quaternion_exp(rng.normal(0.0, angle, (count, 3))))
    return joined_rows(assembly, base, q_WB, base[10:] + rate * rng.uniform(-1.0, 1.0, (count, 3)))


def locked_axes(joint, x):
    """(k, 3) orthonormal axes about which a joint transmits torque at rows (bodies, 13), world axes."""
    if joint.kind.turns_freely:
        return np.zeros((0, 3))
    if not len(joint.axes):
        return np.eye(3)
    q_WJ = so3.multiply(x[joint.parent, Q], joint.q_PJ)
    angles = joint_angles(joint.axes, so3.multiply(so3.conjugate(q_WJ), x[joint.child, Q]))
    free_W = so3.rotate(q_WJ, free_axes(joint.axes, angles))
    return np.linalg.svd(free_W)[2][len(free_W) :]


def accelerations(assembly, x, wrench_W):
    """Accelerations (bodies, 6) at rest under wrenches (bodies, 6), and forces and torques in each joint on its parent.

    M a + G^T l = f and G a = 0, with a row of G for each direction in which a joint holds point or attitude.
    """
    n = len(assembly.bodies)
    M, rows, sizes = np.zeros((6 * n, 6 * n)), [], []
    for i, body in enumerate(assembly.bodies):
        R = so3.matrix_from_quaternion(x[i, Q])
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = body.mass * np.eye(3)
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = R @ body.inertia @ R.T
    for joint in assembly.joints:
        a, b = 6 * joint.parent, 6 * joint.child
        locked = locked_axes(joint, x)
        G = np.zeros((3 + len(locked), 6 * n))
        G[:3, a : a + 3], G[:3, b : b + 3] = np.eye(3), -np.eye(3)
        G[:3, a + 3 : a + 6] = -so3.hat(so3.rotate(x[joint.parent, Q], joint.p_PJ_P))
        G[:3, b + 3 : b + 6] = so3.hat(so3.rotate(x[joint.child, Q], joint.p_CJ_C))
        G[3:, a + 3 : a + 6], G[3:, b + 3 : b + 6] = locked, -locked
        rows.append(G)
        sizes.append(len(G))
    G = np.vstack(rows)
    K = np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])
    solved = np.linalg.solve(K, np.concatenate([wrench_W.ravel(), np.zeros(len(G))]))
    held = np.split(solved[6 * n :], np.cumsum(sizes)[:-1])
    return solved[: 6 * n].reshape(n, 6), held

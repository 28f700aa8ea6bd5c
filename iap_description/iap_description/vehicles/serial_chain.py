# SPDX-License-Identifier: BSD-3-Clause
r"""Kinematics of serial chains: where the end effector E is, and how it moves with platform and joints, compiled.

Link i has the pose of the link before, then the joint's fixed transform (origin, rotation), then its motion q_i:

    R_i = R_{i-1} R_fixed,i exp(q_i axis_i)      p_i = p_{i-1} + R_{i-1} origin_i           (revolute)
    R_i = R_{i-1} R_fixed,i                      p_i = ... + q_i R_i axis_i                (prismatic)

The geometric Jacobian is that of B. Siciliano et al., Robotics: Modelling, Planning and Control, eq. (3.30).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers

REVOLUTE, PRISMATIC = 0, 1


class Chain(NamedTuple):
    """A serial chain of n joints.

    Attributes:
        kinds: (n,) `REVOLUTE` or `PRISMATIC`.
        axes: (n, 3) unit vectors in the links' own frames.
        origins: (n, 3) of the links in the frames of the links before [m].
        rotations: (n, 3, 3) of the links' frames at q = 0 in those of the links before.
        tip: (3,) of the end effector in the last link's frame [m].
    """

    kinds: Integers
    axes: Array
    origins: Array
    rotations: Array
    tip: Array


class Frames(NamedTuple):
    """The links' frames in the world at one pose.

    Attributes:
        axes: (n, 3) of the joints.
        points: (n, 3) origins of the links, on the joints' axes [m].
        rotations: (n, 3, 3) attitudes of the links.
    """

    axes: Array
    points: Array
    rotations: Array


@njit(cache=True)
def tip_pose(chain: Chain, p_WP_W: Array, R_WP: Array, q: Array) -> tuple[Array, Array]:
    """Pose of the end effector.

    Args:
        chain: the arm.
        p_WP_W: (3,) of the platform [m].
        R_WP: (3, 3) of the platform.
        q: (n,) joint coordinates [rad], [m].

    Returns:
        p_WE_W (3,) and R_WE (3, 3).
    """
    return walk(chain, p_WP_W, R_WP, q, new_frames(len(q)))


@njit(cache=True)
def jacobian(chain: Chain, R_WP: Array, q: Array) -> Array:
    r"""Jacobian of the end effector's twist.

    .. math:: (v_{WE,W}, w_{WE,W}) = J (v_{WP,W}, w_{WP,W}, \dot q)

    Args:
        chain: the arm.
        R_WP: (3, 3) of the platform.
        q: (n,) joint coordinates [rad], [m].

    Returns:
        (6, 6 + n), linear rows before angular ones.
    """
    n = len(q)
    frames, J = new_frames(n), np.zeros((6, 6 + n))
    tip_W, _ = walk(chain, np.zeros(3), R_WP, q, frames)
    for k in range(3):
        J[k, k] = J[3 + k, 3 + k] = 1.0
        _put_turn(J, 3 + k, _unit(k), tip_W)
    for i in range(n):
        if chain.kinds[i] == REVOLUTE:
            J[3:, 6 + i] = frames.axes[i]
            _put_turn(J, 6 + i, frames.axes[i], tip_W - frames.points[i])
        else:
            J[:3, 6 + i] = frames.axes[i]
    return J


@njit(cache=True)
def new_frames(n: int) -> Frames:
    """Room for the frames of n links, which `walk` fills."""
    return Frames(np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3, 3)))


@njit(cache=True)
def walk(
    chain: Chain, p_WP_W: Array, R_WP: Array, q: Array, frames: Frames
) -> tuple[Array, Array]:
    """Pose p_WE_W (3,) and R_WE (3, 3) of the end effector; fills the links' frames on the way."""
    p_W, R = p_WP_W.copy(), R_WP.copy()
    for i in range(len(q)):
        p_W = p_W + times(R, chain.origins[i])
        R = product(R, chain.rotations[i])
        axis_W = times(R, chain.axes[i])
        if chain.kinds[i] == REVOLUTE:
            R = product(R, _turn(chain.axes[i], q[i]))
        else:
            p_W = p_W + q[i] * axis_W
        frames.axes[i], frames.points[i], frames.rotations[i] = axis_W, p_W, R
    return p_W + times(R, chain.tip), R


@njit(cache=True)
def _put_turn(J: Array, column: int, axis: Array, arm: Array) -> None:
    """Write the velocity axis x arm into a column."""
    J[0, column] = axis[1] * arm[2] - axis[2] * arm[1]
    J[1, column] = axis[2] * arm[0] - axis[0] * arm[2]
    J[2, column] = axis[0] * arm[1] - axis[1] * arm[0]


@njit(cache=True)
def _turn(axis: Array, angle: float) -> Array:
    """Rotation (3, 3) about a unit vector, by Rodrigues' formula."""
    x, y, z = axis
    s, c = math.sin(angle), math.cos(angle)
    d = 1.0 - c
    return np.array(
        [
            [c + d * x * x, d * x * y - s * z, d * x * z + s * y],
            [d * x * y + s * z, c + d * y * y, d * y * z - s * x],
            [d * x * z - s * y, d * y * z + s * x, c + d * z * z],
        ]
    )


@njit(cache=True)
def _unit(k: int) -> Array:
    e = np.zeros(3)
    e[k] = 1.0
    return e


@njit(cache=True)
def times(A: Array, x: Array) -> Array:
    """A x, without BLAS, which takes longer for three rows."""
    out = np.zeros(3)
    for i in range(3):
        for j in range(3):
            out[i] += A[i, j] * x[j]
    return out


@njit(cache=True)
def product(A: Array, B: Array) -> Array:
    """A B of (3, 3) matrices, without BLAS."""
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                out[i, j] += A[i, k] * B[k, j]
    return out

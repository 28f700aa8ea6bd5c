# SPDX-License-Identifier: BSD-3-Clause
r"""Motion of joints that turn about one or two axes: angles, attitudes, and which turning they let through.

A revolute joint turns by q_1 about its axis a_1, a universal joint by q_1 about a_1, fixed in the parent, and then by
q_2 about a_2, fixed in the child and perpendicular to a_1:

.. math::
    R_{JC} = \exp(q_1 \hat a_1) \qquad\text{or}\qquad R_{JC} = \exp(q_1 \hat a_1) \exp(q_2 \hat a_2)

with J the child's frame at rest on the parent. The axes that the relative angular velocity is made of, a_1 and
exp(q_1 a_1) a_2, are perpendicular at any angle; a torque along what is across them goes through the joint.
"""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import Quat, Vec, formula
from iap_description.states import Q, W
from iap_description.vehicles.assembly import Joint
from iap_description.vehicles.joint_types import JointType


class JointMotion(Protocol):
    """Source of a joint's motion: a `Joint`, or what a recording has of it."""

    @property
    def kind(self) -> JointType:
        """The freedom that it leaves."""

    @property
    def q_PJ(self) -> ArrayLike:
        """(4,) the child's attitude in the parent's frame at rest, xyzw."""

    @property
    def axes(self) -> ArrayLike:
        """(k, 3) unit vectors about which it turns, in the child's frame at rest."""


class JointEnds(JointMotion, Protocol):
    """Motion of a joint, and the bodies that it joins."""

    @property
    def parent(self) -> int:
        """Row of the parent."""

    @property
    def child(self) -> int:
        """Row of the child."""


def joint_angles(axes: Array, q_JC: Array) -> Array:
    """Angles (..., k) [rad] of the attitude nearest to q_JC (..., 4) that axes (k, 3), one or two, allow."""
    if len(axes) == 1:
        half = np.arctan2(q_JC[..., :3] @ axes[0], q_JC[..., 3])
        return np.remainder(2.0 * half + np.pi, 2.0 * np.pi)[..., None] - np.pi
    a, b = axes
    d = so3.rotate(
        q_JC, np.cross(a, b)
    )  # (sin q_2, -sin q_1 cos q_2, cos q_1 cos q_2) along a, b, a x b
    second = np.arcsin(np.clip(d @ a, -1.0, 1.0))
    return np.stack([np.arctan2(-(d @ b), d @ np.cross(a, b)), second], axis=-1)


def joint_attitude(axes: Array, angles: Array) -> Array:
    """Attitude q_JC (..., 4) at angles (..., k) [rad] about axes (k, 3)."""
    q = so3.quaternion_exp(angles[..., :1] * axes[0])
    for k in range(1, len(axes)):
        q = so3.multiply(q, so3.quaternion_exp(angles[..., k : k + 1] * axes[k]))
    return q


def free_axes(axes: Array, angles: Array) -> Array:
    """(..., k, 3) the axes that the joint turns about now, in its frame J, which are perpendicular."""
    now = np.broadcast_to(axes, (*angles.shape, 3)).copy()
    if len(axes) == 2:
        now[..., 1, :] = so3.rotate(so3.quaternion_exp(angles[..., :1] * axes[0]), axes[1])
    return now


def joint_coordinates(joint: JointMotion, parent: Array, child: Array) -> tuple[Array, Array]:
    """Position and velocity of a joint, as PlatformState has them.

    Args:
        joint: of any type.
        parent: (..., 13) state rows.
        child: (..., 13) state rows.

    Returns:
        Numbers as many as the type says. Of a spherical joint attitude of the child in the parent, xyzw, and relative
        angular velocity in the child's axes [rad/s], of others angles [rad] and rates [rad/s], of a fixed one none.
    """
    w_W = child[..., W] - parent[..., W]
    q_PC = so3.multiply(so3.conjugate(parent[..., Q]), child[..., Q])
    if joint.kind.turns_freely:
        return q_PC, so3.rotate(so3.conjugate(child[..., Q]), w_W)
    axes, q_PJ = np.asarray(joint.axes), np.asarray(joint.q_PJ)
    if not len(axes):
        none = np.zeros((*child.shape[:-1], 0))
        return none, none
    angles = joint_angles(axes, so3.multiply(so3.conjugate(q_PJ), q_PC))
    w_J = so3.rotate(so3.conjugate(so3.multiply(parent[..., Q], q_PJ)), w_W)
    return angles, (free_axes(axes, angles) * w_J[..., None, :]).sum(axis=-1)


@formula
def turn_about(axis: Vec, angle: float) -> Quat:
    """Unit quaternion of a turn by an angle [rad] about a unit vector."""
    s = math.sin(0.5 * angle)
    return (s * axis[0], s * axis[1], s * axis[2], math.cos(0.5 * angle))


def put_coordinates(
    joints: Sequence[JointEnds], x: Array, positions: Array, velocities: Array
) -> None:
    """Write the coordinates of all joints, stacked (..., n) and (..., m), at state rows (..., bodies, 13)."""
    first, begin = 0, 0
    for joint in joints:
        q, v = joint_coordinates(joint, x[..., joint.parent, :], x[..., joint.child, :])
        positions[..., first : first + q.shape[-1]] = q
        velocities[..., begin : begin + v.shape[-1]] = v
        first, begin = first + q.shape[-1], begin + v.shape[-1]


def fitted(
    joint: Joint, parent: Array, q_WC: Array | None, w_W: Array | None
) -> tuple[Array, Array]:
    """Attitude (..., 4) and angular velocity (..., 3) of a child, as near to those given as its joint allows.

    Args:
        joint: of any type.
        parent: (..., 13) state rows.
        q_WC: (..., 4) wanted attitude; None: as at rest.
        w_W: (..., 3) wanted angular velocity [rad/s], world axes; None: the parent's.
    """
    q_WJ = so3.multiply(parent[..., Q], joint.q_PJ)
    if joint.kind.turns_freely:
        return (q_WJ if q_WC is None else q_WC), (parent[..., W] if w_W is None else w_W)
    if not len(joint.axes):
        return q_WJ, parent[..., W]
    angles = np.zeros((*parent.shape[:-1], len(joint.axes)))
    if q_WC is not None:
        angles = joint_angles(joint.axes, so3.multiply(so3.conjugate(q_WJ), q_WC))
    q = so3.multiply(q_WJ, joint_attitude(joint.axes, angles))
    w = parent[..., W].copy()
    if w_W is not None:
        axes_W = so3.rotate(q_WJ[..., None, :], free_axes(joint.axes, angles))
        rates = (axes_W * (w_W - w)[..., None, :]).sum(axis=-1)
        w += (rates[..., None] * axes_W).sum(axis=-2)
    return q, w

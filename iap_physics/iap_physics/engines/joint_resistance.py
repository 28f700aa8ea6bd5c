# SPDX-License-Identifier: BSD-3-Clause
r"""Friction, travel limits and springs of joints as torques between parent and child, for any engine.

With w the child's angular velocity relative to its parent, the joint resists by

.. math::
    \tau = -c\,w - \tau_C\,\hat w, \qquad |\tau_C\text{ part}| \le \tau_C \text{ at } w = 0,

and at its stop, where the angle between the child's z axis and its rest on the parent would pass the limit, by the
torque that ends that motion there: no rebound. A torque that would turn the motion round within the step is
shortened to the one that ends it, by the inertia that the two bodies have against each other,

.. math::
    1 / J(n) = n^T (I_c^{-1} + I_p^{-1})\,n,

so that friction sticks and the stop is stiff at any length of step. The parent counts with what it carries. What the
joint's lever adds to the inertia is left out (3 % at 20 mm), and on a hinge products of inertia against its axis. A
revolute joint resists about its axis alone; of it J is exact where the axis is a principal one of both bodies.

A spring turns the child of a revolute joint by -k (q - q_0) about its axis. As engines integrate velocities first, it
neither adds nor takes energy in the mean as long as its period is many steps.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import (
    Packed,
    Quat,
    Vec,
    add,
    cross,
    dot,
    mul,
    norm,
    packed,
    qconj,
    qmul,
    quat,
    rotate,
    scale,
    sub,
    unrotate,
    vec,
)
from iap_description.vehicles.assembly import Assembly
from iap_physics.engines.engine import RUNNING

ACROSS = 1e-6  # cosine between a hinge's axis and a z axis that are taken for perpendicular
RETURN_GAIN = 10.0  # with which a child comes back that is beyond its stop [1/s]


class JointResistance(NamedTuple):
    """The joints of one vehicle that resist.

    Attributes:
        parents: (J,) state rows.
        children: (J,) state rows.
        rest: (J, 3) where the child's z axis is at rest, in the parent.
        limit: (J,) largest angle from there [rad].
        viscous: (J,) friction c [N m s/rad].
        coulomb: (J,) friction tau_C [N m].
        axis: (J, 3) of a revolute joint, in the child; zero of a spherical one.
        stiffness: (J,) of springs k [N m/rad].
        slack: (J,) angle q_0 [rad].
        q_PJ: (J, 4) attitude of the child in the parent at q = 0.
        J: (J, 3, 3) inertia of the children [kg m^2].
        J_inv: (J, 3, 3) its inverse.
        parent_J_inv: (J, 3, 3) of the parents with what they carry.
    """

    parents: Integers
    children: Integers
    rest: Array
    limit: Array
    viscous: Array
    coulomb: Array
    axis: Array
    stiffness: Array
    slack: Array
    q_PJ: Array
    J: Array
    J_inv: Array
    parent_J_inv: Array

    @classmethod
    def of(cls, assembly: Assembly, first: int) -> Self:
        """The joints of an assembly whose central body has the state row `first`.

        Raises:
            BadInput: a joint resists that is neither spherical nor revolute, for which there is no model here, or the
                z axis of a child whose travel is limited does not turn with its hinge.
        """
        joints = [joint for joint in assembly.joints if joint.resists]
        for joint in joints:
            where = f"'{assembly.name}/{joint.name}'"
            if not joint.kind.turns_freely and len(joint.axes) != 1:
                raise BadInput(
                    f"{where}: no limits and friction for joints of type '{joint.type}'"
                )
            if math.isfinite(joint.limit) and (np.abs(joint.axes[:, 2]) > ACROSS).any():
                raise BadInput(f"{where}: a limit is of a hinge across the child's z axis")
        d = so3.hat(assembly.d_0)
        platform = assembly.inertia + assembly.mass * d @ d
        J = np.array([assembly.bodies[joint.child].inertia for joint in joints])
        carrying = [
            platform if joint.parent == 0 else assembly.bodies[joint.parent].inertia
            for joint in joints
        ]
        return cls(
            np.array([first + joint.parent for joint in joints], dtype=np.int64),
            np.array([first + joint.child for joint in joints], dtype=np.int64),
            np.array([so3.rotate(joint.q_PJ, np.array([0.0, 0.0, 1.0])) for joint in joints]),
            np.array([joint.limit for joint in joints]),
            np.array([joint.viscous for joint in joints]),
            np.array([joint.coulomb for joint in joints]),
            np.array([joint.axes[0] if len(joint.axes) else np.zeros(3) for joint in joints]),
            np.array([joint.stiffness for joint in joints]),
            np.array([joint.rest for joint in joints]),
            np.array([joint.q_PJ for joint in joints], dtype=float),
            J,
            np.linalg.inv(J).astype(float),
            np.linalg.inv(np.array(carrying)).astype(float),
        )


_NONE = np.zeros(0)
_NO_ROWS = JointResistance(  # of joints that resist
    parents=_NONE.astype(np.int64),
    children=_NONE.astype(np.int64),
    rest=np.zeros((0, 3)),
    limit=_NONE,
    viscous=_NONE,
    coulomb=_NONE,
    axis=np.zeros((0, 3)),
    stiffness=_NONE,
    slack=_NONE,
    q_PJ=np.zeros((0, 4)),
    J=np.zeros((0, 3, 3)),
    J_inv=np.zeros((0, 3, 3)),
    parent_J_inv=np.zeros((0, 3, 3)),
)


def joint_resistance(assemblies: Sequence[Assembly]) -> JointResistance:
    """All joints of assemblies, in the engine's order, that resist; of none of them arrays without rows."""
    firsts = np.cumsum([0, *(len(each.bodies) for each in assemblies)]).tolist()
    made = [
        JointResistance.of(assembly, first)
        for assembly, first in zip(assemblies, firsts, strict=False)
        if any(joint.resists for joint in assembly.joints)
    ]
    columns = zip(_NO_ROWS, *made, strict=True)
    return JointResistance._make(np.concatenate(each) for each in columns)


def resisting_joints(assemblies: Sequence[Assembly]) -> list[Packed]:
    """A packed `JointResistance` of each assembly, in the engine's order, that has joints that resist."""
    firsts = np.cumsum([0, *(len(each.bodies) for each in assemblies)]).tolist()
    return [
        packed(JointResistance.of(assembly, first))
        for assembly, first in zip(assemblies, firsts, strict=False)
        if any(joint.resists for joint in assembly.joints)
    ]


@njit(cache=True)
def resist(x: Array, wrenches: Array, resisting: Packed, dt: float, status: Integers) -> None:
    """Add what joints resist with to the wrenches on their bodies, in the running worlds of a batch.

    Args:
        x: (B, bodies, 13) state rows.
        wrenches: (B, bodies, 6) all other wrenches on the bodies about their CoMs, world axes; added to.
        resisting: a packed `JointResistance`.
        dt: of the step for which the wrenches act [s].
        status: (B,) of the worlds.
    """
    for b in range(x.shape[0]):
        if status[b] == RUNNING:
            resist_world(x[b], wrenches[b], resisting[0], dt)


@njit(cache=True)
def resist_world(x: Array, wrenches: Array, joints: JointResistance, dt: float) -> None:
    """Add what joints resist with in one world; arguments as of `resist` without the batch."""
    for k in range(joints.parents.size):
        p, c = joints.parents[k], joints.children[k]
        torque = _resistance(x[p], x[c], vec(wrenches[c, 3:]), joints, k, dt)
        for i in range(3):
            wrenches[c, 3 + i] += torque[i]
            wrenches[p, 3 + i] -= torque[i]


@njit(cache=True)
def _resistance(
    parent: Array, child: Array, load: Vec, joints: JointResistance, k: int, dt: float
) -> Vec:
    """Torque (3,) of joint k on its child, world axes [N m]; `load` is what else turns the child."""
    q_p, q_c = quat(parent[3:7]), quat(child[3:7])
    w_B, load_B = unrotate(q_c, vec(child[10:13])), unrotate(q_c, load)
    gain_B = mul(joints.J_inv[k], sub(load_B, cross(w_B, mul(joints.J[k], w_B))))
    w = sub(vec(child[10:13]), vec(parent[10:13]))
    coming = add(
        w, scale(dt, rotate(q_c, gain_B))
    )  # relative velocity at the step's end without resistance
    axis = rotate(q_c, vec(joints.axis[k]))
    if dot(axis, axis) > 0.0:  # what the hinge holds does not come
        coming = scale(dot(axis, coming), axis)
    torque = (0.0, 0.0, 0.0)
    if joints.stiffness[k] > 0.0:
        q = hinge_angle(qmul(qconj(qmul(q_p, quat(joints.q_PJ[k]))), q_c), vec(joints.axis[k]))
        torque = scale(joints.stiffness[k] * (joints.slack[k] - q), axis)
        coming = add(coming, scale(dt * _mobility(axis, q_p, q_c, joints, k), torque))
    speed = norm(w)
    if joints.viscous[k] > 0.0 and speed > 0.0:
        n = scale(1.0 / speed, w)
        inertia = 1.0 / _mobility(n, q_p, q_c, joints, k)
        damping = scale(-min(joints.viscous[k], inertia / dt), w)
        torque = add(torque, damping)
        coming = add(coming, scale(dt / inertia, damping))
    speed = norm(coming)
    if joints.coulomb[k] > 0.0 and speed > 0.0:
        n = scale(1.0 / speed, coming)
        inertia = 1.0 / _mobility(n, q_p, q_c, joints, k)
        most = min(joints.coulomb[k], inertia * speed / dt)
        torque = add(torque, scale(-most, n))
        coming = add(coming, scale(-dt / inertia * most, n))
    return sub(torque, _stop_torque(coming, q_p, q_c, joints, k, dt))


@njit(cache=True)
def _stop_torque(
    coming: Vec, q_p: Quat, q_c: Quat, joints: JointResistance, k: int, dt: float
) -> Vec:
    """Torque [N m] by which a stop ends what is too much of a coming relative velocity [rad/s]; it is taken off."""
    z_rest, z = rotate(q_p, vec(joints.rest[k])), rotate(q_c, (0.0, 0.0, 1.0))
    normal = cross(z_rest, z)
    sine = norm(normal)
    if sine <= 1e-9:
        return (0.0, 0.0, 0.0)
    n = scale(1.0 / sine, normal)
    room = joints.limit[k] - math.atan2(sine, dot(z_rest, z))
    allowed = room / dt if room > 0.0 else RETURN_GAIN * room
    excess = dot(n, coming) - allowed
    if excess <= 0.0:
        return (0.0, 0.0, 0.0)
    return scale(excess / dt / _mobility(n, q_p, q_c, joints, k), n)


@njit(cache=True)
def hinge_angle(q_JC: Quat, axis: Vec) -> float:
    """Angle [rad] in [-pi, pi) of an attitude of the child in the joint's frame about a unit axis."""
    x, y, z, w = q_JC
    half = math.atan2(x * axis[0] + y * axis[1] + z * axis[2], w)
    return (2.0 * half + math.pi) % (2.0 * math.pi) - math.pi


@njit(cache=True)
def _mobility(n: Vec, q_p: Quat, q_c: Quat, joints: JointResistance, k: int) -> float:
    """Angular acceleration of the child against its parent about n per torque about it [1/(kg m^2)]."""
    n_p, n_c = unrotate(q_p, n), unrotate(q_c, n)
    return dot(n_c, mul(joints.J_inv[k], n_c)) + dot(n_p, mul(joints.parent_J_inv[k], n_p))

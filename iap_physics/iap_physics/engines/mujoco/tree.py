# SPDX-License-Identifier: BSD-3-Clause
"""States between the suite's rows and MuJoCo's coordinates.

A free body has its place, its attitude (w first) and the velocity of its place in world axes, and its angular
velocity in its own; a ball joint the attitude of the child in the parent against the one at rest, and the relative
angular velocity in the child's axes. A body with one hinge or two has their angles and rates, the first about an axis
of the parent, the second about one of the child.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.math.kernels import (
    add,
    cross,
    put,
    put4,
    qmul,
    qnormalize,
    quat,
    rotate,
    scale,
    sub,
    vec,
)
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_motion import free_axes, joint_angles, turn_about
from iap_physics.engines.engine import BOUND

FREE, BALL, WELDED, HINGED, CROSSED = range(5)  # how a body moves against its parent


class Tree(NamedTuple):
    """All bodies of all vehicles, parents before their children, in the order of the state rows.

    Attributes:
        kinds: (bodies,) `FREE`, `BALL`, `WELDED`, or `HINGED` about one axis, `CROSSED` about two.
        parents: (bodies,) state rows; -1 for a vehicle's first body.
        order: (bodies,) rows, parents before their children.
        q_at: (bodies,) first of their numbers in MuJoCo's qpos.
        v_at: (bodies,) in its qvel.
        p_PJ_P: (bodies, 3) joint in the parent [m].
        q_PJ: (bodies, 4) attitude in the parent at rest.
        p_CJ_C: (bodies, 3) joint in the body [m].
        axes: (bodies, 2, 3) of hinges, in the body at rest.
    """

    kinds: Integers
    parents: Integers
    order: Integers
    q_at: Integers
    v_at: Integers
    p_PJ_P: Array
    q_PJ: Array
    p_CJ_C: Array
    axes: Array

    @classmethod
    def of(cls, assemblies: Sequence[Assembly], model: Any, bodies: Sequence[int]) -> Self:  # noqa: ANN401
        """Of vehicles whose state rows are these bodies of MuJoCo's model."""
        count = len(bodies)
        kinds, parents = np.full(count, FREE), np.full(count, -1)
        p_PJ_P, q_PJ, p_CJ_C = np.zeros((count, 3)), np.zeros((count, 4)), np.zeros((count, 3))
        axes = np.zeros((count, 2, 3))
        first = 0
        for assembly in assemblies:
            for joint in assembly.joints:
                row = first + joint.child
                parents[row] = first + joint.parent
                is_ball, turns = joint.kind.turns_freely, len(joint.axes)
                kinds[row] = BALL if is_ball else (WELDED, HINGED, CROSSED)[turns]
                axes[row, :turns] = joint.axes
                p_PJ_P[row], q_PJ[row], p_CJ_C[row] = joint.p_PJ_P, joint.q_PJ, joint.p_CJ_C
            first += len(assembly.bodies)
        joints = model.body_jntadr[list(bodies)]
        return cls(
            kinds,
            parents,
            np.argsort(np.asarray(bodies), kind="stable"),
            np.where(joints < 0, 0, model.jnt_qposadr[joints]).astype(np.int64),
            np.where(joints < 0, 0, model.jnt_dofadr[joints]).astype(np.int64),
            p_PJ_P,
            q_PJ,
            p_CJ_C,
            axes,
        )

    def put(self, x: Array, qpos: Array, qvel: Array) -> None:
        """Write state rows (bodies, 13) that fit the joints to MuJoCo's coordinates."""
        for row in self.order:
            if self.kinds[row] == WELDED:
                continue
            q_at, v_at, body_row = self.q_at[row], self.v_at[row], x[row]
            to_body = so3.conjugate(body_row[Q])
            if self.kinds[row] == FREE:
                qpos[q_at : q_at + 3], qvel[v_at : v_at + 3] = body_row[P], body_row[V]
                q, w_B, q_at, v_at = (
                    body_row[Q],
                    so3.rotate(to_body, body_row[W]),
                    q_at + 3,
                    v_at + 3,
                )
            else:
                parent = x[self.parents[row]]
                rest = so3.multiply(parent[Q], self.q_PJ[row])
                q = so3.multiply(so3.conjugate(rest), body_row[Q])
                if self.kinds[row] != BALL:
                    axes = self.axes[row, : self.kinds[row] - WELDED]
                    angles = joint_angles(axes, q)
                    w_J = so3.rotate(so3.conjugate(rest), body_row[W] - parent[W])
                    qpos[q_at : q_at + len(axes)] = angles
                    qvel[v_at : v_at + len(axes)] = free_axes(axes, angles) @ w_J
                    continue
                w_B = so3.rotate(to_body, body_row[W] - parent[W])
            qpos[q_at : q_at + 4] = np.roll(q, 1)
            qvel[v_at : v_at + 3] = w_B


@njit(cache=True)
def read_states(tree: Tree, qpos: Array, qvel: Array, x: Array) -> int:
    """Take the state rows (bodies, 13) from MuJoCo's coordinates.

    Quaternions keep the sign of the rows `x` they replace, so that they are continuous in time.

    Returns:
        The first body whose row is not finite or is beyond `BOUND`, or -1.
    """
    for i in tree.order:
        body_row, at, v_at = x[i], tree.q_at[i], tree.v_at[i]
        if tree.kinds[i] == FREE:
            q = _attitude(qpos[at + 3 : at + 7])
            p, v = vec(qpos[at : at + 3]), vec(qvel[v_at : v_at + 3])
            w = rotate(q, vec(qvel[v_at + 3 : v_at + 6]))
        else:
            parent = x[tree.parents[i]]
            q_P, w = quat(parent[3:7]), vec(parent[10:13])
            arm = rotate(q_P, vec(tree.p_PJ_P[i]))
            q = qmul(q_P, quat(tree.q_PJ[i]))
            p = add(vec(parent[0:3]), arm)
            v = add(vec(parent[7:10]), cross(w, arm))
            if tree.kinds[i] == BALL:
                q = qmul(q, _attitude(qpos[at : at + 4]))
                w = add(w, rotate(q, vec(qvel[v_at : v_at + 3])))
            elif tree.kinds[i] != WELDED:
                for k in range(tree.kinds[i] - WELDED):
                    axis = vec(tree.axes[i, k])
                    w = add(w, scale(qvel[v_at + k], rotate(q, axis)))
                    q = qmul(q, turn_about(axis, qpos[at + k]))
            back = rotate(q, vec(tree.p_CJ_C[i]))
            p, v = sub(p, back), sub(v, cross(w, back))
        q = qnormalize(q)
        if q[0] * body_row[3] + q[1] * body_row[4] + q[2] * body_row[5] + q[3] * body_row[6] < 0.0:
            q = (-q[0], -q[1], -q[2], -q[3])
        put(body_row[0:3], p)
        put4(body_row[3:7], q)
        put(body_row[7:10], v)
        put(body_row[10:13], w)
    for i in range(x.shape[0]):
        for k in range(13):
            if not abs(x[i, k]) < BOUND:
                return i
    return -1


@njit(cache=True)
def _attitude(q: Array) -> tuple[float, float, float, float]:
    """A quaternion whose w comes first, as the suite has it."""
    return (q[1], q[2], q[3], q[0])

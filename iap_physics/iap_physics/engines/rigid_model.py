# SPDX-License-Identifier: BSD-3-Clause
"""Platforms in free flight, in one world and in many: steps of `rigid_motion` on their state rows, compiled."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput, IapError
from iap_description.math import so3
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    mat,
    put,
    put4,
    qmul,
    quat,
    scale,
    vec,
)
from iap_description.vehicles.assembly import Assembly, Body
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.joints import check_joint_types
from iap_physics.engines.rigid_motion import (
    Base,
    ForceMoments,
    RigidInertia,
    is_sound,
    on_arm,
    step_body,
    step_rigid,
)


class RigidModel(NamedTuple):
    """An assembly as the kernel needs it.

    Attributes:
        mass: total mass [kg].
        turns: (bodies,) whether the body turns on its own: body 0, and those on spherical joints.
        arms: (bodies, 3) each body's CoM from the common CoM, in P [m].
        q_PB: (bodies, 4) attitude in P of the bodies that do not turn.
        J: (bodies, 3, 3) inertia [kg m^2]; of body 0, the platform's about the common CoM.
        J_inv: (bodies, 3, 3) inverses.
    """

    mass: float
    turns: Booleans
    arms: Array
    q_PB: Array
    J: Array
    J_inv: Array

    @classmethod
    def of(cls, assembly: Assembly) -> Self:
        """The model of an assembly.

        Raises:
            BadInput: there is no closed form for a type of joint.
            IapError: a joint is not on the central body, for which there is no closed form.
        """
        check_joint_types(assembly, "closed_form", ("spherical", "fixed"))
        for i, joint in enumerate(assembly.joints):
            if joint.kind.turns_freely and joint.p_CJ_C.any():
                raise BadInput(
                    f"engine 'closed_form': key 'platform.joints.{i}.offset' of '{assembly.name}': there is a closed"
                    " form for joints at the aircraft's CoM only; use the pybullet engine"
                )
            if joint.parent != 0:
                reason = f"'{assembly.name}/{joint.name}' is not on the central body"
                raise IapError(f"the closed-form engine cannot fly this: {reason}")
        count = len(assembly.bodies)
        turns, q_PB = np.ones(count, bool), np.tile(so3.IDENTITY, (count, 1))
        for joint in assembly.joints:
            turns[joint.child] = joint.kind.turns_freely
            q_PB[joint.child] = joint.q_PJ
        J = np.stack([body.inertia for body in assembly.bodies])
        d = so3.hat(assembly.d_0)
        J[0] = assembly.inertia + assembly.mass * d @ d
        return cls(
            assembly.mass,
            turns,
            assembly.p_PB_P - assembly.d_0,
            q_PB,
            J,
            np.linalg.inv(J).astype(float),
        )

    @classmethod
    def of_body(cls, body: Body) -> Self:
        """The model of a body that flies on its own, see `of`."""
        J = body.inertia[None]
        J_inv = np.linalg.inv(J).astype(float, copy=False)
        return cls(body.mass, np.ones(1, bool), np.zeros((1, 3)), so3.IDENTITY[None], J, J_inv)


@njit(cache=True)
def _turn_aircraft(row: Array, wrench: Array, J: Array, J_inv: Array, dt: float) -> None:
    """Turn one body on a spherical joint; where it is follows from the platform."""
    w, torque = vec(row[10:13]), vec(wrench[3:6])
    q, w = step_body(quat(row[3:7]), w, torque, mat(J), mat(J_inv), dt)
    put4(row[3:7], q)
    put(row[10:13], w)


@njit(cache=True)
def _resultant(wrenches: Array, first: int, model: RigidModel) -> tuple[Vec, Vec, ForceMoments]:
    """Total force, torque on the rigid part, and the forces' moments."""
    zero = (0.0, 0.0, 0.0)
    force, torque, x, y, z = zero, zero, zero, zero, zero
    for i in range(len(model.turns)):
        f, r = vec(wrenches[first + i, :3]), vec(model.arms[i])
        force = add(force, f)
        if i == 0 or not model.turns[i]:
            torque = add(torque, vec(wrenches[first + i, 3:]))
        x, y, z = add(x, scale(f[0], r)), add(y, scale(f[1], r)), add(z, scale(f[2], r))
    return force, torque, ForceMoments(x, y, z)


@njit(cache=True)
def _place(x: Array, first: int, model: RigidModel, p_C: Vec, v_C: Vec, q: Quat, w: Vec) -> None:
    """Write the rows that follow from the platform's CoM and attitude."""
    for i in range(len(model.turns)):
        row = x[first + i]
        p, v = on_arm(p_C, v_C, q, w, vec(model.arms[i]))
        put(row[0:3], p)
        put(row[7:10], v)
        if i == 0:
            put4(row[3:7], q)
            put(row[10:13], w)
        elif not model.turns[i]:
            put4(row[3:7], qmul(q, quat(model.q_PB[i])))
            put(row[10:13], w)


@njit(cache=True)
def _is_row_sound(row: Array) -> bool:
    return is_sound(vec(row), quat(row[3:7]), vec(row[7:10]), vec(row[10:13]))


@njit(cache=True)
def step_platform(
    x: Array, wrenches: Array, first: int, model: RigidModel, gravity: float, dt: float
) -> bool:
    """Advance one platform in place.

    Args:
        x: (bodies, 13) the world's state rows.
        wrenches: (bodies, 6) wrenches about the bodies' CoM, world axes, gravity excluded.
        first: the platform's first row.
        model: the platform.
        gravity: [m/s^2], along -z.
        dt: [s].

    Returns:
        Whether the result is finite.
    """
    force, torque, moments = _resultant(wrenches, first, model)
    row = x[first]
    base = Base(vec(row[0:3]), quat(row[3:7]), vec(row[7:10]), vec(row[10:13]))
    arm, body = vec(model.arms[0]), RigidInertia(model.mass, mat(model.J[0]), mat(model.J_inv[0]))
    base, p_C, v_C = step_rigid(base, arm, force, torque, moments, body, gravity, dt)
    _place(x, first, model, p_C, v_C, base.q, base.w)
    sound = _is_row_sound(row)
    for i in range(1, len(model.turns)):
        if model.turns[i]:
            _turn_aircraft(x[first + i], wrenches[first + i], model.J[i], model.J_inv[i], dt)
            sound = sound and _is_row_sound(x[first + i])
    return sound


@njit(cache=True)
def step_batch(
    x: Array,
    wrenches: Array,
    first: int,
    model: RigidModel,
    gravity: float,
    dt: float,
    status: Integers,
) -> bool:
    """Advance the platform in the running worlds of a batch, (B, bodies, 13) and (B, bodies, 6).

    The arguments are those of `step_platform`, and `status` (B,), which is set of worlds whose
    result is not finite.

    Returns:
        Whether all results are finite.
    """
    are_finite = True
    for b in range(x.shape[0]):
        if status[b] != RUNNING:
            continue
        if not step_platform(x[b], wrenches[b], first, model, gravity, dt):
            status[b] = DIVERGED
            are_finite = False
    return are_finite

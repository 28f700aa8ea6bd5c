# SPDX-License-Identifier: BSD-3-Clause
"""State rows that fit the joints of an assembly, and a check of them."""

import math
from collections.abc import Container, Sequence

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import (
    add,
    all_finite,
    cross,
    norm,
    qconj,
    qlog,
    qmul,
    quat_at,
    rotate,
    scale,
    sub,
    vec_at,
)
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.vehicles.assembly import Assembly, Joint, JointTable
from iap_description.vehicles.joint_motion import fitted

UP = np.array([0.0, 0.0, 1.0])
TOLERANCE = 1e-6  # by which a start state may miss its joints [m, m/s, rad, rad/s]


def check_joint_types(
    assembly: Assembly, engine: str, known: Container[str], *, arms: bool = False
) -> None:
    """Refuse joints whose types are not among those that an engine of a name can build, and arms unless it can.

    Raises:
        BadInput: naming the joint, its type and the engine.
    """
    if assembly.arm is not None and not arms:
        raise BadInput(f"engine '{engine}': cannot build arms, as '{assembly.name}' has one")
    for joint in assembly.joints:
        if joint.type not in known:
            raise BadInput(
                f"engine '{engine}': cannot build joints of type '{joint.type}',"
                f" as '{assembly.name}/{joint.name}' is"
            )


def joined_rows(
    assembly: Assembly, base: Array, q_WB: Array | None = None, w_WB_W: Array | None = None
) -> Array:
    """State rows (..., bodies, 13) of an assembly whose joints hold.

    Args:
        assembly: bodies and joints.
        base: (..., 13) row of the central body.
        q_WB: (..., joints, 4) attitudes of the joined bodies; None leaves each as at rest relative
            to its parent. What its joint does not allow of them is left out.
        w_WB_W: (..., joints, 3) their angular velocities [rad/s]; None: that of their parent.
    """
    base = np.asarray(base, dtype=float)
    x = np.zeros((*base.shape[:-1], len(assembly.bodies), STATE_SIZE))
    x[..., 0, :] = base
    for i, joint in enumerate(assembly.joints):
        parent, child = x[..., joint.parent, :], x[..., joint.child, :]
        arm_W = so3.rotate(parent[..., Q], joint.p_PJ_P)
        wanted_q = None if q_WB is None else q_WB[..., i, :]
        wanted_w = None if w_WB_W is None else w_WB_W[..., i, :]
        child[..., Q], child[..., W] = fitted(joint, parent, wanted_q, wanted_w)
        to_com_W = so3.rotate(child[..., Q], -joint.p_CJ_C)
        child[..., P] = parent[..., P] + arm_W + to_com_W
        swing_W = np.cross(child[..., W], to_com_W)
        child[..., V] = parent[..., V] + np.cross(parent[..., W], arm_W) + swing_W
    return x


def at_rest(assemblies: Sequence[Assembly]) -> Array:
    """State rows (bodies, 13) of several assemblies, each at rest at the origin of the world."""
    base = np.zeros(STATE_SIZE)
    base[6] = 1.0
    return np.concatenate([joined_rows(assembly, base) for assembly in assemblies])


def body_names(assemblies: Sequence[Assembly]) -> list[str]:
    """``VEHICLE/BODY`` of every state row."""
    return [f"{a.name}/{body.name}" for a in assemblies for body in a.bodies]


def check_start(
    assemblies: Sequence[Assembly],
    x: Array,
    batch: int,
    by_world: Sequence[Sequence[Assembly] | None] = (),
) -> Array:
    """The start states as a new contiguous (batch, bodies, 13) array, checked.

    Args:
        assemblies: that all worlds hold, one after another in the rows.
        x: (batch, bodies, 13) the states.
        batch: number of worlds.
        by_world: of each world the assemblies that it holds in place of these, or None.

    Raises:
        BadInput: wrong shape, not finite, or a body that is off its joint.
    """
    x = np.array(x, dtype=float, order="C")
    shape = (batch, sum(len(a.bodies) for a in assemblies), STATE_SIZE)
    if x.shape != shape:
        raise BadInput(f"start state: expected shape {shape}, got {x.shape}")
    if batch == 0:
        return x
    if not all_finite(x):
        worst = body_names(assemblies)[int(np.argwhere(~np.isfinite(x))[0, 1])]
        raise BadInput(f"start state of '{worst}': not finite")
    if not _make_units(x, TOLERANCE):
        raise BadInput("start state: an attitude is not a unit quaternion")
    if not by_world:
        _check_vehicles(assemblies, x)
    for world, each in enumerate(by_world):
        _check_vehicles(each or assemblies, x[world : world + 1])
    return x


def _check_vehicles(assemblies: Sequence[Assembly], x: Array) -> None:
    """Refuse states (B, bodies, 13) of vehicles in which a joint is off or beyond its limit."""
    first = 0
    for assembly in assemblies:
        last = first + len(assembly.bodies)
        _check_joints(assembly, x[:, first:last])
        first = last


def tilt_of(joint: Joint, parent: Array, child: Array) -> Array:
    """Angle (...,) [rad] of a joint's child (..., 13) from where its z axis is at rest on the parent (..., 13)."""
    z_rest = so3.rotate(so3.multiply(parent[..., Q], joint.q_PJ), UP)
    z = so3.rotate(child[..., Q], UP)
    return np.arctan2(np.linalg.norm(np.cross(z_rest, z), axis=-1), (z_rest * z).sum(axis=-1))


@njit(cache=True)
def _make_units(x: Array, tolerance: float) -> bool:
    """Scale the attitudes of states (B, bodies, 13) to unit length, unless one is further from it than a tolerance.

    As `so3.normalized` does, by a division: `qnormalize` has other last bits.
    """
    for b in range(len(x)):
        for i in range(x.shape[1]):
            row = x[b, i]
            length = math.sqrt(row[3] ** 2 + row[4] ** 2 + row[5] ** 2 + row[6] ** 2)
            if abs(length - 1.0) > tolerance:
                return False
            for k in range(3, 7):
                row[k] /= length
    return True


@njit(cache=True)
def _holds(x: Array, joints: JointTable, tolerance: float) -> bool:
    """True if every joint of a vehicle holds in all worlds (B, bodies, 13), see `joined_rows`."""
    bodies, p_PJ_P, q_PJ, p_CJ_C, turns = joints
    for b in range(len(x)):
        for i in range(len(bodies)):
            parent, child = x[b, bodies[i, 0]], x[b, bodies[i, 1]]
            q, w = quat_at(parent, 3), vec_at(parent, 10)
            arm_W = rotate(q, vec_at(p_PJ_P[i], 0))
            to_com_W = rotate(quat_at(child, 3), scale(-1.0, vec_at(p_CJ_C[i], 0)))
            place = add(add(vec_at(parent, 0), arm_W), to_com_W)
            turning = add(cross(w, arm_W), cross(vec_at(child, 10), to_com_W))
            misses = norm(sub(place, vec_at(child, 0)))
            misses += norm(sub(add(vec_at(parent, 7), turning), vec_at(child, 7)))
            if not turns[i]:
                misses += norm(sub(w, vec_at(child, 10)))
                misses += norm(qlog(qmul(qconj(qmul(q, quat_at(q_PJ[i], 0))), quat_at(child, 3))))
            if not misses <= tolerance:
                return False
    return True


def _check_joints(assembly: Assembly, x: Array) -> None:
    """Refuse states (B, bodies, 13) of one vehicle in which a joint is off or beyond its limit; mostly none is."""
    if not any(math.isfinite(joint.limit) or len(joint.axes) for joint in assembly.joints):
        if _holds(x, assembly.joint_table, TOLERANCE):
            return
    children = [joint.child for joint in assembly.joints]
    fitting = joined_rows(assembly, x[:, 0], x[:, children][..., Q], x[:, children][..., W])
    for joint in assembly.joints:
        have, want = x[:, joint.child], fitting[:, joint.child]
        turn = so3.quaternion_log(so3.multiply(so3.conjugate(want[..., Q]), have[..., Q]))
        misses = {
            "m": np.abs(have[..., P] - want[..., P]).max(),
            "m/s": np.abs(have[..., V] - want[..., V]).max(),
            "rad": np.abs(turn).max(),
            "rad/s": np.abs(have[..., W] - want[..., W]).max(),
        }
        tilt = tilt_of(joint, x[:, joint.parent], have).max()
        if tilt > joint.limit + TOLERANCE:
            raise BadInput(
                f"start state of '{assembly.name}': '{joint.name}' at {np.rad2deg(tilt):.1f} deg,"
                f" beyond its limit_deg of {np.rad2deg(joint.limit):.4g}"
            )
        for unit, miss in misses.items():
            if miss > TOLERANCE:
                child = f"{assembly.name}/{assembly.bodies[joint.child].name}"
                raise BadInput(f"start state of '{child}': {miss:.3g} {unit} off '{joint.name}'")

# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of one aircraft's share of the platform's wrench: its thrust vector within its limits, and its attitude."""

import math
from typing import NamedTuple

from iap_control.allocation.allocation import TINY, limited_thrust
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Six,
    Vec,
    add,
    choose,
    cross,
    dot,
    formula,
    least,
    most,
    norm,
    qmul,
    rotate,
    scale,
    select3,
    select6,
    six,
    sub,
    unrotate,
    vec_of_row,
)
from iap_description.math.saturation import LEAST_FORCE, THRUST_TOLERANCE, share_within
from iap_description.vehicles.joint_motion import turn_about


class ThrustLimits(NamedTuple):
    """Limits of one aircraft, a row of `AllocationTables.limits`."""

    thrust_min: float
    thrust_max: float
    tan_tilt: float
    tan_travel: float


@formula
def limits_at(limits: Array, i: int) -> ThrustLimits:
    """Limits of aircraft i."""
    return ThrustLimits(limits[i, 0], limits[i, 1], limits[i, 2], limits[i, 3])


@formula
def force_within(kept: float, force_P: Vec, tilt_P: Vec, thrust_max: float) -> float:
    """Share of all aircraft's forces that is kept, given one more of them."""
    return least(kept, share_within(tilt_P, force_P, thrust_max, LEAST_FORCE))


@formula
def yaw_within(
    kept_yaw: float,
    kept: float,
    force_P: Vec,
    tilt_P: Vec,
    yaw_P: Vec,
    q_WP: Quat,
    is_free: bool,
    limits: ThrustLimits,
) -> float:
    """Share of all aircraft's yaw torques that is kept, given one more of them."""
    base = rotate(q_WP, add(scale(kept, force_P), tilt_P))
    yaw_W = rotate(q_WP, yaw_P)
    kept_yaw = least(kept_yaw, share_within(base, yaw_W, limits.thrust_max, 0.0))
    across, sideways = limits.tan_tilt * most(base[2], 0.0), (yaw_W[0], yaw_W[1], 0.0)
    share = share_within((base[0], base[1], 0.0), sideways, across, 0.0)
    return choose(is_free, least(kept_yaw, share), kept_yaw)


@formula
def requested_thrust(
    force_P: Vec, tilt_P: Vec, yaw_P: Vec, kept: float, kept_yaw: float, q_WP: Quat
) -> Vec:
    """Thrust vector [N], world axes, of what is kept of an aircraft's parts."""
    return rotate(q_WP, add(scale(kept, force_P), add(tilt_P, scale(kept_yaw, yaw_P))))


@formula
def fixed_thrust(requested: Vec, q_WB: Quat, limits: ThrustLimits) -> Vec:
    """Part of a thrust vector [N] that an aircraft makes at an attitude that it cannot choose."""
    up = rotate(q_WB, (0.0, 0.0, 1.0))
    return scale(least(most(dot(requested, up), limits.thrust_min), limits.thrust_max), up)


@formula
def within_travel(f_W: Vec, f_P: Vec, across: float, q_WP: Quat, tan_travel: float) -> Vec:
    """A thrust vector that its joint lets the aircraft point at; what is along the platform's z axis is kept.

    Args:
        f_W: in world axes [N].
        f_P: in P's.
        across: its length across the platform's z axis [N].
        q_WP: the platform's attitude.
        tan_travel: tangent of the largest tilt against the platform, infinite without a stop.
    """
    largest = tan_travel * most(f_P[2], 0.0)
    s = largest / most(across, TINY)
    turned = rotate(q_WP, (s * f_P[0], s * f_P[1], f_P[2]))
    return select3((tan_travel < math.inf) & (across > largest), turned, f_W)


@formula
def shortage(force_P: Vec, tilt_P: Vec, yaw_P: Vec, f_W: Vec, q_WP: Quat, arm_P: Vec) -> Six:
    """Wrench of the platform that an aircraft's thrust, with its lever, falls short of."""
    request_P = add(force_P, add(tilt_P, yaw_P))
    lack_P = sub(request_P, unrotate(q_WP, f_W))
    is_short, none = norm(lack_P) > THRUST_TOLERANCE, (0.0, 0.0, 0.0)
    return select6(is_short, six(lack_P, cross(arm_P, lack_P)), six(none, none))


@formula
def is_commanded(q_WB: Quat) -> bool:
    """Check that there has been an attitude command."""
    return (q_WB[0] != 0.0) | (q_WB[1] != 0.0) | (q_WB[2] != 0.0) | (q_WB[3] != 0.0)


@formula
def filtered_rate(last: Quat, turn: Vec, w_B: Vec, share: float, dt: float) -> Vec:
    """Filtered body rate [rad/s] of attitude commands that turn so far [rad] since the last one, if there is one."""
    after = add(w_B, scale(share, sub(scale(1.0 / dt, turn), w_B)))
    return select3(is_commanded(last), after, w_B)


@formula
def free_thrust(requested: Vec, q_WP: Quat, limits: ThrustLimits) -> Vec:
    """Part of a thrust vector [N] that an aircraft makes which turns freely."""
    f_W = limited_thrust(requested, limits.thrust_min, limits.thrust_max, limits.tan_tilt)
    f_P = unrotate(q_WP, f_W)
    return within_travel(f_W, f_P, math.hypot(f_P[0], f_P[1]), q_WP, limits.tan_travel)


@formula
def side_of(axes: Array) -> Vec:
    """Direction to which a hinge turns its aircraft's thrust, which is along (0, 0, 1) at rest."""
    return cross(vec_of_row(axes, 0), (0.0, 0.0, 1.0))


@formula
def hinge_yaw_within(
    kept_yaw: float,
    kept: float,
    force_P: Vec,
    tilt_P: Vec,
    yaw_P: Vec,
    up_P: Vec,
    side_P: Vec,
    limits: ThrustLimits,
) -> float:
    """`yaw_within` of an aircraft on a hinge, whose thrust at rest is along `up_P` and turns towards `side_P`."""
    base = add(scale(kept, force_P), tilt_P)
    kept_yaw = least(kept_yaw, share_within(base, yaw_P, limits.thrust_max, 0.0))
    across = limits.tan_travel * most(dot(base, up_P), 0.0)
    sides = ((dot(base, side_P), 0.0, 0.0), (dot(yaw_P, side_P), 0.0, 0.0))
    return least(kept_yaw, share_within(*sides, across, 0.0))


@formula
def hinged_thrust(
    requested: Vec, rest: Quat, axes: Array, limits: ThrustLimits
) -> tuple[Vec, Quat]:
    """Part of a thrust vector [N] that an aircraft on a hinge makes, and its attitude; `rest` is the one at rest."""
    f_J, side = unrotate(rest, requested), side_of(axes)
    up = least(most(f_J[2], limits.thrust_min), limits.thrust_max)
    room = math.sqrt(most(limits.thrust_max * limits.thrust_max - up * up, 0.0))
    allowed = least(up * limits.tan_travel, room)
    across = least(most(dot(f_J, side), -allowed), allowed)
    f_W = rotate(rest, add(scale(across, side), (0.0, 0.0, up)))
    return f_W, qmul(rest, turn_about(vec_of_row(axes, 0), math.atan2(across, up)))


@formula
def crossed_attitude(f_J: Vec, axes: Array) -> Quat:
    """Attitude against that at rest in which a universal joint lets its aircraft thrust along a vector."""
    first, second = vec_of_row(axes, 0), vec_of_row(axes, 1)
    along = dot(f_J, first)
    across = math.sqrt(most(dot(f_J, f_J) - along * along, 0.0))
    turned = turn_about(first, math.atan2(-dot(f_J, second), most(f_J[2], 0.0)))
    return qmul(turned, turn_about(second, math.atan2(along, across)))

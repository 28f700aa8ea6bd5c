# SPDX-License-Identifier: BSD-3-Clause
"""Allocation of a block's wrenches to aircraft or rotors, loop by loop; the formulas are those of `Allocator`."""

import math

from iap_control.allocation.allocation import attitude_along, thrust_within
from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.thrust_vectors import (
    ThrustLimits,
    filtered_rate,
    fixed_thrust,
    force_within,
    limits_at,
    requested_thrust,
    shortage,
    within_travel,
    yaw_within,
)
from iap_control.batch.layout import (
    AIRCRAFT,
    AIRCRAFT_COMMAND,
    PLATFORM,
    PLATFORM_ROW,
    aircraft_row,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add6,
    choose,
    dot6,
    formula,
    half_turn,
    norm,
    qconj,
    qmul,
    quat_of_row,
    rotation_vector,
    six_of_row,
    sub,
    sub6,
    unrotate,
    vec_of_row,
)
from iap_description.math.lanes import (
    Index,
    Lanes,
    get,
    get3,
    get4,
    get6,
    set1,
    set3,
    set4,
    set6,
)
from iap_description.math.saturation import THRUST_TOLERANCE, without_rounding


@formula
def share_out_to_aircraft(
    block: Array, first: int, tables: AllocationTables, dt: float, lanes: Lanes
) -> None:
    """Thrust, attitude and filtered body rate of every aircraft, see `allocate_to_aircraft`."""
    parts, limits, is_free, q_PB, arms, _, _ = tables
    for lane in range(lanes[0], lanes[1]):
        set1(block, PLATFORM_ROW, PLATFORM.kept, lane, 1.0)
        set1(block, PLATFORM_ROW, PLATFORM.kept_yaw, lane, 1.0)
    for n in range(len(limits)):
        a = aircraft_row(first, n)
        _split(block, a, AIRCRAFT.force_part, parts[0], n, lanes)
        _split(block, a, AIRCRAFT.tilt_part, parts[1], n, lanes)
        _split(block, a, AIRCRAFT.yaw_part, parts[2], n, lanes)
        _keep_force(block, a, limits[n, 1], lanes)
    for n in range(len(limits)):
        _keep_yaw(block, aircraft_row(first, n), is_free[n], limits_at(limits, n), lanes)
    _begin(block, lanes)
    for n in range(len(limits)):
        a, aircraft = aircraft_row(first, n), limits_at(limits, n)
        if aircraft.thrust_max == 0.0:  # lost: no thrust, and its last attitude command
            _drop(block, a, lanes)
            continue
        _sum_parts(block, a, lanes)
        if is_free[n]:
            _point(block, a, aircraft, lanes)
        else:
            _follow(block, a, quat_of_row(q_PB, n), aircraft, lanes)
        _turn(block, a, lanes)
        _command(block, a, vec_of_row(arms, n), dt, lanes)
    _end(block, lanes)


@formula
def _split(block: Array, a: Index, k: int, part: Array, n: int, lanes: Lanes) -> None:
    """An aircraft's thrust vector of a part of the wrench."""
    x, y, z = six_of_row(part, 3 * n), six_of_row(part, 3 * n + 1), six_of_row(part, 3 * n + 2)
    for lane in range(lanes[0], lanes[1]):
        U = get6(block, PLATFORM_ROW, PLATFORM.wrench, lane)
        set3(block, a, k, lane, (dot6(x, U), dot6(y, U), dot6(z, U)))


@formula
def parts_of(block: Array, a: Index, lane: Index) -> tuple[Vec, Vec, Vec]:
    """An aircraft's thrust vectors of force, tilt and yaw of the wrench."""
    force, tilt = (
        get3(block, a, AIRCRAFT.force_part, lane),
        get3(block, a, AIRCRAFT.tilt_part, lane),
    )
    return force, tilt, get3(block, a, AIRCRAFT.yaw_part, lane)


@formula
def _keep_force(block: Array, a: Index, thrust_max: float, lanes: Lanes) -> None:
    """Give up what of the forces one aircraft cannot bear."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, _ = parts_of(block, a, lane)
        kept = get(block, PLATFORM_ROW, PLATFORM.kept, lane)
        kept = force_within(kept, force_P, tilt_P, thrust_max)
        set1(block, PLATFORM_ROW, PLATFORM.kept, lane, kept)


@formula
def _keep_yaw(block: Array, a: Index, is_free: bool, limits: ThrustLimits, lanes: Lanes) -> None:
    """Give up what of the yaw torques one aircraft cannot bear."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, yaw_P = parts_of(block, a, lane)
        kept_yaw = yaw_within(
            get(block, PLATFORM_ROW, PLATFORM.kept_yaw, lane),
            get(block, PLATFORM_ROW, PLATFORM.kept, lane),
            force_P,
            tilt_P,
            yaw_P,
            get4(block, PLATFORM_ROW, PLATFORM.q, lane),
            is_free,
            limits,
        )
        set1(block, PLATFORM_ROW, PLATFORM.kept_yaw, lane, kept_yaw)


@formula
def _begin(block: Array, lanes: Lanes) -> None:
    """Clear what is short of the wrench, and note whether parts of it are given up."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            set1(block, PLATFORM_ROW, PLATFORM.short + k, lane, 0.0)
    for lane in range(lanes[0], lanes[1]):
        kept = get(block, PLATFORM_ROW, PLATFORM.kept, lane)
        is_less = (kept < 1.0) | (get(block, PLATFORM_ROW, PLATFORM.kept_yaw, lane) < 1.0)
        set1(block, PLATFORM_ROW, PLATFORM.is_saturated, lane, choose(is_less, 1.0, 0.0))


@formula
def _drop(block: Array, a: Index, lanes: Lanes) -> None:
    """A lost aircraft's command."""
    for lane in range(lanes[0], lanes[1]):
        set1(block, a, AIRCRAFT_COMMAND.thrust, lane, 0.0)
        set3(block, a, AIRCRAFT_COMMAND.w_WB_B, lane, (0.0, 0.0, 0.0))


@formula
def _sum_parts(block: Array, a: Index, lanes: Lanes) -> None:
    """One aircraft's thrust vector before its limits."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, yaw_P = parts_of(block, a, lane)
        kept = get(block, PLATFORM_ROW, PLATFORM.kept, lane)
        kept_yaw = get(block, PLATFORM_ROW, PLATFORM.kept_yaw, lane)
        q_WP = get4(block, PLATFORM_ROW, PLATFORM.q, lane)
        desired = requested_thrust(force_P, tilt_P, yaw_P, kept, kept_yaw, q_WP)
        set3(block, a, AIRCRAFT.desired_W, lane, desired)


@formula
def _point(block: Array, a: Index, limits: ThrustLimits, lanes: Lanes) -> None:
    """Thrust vector and attitude of an aircraft that turns freely."""
    for lane in range(lanes[0], lanes[1]):
        desired, heading = (
            get3(block, a, AIRCRAFT.desired_W, lane),
            get(block, a, AIRCRAFT.heading, lane),
        )
        set1(block, a, AIRCRAFT.across, lane, math.hypot(desired[0], desired[1]))
        set1(block, a, AIRCRAFT.sine, lane, math.sin(heading))
        set1(block, a, AIRCRAFT.cosine, lane, math.cos(heading))
    for lane in range(lanes[0], lanes[1]):
        desired, across = (
            get3(block, a, AIRCRAFT.desired_W, lane),
            get(block, a, AIRCRAFT.across, lane),
        )
        f_W = thrust_within(desired, across, limits.thrust_min, limits.thrust_max, limits.tan_tilt)
        set3(block, a, AIRCRAFT.thrust_W, lane, f_W)
    if limits.tan_travel < math.inf:
        _stop(block, a, limits.tan_travel, lanes)
    for lane in range(lanes[0], lanes[1]):
        f_W, s = get3(block, a, AIRCRAFT.thrust_W, lane), get(block, a, AIRCRAFT.sine, lane)
        along = get(block, a, AIRCRAFT.cosine, lane) * f_W[0] + s * f_W[1]
        set1(block, a, AIRCRAFT.across, lane, math.hypot(along, f_W[2]))
    for lane in range(lanes[0], lanes[1]):
        c, s = get(block, a, AIRCRAFT.cosine, lane), get(block, a, AIRCRAFT.sine, lane)
        f_W, xz = get3(block, a, AIRCRAFT.thrust_W, lane), get(block, a, AIRCRAFT.across, lane)
        set4(block, a, AIRCRAFT.next_q, lane, attitude_along(f_W, c, s, xz))


@formula
def _stop(block: Array, a: Index, tan_travel: float, lanes: Lanes) -> None:
    """Keep an aircraft's thrust vector off its joint's stop."""
    for lane in range(lanes[0], lanes[1]):
        f_W, q_WP = (
            get3(block, a, AIRCRAFT.thrust_W, lane),
            get4(block, PLATFORM_ROW, PLATFORM.q, lane),
        )
        f_P = unrotate(q_WP, f_W)
        across = math.hypot(f_P[0], f_P[1])
        within = within_travel(f_W, f_P, across, q_WP, tan_travel)
        set3(block, a, AIRCRAFT.thrust_W, lane, within)


@formula
def _follow(block: Array, a: Index, q_PB: Quat, limits: ThrustLimits, lanes: Lanes) -> None:
    """Thrust vector of an aircraft on a fixed joint, and the attitude that it has."""
    for lane in range(lanes[0], lanes[1]):
        desired = get3(block, a, AIRCRAFT.desired_W, lane)
        q_WB = qmul(get4(block, PLATFORM_ROW, PLATFORM.q, lane), q_PB)
        set3(block, a, AIRCRAFT.thrust_W, lane, fixed_thrust(desired, q_WB, limits))
        set4(block, a, AIRCRAFT.next_q, lane, q_WB)


@formula
def turn_since(block: Array, a: Index, lane: Index) -> Quat:
    """The turn from an aircraft's last attitude command to the present one."""
    last = get4(block, a, AIRCRAFT_COMMAND.q_WB, lane)
    return qmul(qconj(last), get4(block, a, AIRCRAFT.next_q, lane))


@formula
def _turn(block: Array, a: Index, lanes: Lanes) -> None:
    """Half the angle that an attitude command turns by."""
    for lane in range(lanes[0], lanes[1]):
        sine, cosine = half_turn(turn_since(block, a, lane))
        set1(block, a, AIRCRAFT.half_turn, lane, sine)
        set1(block, a, AIRCRAFT.half_turn + 1, lane, cosine)
    for lane in range(lanes[0], lanes[1]):
        sine, cosine = (
            get(block, a, AIRCRAFT.half_turn, lane),
            get(block, a, AIRCRAFT.half_turn + 1, lane),
        )
        set1(block, a, AIRCRAFT.half_turn, lane, math.atan2(sine, cosine))


@formula
def _command(block: Array, a: Index, arm: Vec, dt: float, lanes: Lanes) -> None:
    """One aircraft's command, and what it makes too little of the platform's wrench."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, yaw_P = parts_of(block, a, lane)
        f_W, q_WP = (
            get3(block, a, AIRCRAFT.thrust_W, lane),
            get4(block, PLATFORM_ROW, PLATFORM.q, lane),
        )
        lack = shortage(force_P, tilt_P, yaw_P, f_W, q_WP, arm)
        short = add6(get6(block, PLATFORM_ROW, PLATFORM.short, lane), lack)
        differs = norm(sub(f_W, get3(block, a, AIRCRAFT.desired_W, lane))) > THRUST_TOLERANCE
        saturated = (get(block, PLATFORM_ROW, PLATFORM.is_saturated, lane) > 0.0) | differs
        half_angle = get(block, a, AIRCRAFT.half_turn, lane)
        turn = rotation_vector(turn_since(block, a, lane), half_angle)
        last, w_B = (
            get4(block, a, AIRCRAFT_COMMAND.q_WB, lane),
            get3(block, a, AIRCRAFT_COMMAND.w_WB_B, lane),
        )
        share = get(block, PLATFORM_ROW, PLATFORM.rate_share, lane)
        rate, q_WB = (
            filtered_rate(last, turn, w_B, share, dt),
            get4(block, a, AIRCRAFT.next_q, lane),
        )
        set1(block, PLATFORM_ROW, PLATFORM.is_saturated, lane, choose(saturated, 1.0, 0.0))
        set6(block, PLATFORM_ROW, PLATFORM.short, lane, short)
        set1(block, a, AIRCRAFT_COMMAND.thrust, lane, norm(f_W))
        set3(block, a, AIRCRAFT_COMMAND.w_WB_B, lane, rate)
        set4(block, a, AIRCRAFT_COMMAND.q_WB, lane, q_WB)


@formula
def _end(block: Array, lanes: Lanes) -> None:
    """Clear rounding, and let observers know what is made of the wrench."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            lack = get(block, PLATFORM_ROW, PLATFORM.short + k, lane)
            set1(block, PLATFORM_ROW, PLATFORM.short + k, lane, without_rounding(lack))
    for lane in range(lanes[0], lanes[1]):
        U, short = (
            get6(block, PLATFORM_ROW, PLATFORM.wrench, lane),
            get6(block, PLATFORM_ROW, PLATFORM.short, lane),
        )
        is_observed = get(block, PLATFORM_ROW, PLATFORM.is_observed, lane)
        set6(block, PLATFORM_ROW, PLATFORM.made, lane, sub6(U, short))
        set1(block, PLATFORM_ROW, PLATFORM.is_made_known, lane, is_observed)

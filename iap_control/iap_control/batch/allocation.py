# SPDX-License-Identifier: BSD-3-Clause
"""Allocation of a block's wrenches to aircraft or rotors, loop by loop; the formulas are those of `Allocator`."""

import math

from iap_control.allocation.allocation import attitude_along, thrust_within
from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.thrust_vectors import (
    AircraftLimits,
    filtered_rate,
    fixed_thrust,
    force_within,
    limits_at,
    requested_thrust,
    shortage,
    within_travel,
    yaw_within,
)
from iap_control.allocation.vectored_allocation import rotor_speed
from iap_control.batch import layout
from iap_control.batch.layout import PLATFORM, aircraft_row, rotor_row
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Six,
    Vec,
    add6,
    choose,
    chosen6,
    dot6,
    formula,
    half_turn,
    norm,
    qconj,
    qmul,
    quat_at,
    quat_of_row,
    rotation_vector,
    six_of_row,
    sub,
    sub6,
    unrotate,
    vec_of_row,
)
from iap_description.math.lanes import (
    LANES,
    Index,
    Lanes,
    get,
    get3,
    get4,
    get6,
    row_at,
    set1,
    set3,
    set4,
    set6,
)
from iap_description.math.saturation import THRUST_TOLERANCE, share_out, without_rounding


@formula
def share_out_to_aircraft(
    block: Array, first: int, tables: AllocationTables, dt: float, lanes: Lanes
) -> None:
    """Thrust, attitude and filtered body rate of every aircraft, see `allocate_to_aircraft`."""
    parts, limits, is_free, q_PB, arms, _, _ = tables
    for lane in range(lanes[0], lanes[1]):
        set1(block, PLATFORM, layout.KEPT, lane, 1.0)
        set1(block, PLATFORM, layout.KEPT_YAW, lane, 1.0)
    for n in range(len(limits)):
        a = aircraft_row(first, n)
        _split(block, a, layout.FORCE_PART, parts[0], n, lanes)
        _split(block, a, layout.TILT_PART, parts[1], n, lanes)
        _split(block, a, layout.YAW_PART, parts[2], n, lanes)
        _keep_force(block, a, limits[n, 1], lanes)
    for n in range(len(limits)):
        _keep_yaw(block, aircraft_row(first, n), is_free[n], limits_at(limits, n), lanes)
    _begin(block, lanes)
    for n in range(len(limits)):
        a, own = aircraft_row(first, n), limits_at(limits, n)
        if own.thrust_max == 0.0:  # it is lost: no thrust, and the attitude that it was told last
            _drop(block, a, lanes)
            continue
        _want(block, a, lanes)
        if is_free[n]:
            _point(block, a, own, lanes)
        else:
            _follow(block, a, quat_of_row(q_PB, n), own, lanes)
        _turn(block, a, lanes)
        _command(block, a, vec_of_row(arms, n), dt, lanes)
    _end(block, lanes)


@formula
def _split(block: Array, a: Index, k: int, part: Array, n: int, lanes: Lanes) -> None:
    """An aircraft's thrust vector of a part of the wrench."""
    x, y, z = six_of_row(part, 3 * n), six_of_row(part, 3 * n + 1), six_of_row(part, 3 * n + 2)
    for lane in range(lanes[0], lanes[1]):
        U = get6(block, PLATFORM, layout.WRENCH, lane)
        set3(block, a, k, lane, (dot6(x, U), dot6(y, U), dot6(z, U)))


@formula
def parts_of(block: Array, a: Index, lane: Index) -> tuple[Vec, Vec, Vec]:
    """An aircraft's thrust vectors of force, tilt and yaw of the wrench."""
    force, tilt = get3(block, a, layout.FORCE_PART, lane), get3(block, a, layout.TILT_PART, lane)
    return force, tilt, get3(block, a, layout.YAW_PART, lane)


@formula
def _keep_force(block: Array, a: Index, thrust_max: float, lanes: Lanes) -> None:
    """Give up what of the forces one aircraft cannot bear."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, _ = parts_of(block, a, lane)
        kept = get(block, PLATFORM, layout.KEPT, lane)
        kept = force_within(kept, force_P, tilt_P, thrust_max)
        set1(block, PLATFORM, layout.KEPT, lane, kept)


@formula
def _keep_yaw(block: Array, a: Index, is_free: bool, limits: AircraftLimits, lanes: Lanes) -> None:
    """Give up what of the yaw torques one aircraft cannot bear."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, yaw_P = parts_of(block, a, lane)
        kept_yaw = yaw_within(
            get(block, PLATFORM, layout.KEPT_YAW, lane),
            get(block, PLATFORM, layout.KEPT, lane),
            force_P,
            tilt_P,
            yaw_P,
            get4(block, PLATFORM, layout.Q, lane),
            is_free,
            limits,
        )
        set1(block, PLATFORM, layout.KEPT_YAW, lane, kept_yaw)


@formula
def _begin(block: Array, lanes: Lanes) -> None:
    """Nothing is short yet."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            set1(block, PLATFORM, layout.SHORT + k, lane, 0.0)
    for lane in range(lanes[0], lanes[1]):
        kept = get(block, PLATFORM, layout.KEPT, lane)
        is_less = (kept < 1.0) | (get(block, PLATFORM, layout.KEPT_YAW, lane) < 1.0)
        set1(block, PLATFORM, layout.SATURATED, lane, choose(is_less, 1.0, 0.0))


@formula
def _drop(block: Array, a: Index, lanes: Lanes) -> None:
    """A lost aircraft's command."""
    for lane in range(lanes[0], lanes[1]):
        set1(block, a, layout.THRUST, lane, 0.0)
        set3(block, a, layout.COMMAND_W, lane, (0.0, 0.0, 0.0))


@formula
def _want(block: Array, a: Index, lanes: Lanes) -> None:
    """One aircraft's thrust vector before its limits."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, yaw_P = parts_of(block, a, lane)
        kept = get(block, PLATFORM, layout.KEPT, lane)
        kept_yaw = get(block, PLATFORM, layout.KEPT_YAW, lane)
        q_WP = get4(block, PLATFORM, layout.Q, lane)
        wanted = requested_thrust(force_P, tilt_P, yaw_P, kept, kept_yaw, q_WP)
        set3(block, a, layout.WANTED, lane, wanted)


@formula
def _point(block: Array, a: Index, limits: AircraftLimits, lanes: Lanes) -> None:
    """Thrust vector and attitude of an aircraft that turns freely."""
    for lane in range(lanes[0], lanes[1]):
        wanted, heading = (
            get3(block, a, layout.WANTED, lane),
            get(block, a, layout.HEADING, lane),
        )
        set1(block, a, layout.ACROSS, lane, math.hypot(wanted[0], wanted[1]))
        set1(block, a, layout.SINE, lane, math.sin(heading))
        set1(block, a, layout.COSINE, lane, math.cos(heading))
    for lane in range(lanes[0], lanes[1]):
        wanted, across = get3(block, a, layout.WANTED, lane), get(block, a, layout.ACROSS, lane)
        f_W = thrust_within(wanted, across, limits.thrust_min, limits.thrust_max, limits.tan_tilt)
        set3(block, a, layout.THRUST_W, lane, f_W)
    if limits.tan_travel < math.inf:
        _stop(block, a, limits.tan_travel, lanes)
    for lane in range(lanes[0], lanes[1]):
        f_W, s = get3(block, a, layout.THRUST_W, lane), get(block, a, layout.SINE, lane)
        along = get(block, a, layout.COSINE, lane) * f_W[0] + s * f_W[1]
        set1(block, a, layout.ACROSS, lane, math.hypot(along, f_W[2]))
    for lane in range(lanes[0], lanes[1]):
        c, s = get(block, a, layout.COSINE, lane), get(block, a, layout.SINE, lane)
        f_W, xz = get3(block, a, layout.THRUST_W, lane), get(block, a, layout.ACROSS, lane)
        set4(block, a, layout.NEXT_Q, lane, attitude_along(f_W, c, s, xz))


@formula
def _stop(block: Array, a: Index, tan_travel: float, lanes: Lanes) -> None:
    """Keep an aircraft's thrust vector off its joint's stop."""
    for lane in range(lanes[0], lanes[1]):
        f_W, q_WP = (
            get3(block, a, layout.THRUST_W, lane),
            get4(block, PLATFORM, layout.Q, lane),
        )
        f_P = unrotate(q_WP, f_W)
        across = math.hypot(f_P[0], f_P[1])
        within = within_travel(f_W, f_P, across, q_WP, tan_travel)
        set3(block, a, layout.THRUST_W, lane, within)


@formula
def _follow(block: Array, a: Index, q_PB: Quat, limits: AircraftLimits, lanes: Lanes) -> None:
    """Thrust vector of an aircraft on a fixed joint, and the attitude that it has."""
    for lane in range(lanes[0], lanes[1]):
        wanted = get3(block, a, layout.WANTED, lane)
        q_WB = qmul(get4(block, PLATFORM, layout.Q, lane), q_PB)
        set3(block, a, layout.THRUST_W, lane, fixed_thrust(wanted, q_WB, limits))
        set4(block, a, layout.NEXT_Q, lane, q_WB)


@formula
def turn_since(block: Array, a: Index, lane: Index) -> Quat:
    """The turn from an aircraft's last attitude command to the present one."""
    last = get4(block, a, layout.COMMAND_Q, lane)
    return qmul(qconj(last), get4(block, a, layout.NEXT_Q, lane))


@formula
def _turn(block: Array, a: Index, lanes: Lanes) -> None:
    """Half the angle that an attitude command turns by."""
    for lane in range(lanes[0], lanes[1]):
        sine, cosine = half_turn(turn_since(block, a, lane))
        set1(block, a, layout.HALF_TURN, lane, sine)
        set1(block, a, layout.HALF_TURN + 1, lane, cosine)
    for lane in range(lanes[0], lanes[1]):
        sine, cosine = (
            get(block, a, layout.HALF_TURN, lane),
            get(block, a, layout.HALF_TURN + 1, lane),
        )
        set1(block, a, layout.HALF_TURN, lane, math.atan2(sine, cosine))


@formula
def _command(block: Array, a: Index, arm: Vec, dt: float, lanes: Lanes) -> None:
    """One aircraft's command, and what it makes too little of the platform's wrench."""
    for lane in range(lanes[0], lanes[1]):
        force_P, tilt_P, yaw_P = parts_of(block, a, lane)
        f_W, q_WP = get3(block, a, layout.THRUST_W, lane), get4(block, PLATFORM, layout.Q, lane)
        lack = shortage(force_P, tilt_P, yaw_P, f_W, q_WP, arm)
        short = add6(get6(block, PLATFORM, layout.SHORT, lane), lack)
        differs = norm(sub(f_W, get3(block, a, layout.WANTED, lane))) > THRUST_TOLERANCE
        saturated = (get(block, PLATFORM, layout.SATURATED, lane) > 0.0) | differs
        half_angle = get(block, a, layout.HALF_TURN, lane)
        turn = rotation_vector(turn_since(block, a, lane), half_angle)
        last, w_B = get4(block, a, layout.COMMAND_Q, lane), get3(block, a, layout.COMMAND_W, lane)
        share = get(block, PLATFORM, layout.RATE_SHARE, lane)
        rate, q_WB = (
            filtered_rate(last, turn, w_B, share, dt),
            get4(block, a, layout.NEXT_Q, lane),
        )
        set1(block, PLATFORM, layout.SATURATED, lane, choose(saturated, 1.0, 0.0))
        set6(block, PLATFORM, layout.SHORT, lane, short)
        set1(block, a, layout.THRUST, lane, norm(f_W))
        set3(block, a, layout.COMMAND_W, lane, rate)
        set4(block, a, layout.COMMAND_Q, lane, q_WB)


@formula
def _end(block: Array, lanes: Lanes) -> None:
    """Clear rounding, and let observers know what is made of the wrench."""
    for k in range(6):
        for lane in range(lanes[0], lanes[1]):
            lack = get(block, PLATFORM, layout.SHORT + k, lane)
            set1(block, PLATFORM, layout.SHORT + k, lane, without_rounding(lack))
    for lane in range(lanes[0], lanes[1]):
        U, short = (
            get6(block, PLATFORM, layout.WRENCH, lane),
            get6(block, PLATFORM, layout.SHORT, lane),
        )
        is_observed = get(block, PLATFORM, layout.IS_OBSERVED, lane)
        set6(block, PLATFORM, layout.MADE, lane, sub6(U, short))
        set1(block, PLATFORM, layout.IS_MADE_KNOWN, lane, is_observed)


@formula
def share_out_to_rotors(block: Array, first: int, tables: AllocationTables, lanes: Lanes) -> None:
    """Rotor speeds and their thrusts' sums, see `iap_control.allocation.rotor_allocation.allocate_to_rotors`."""
    parts, _, _, _, _, (lowest, highest, coefficients), _ = tables
    count = len(coefficients) // 4
    for section in range(3):
        for r in range(4 * count):
            row = rotor_row(first, count, section, r)
            _lift(block, row, six_of_row(parts[section], r), lanes)
    for lane in range(lanes[0], lanes[1]):
        lifts = row_at(rotor_row(first, count, layout.LIFTS, 0), lane)
        size = 4 * count * LANES
        tilts, yaws, out = lifts + size, lifts + 2 * size, lifts + 3 * size
        saturated = share_out(
            block[lifts : lifts + size : LANES],
            block[tilts : tilts + size : LANES],
            block[yaws : yaws + size : LANES],
            lowest,
            highest,
            block[out : out + size : LANES],
        )
        set1(block, PLATFORM, layout.SATURATED, lane, choose(saturated, 1.0, 0.0))
    for n in range(count):
        rotor = rotor_row(first, count, layout.ROTOR_THRUSTS, 4 * n)
        _spin(block, aircraft_row(first, n), rotor, quat_at(coefficients, 4 * n), lanes)
    for lane in range(lanes[0], lanes[1]):
        is_free = get(block, PLATFORM, layout.SATURATED, lane) == 0.0
        made = get6(block, PLATFORM, layout.MADE, lane)
        U = chosen6(is_free, get6(block, PLATFORM, layout.WRENCH, lane), made)
        set6(block, PLATFORM, layout.MADE, lane, U)
        is_observed = get(block, PLATFORM, layout.IS_OBSERVED, lane)
        set1(block, PLATFORM, layout.IS_MADE_KNOWN, lane, choose(is_free, is_observed, 0.0))


@formula
def _lift(block: Array, row: Index, of_wrench: Six, lanes: Lanes) -> None:
    """A rotor's thrust of a part of the wrench."""
    for lane in range(lanes[0], lanes[1]):
        U = get6(block, PLATFORM, layout.WRENCH, lane)
        set1(block, row, 0, lane, dot6(of_wrench, U))


@formula
def _spin(block: Array, a: Index, rotor: Index, coefficients: Quat, lanes: Lanes) -> None:
    """The speeds of one aircraft's rotors."""
    for lane in range(lanes[0], lanes[1]):
        f = get4(block, rotor, 0, lane)
        speeds = (
            rotor_speed(f[0], coefficients[0]),
            rotor_speed(f[1], coefficients[1]),
            rotor_speed(f[2], coefficients[2]),
            rotor_speed(f[3], coefficients[3]),
        )
        set1(block, a, layout.THRUST, lane, 0.0 + f[0] + f[1] + f[2] + f[3])
        set4(block, a, layout.RPM, lane, speeds)

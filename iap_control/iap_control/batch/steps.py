# SPDX-License-Identifier: BSD-3-Clause
"""The loops over a block's controllers, one for each part of a control step but for allocation.

The formulas are those of `PlatformController`. A loop reads all that it needs before it writes. What a library of
mathematics computes stands in loops of its own, because it keeps those of the arithmetic from becoming vector
instructions.
"""

import math

from iap_control.batch import layout
from iap_control.batch.layout import PLATFORM
from iap_control.controllers.disturbance_observer import Estimated, about_origin, estimate
from iap_control.headings import FOLLOW, REFERENCE
from iap_control.laws.motion_law import full_actuation
from iap_control.laws.position_yaw import Attitude, Rigid, Yaw, position_yaw, yaw_after
from iap_control.laws.tracking import Lumped, Motion, Pid, Target
from iap_control.laws.under_actuation import Pid5, Split, under_actuation
from iap_description.arrays import Array
from iap_description.math.kernels import (
    add6,
    choose,
    chosen3,
    chosen4,
    chosen6,
    formula,
    yaw_parts,
)
from iap_description.math.lanes import (
    Index,
    Lanes,
    get,
    get3,
    get4,
    get6,
    get9,
    get66,
    set1,
    set3,
    set4,
    set6,
)
from iap_description.states import Level

WRENCH, POSE = int(Level.WRENCH), int(Level.POSE)
ALL_AXES, NO_PIVOT = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@formula
def motion(block: Array, lane: Index) -> Motion:
    """State of the central body."""
    p, q = get3(block, PLATFORM, layout.P, lane), get4(block, PLATFORM, layout.Q, lane)
    return Motion(
        p, q, get3(block, PLATFORM, layout.V, lane), get3(block, PLATFORM, layout.W, lane)
    )


@formula
def target(block: Array, lane: Index) -> Target:
    """What the reference asks for."""
    k = layout.REFERENCE
    p, q = get3(block, PLATFORM, k, lane), get4(block, PLATFORM, k + 3, lane)
    v, w = get3(block, PLATFORM, k + 7, lane), get3(block, PLATFORM, k + 10, lane)
    a, alpha = get3(block, PLATFORM, k + 13, lane), get3(block, PLATFORM, k + 16, lane)
    return Target(p, q, v, w, a, alpha)


@formula
def pid(block: Array, lane: Index) -> Pid:
    """Six gains."""
    return Pid(
        get6(block, PLATFORM, layout.KP, lane),
        get6(block, PLATFORM, layout.KI, lane),
        get6(block, PLATFORM, layout.KD, lane),
        get6(block, PLATFORM, layout.LIMIT, lane),
        get(block, PLATFORM, layout.PER_INERTIA, lane) > 0.0,
        pair(block, layout.REACH, lane),
    )


@formula
def pair(block: Array, k: int, lane: Index) -> tuple[float, float]:
    """Two numbers of the platform."""
    return (get(block, PLATFORM, k, lane), get(block, PLATFORM, k + 1, lane))


@formula
def body(block: Array, lane: Index) -> Lumped:
    """The platform's lumped dynamics."""
    return Lumped(
        get(block, PLATFORM, layout.MASS, lane),
        get3(block, PLATFORM, layout.D_0, lane),
        get9(block, PLATFORM, layout.J, lane),
        get66(block, PLATFORM, layout.M, lane),
        get(block, PLATFORM, layout.COUPLING, lane),
        get(block, PLATFORM, layout.GRAVITY, lane),
    )


@formula
def observe(block: Array, dt: float, lanes: Lanes) -> None:
    """Wrenches to compensate: the estimated disturbances, nothing being felt in free flight."""
    for lane in range(lanes[0], lanes[1]):
        x, d = motion(block, lane), get6(block, PLATFORM, layout.DISTURBANCE, lane)
        is_observed = get(block, PLATFORM, layout.IS_OBSERVED, lane) > 0.0
        last_h = get6(block, PLATFORM, layout.MOMENTUM, lane)
        d_0 = get3(block, PLATFORM, layout.OBSERVED_D_0, lane)
        observed = Estimated(
            get(block, PLATFORM, layout.MASS, lane),
            get(block, PLATFORM, layout.GRAVITY, lane),
            d_0,
            get9(block, PLATFORM, layout.J_C, lane),
            pair(block, layout.SHARE, lane),
            pair(block, layout.LARGEST, lane),
            last_h,
            get6(block, PLATFORM, layout.MADE, lane),
            get(block, PLATFORM, layout.IS_MADE_KNOWN, lane) > 0.0,
        )
        h, after = estimate(x, d, observed, dt)
        # what is felt is added: no negative zeros, as with a wrench sensor
        wrench_e_P = add6(about_origin(after, x.q, d_0), NOTHING)
        set6(block, PLATFORM, layout.MOMENTUM, lane, chosen6(is_observed, h, last_h))
        set6(block, PLATFORM, layout.DISTURBANCE, lane, chosen6(is_observed, after, d))
        set6(block, PLATFORM, layout.EXTERNAL, lane, chosen6(is_observed, wrench_e_P, NOTHING))


@formula
def full_wrench(block: Array, dt: float, lanes: Lanes) -> None:
    """Active wrenches of iap_simulator eq. (10)."""
    for lane in range(lanes[0], lanes[1]):
        level = get(block, PLATFORM, layout.LEVEL, lane)
        last = get6(block, PLATFORM, layout.INTEGRAL, lane)
        U, integral = full_actuation(
            motion(block, lane),
            target(block, lane),
            level,
            get6(block, PLATFORM, layout.EXTERNAL, lane),
            last,
            body(block, lane),
            pid(block, lane),
            dt,
            get6(block, PLATFORM, layout.SHORT, lane),
            ALL_AXES,
            NO_PIVOT,
        )
        given = get6(block, PLATFORM, layout.GIVEN_WRENCH, lane)
        set6(block, PLATFORM, layout.WRENCH, lane, chosen6(level == WRENCH, given, U))
        set6(block, PLATFORM, layout.INTEGRAL, lane, chosen6(level == WRENCH, last, integral))


@formula
def collinear_wrench(block: Array, dt: float, lanes: Lanes) -> None:
    """Active wrenches of iap_simulator eq. (16)."""
    for lane in range(lanes[0], lanes[1]):
        level = get(block, PLATFORM, layout.LEVEL, lane)
        last = get6(block, PLATFORM, layout.INTEGRAL, lane)
        gains = pid(block, lane)
        U, after = under_actuation(
            motion(block, lane),
            target(block, lane),
            level,
            get6(block, PLATFORM, layout.EXTERNAL, lane),
            five(last),
            body(block, lane),
            Pid5(
                five(gains.kP),
                five(gains.kI),
                five(gains.kD),
                five(gains.limit),
                gains.per_inertia,
                gains.reach,
            ),
            split(block, lane),
            dt,
            get6(block, PLATFORM, layout.SHORT, lane),
            ALL_AXES,
            NO_PIVOT,
        )
        integral = (after[0], after[1], after[2], after[3], after[4], 0.0)
        given = get6(block, PLATFORM, layout.GIVEN_WRENCH, lane)
        set6(block, PLATFORM, layout.WRENCH, lane, chosen6(level == WRENCH, given, U))
        set6(block, PLATFORM, layout.INTEGRAL, lane, chosen6(level == WRENCH, last, integral))


@formula
def five(a: tuple[float, ...]) -> tuple[float, float, float, float, float]:
    """The first five of six numbers."""
    return (a[0], a[1], a[2], a[3], a[4])


@formula
def row_of_m_a(block: Array, i: int, lane: Index) -> tuple[float, float, float, float, float]:
    """A row of the actuated part's inertia."""
    a, b, c = get3(block, PLATFORM, layout.M_A + 5 * i, lane)
    d, e = pair(block, layout.M_A + 5 * i + 3, lane)
    return (a, b, c, d, e)


@formula
def split(block: Array, lane: Index) -> Split:
    """The decomposition of collinear joints."""
    return Split(
        get66(block, PLATFORM, layout.DELTA, lane),
        get66(block, PLATFORM, layout.DELTA_INVERSE, lane),
        get66(block, PLATFORM, layout.OMEGA_T, lane),
        (
            row_of_m_a(block, 0, lane),
            row_of_m_a(block, 1, lane),
            row_of_m_a(block, 2, lane),
            row_of_m_a(block, 3, lane),
            row_of_m_a(block, 4, lane),
        ),
        get3(block, PLATFORM, layout.LINE, lane),
        (
            get3(block, PLATFORM, layout.BASIS, lane),
            get3(block, PLATFORM, layout.BASIS + 3, lane),
        ),
        get3(block, PLATFORM, layout.P_LINE, lane),
        get3(block, PLATFORM, layout.UP, lane),
    )


@formula
def rigid_wrench(
    block: Array, first: int, mount_yaw: float, follows: bool, dt: float, lanes: Lanes
) -> None:
    """Active wrenches of rigid platforms."""
    for lane in range(lanes[0], lanes[1]):
        level = get(block, PLATFORM, layout.LEVEL, lane)
        is_given = level == WRENCH
        asked, last = target(block, lane), get6(block, PLATFORM, layout.INTEGRAL, lane)
        heading = get(block, layout.aircraft_row(first, 0), layout.HEADING, lane)
        was = Yaw(
            get(block, PLATFORM, layout.YAW, lane),
            get(block, PLATFORM, layout.YAW_RATE, lane),
            get(block, PLATFORM, layout.IS_YAW_KNOWN, lane) > 0.0,
        )
        yaw = yaw_after(asked, level, heading, mount_yaw, follows, dt, was)
        attitude = Attitude(
            get4(block, PLATFORM, layout.ATTITUDE_Q, lane),
            get3(block, PLATFORM, layout.ATTITUDE_W, lane),
            get3(block, PLATFORM, layout.ATTITUDE_ALPHA, lane),
            get(block, PLATFORM, layout.IS_STARTED, lane) > 0.0,
        )
        U, integral, after = position_yaw(
            motion(block, lane),
            asked,
            level,
            get6(block, PLATFORM, layout.EXTERNAL, lane),
            last,
            body(block, lane),
            pid(block, lane),
            rigid(block, lane),
            attitude,
            yaw.yaw,
            dt,
            get(block, PLATFORM, layout.SATURATED, lane) > 0.0,
        )
        given = get6(block, PLATFORM, layout.GIVEN_WRENCH, lane)
        set6(block, PLATFORM, layout.WRENCH, lane, chosen6(is_given, given, U))
        set6(block, PLATFORM, layout.INTEGRAL, lane, chosen6(is_given, last, integral))
        set1(block, PLATFORM, layout.YAW, lane, choose(is_given, was.yaw, yaw.yaw))
        set1(block, PLATFORM, layout.YAW_RATE, lane, choose(is_given, was.rate, yaw.rate))
        known = choose(is_given & (not was.is_known), 0.0, 1.0)
        set1(block, PLATFORM, layout.IS_YAW_KNOWN, lane, known)
        q, w, alpha = attitude.q_WB, attitude.w_B, attitude.alpha_B
        set4(block, PLATFORM, layout.ATTITUDE_Q, lane, chosen4(is_given, q, after.q_WB))
        set3(block, PLATFORM, layout.ATTITUDE_W, lane, chosen3(is_given, w, after.w_B))
        set3(block, PLATFORM, layout.ATTITUDE_ALPHA, lane, chosen3(is_given, alpha, after.alpha_B))
        started = choose(is_given & (not attitude.started), 0.0, 1.0)
        set1(block, PLATFORM, layout.IS_STARTED, lane, started)


@formula
def rigid(block: Array, lane: Index) -> Rigid:
    """Attitude gains and limits of a rigid platform, in the order of their record."""
    k = layout.RIGID
    low, high, tilt = get3(block, PLATFORM, k + 15, lane)
    rate_filter, pull_max = pair(block, k + 18, lane)
    return Rigid(
        get3(block, PLATFORM, k, lane),
        get3(block, PLATFORM, k + 3, lane),
        get9(block, PLATFORM, k + 6, lane),
        low,
        high,
        tilt,
        rate_filter,
        pull_max,
    )


@formula
def head(block: Array, first: int, mode: int, mount_yaw: Array, lanes: Lanes) -> None:
    """Headings of the aircraft, of platforms of `first` rows."""
    for lane in range(lanes[0], lanes[1]):
        is_pose = get(block, PLATFORM, layout.LEVEL, lane) == POSE
        own, asked = get4(block, PLATFORM, layout.Q, lane), layout.REFERENCE + 3
        q = chosen4(is_pose, get4(block, PLATFORM, asked, lane), own)
        sine, cosine = yaw_parts(q)
        set1(block, PLATFORM, layout.HEADING_SINE, lane, sine)
        set1(block, PLATFORM, layout.HEADING_COSINE, lane, cosine)
    if mode != REFERENCE:
        for lane in range(lanes[0], lanes[1]):
            sine = get(block, PLATFORM, layout.HEADING_SINE, lane)
            cosine = get(block, PLATFORM, layout.HEADING_COSINE, lane)
            set1(block, PLATFORM, layout.OWN_YAW, lane, math.atan2(sine, cosine))
    for n in range(len(mount_yaw)):
        _head_one(block, layout.aircraft_row(first, n), mode, mount_yaw[n], lanes)
    for lane in range(lanes[0], lanes[1]):
        set1(block, PLATFORM, layout.IS_HELD, lane, 1.0)


@formula
def _head_one(block: Array, a: Index, mode: int, mount_yaw: float, lanes: Lanes) -> None:
    """Heading of one aircraft."""
    for lane in range(lanes[0], lanes[1]):
        is_held = get(block, PLATFORM, layout.IS_HELD, lane) > 0.0
        own = mount_yaw + get(block, PLATFORM, layout.OWN_YAW, lane)
        given, last = (
            get(block, a, layout.GIVEN_HEADING, lane),
            get(block, a, layout.HEADING, lane),
        )
        held = choose((mode == FOLLOW) | (not is_held), own, last)
        set1(block, a, layout.HEADING, lane, choose(mode == REFERENCE, given, held))

# SPDX-License-Identifier: BSD-3-Clause
"""Active wrenches of a block's platforms; the formulas are those of `PlatformController`.

A loop reads all that it needs before it writes. What a library of mathematics computes stands in loops of its own,
because it keeps those of the arithmetic from becoming vector instructions.
"""

from iap_control.batch.layout import (
    AIRCRAFT,
    PLATFORM,
    PLATFORM_ROW,
    aircraft_row,
    choose_attitude,
    choose_yaw,
    read_attitude,
    read_body,
    read_motion,
    read_pid,
    read_pid5,
    read_rigid,
    read_split,
    read_target,
    read_yaw,
)
from iap_control.laws.motion_law import full_actuation
from iap_control.laws.position_yaw import PositionYawGains, position_yaw
from iap_control.laws.tracked_axes import TrackedAxesNumbers
from iap_control.laws.tracking import TrackingTask
from iap_control.laws.under_actuation import under_actuation
from iap_control.laws.yaw_command import yaw_after
from iap_description.arrays import Array
from iap_description.math.kernels import Six, formula, select6
from iap_description.math.lanes import Index, Lanes, get, get6, set6
from iap_description.states import Level

WRENCH = int(Level.WRENCH)
ALL_AXES = TrackedAxesNumbers((1.0, 1.0, 1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0))


@formula
def _tracking(block: Array, lane: Index) -> TrackingTask:
    """State of the central body, reference, what is tracked of it, and the external wrench."""
    return TrackingTask(
        read_motion(block, PLATFORM_ROW, PLATFORM.p, lane),
        read_target(block, PLATFORM_ROW, PLATFORM.reference, lane),
        get(block, PLATFORM_ROW, PLATFORM.level, lane),
        get6(block, PLATFORM_ROW, PLATFORM.external, lane),
    )


@formula
def _set_wrench(block: Array, lane: Index, level: float, U: Six, last: Six, integral: Six) -> None:
    """Write the active wrench and the integral, which stays as it was last where the reference is a wrench."""
    is_wrench = level == WRENCH
    reference = get6(block, PLATFORM_ROW, PLATFORM.reference_wrench, lane)
    set6(block, PLATFORM_ROW, PLATFORM.wrench, lane, select6(is_wrench, reference, U))
    set6(block, PLATFORM_ROW, PLATFORM.integral, lane, select6(is_wrench, last, integral))


@formula
def full_wrench(block: Array, dt: float, lanes: Lanes) -> None:
    """Active wrenches of iap_simulator eq. (10)."""
    for lane in range(lanes[0], lanes[1]):
        now = _tracking(block, lane)
        last = get6(block, PLATFORM_ROW, PLATFORM.integral, lane)
        U, integral = full_actuation(
            now,
            last,
            read_body(block, PLATFORM_ROW, PLATFORM.body, lane),
            read_pid(block, PLATFORM_ROW, PLATFORM.pid, lane),
            dt,
            get6(block, PLATFORM_ROW, PLATFORM.short, lane),
            ALL_AXES,
        )
        _set_wrench(block, lane, now.level, U, last, integral)


@formula
def collinear_wrench(block: Array, dt: float, lanes: Lanes) -> None:
    """Active wrenches of iap_simulator eq. (16)."""
    for lane in range(lanes[0], lanes[1]):
        now = _tracking(block, lane)
        last = get6(block, PLATFORM_ROW, PLATFORM.integral, lane)
        U, after = under_actuation(
            now,
            (last[0], last[1], last[2], last[3], last[4]),
            read_body(block, PLATFORM_ROW, PLATFORM.body, lane),
            read_pid5(block, PLATFORM_ROW, PLATFORM.pid, lane),
            read_split(block, PLATFORM_ROW, PLATFORM.law, lane),
            dt,
            get6(block, PLATFORM_ROW, PLATFORM.short, lane),
            ALL_AXES,
        )
        integral = (after[0], after[1], after[2], after[3], after[4], 0.0)
        _set_wrench(block, lane, now.level, U, last, integral)


@formula
def rigid_wrench(
    block: Array, first: int, mount_yaw: float, follows: bool, dt: float, lanes: Lanes
) -> None:
    """Active wrenches, attitude and yaw commands of rigid platforms, whose aircraft's rows begin at `first`."""
    for lane in range(lanes[0], lanes[1]):
        now = _tracking(block, lane)
        last = get6(block, PLATFORM_ROW, PLATFORM.integral, lane)
        heading = get(block, aircraft_row(first, 0), AIRCRAFT.heading, lane)
        yaw = read_yaw(block, PLATFORM_ROW, PLATFORM.yaw, lane)
        attitude = read_attitude(block, PLATFORM_ROW, PLATFORM.attitude, lane)
        next_yaw = yaw_after(now.target, now.level, heading, mount_yaw, follows, dt, yaw)
        gains = PositionYawGains(
            read_pid(block, PLATFORM_ROW, PLATFORM.pid, lane),
            read_rigid(block, PLATFORM_ROW, PLATFORM.law, lane),
        )
        U, integral, next_attitude = position_yaw(
            now,
            next_yaw.yaw,
            last,
            read_body(block, PLATFORM_ROW, PLATFORM.body, lane),
            gains,
            attitude,
            dt,
            get(block, PLATFORM_ROW, PLATFORM.is_saturated, lane) > 0.0,
        )
        _set_wrench(block, lane, now.level, U, last, integral)
        is_wrench = now.level == WRENCH
        choose_yaw(block, PLATFORM_ROW, PLATFORM.yaw, lane, is_wrench, yaw, next_yaw)
        choose_attitude(
            block, PLATFORM_ROW, PLATFORM.attitude, lane, is_wrench, attitude, next_attitude
        )

# SPDX-License-Identifier: BSD-3-Clause
"""Allocation to aircraft on joints: minimum norm, iap_simulator eq. (17), then attitude and thrust, eq. (18)."""

from typing import Any

import numpy as np
from numba import njit

from iap_control.allocation.actuation import RateFilter
from iap_control.allocation.allocation import attitude_of_thrust
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.thrust_directions import CROSSED, FIXED, FREE, HINGED
from iap_control.allocation.thrust_vectors import (
    crossed_attitude,
    filtered_rate,
    fixed_thrust,
    force_within,
    free_thrust,
    hinge_yaw_within,
    hinged_thrust,
    limits_at,
    requested_thrust,
    shortage,
    side_of,
    yaw_within,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add6,
    formula,
    matvec,
    norm,
    put_row,
    put_row4,
    put_six,
    qconj,
    qlog,
    qmul,
    quat,
    quat_of_row,
    rotate,
    six_at,
    sub,
    unrotate,
    vec_at,
    vec_of_row,
)
from iap_description.math.saturation import THRUST_TOLERANCE, without_rounding
from iap_description.states import Command

Outputs = tuple[Array, Array, Array]  # thrusts (N,), attitudes (N, 4) and body rates (N, 3)
Parts = tuple[Array, Array, Array]  # (3N,) thrusts of a wrench's force, tilt and yaw


class JointedAllocation:
    """The `Allocation` to aircraft that turn on their joints, or are fixed.

    Args:
        model: of the platform.
    """

    knows_shortage = True

    def __init__(self, model: PlatformModel) -> None:
        self._tables = tuple(AllocationTables.of(model))  # plain tuples are handed over faster
        shares = model.health.thrust_per_command
        self._thrust_share = None if (shares == 1.0).all() else shares

    def __call__(
        self,
        U: Array,
        q_WP: Array,
        yaw: Array,
        rate: RateFilter,
        command: Command,
        short: Array,
    ) -> bool:
        """Write thrusts, attitudes and body rates, see `Allocation`."""
        out = (command.thrust, command.q_WB, command.w_WB_B)
        saturated: bool = allocate(U, q_WP, yaw, self._tables, rate.share, rate.dt, out, short)
        if self._thrust_share is not None:  # of what is commanded
            command.thrust /= self._thrust_share
        return saturated


@njit(cache=True)
def allocate(
    U: Array,
    q_WP: Array,
    yaw: Array,
    tables: tuple[Any, ...],
    share: float,
    dt: float,
    out: Outputs,
    short: Array,
) -> bool:
    """`allocate_to_aircraft` of a plain tuple of tables."""
    return allocate_to_aircraft(
        U, q_WP, yaw, AllocationTables(*tables), RateFilter(share, dt), out, short
    )


@njit(cache=True)
def allocate_to_aircraft(
    U: Array,
    q_WP: Array,
    yaw: Array,
    tables: AllocationTables,
    rate: RateFilter,
    out: Outputs,
    short: Array,
) -> bool:
    """Thrust, attitude and filtered body rate of every aircraft; True if one is at a limit.

    Where an aircraft cannot bear its share, all give up the same part of the yaw torque, then of the force: the
    platform turns late or loses height, but does not tip over. An aircraft that does not turn freely gets an attitude
    that its joint lets it have, so that its autopilot leaves turning to the platform.
    """
    thrust, q_WB, w_WB_B = out
    parts, q = _parts(U, tables), quat(q_WP)
    kept, kept_yaw = _kept(parts, q, tables)
    saturated = kept < 1.0 or kept_yaw < 1.0
    short[:] = 0.0
    for i in range(thrust.shape[0]):
        if tables.limits[i, 1] == 0.0:  # it is lost: no thrust, and its last attitude
            thrust[i] = 0.0
            put_row(w_WB_B, i, (0.0, 0.0, 0.0))
            continue
        force, tilt, turn = _parts_at(parts, i)
        requested = requested_thrust(force, tilt, turn, kept, kept_yaw, q)
        f_W, attitude = _pointed(i, requested, q, yaw[i], tables)
        saturated = saturated or norm(sub(f_W, requested)) > THRUST_TOLERANCE
        lack = shortage(force, tilt, turn, f_W, q, vec_of_row(tables.arms, i))
        put_six(short, 0, add6(six_at(short, 0), lack))
        thrust[i] = norm(f_W)
        last = quat_of_row(q_WB, i)
        change, w_B = qlog(qmul(qconj(last), attitude)), vec_of_row(w_WB_B, i)
        put_row(w_WB_B, i, filtered_rate(last, change, w_B, rate.share, rate.dt))
        put_row4(q_WB, i, attitude)
    for k in range(6):
        short[k] = without_rounding(short[k])
    return saturated


@njit(cache=True)
def _parts(U: Array, tables: AllocationTables) -> Parts:
    """Thrusts of the parts of a wrench (6,)."""
    force, tilt, yaw = tables.parts
    size = len(force)
    out = (np.empty(size), np.empty(size), np.empty(size))
    matvec(force, U, out[0])
    matvec(tilt, U, out[1])
    matvec(yaw, U, out[2])
    return out


@formula
def _parts_at(parts: Parts, i: int) -> tuple[Vec, Vec, Vec]:
    """The limits of aircraft i."""
    force, tilt, yaw = parts
    return vec_at(force, 3 * i), vec_at(tilt, 3 * i), vec_at(yaw, 3 * i)


@njit(cache=True)
def _kept(parts: Parts, q: Quat, tables: AllocationTables) -> tuple[float, float]:
    """Shares of the force and of the yaw torque that all aircraft can bear."""
    kinds, axes = tables.swings
    limits, q_PB = tables.limits, tables.q_PB
    kept, kept_yaw = 1.0, 1.0
    for i in range(len(limits)):
        force, tilt, _ = _parts_at(parts, i)
        kept = force_within(kept, force, tilt, limits[i, 1])
    for i in range(len(limits)):
        force, tilt, yaw = _parts_at(parts, i)
        its = limits_at(limits, i)
        if kinds[i] == HINGED:
            side_P = rotate(quat_of_row(q_PB, i), side_of(axes[i]))
            up_P = rotate(quat_of_row(q_PB, i), (0.0, 0.0, 1.0))
            kept_yaw = hinge_yaw_within(kept_yaw, kept, force, tilt, yaw, up_P, side_P, its)
        else:
            is_free = kinds[i] >= CROSSED
            kept_yaw = yaw_within(kept_yaw, kept, force, tilt, yaw, q, is_free, its)
    return kept, kept_yaw


@njit(cache=True)
def _pointed(
    i: int, requested: Vec, q: Quat, yaw: float, tables: AllocationTables
) -> tuple[Vec, Quat]:
    """Thrust vector [N], world axes, that aircraft i makes of a requested one, and its attitude."""
    kinds, axes = tables.swings
    its = limits_at(tables.limits, i)
    if kinds[i] == FREE:
        f_W = free_thrust(requested, q, its)
        return f_W, attitude_of_thrust(f_W, yaw)
    rest = qmul(q, quat_of_row(tables.q_PB, i))
    if kinds[i] == FIXED:
        return fixed_thrust(requested, rest, its), rest
    if kinds[i] == HINGED:
        return hinged_thrust(requested, rest, axes[i], its)
    f_W = free_thrust(requested, q, its)
    return f_W, qmul(rest, crossed_attitude(unrotate(rest, f_W), axes[i]))

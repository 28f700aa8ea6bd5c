# SPDX-License-Identifier: BSD-3-Clause
"""One control step of many worlds, world by world: the formulas of `PlatformController` in its order."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.allocator import AllocationTables, attitudes, rotor_speeds
from iap_control.disturbance_observer import Memory, observe
from iap_control.headings import write_headings
from iap_control.laws.motion_law import full_actuation_wrench
from iap_control.laws.position_yaw import RigidMemory, YawMemory, position_yaw_wrench, yaw_command
from iap_control.laws.tracking import Held, Tracking
from iap_control.laws.under_actuation import under_actuation_wrench
from iap_description.arrays import Array, Booleans, Integers
from iap_description.kernels import Packed, matvec
from iap_description.states import Level

WRENCH = int(Level.WRENCH)


class Given(NamedTuple):
    """Inputs of B worlds.

    Attributes:
        x: (B, bodies, 13) states as they are known, the central body's first.
        rows: (B, 19 + N) reference rows.
        levels: (B,) what is tracked of them.
        wrenches_P: (B, 6) active wrenches about P's origin in P, which count at level WRENCH [N, N m].
    """

    x: Array
    rows: Array
    levels: Integers
    wrenches_P: Array


class Settings(NamedTuple):
    """What stays from step to step; records as the laws take them, one for each world.

    Attributes:
        laws: (B,) `Law`.
        inertias: (B,) `Inertia`.
        splits: (B,) `Decomposition` of collinear joints, `RigidLaw` of a rigid platform, else of no use.
        observed: (B,) of the disturbance observers, `Observed`.
        is_observed: (B,) whether a disturbance is estimated.
        rate_shares: (B,) of the filters of the attitude commands' derivatives.
        tables: of the allocation.
        mount_yaw: (N,) heading of each aircraft in P at rest [rad].
        yaw_mode: of the headings, a value of `YAW_MODES`.
        dt: control period [s].
    """

    laws: Packed
    inertias: Packed
    splits: Packed
    observed: Packed
    is_observed: Booleans
    rate_shares: Array
    tables: AllocationTables
    mount_yaw: Array
    yaw_mode: int
    dt: float


class Kept(NamedTuple):
    """What B controllers remember, their commands among it.

    Attributes:
        integral: (B, n) of the pose errors.
        observer: of the disturbances, arrays (B, ...).
        headings: (B, N) [rad].
        is_held: (B,) whether there are headings.
        wrench_P: (B, 6) active wrenches about P's origin in P [N, N m].
        thrust: (B, N) [N].
        q_WB: (B, N, 4).
        w_WB_B: (B, N, 3) [rad/s].
        rpm: (B, N, 4).
        short: (B, 6) the wrench that was wanted less the one that is made [N, N m].
        saturated: (B,) whether an aircraft or rotor is at a limit.
        attitude: of the attitude command of a rigid platform, arrays (B, ...).
        yaw: of its yaw command, arrays (B, 1).
    """

    integral: Array
    observer: Memory
    headings: Array
    is_held: Booleans
    wrench_P: Array
    thrust: Array
    q_WB: Array
    w_WB_B: Array
    rpm: Array
    short: Array
    saturated: Booleans
    attitude: RigidMemory
    yaw: YawMemory

    @classmethod
    def empty(cls, batch: int, count: int, errors: int) -> Self:
        """The memory of controllers that have not run yet; `errors` is how many are integrated."""
        return cls(
            np.zeros((batch, errors)),
            Memory(*(np.zeros((batch, *each.shape)) for each in Memory.empty())),
            np.zeros((batch, count)),
            np.zeros(batch, bool),
            np.zeros((batch, 6)),
            np.zeros((batch, count)),
            np.zeros((batch, count, 4)),
            np.zeros((batch, count, 3)),
            np.zeros((batch, count, 4)),
            np.zeros((batch, 6)),
            np.zeros(batch, bool),
            RigidMemory(*(np.zeros((batch, *each.shape)) for each in RigidMemory.empty())),
            YawMemory(*(np.zeros((batch, *each.shape)) for each in YawMemory.empty())),
        )


@njit(cache=True, nogil=True)
def control_full(first: int, last: int, given: Given, settings: Settings, kept: Kept) -> None:
    """Command worlds first to last - 1 whose platforms are fully actuated."""
    work, held, wrench_e = _work(), _held(), np.zeros(6)
    thrusts = np.empty((3, settings.tables.parts[0].shape[0]))
    for b in range(first, last):
        x, row, level = given.x[b, 0], given.rows[b], given.levels[b]
        _feel(b, x, settings, kept, wrench_e)
        if level == WRENCH:
            kept.wrench_P[b] = given.wrenches_P[b]
        else:
            inertia, law = settings.inertias[b], settings.laws[b]
            memory = (x, row, wrench_e, kept.integral[b], work, level, inertia, law)
            kept.wrench_P[b] = full_actuation_wrench(*memory, settings.dt, kept.short[b], held)
        _share(b, x, row, level, settings, kept, thrusts)


@njit(cache=True, nogil=True)
def control_collinear(first: int, last: int, given: Given, settings: Settings, kept: Kept) -> None:
    """Command worlds first to last - 1 whose platforms have their joints on a line."""
    work, held, wrench_e = _work(), _held(), np.zeros(6)
    thrusts = np.empty((3, settings.tables.parts[0].shape[0]))
    for b in range(first, last):
        x, row, level = given.x[b, 0], given.rows[b], given.levels[b]
        _feel(b, x, settings, kept, wrench_e)
        if level == WRENCH:
            kept.wrench_P[b] = given.wrenches_P[b]
        else:
            inertia, law, split = settings.inertias[b], settings.laws[b], settings.splits[b]
            memory = (x, row, wrench_e, kept.integral[b], work, level, inertia, law, split)
            kept.wrench_P[b] = under_actuation_wrench(*memory, settings.dt, kept.short[b], held)
        _share(b, x, row, level, settings, kept, thrusts)


@njit(cache=True, nogil=True)
def control_rigid(first: int, last: int, given: Given, settings: Settings, kept: Kept) -> None:
    """Command worlds first to last - 1 whose rotors are all fixed to one body."""
    work, wrench_e, tables = _work(), np.zeros(6), settings.tables
    follows = settings.yaw_mode == 0
    thrusts = np.empty((3, tables.parts[0].shape[0]))
    for b in range(first, last):
        x, row, level = given.x[b, 0], given.rows[b], given.levels[b]
        _feel(b, x, settings, kept, wrench_e)
        _head(b, x, row, level, settings, kept)
        if level == WRENCH:
            kept.wrench_P[b] = given.wrenches_P[b]
        else:
            turn = YawMemory(kept.yaw.yaw[b], kept.yaw.rate[b], kept.yaw.is_known[b])
            heading, mount = kept.headings[b, 0], settings.mount_yaw[0]
            yaw = yaw_command(row, level, heading, mount, follows, settings.dt, turn)
            memory = RigidMemory(
                kept.attitude.q_WB[b],
                kept.attitude.w_B[b],
                kept.attitude.alpha_B[b],
                kept.attitude.started[b],
            )
            inertia, law, rigid = settings.inertias[b], settings.laws[b], settings.splits[b]
            parts = (x, row, wrench_e, kept.integral[b], work, level, inertia, law, rigid, memory)
            end = (yaw, settings.dt, kept.saturated[b])
            kept.wrench_P[b] = position_yaw_wrench(*parts, *end)
        for k in range(3):
            matvec(tables.parts[k], kept.wrench_P[b], thrusts[k])
        low, high, coefficients = tables.rotors
        limits = (low, high, coefficients, kept.rpm[b], kept.thrust[b])
        kept.saturated[b] = rotor_speeds(thrusts[0], thrusts[1], thrusts[2], *limits)
        if settings.is_observed[b]:
            kept.observer.is_known[b, 0] = 0.0 if kept.saturated[b] else 1.0
            if not kept.saturated[b]:
                kept.observer.made_P[b] = kept.wrench_P[b]


@njit(cache=True)
def _work() -> Tracking:
    return Tracking(np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6))


@njit(cache=True)
def _held() -> Held:
    """Every axis is tracked."""
    return Held(np.ones(6), np.zeros(3))


@njit(cache=True)
def _feel(b: int, x: Array, settings: Settings, kept: Kept, wrench_e: Array) -> None:
    """Write the external wrench (6,) to compensate: the disturbance, nothing being felt in free flight."""
    if not settings.is_observed[b]:
        wrench_e[:] = 0.0
        return
    nothing = np.zeros(6)
    all_worlds = kept.observer
    memory = Memory(all_worlds.h[b], all_worlds.d[b], all_worlds.made_P[b], all_worlds.is_known[b])
    observe(x, nothing, settings.observed[b], settings.dt, memory, wrench_e)
    for i in range(6):
        wrench_e[i] += (
            0.0  # what is felt: no negative zeros, as there are none with a wrench sensor
        )


@njit(cache=True)
def _head(b: int, x: Array, row: Array, level: int, settings: Settings, kept: Kept) -> None:
    """Headings of one world's aircraft."""
    how = (settings.yaw_mode, settings.mount_yaw)
    write_headings(*how, x, row, level, kept.is_held[b], kept.headings[b])
    kept.is_held[b] = True


@njit(cache=True)
def _share(
    b: int, x: Array, row: Array, level: int, settings: Settings, kept: Kept, thrusts: Array
) -> None:
    """Allocate one world's active wrench to aircraft that turn, and let its observer know what is made of it."""
    tables = settings.tables
    _head(b, x, row, level, settings, kept)
    for k in range(3):
        matvec(tables.parts[k], kept.wrench_P[b], thrusts[k])
    parts = (thrusts[0], thrusts[1], thrusts[2], x[3:7], kept.headings[b])
    limits = (tables.limits, tables.is_free, tables.q_PB, settings.rate_shares[b], settings.dt)
    out = (kept.thrust[b], kept.q_WB[b], kept.w_WB_B[b], tables.arms, kept.short[b])
    kept.saturated[b] = attitudes(*parts, *limits, *out)
    if settings.is_observed[b]:
        kept.observer.is_known[b, 0] = 1.0
        for i in range(6):
            kept.observer.made_P[b, i] = kept.wrench_P[b, i] - kept.short[b, i]

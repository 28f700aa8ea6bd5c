# SPDX-License-Identifier: BSD-3-Clause
"""One control step of many worlds: the formulas of `PlatformController`, one after another, each for all worlds.

The loops take plain arrays: what is taken out of a tuple inside of a loop costs more than the arithmetic there.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.allocator import AllocationTables, attitudes, rotor_speeds
from iap_control.disturbance_observer import Memory, observe
from iap_control.headings import FOLLOW, write_headings
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
        wrench_e_P: (B, 6) the external wrenches that are compensated [N, N m].
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
    wrench_e_P: Array
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
            np.zeros((batch, 6)),
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
    _observe_all(first, last, given.x, settings, kept)
    inputs = (given.x, given.rows, given.levels, given.wrenches_P, kept.wrench_e_P)
    how = (settings.inertias, settings.laws, settings.dt)
    _full_wrenches(first, last, *inputs, *how, kept.integral, kept.short, kept.wrench_P)
    _head_all(first, last, given, settings, kept)
    _share_out(first, last, given.x, settings, kept)


@njit(cache=True, nogil=True)
def control_collinear(first: int, last: int, given: Given, settings: Settings, kept: Kept) -> None:
    """Command worlds first to last - 1 whose platforms have their joints on a line."""
    _observe_all(first, last, given.x, settings, kept)
    inputs = (given.x, given.rows, given.levels, given.wrenches_P, kept.wrench_e_P)
    how = (settings.inertias, settings.laws, settings.splits, settings.dt)
    _collinear_wrenches(first, last, *inputs, *how, kept.integral, kept.short, kept.wrench_P)
    _head_all(first, last, given, settings, kept)
    _share_out(first, last, given.x, settings, kept)


@njit(cache=True, nogil=True)
def control_rigid(first: int, last: int, given: Given, settings: Settings, kept: Kept) -> None:
    """Command worlds first to last - 1 whose rotors are all fixed to one body."""
    _observe_all(first, last, given.x, settings, kept)
    _head_all(first, last, given, settings, kept)
    _rigid_wrenches(first, last, given, settings, kept)
    _share_out_to_rotors(first, last, settings, kept)


@njit(cache=True)
def _full_wrenches(
    first: int,
    last: int,
    states: Array,
    rows: Array,
    levels: Integers,
    wrenches_P: Array,
    wrench_e_P: Array,
    inertias: Packed,
    laws: Packed,
    dt: float,
    integral: Array,
    short: Array,
    wrench_P: Array,
) -> None:
    """Active wrenches of iap_simulator eq. (10)."""
    work, held = _work(), _held()
    for b in range(first, last):
        if levels[b] == WRENCH:
            wrench_P[b] = wrenches_P[b]
            continue
        inputs = (states[b, 0], rows[b], wrench_e_P[b], integral[b], work, levels[b])
        wrench_P[b] = full_actuation_wrench(*inputs, inertias[b], laws[b], dt, short[b], held)


@njit(cache=True)
def _collinear_wrenches(
    first: int,
    last: int,
    states: Array,
    rows: Array,
    levels: Integers,
    wrenches_P: Array,
    wrench_e_P: Array,
    inertias: Packed,
    laws: Packed,
    splits: Packed,
    dt: float,
    integral: Array,
    short: Array,
    wrench_P: Array,
) -> None:
    """Active wrenches of iap_simulator eq. (16)."""
    work, held = _work(), _held()
    for b in range(first, last):
        if levels[b] == WRENCH:
            wrench_P[b] = wrenches_P[b]
            continue
        inputs = (states[b, 0], rows[b], wrench_e_P[b], integral[b], work, levels[b])
        how = (inertias[b], laws[b], splits[b], dt, short[b], held)
        wrench_P[b] = under_actuation_wrench(*inputs, *how)


@njit(cache=True)
def _rigid_wrenches(first: int, last: int, given: Given, settings: Settings, kept: Kept) -> None:
    """Active wrenches of rigid platforms."""
    states, rows, levels, wrenches_P = given.x, given.rows, given.levels, given.wrenches_P
    inertias, laws, rigid, dt = settings.inertias, settings.laws, settings.splits, settings.dt
    wrench_e_P, integral, wrench_P = kept.wrench_e_P, kept.integral, kept.wrench_P
    headings, saturated, mount_yaw = kept.headings, kept.saturated, settings.mount_yaw[0]
    q_WB, w_B, alpha_B, started = kept.attitude
    yaws, rates, is_known = kept.yaw
    work, follows = _work(), settings.yaw_mode == FOLLOW
    for b in range(first, last):
        if levels[b] == WRENCH:
            wrench_P[b] = wrenches_P[b]
            continue
        turn = (levels[b], headings[b, 0], mount_yaw, follows, dt)
        yaw = yaw_command(rows[b], *turn, YawMemory(yaws[b], rates[b], is_known[b]))
        inputs = (states[b, 0], rows[b], wrench_e_P[b], integral[b], work, levels[b])
        memory = RigidMemory(q_WB[b], w_B[b], alpha_B[b], started[b])
        how = (inertias[b], laws[b], rigid[b], memory, yaw, dt, saturated[b])
        wrench_P[b] = position_yaw_wrench(*inputs, *how)


@njit(cache=True)
def _work() -> Tracking:
    return Tracking(np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6))


@njit(cache=True)
def _held() -> Held:
    """Every axis is tracked."""
    return Held(np.ones(6), np.zeros(3))


@njit(cache=True)
def _observe_all(first: int, last: int, states: Array, settings: Settings, kept: Kept) -> None:
    """External wrenches to compensate: the disturbances, nothing being felt in free flight."""
    h, d, made_P, is_known = kept.observer
    observed, is_observed, dt = settings.observed, settings.is_observed, settings.dt
    wrench_e_P, nothing = kept.wrench_e_P, np.zeros(6)
    for b in range(first, last):
        if not is_observed[b]:
            wrench_e_P[b] = 0.0
            continue
        memory = Memory(h[b], d[b], made_P[b], is_known[b])
        observe(states[b, 0], nothing, observed[b], dt, memory, wrench_e_P[b])
        for i in range(6):
            wrench_e_P[b, i] += 0.0  # what is felt: no negative zeros, as with a wrench sensor


@njit(cache=True)
def _head_all(first: int, last: int, given: Given, settings: Settings, kept: Kept) -> None:
    """Headings of the aircraft."""
    states, rows, levels = given.x, given.rows, given.levels
    mode, mount_yaw, is_held, headings = (
        settings.yaw_mode,
        settings.mount_yaw,
        kept.is_held,
        kept.headings,
    )
    for b in range(first, last):
        inputs = (states[b, 0], rows[b], levels[b], is_held[b])
        write_headings(mode, mount_yaw, *inputs, headings[b])
        is_held[b] = True


@njit(cache=True)
def _share_out(first: int, last: int, states: Array, settings: Settings, kept: Kept) -> None:
    """Allocate active wrenches to aircraft that turn, and let observers know what is made of them."""
    parts, limits, is_free, q_PB, arms, _ = settings.tables
    force, tilt, yaw = parts
    shares, dt, is_observed = settings.rate_shares, settings.dt, settings.is_observed
    wrench_P, headings, saturated = kept.wrench_P, kept.headings, kept.saturated
    thrust, q_WB, w_WB_B, short = kept.thrust, kept.q_WB, kept.w_WB_B, kept.short
    _, _, made_P, is_known = kept.observer
    forces, tilts, yaws = np.empty(len(force)), np.empty(len(force)), np.empty(len(force))
    for b in range(first, last):
        U = wrench_P[b]
        matvec(force, U, forces)
        matvec(tilt, U, tilts)
        matvec(yaw, U, yaws)
        inputs = (forces, tilts, yaws, states[b, 0, 3:7], headings[b])
        how = (limits, is_free, q_PB, shares[b], dt)
        out = (thrust[b], q_WB[b], w_WB_B[b], arms, short[b])
        saturated[b] = attitudes(*inputs, *how, *out)
        if is_observed[b]:
            is_known[b, 0] = 1.0
            for i in range(6):
                made_P[b, i] = U[i] - short[b, i]


@njit(cache=True)
def _share_out_to_rotors(first: int, last: int, settings: Settings, kept: Kept) -> None:
    """Allocate active wrenches to rotors, and let observers know them where no rotor is at a limit."""
    force, tilt, yaw = settings.tables.parts
    low, high, coefficients = settings.tables.rotors
    is_observed, wrench_P, saturated = settings.is_observed, kept.wrench_P, kept.saturated
    rpm, thrust, (_, _, made_P, is_known) = kept.rpm, kept.thrust, kept.observer
    lifts, tilts, yaws = np.empty(len(force)), np.empty(len(force)), np.empty(len(force))
    for b in range(first, last):
        matvec(force, wrench_P[b], lifts)
        matvec(tilt, wrench_P[b], tilts)
        matvec(yaw, wrench_P[b], yaws)
        limits = (low, high, coefficients)
        saturated[b] = rotor_speeds(lifts, tilts, yaws, *limits, rpm[b], thrust[b])
        if is_observed[b]:
            is_known[b, 0] = 0.0 if saturated[b] else 1.0
            if not saturated[b]:
                made_P[b] = wrench_P[b]

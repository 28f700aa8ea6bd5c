# SPDX-License-Identifier: BSD-3-Clause
"""One control step of many worlds: the formulas of `PlatformController`, one after another, block by block."""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.vectored_allocation import VectoredTables
from iap_control.batch import layout
from iap_control.batch.allocation import share_out_to_aircraft, share_out_to_rotors
from iap_control.batch.layout import PLATFORM, aircraft_row
from iap_control.batch.steps import collinear_wrench, full_wrench, head, observe, rigid_wrench
from iap_control.batch.vectored_allocation import share_out_to_tilting_rotors
from iap_control.headings import FOLLOW
from iap_description.arrays import Array, Integers
from iap_description.math.kernels import formula
from iap_description.math.lanes import (
    LANES,
    Lanes,
    get,
    lanes_from,
    next_block,
    set1,
    world_at,
    world_in,
)

FULL, COLLINEAR, RIGID, VECTORED = range(4)  # which law


class Setpoints(NamedTuple):
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


class ControlSettings(NamedTuple):
    """What stays from step to step, the same in all worlds.

    Attributes:
        law: `FULL`, `COLLINEAR`, `RIGID` or `VECTORED`.
        first: row of a block where the first aircraft's begin.
        tables: of the allocation.
        vectored: of the allocation to rotors that tilt.
        mount_yaw: (N,) heading of each aircraft in P at rest [rad].
        yaw_mode: of the headings, a value of `YAW_MODES`.
        dt: control period [s].
    """

    law: int
    first: int
    tables: AllocationTables
    vectored: VectoredTables
    mount_yaw: Array
    yaw_mode: int
    dt: float


class BatchCommand(NamedTuple):
    """The last commands of B controllers, as `iap_description.states.Command` has them.

    Attributes:
        wrench_P: (B, 6) active wrenches about P's origin in P [N, N m].
        thrust: (B, N) [N].
        q_WB: (B, N, 4).
        w_WB_B: (B, N, 3) [rad/s].
        rpm: (B, N, 4).
        tilt: (B, N, 4) [rad].
    """

    wrench_P: Array
    thrust: Array
    q_WB: Array
    w_WB_B: Array
    rpm: Array
    tilt: Array

    @classmethod
    def empty(cls, batch: int, count: int) -> Self:
        """Commands of controllers that have not run yet."""
        sizes = ((6,), (count,), (count, 4), (count, 3), (count, 4), (count, 4))
        return cls(*(np.zeros((batch, *size)) for size in sizes))


@njit(cache=True, nogil=True)
def control_worlds(
    begin: int,
    end: int,
    setpoints: Setpoints,
    settings: ControlSettings,
    blocks: Array,
    commanded: BatchCommand,
) -> None:
    """Command worlds `begin` to `end` - 1, block by block.

    Args:
        begin: the first of them, that of a vector.
        end: the one behind the last of them.
        setpoints: states and references.
        settings: see there.
        blocks: (blocks, rows * LANES) see `iap_control.batch.layout`; changed in place.
        commanded: overwritten.
    """
    first = begin
    while first < end:
        block, lanes = blocks[first // LANES, first % LANES :], lanes_from(first, end)
        take_state(block, first, setpoints.x, lanes)
        take_references(block, first, setpoints, settings, lanes)
        control_block(block, settings.law, settings, lanes)
        give(block, first, settings, commanded, lanes)
        first = next_block(first)


@njit(cache=True, error_model="numpy", nogil=True)
def control_block(block: Array, law: int, settings: ControlSettings, lanes: Lanes) -> None:
    """One control step of a block whose states and references are taken."""
    first, mount_yaw, dt, tables = (
        settings.first,
        settings.mount_yaw,
        settings.dt,
        settings.tables,
    )
    observe(block, dt, lanes)
    head(block, first, settings.yaw_mode, mount_yaw, lanes)
    if law == RIGID:
        follows = settings.yaw_mode == FOLLOW
        rigid_wrench(block, first, mount_yaw[0], follows, dt, lanes)
        share_out_to_rotors(block, first, tables, lanes)
        return
    if law == VECTORED:
        full_wrench(block, dt, lanes)
        share_out_to_tilting_rotors(block, first, settings.vectored, lanes)
        return
    if law == FULL:
        full_wrench(block, dt, lanes)
    else:
        collinear_wrench(block, dt, lanes)
    share_out_to_aircraft(block, first, tables, dt, lanes)


@formula
def take_state(block: Array, first: int, x: Array, lanes: Lanes) -> None:
    """Read the central bodies' states; the last world fills lanes that are left."""
    count = len(x)
    for k in range(13):
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, PLATFORM, layout.STATE + k, lane, x[world, 0, k])


@formula
def take_references(
    block: Array, first: int, setpoints: Setpoints, settings: ControlSettings, lanes: Lanes
) -> None:
    """Read references; the last world fills lanes that are left."""
    _, rows, levels, wrenches_P = setpoints
    count = len(rows)
    for k in range(19):
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, PLATFORM, layout.REFERENCE + k, lane, rows[world, k])
    for n in range(len(settings.mount_yaw)):
        a = aircraft_row(settings.first, n)
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, a, layout.GIVEN_HEADING, lane, rows[world, 19 + n])
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        set1(block, PLATFORM, layout.LEVEL, lane, float(levels[world]))
        for k in range(6):
            set1(block, PLATFORM, layout.GIVEN_WRENCH + k, lane, wrenches_P[world, k])


@formula
def give(
    block: Array, first: int, settings: ControlSettings, commanded: BatchCommand, lanes: Lanes
) -> None:
    """Write the commands of a block's worlds."""
    wrench_P, thrust, q_WB, w_WB_B, rpm, tilt = commanded
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(thrust):
            continue
        for k in range(6):
            wrench_P[world, k] = get(block, PLATFORM, layout.WRENCH + k, lane)
        for n in range(thrust.shape[1]):
            a = aircraft_row(settings.first, n)
            thrust[world, n] = get(block, a, layout.THRUST, lane)
            for k in range(3):
                w_WB_B[world, n, k] = get(block, a, layout.COMMAND_W + k, lane)
            for k in range(4):
                q_WB[world, n, k] = get(block, a, layout.COMMAND_Q + k, lane)
                rpm[world, n, k] = get(block, a, layout.RPM + k, lane)
                tilt[world, n, k] = get(block, a, layout.TILT + k, lane)

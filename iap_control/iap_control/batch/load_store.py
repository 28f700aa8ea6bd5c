# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of worlds into a block of controllers and out of it."""

from iap_control.batch.layout import (
    AIRCRAFT,
    PLATFORM,
    PLATFORM_ROW,
    aircraft_row,
    store_command,
)
from iap_control.batch.records import BatchCommand, ControlSettings, Setpoints
from iap_description.arrays import Array
from iap_description.math.kernels import formula
from iap_description.math.lanes import Lanes, get, set1, world_at, world_in
from iap_description.states import REF_FIXED, STATE_SIZE


@formula
def load_state(block: Array, first: int, x: Array, lanes: Lanes) -> None:
    """Read the central bodies' states; the last world fills lanes that are left."""
    count = len(x)
    for k in range(STATE_SIZE):
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, PLATFORM_ROW, PLATFORM.p + k, lane, x[world, 0, k])


@formula
def load_references(
    block: Array, first: int, setpoints: Setpoints, settings: ControlSettings, lanes: Lanes
) -> None:
    """Read references; the last world fills lanes that are left."""
    rows, levels, wrenches_P = setpoints.rows, setpoints.levels, setpoints.wrenches_P
    count = len(rows)
    for k in range(REF_FIXED):
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, PLATFORM_ROW, PLATFORM.reference + k, lane, rows[world, k])
    for n in range(len(settings.mount_yaw)):
        a = aircraft_row(settings.first, n)
        for lane in range(lanes[0], lanes[1]):
            world = world_at(first, lane, count)
            set1(block, a, AIRCRAFT.reference_heading, lane, rows[world, REF_FIXED + n])
    for lane in range(lanes[0], lanes[1]):
        world = world_at(first, lane, count)
        set1(block, PLATFORM_ROW, PLATFORM.level, lane, float(levels[world]))
        for k in range(6):
            set1(block, PLATFORM_ROW, PLATFORM.reference_wrench + k, lane, wrenches_P[world, k])


@formula
def store_commands(
    block: Array, first: int, settings: ControlSettings, commands: BatchCommand, lanes: Lanes
) -> None:
    """Write the commands of a block's worlds."""
    for lane in range(lanes[0], lanes[1]):
        world = world_in(first, lane)
        if world >= len(commands.thrust):
            continue
        for k in range(6):
            commands.wrench_P[world, k] = get(block, PLATFORM_ROW, PLATFORM.wrench + k, lane)
        for n in range(commands.thrust.shape[1]):
            a = aircraft_row(settings.first, n)
            store_command(block, a, AIRCRAFT.command, lane, commands, world, n)

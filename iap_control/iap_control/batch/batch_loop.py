# SPDX-License-Identifier: BSD-3-Clause
"""One control step of many worlds: the formulas of `PlatformController`, one after another, block by block."""

from numba import njit

from iap_control.batch.allocation import share_out_to_aircraft
from iap_control.batch.disturbances import observe
from iap_control.batch.headings import head
from iap_control.batch.load_store import load_references, load_state, store_commands
from iap_control.batch.motion_laws import collinear_wrench, full_wrench, rigid_wrench
from iap_control.batch.records import (
    FULL,
    RIGID,
    VECTORED,
    BatchCommand,
    ControlSettings,
    Setpoints,
)
from iap_control.batch.rotor_allocation import share_out_to_rotors
from iap_control.batch.vectored_allocation import share_out_to_tilting_rotors
from iap_control.headings import FOLLOW
from iap_description.arrays import Array
from iap_description.math.lanes import LANES, Lanes, lanes_from, next_block


@njit(cache=True, nogil=True)
def control_worlds(
    begin: int,
    end: int,
    setpoints: Setpoints,
    settings: ControlSettings,
    blocks: Array,
    commands: BatchCommand,
) -> None:
    """Command worlds `begin` to `end` - 1, block by block.

    Args:
        begin: the first of them, that of a vector.
        end: the one behind the last of them.
        setpoints: states and references.
        settings: see there.
        blocks: (blocks, rows * LANES) see `iap_control.batch.layout`; changed in place.
        commands: overwritten.
    """
    first = begin
    while first < end:
        block, lanes = blocks[first // LANES, first % LANES :], lanes_from(first, end)
        load_state(block, first, setpoints.x, lanes)
        load_references(block, first, setpoints, settings, lanes)
        control_block(block, settings.law, settings, lanes)
        store_commands(block, first, settings, commands, lanes)
        first = next_block(first)


@njit(cache=True, error_model="numpy", nogil=True)
def control_block(block: Array, law: int, settings: ControlSettings, lanes: Lanes) -> None:
    """One control step of a block whose states and references are loaded."""
    first, mount_yaw, dt = settings.first, settings.mount_yaw, settings.dt
    observe(block, dt, lanes)
    head(block, first, settings.yaw_mode, mount_yaw, lanes)
    if law == RIGID:
        follows = settings.yaw_mode == FOLLOW
        rigid_wrench(block, first, mount_yaw[0], follows, dt, lanes)
        share_out_to_rotors(block, first, settings.tables, lanes)
        return
    if law == VECTORED:
        full_wrench(block, dt, lanes)
        share_out_to_tilting_rotors(block, first, settings.vectored, lanes)
        return
    if law == FULL:
        full_wrench(block, dt, lanes)
    else:
        collinear_wrench(block, dt, lanes)
    share_out_to_aircraft(block, first, settings.tables, dt, lanes)

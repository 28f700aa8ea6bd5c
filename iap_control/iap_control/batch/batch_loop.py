# SPDX-License-Identifier: BSD-3-Clause
"""One control step of many worlds: the formulas of `PlatformController`, one after another, block by block.

Disturbances are estimated as in `DisturbanceObserver`, headings computed as in `iap_control.headings`.
"""

import math

from numba import njit

from iap_control.batch.allocation import share_out_to_aircraft
from iap_control.batch.layout import (
    AIRCRAFT,
    PLATFORM,
    PLATFORM_ROW,
    aircraft_row,
    read_motion,
    read_observer,
)
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
from iap_control.batch.rotor_allocation import share_out_to_rotors, share_out_to_tilting_rotors
from iap_control.controllers.disturbance_observer import (
    ObserverInputs,
    about_origin,
    estimate,
    touches,
)
from iap_control.headings import FOLLOW, REFERENCE
from iap_description.arrays import Array
from iap_description.math.kernels import (
    add6,
    choose,
    formula,
    scale6,
    select4,
    select6,
    yaw_parts,
)
from iap_description.math.lanes import (
    LANES,
    Index,
    Lanes,
    get,
    get4,
    get6,
    lanes_from,
    next_block,
    set1,
    set6,
)
from iap_description.states import REF_Q, Level

POSE = int(Level.POSE)
TARGET_Q = PLATFORM.reference + REF_Q.start


@formula
def head(block: Array, first: int, mode: int, mount_yaw: Array, lanes: Lanes) -> None:
    """Headings of the aircraft, of platforms of `first` rows."""
    for lane in range(lanes[0], lanes[1]):
        is_pose = get(block, PLATFORM_ROW, PLATFORM.level, lane) == POSE
        q = get4(block, PLATFORM_ROW, PLATFORM.q, lane)
        q = select4(is_pose, get4(block, PLATFORM_ROW, TARGET_Q, lane), q)
        sine, cosine = yaw_parts(q)
        set1(block, PLATFORM_ROW, PLATFORM.yaw_sine, lane, sine)
        set1(block, PLATFORM_ROW, PLATFORM.yaw_cosine, lane, cosine)
    if mode != REFERENCE:
        for lane in range(lanes[0], lanes[1]):
            sine = get(block, PLATFORM_ROW, PLATFORM.yaw_sine, lane)
            cosine = get(block, PLATFORM_ROW, PLATFORM.yaw_cosine, lane)
            set1(block, PLATFORM_ROW, PLATFORM.platform_yaw, lane, math.atan2(sine, cosine))
    for n in range(len(mount_yaw)):
        _head_one(block, aircraft_row(first, n), mode, mount_yaw[n], lanes)
    for lane in range(lanes[0], lanes[1]):
        set1(block, PLATFORM_ROW, PLATFORM.has_headings, lane, 1.0)


@formula
def _head_one(block: Array, a: Index, mode: int, mount_yaw: float, lanes: Lanes) -> None:
    """Heading of one aircraft."""
    for lane in range(lanes[0], lanes[1]):
        has_headings = get(block, PLATFORM_ROW, PLATFORM.has_headings, lane) > 0.0
        mounted = mount_yaw + get(block, PLATFORM_ROW, PLATFORM.platform_yaw, lane)
        last = get(block, a, AIRCRAFT.heading, lane)
        free = choose((mode == FOLLOW) | (not has_headings), mounted, last)
        reference = get(block, a, AIRCRAFT.reference_heading, lane)
        set1(block, a, AIRCRAFT.heading, lane, choose(mode == REFERENCE, reference, free))


@formula
def observe(block: Array, dt: float, lanes: Lanes) -> None:
    """Take what is fed forward of the wrenches that are felt, and the estimated disturbances."""
    for lane in range(lanes[0], lanes[1]):
        x = read_motion(block, PLATFORM_ROW, PLATFORM.p, lane)
        d = get6(block, PLATFORM_ROW, PLATFORM.disturbance, lane)
        is_observed = get(block, PLATFORM_ROW, PLATFORM.is_observed, lane) > 0.0
        last_h = get6(block, PLATFORM_ROW, PLATFORM.momentum, lane)
        numbers = read_observer(block, PLATFORM_ROW, PLATFORM.observer, lane)
        felt = get6(block, PLATFORM_ROW, PLATFORM.felt, lane)
        is_known = get(block, PLATFORM_ROW, PLATFORM.is_made_known, lane) > 0.0
        observed = ObserverInputs(
            numbers.mass,
            numbers.gravity,
            numbers.d_0,
            numbers.J_C,
            numbers.share,
            numbers.limit,
            last_h,
            get6(block, PLATFORM_ROW, PLATFORM.made, lane),
            is_known & (not touches(felt, numbers.contact)),
        )
        h, after = estimate(x, d, observed, dt)
        fed_P = scale6(get(block, PLATFORM_ROW, PLATFORM.compensation, lane), felt)
        wrench_e_P = add6(fed_P, about_origin(after, x.q, numbers.d_0))
        wrench_e_P = select6(is_observed, wrench_e_P, fed_P)
        set6(block, PLATFORM_ROW, PLATFORM.momentum, lane, select6(is_observed, h, last_h))
        set6(block, PLATFORM_ROW, PLATFORM.disturbance, lane, select6(is_observed, after, d))
        set6(block, PLATFORM_ROW, PLATFORM.external, lane, wrench_e_P)


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

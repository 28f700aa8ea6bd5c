# SPDX-License-Identifier: BSD-3-Clause
"""Allocation of a block's wrenches to rotors that tilt; formulas as in `allocate_to_tilting_rotors`."""

from iap_control.allocation.vectored_allocation import (
    VectoredTables,
    kept_by_rotor,
    lacking_wrench,
    rotor_speed,
    sideways_part,
    vectored,
    without_sideways,
    wrench_of,
)
from iap_control.batch.layout import AIRCRAFT_COMMAND, PLATFORM, PLATFORM_ROW, aircraft_row
from iap_description.arrays import Array
from iap_description.math.kernels import add6, choose, dot6, formula, six_of_row, sub6, vec
from iap_description.math.lanes import Index, Lanes, get, get6, set1, set6

ZERO_WRENCH = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@formula
def share_out_to_tilting_rotors(
    block: Array, first: int, tables: VectoredTables, lanes: Lanes
) -> None:
    """Speeds and angles of every rotor, and the sums of the aircraft's thrusts."""
    for n in range(len(tables.limits) // 4):
        for lane in range(lanes[0], lanes[1]):
            set1(block, aircraft_row(first, n), AIRCRAFT_COMMAND.thrust, lane, 0.0)
    for lane in range(lanes[0], lanes[1]):
        set6(block, PLATFORM_ROW, PLATFORM.made, lane, ZERO_WRENCH)
        set1(block, PLATFORM_ROW, PLATFORM.kept, lane, 1.0)
    for r in range(len(tables.limits)):
        if tables.limits[r, 2] == 0.0:
            _keep(block, r, tables, lanes)
    for lane in range(lanes[0], lanes[1]):
        is_less = get(block, PLATFORM_ROW, PLATFORM.kept, lane) < 1.0
        set1(block, PLATFORM_ROW, PLATFORM.is_saturated, lane, choose(is_less, 1.0, 0.0))
    for r in range(len(tables.limits)):
        _turn(block, aircraft_row(first, r // 4), r, tables, lanes)
    for lane in range(lanes[0], lanes[1]):
        U = get6(block, PLATFORM_ROW, PLATFORM.wrench, lane)
        short = lacking_wrench(U, get6(block, PLATFORM_ROW, PLATFORM.made, lane))
        is_observed = get(block, PLATFORM_ROW, PLATFORM.is_observed, lane)
        set6(block, PLATFORM_ROW, PLATFORM.short, lane, short)
        set6(block, PLATFORM_ROW, PLATFORM.made, lane, sub6(U, short))
        set1(block, PLATFORM_ROW, PLATFORM.is_made_known, lane, is_observed)


@formula
def _keep(block: Array, r: int, tables: VectoredTables, lanes: Lanes) -> None:
    """Give up what of the sideways push a rotor that does not tilt cannot bear."""
    of_wrench, d_0 = six_of_row(tables.parts, 2 * r), vec(tables.d_0)
    low, high = tables.limits[r, 0], tables.limits[r, 1]
    for lane in range(lanes[0], lanes[1]):
        U = get6(block, PLATFORM_ROW, PLATFORM.wrench, lane)
        part = sideways_part(U, d_0)
        up, change = dot6(of_wrench, sub6(U, part)), dot6(of_wrench, part)
        kept = get(block, PLATFORM_ROW, PLATFORM.kept, lane)
        set1(block, PLATFORM_ROW, PLATFORM.kept, lane, kept_by_rotor(kept, up, change, low, high))


@formula
def _turn(block: Array, a: Index, r: int, tables: VectoredTables, lanes: Lanes) -> None:
    """One rotor's speed and angle, and its part of the wrench that is made; `a` is its aircraft's row."""
    k = r % 4
    parts = (six_of_row(tables.parts, 2 * r), six_of_row(tables.parts, 2 * r + 1))
    columns = (six_of_row(tables.columns, 2 * r), six_of_row(tables.columns, 2 * r + 1))
    low, high, limit = tables.limits[r, 0], tables.limits[r, 1], tables.limits[r, 2]
    coefficient, d_0 = tables.coefficients[r], vec(tables.d_0)
    for lane in range(lanes[0], lanes[1]):
        kept = get(block, PLATFORM_ROW, PLATFORM.kept, lane)
        U = without_sideways(get6(block, PLATFORM_ROW, PLATFORM.wrench, lane), kept, d_0)
        rotor = vectored(dot6(parts[0], U), dot6(parts[1], U), low, high, limit)
        made = get6(block, PLATFORM_ROW, PLATFORM.made, lane)
        total = get(block, a, AIRCRAFT_COMMAND.thrust, lane) + rotor.thrust
        clipped = get(block, PLATFORM_ROW, PLATFORM.is_saturated, lane)
        set6(
            block,
            PLATFORM_ROW,
            PLATFORM.made,
            lane,
            add6(made, wrench_of(rotor, columns[0], columns[1])),
        )
        set1(block, a, AIRCRAFT_COMMAND.rpm + k, lane, rotor_speed(rotor.thrust, coefficient))
        set1(block, a, AIRCRAFT_COMMAND.tilt + k, lane, rotor.tilt)
        set1(block, a, AIRCRAFT_COMMAND.thrust, lane, total)
        set1(
            block,
            PLATFORM_ROW,
            PLATFORM.is_saturated,
            lane,
            choose(rotor.is_clipped, 1.0, clipped),
        )

# SPDX-License-Identifier: BSD-3-Clause
"""Allocation of a block's wrenches to rotors, fixed or tilting.

The formulas are those of `allocate_to_rotors` and `allocate_to_tilting_rotors`.
"""

from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.vectored_allocation import (
    VectoredTables,
    kept_by_rotor,
    lacking_wrench,
    rotor_command,
    rotor_speed,
    sideways_part,
    without_sideways,
    wrench_of,
)
from iap_control.batch.layout import (
    AIRCRAFT_COMMAND,
    LIFTS,
    PLATFORM,
    PLATFORM_ROW,
    ROTOR_THRUSTS,
    aircraft_row,
    rotor_row,
)
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Six,
    add6,
    choose,
    dot6,
    formula,
    quat_at,
    select6,
    six_of_row,
    sub6,
    vec,
)
from iap_description.math.lanes import (
    LANES,
    Index,
    Lanes,
    get,
    get4,
    get6,
    row_at,
    set1,
    set4,
    set6,
)
from iap_description.math.saturation import share_out

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
        rotor = rotor_command(dot6(parts[0], U), dot6(parts[1], U), low, high, limit)
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


@formula
def share_out_to_rotors(block: Array, first: int, tables: AllocationTables, lanes: Lanes) -> None:
    """Rotor speeds and their thrusts' sums, see `allocate_to_rotors`."""
    parts, _, _, _, _, (lowest, highest, coefficients), _ = tables
    count = len(coefficients) // 4
    for section in range(3):
        for r in range(4 * count):
            row = rotor_row(first, count, section, r)
            _lift(block, row, six_of_row(parts[section], r), lanes)
    for lane in range(lanes[0], lanes[1]):
        lifts = row_at(rotor_row(first, count, LIFTS, 0), lane)
        size = 4 * count * LANES
        tilts, yaws, out = lifts + size, lifts + 2 * size, lifts + 3 * size
        saturated = share_out(
            block[lifts : lifts + size : LANES],
            block[tilts : tilts + size : LANES],
            block[yaws : yaws + size : LANES],
            lowest,
            highest,
            block[out : out + size : LANES],
        )
        set1(block, PLATFORM_ROW, PLATFORM.is_saturated, lane, choose(saturated, 1.0, 0.0))
    for n in range(count):
        rotor = rotor_row(first, count, ROTOR_THRUSTS, 4 * n)
        _spin(block, aircraft_row(first, n), rotor, quat_at(coefficients, 4 * n), lanes)
    for lane in range(lanes[0], lanes[1]):
        is_free = get(block, PLATFORM_ROW, PLATFORM.is_saturated, lane) == 0.0
        made = get6(block, PLATFORM_ROW, PLATFORM.made, lane)
        U = select6(is_free, get6(block, PLATFORM_ROW, PLATFORM.wrench, lane), made)
        set6(block, PLATFORM_ROW, PLATFORM.made, lane, U)
        is_observed = get(block, PLATFORM_ROW, PLATFORM.is_observed, lane)
        set1(block, PLATFORM_ROW, PLATFORM.is_made_known, lane, choose(is_free, is_observed, 0.0))


@formula
def _lift(block: Array, row: Index, of_wrench: Six, lanes: Lanes) -> None:
    """A rotor's thrust of a part of the wrench."""
    for lane in range(lanes[0], lanes[1]):
        U = get6(block, PLATFORM_ROW, PLATFORM.wrench, lane)
        set1(block, row, 0, lane, dot6(of_wrench, U))


@formula
def _spin(block: Array, a: Index, rotor: Index, coefficients: Quat, lanes: Lanes) -> None:
    """The speeds of one aircraft's rotors."""
    for lane in range(lanes[0], lanes[1]):
        f = get4(block, rotor, 0, lane)
        speeds = (
            rotor_speed(f[0], coefficients[0]),
            rotor_speed(f[1], coefficients[1]),
            rotor_speed(f[2], coefficients[2]),
            rotor_speed(f[3], coefficients[3]),
        )
        set1(block, a, AIRCRAFT_COMMAND.thrust, lane, 0.0 + f[0] + f[1] + f[2] + f[3])
        set4(block, a, AIRCRAFT_COMMAND.rpm, lane, speeds)

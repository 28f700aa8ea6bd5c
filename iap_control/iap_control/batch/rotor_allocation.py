# SPDX-License-Identifier: BSD-3-Clause
"""Allocation of a block's wrenches to rotors of rigid platforms; formulas as in `allocate_to_rotors`."""

from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.vectored_allocation import rotor_speed
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
    choose,
    chosen6,
    dot6,
    formula,
    quat_at,
    six_of_row,
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
        U = chosen6(is_free, get6(block, PLATFORM_ROW, PLATFORM.wrench, lane), made)
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

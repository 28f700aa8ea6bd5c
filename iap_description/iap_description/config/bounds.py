# SPDX-License-Identifier: BSD-3-Clause
"""Bounds on what files and messages may say of a flight: what lies beyond is a mistake, and is refused."""

from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput

MAX_SI_NUMBER = 1e6  # of any number in SI units: no flight, indoors or out, has more; its square is still a number
LARGEST_NUMBER = (
    1e15  # of a configuration, and the least above zero: products of several remain numbers
)
LEAST_POSITIVE = 1e-30
MAX_DEGREES = 3.6e5  # of an angle, or of a rate in a second: a thousand turns, which a double resolves to 1e-10 rad
MAX_LEVER = 1e3  # of what is mounted on a body, along each axis: no body is as large [m]
MAX_COUNT = 2**31 - 1  # of anything
MAX_SEED = 2**62  # of a run: those that count on from it are numbers of 64 bits, too
MIN_RATE, MAX_RATE = 1e-3, 1e6  # of any loop or sensor [Hz]
MAX_DELAY = 10.0  # of commands and readings, which wait in memory meanwhile [s]
MAX_TABLE = 1 << 30  # bytes of numbers that are made ahead of a flight or for a training
NORM_TOLERANCE = 1e-3  # by which the square of a unit quaternion's length may be off


def check_size(key: str, count: float, numbers: float) -> None:
    """Refuse a table before memory is asked for.

    Args:
        key: of the configuration that says how many, for the error.
        count: rows.
        numbers: of 8 bytes, in each.

    Raises:
        BadInput: it would take more than `MAX_TABLE`.
    """
    size = 8.0 * count * numbers
    if not size <= MAX_TABLE:
        raise BadInput(
            f"key '{key}': takes {size / (1 << 20):.0f} MiB of memory, at most {MAX_TABLE >> 20} MiB can be had"
        )


@njit(cache=True)
def are_plausible(values: Array) -> bool:
    """True if all numbers (n,) are finite, and none is beyond `MAX_SI_NUMBER`."""
    for value in values:  # noqa: SIM110 - compiled, a loop is faster
        if not abs(value) <= MAX_SI_NUMBER:
            return False
    return True


@njit(cache=True)
def is_unit(q: Array) -> bool:
    """True if a quaternion (4,) has unit length, but for `NORM_TOLERANCE`."""
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    return abs(square - 1.0) < NORM_TOLERANCE


@njit(cache=True)
def first_odd(numbers: Array, indices: Integers, quaternions: Integers) -> int:
    """Place of the first number that is not plausible, or of a quaternion that is none of unit length; else -1.

    Args:
        numbers: any.
        indices: (n,) of those that count.
        quaternions: (m,) places of the first of four numbers each.
    """
    for place in indices:
        if not abs(numbers[place]) <= MAX_SI_NUMBER:
            return place
    for place in quaternions:
        if not is_unit(numbers[place : place + 4]):
            return place
    return -1

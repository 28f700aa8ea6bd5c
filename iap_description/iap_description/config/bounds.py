# SPDX-License-Identifier: BSD-3-Clause
"""Bounds on what files and messages may say of a flight: what lies beyond is a mistake, and is refused."""

from numba import njit

from iap_description.arrays import Array, Integers

MAX_SI_NUMBER = 1e6  # of any number in SI units: no flight, indoors or out, has more; its square is still a number
NORM_TOLERANCE = 1e-3  # by which the square of a unit quaternion's length may be off


@njit(cache=True)
def are_plausible(values: Array) -> bool:
    """Whether all numbers (n,) are finite, and none is beyond `MAX_SI_NUMBER`."""
    for value in values:  # noqa: SIM110 - compiled, a loop is faster
        if not abs(value) <= MAX_SI_NUMBER:
            return False
    return True


@njit(cache=True)
def is_unit(q: Array) -> bool:
    """Whether a quaternion (4,) has unit length, but for `NORM_TOLERANCE`."""
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

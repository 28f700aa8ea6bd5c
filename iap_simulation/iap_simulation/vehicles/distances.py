# SPDX-License-Identifier: BSD-3-Clause
"""The distance from its reference at which a flight of a vehicle has failed."""

from iap_description.arrays import Array

MAX_DISTANCE = 10.0  # from the reference, along an axis [m]


def is_far(row: Array, reference: Array) -> bool:
    """True if a body's row (3+) is further than `MAX_DISTANCE` from a reference row (3+) along an axis."""
    x, y, z = row[:3].tolist()  # plain numbers: numpy's own cost more than what is done with them
    a, b, c = reference[:3].tolist()
    return max(abs(x - a), abs(y - b), abs(z - c)) > MAX_DISTANCE


def too_far(name: str) -> str:
    """The sentence on a vehicle whose flight ends for that."""
    return f"{name} is more than {MAX_DISTANCE:.0f} m from its reference"

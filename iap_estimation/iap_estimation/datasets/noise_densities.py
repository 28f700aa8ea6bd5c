# SPDX-License-Identifier: BSD-3-Clause
"""Noise densities of inertial units that data sets name, and those that no unit has.

A simulator's perfect unit, or a file that nobody filled in, says zero: a filter would go by the inertial unit alone.
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_estimation.navigation.fleet_data import MEMS, MIN_DENSITIES

MAX_DENSITIES: Array = np.array([0.2, 2.0, 0.1, 1.0])  # of units that are worth their weight


class Density(NamedTuple):
    """A density's key in a file ``sensor.yaml``, and its unit."""

    key: str
    unit: str


DENSITIES = (  # in the order of `AircraftData.noise`
    Density("gyroscope_noise_density", "rad/s/sqrt(Hz)"),
    Density("accelerometer_noise_density", "m/s^2/sqrt(Hz)"),
    Density("gyroscope_random_walk", "rad/s^2/sqrt(Hz)"),
    Density("accelerometer_random_walk", "m/s^3/sqrt(Hz)"),
)


def plausible(densities: Array, source: str) -> tuple[Array, str | None]:
    """Densities (4,) with a small MEMS unit's in place of those that no unit has, and what the user should know of it.

    Args:
        densities: gyroscope, accelerometer, walks of their biases.
        source: file to name.
    """
    is_odd = ~((densities >= MIN_DENSITIES) & (densities <= MAX_DENSITIES))
    if not is_odd.any():
        return densities, None
    usable = np.where(is_odd, MEMS, densities)
    each = ", ".join(
        f"{DENSITIES[i].key} {densities[i]:g}: {usable[i]:g} {DENSITIES[i].unit}"
        for i in np.flatnonzero(is_odd)
    )
    return (
        usable,
        f"{source}: no inertial unit has such noise, a small MEMS unit's is taken: {each}",
    )

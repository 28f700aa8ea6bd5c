# SPDX-License-Identifier: BSD-3-Clause
"""Maps from a wrench to thrusts of least norm, each thrust counted by what its aircraft or rotor can still lift."""

from collections.abc import Sequence

import numpy as np

from iap_control.allocation.actuation import Thrusters
from iap_control.allocation.allocation import minimum_norm
from iap_control.allocation.thrust_directions import COLUMNS, CROSSED, thrust_directions
from iap_description.arrays import Array
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.health import Health


def thrust_strengths(fleet: Sequence[Aircraft], health: Health) -> Array:
    """(N,) largest thrust of what is left of each aircraft in shares of a sound first one's."""
    highest = np.array([aircraft.thrust_limits[1] for aircraft in fleet])
    return np.asarray(highest / highest[0] * health.aircraft, dtype=np.float64)


def rotor_strengths(fleet: Sequence[Aircraft], health: Health) -> Array:
    """Largest thrust of each rotor, c_f n_max^2 times its health, over that of the first aircraft's: (4N,), no unit."""
    highest = np.array([aircraft.rotor.c_f * aircraft.rotor.rpm_max**2 for aircraft in fleet])
    shares = np.repeat(highest / highest[0], 4) * health.rotors.ravel()
    return np.asarray(shares, dtype=np.float64)


def least_norm(B: Array, strengths: Array) -> Array:
    """The solution f of B f = U with the least sum of (f_i / strength_i)^2, as a matrix on U.

    Equal strengths of 1 leave iap_simulator eq. (17), the Moore-Penrose inverse.
    """
    return strengths[:, None] * minimum_norm(B * strengths)


def thrust_vectors(B: Array, thrusters: Thrusters, strengths: Array) -> Array:
    """The map (3N, 6) from a wrench to thrust vectors of least norm.

    The thrust of an aircraft that does not turn freely has one direction, or two: its part of the map has as many
    columns.
    """
    swings = thrusters.swings
    if (swings >= CROSSED).all():
        return least_norm(B, np.repeat(strengths, 3))
    E = thrust_directions(thrusters.q_PB, swings, thrusters.axes)
    weights = np.repeat(strengths, [COLUMNS[kind] for kind in swings.tolist()])
    return E @ least_norm(B @ E, weights)

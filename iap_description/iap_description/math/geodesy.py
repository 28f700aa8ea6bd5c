# SPDX-License-Identifier: BSD-3-Clause
r"""Places on the ellipsoid WGS 84 and in a plane that touches it [NIMA TR8350.2, "WGS 84", 2000, ch. 3 and 4].

With the prime vertical's radius :math:`N = a / \sqrt{1 - e^2 \sin^2 \varphi}`, a place of latitude :math:`\varphi`,
longitude :math:`\lambda` and height h is, in axes that are fixed to the Earth,

.. math:: ((N + h) \cos\varphi \cos\lambda,\; (N + h) \cos\varphi \sin\lambda,\; (N (1 - e^2) + h) \sin\varphi) .

Back it is found by fixed-point steps, each of which makes the error 300 times smaller.
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array

SEMI_MAJOR, FLATTENING = 6_378_137.0, 1.0 / 298.257223563  # a [m]
ECCENTRICITY_2 = FLATTENING * (2.0 - FLATTENING)  # e^2
STEPS = 8  # down to the last bit


class Geodetic(NamedTuple):
    """A place.

    Attributes:
        latitude: [deg], to the north.
        longitude: [deg], to the east.
        altitude: above the ellipsoid [m].
    """

    latitude: float
    longitude: float
    altitude: float


def geodetic(p_W: Array, datum: Geodetic) -> Geodetic:
    """The place of a point (3,) [m], east, north and up of a datum."""
    x, y, z = _earth_fixed(datum) + _axes(datum).T @ p_W
    level = float(np.hypot(x, y))
    latitude = float(np.arctan2(z, level * (1.0 - ECCENTRICITY_2)))
    for _ in range(STEPS):
        sine = np.sin(latitude)
        radius = SEMI_MAJOR / np.sqrt(1.0 - ECCENTRICITY_2 * sine**2)
        latitude = float(np.arctan2(z + ECCENTRICITY_2 * radius * sine, level))
    sine, cosine = np.sin(latitude), np.cos(latitude)
    root = np.sqrt(1.0 - ECCENTRICITY_2 * sine**2)
    altitude = level * cosine + z * sine - SEMI_MAJOR * root
    return Geodetic(
        float(np.degrees(latitude)), float(np.degrees(np.arctan2(y, x))), float(altitude)
    )


def local(place: Geodetic, datum: Geodetic) -> Array:
    """The point (3,) [m] of a place, east, north and up of a datum."""
    return np.asarray(_axes(datum) @ (_earth_fixed(place) - _earth_fixed(datum)))


def _earth_fixed(place: Geodetic) -> Array:
    latitude, longitude = np.radians([place.latitude, place.longitude])
    radius = SEMI_MAJOR / np.sqrt(1.0 - ECCENTRICITY_2 * np.sin(latitude) ** 2)
    level = (radius + place.altitude) * np.cos(latitude)
    height = (radius * (1.0 - ECCENTRICITY_2) + place.altitude) * np.sin(latitude)
    return np.array([level * np.cos(longitude), level * np.sin(longitude), height])


def _axes(datum: Geodetic) -> Array:
    """Rows east, north and up of a datum, in axes that are fixed to the Earth."""
    latitude, longitude = np.radians([datum.latitude, datum.longitude])
    s, c, sl, cl = np.sin(latitude), np.cos(latitude), np.sin(longitude), np.cos(longitude)
    return np.array([[-sl, cl, 0.0], [-s * cl, -s * sl, c], [c * cl, c * sl, s]])

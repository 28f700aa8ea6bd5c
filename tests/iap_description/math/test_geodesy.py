# SPDX-License-Identifier: BSD-3-Clause
"""Places on the ellipsoid against lengths that are printed, and there and back."""

import numpy as np
import pytest

from iap_description.math.geodesy import Geodetic, geodetic, local

ZURICH = Geodetic(47.397742, 8.545594, 488.0)
PLACES = [
    ZURICH,
    Geodetic(0.0, 0.0, 0.0),
    Geodetic(-33.9, 151.2, 20.0),
    Geodetic(78.2, -15.6, 5.0),
]


@pytest.mark.parametrize(
    ("latitude", "metres"), [(0.0, 110_574.0), (45.0, 111_132.0), (75.0, 111_618.0)]
)
def test_a_degree_of_latitude_is_as_long_as_printed(latitude, metres):
    """TR8350.2: lengths of a degree of the meridian about a latitude."""
    south, north = (Geodetic(latitude + half, 10.0, 0.0) for half in (-0.5, 0.5))
    chord = np.linalg.norm(local(north, south))
    assert chord == pytest.approx(metres, abs=5.0)


@pytest.mark.parametrize("datum", PLACES)
def test_points_there_and_back_keep_a_micrometre(datum):
    rng = np.random.default_rng(0)
    for p in rng.uniform(-5000.0, 5000.0, (20, 3)):
        np.testing.assert_allclose(local(geodetic(p, datum), datum), p, atol=1e-6)


def test_east_north_and_up_are_what_they_say():
    east, north, up = (geodetic(1000.0 * axis, ZURICH) for axis in np.eye(3))
    assert east.longitude > ZURICH.longitude
    assert east.latitude == pytest.approx(ZURICH.latitude, abs=1e-5)
    assert north.latitude > ZURICH.latitude
    assert north.longitude == pytest.approx(ZURICH.longitude, abs=1e-9)
    assert up.altitude == pytest.approx(ZURICH.altitude + 1000.0, abs=1e-6)

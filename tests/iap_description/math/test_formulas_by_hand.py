# SPDX-License-Identifier: BSD-3-Clause
"""Saturation, second-order steps, light, air and the Earth by numbers that are worked out by hand or printed."""

import numpy as np
import pytest
from numba import njit
from scipy.linalg import expm

from iap_description.math.atmosphere import standard_pressure
from iap_description.math.geodesy import Geodetic, geodetic, local
from iap_description.math.saturation import (
    share_out,
    share_out_four,
    share_within,
    without_rounding,
)
from iap_description.math.second_order import transition
from iap_description.math.srgb import decoded, encoded

TURN = np.array([1.0, -1.0, 1.0, -1.0])
YAW = np.array([0.5, 0.25, -0.5, -0.25])
LOWEST, HIGHEST = np.full(4, 0.5), np.full(4, 10.5)
FIT_IN = [
    (5.0, TURN, YAW, [6.5, 4.25, 5.5, 3.75], False),
    (5.5, 8.0 * TURN, 0.0 * YAW, [10.5, 0.5, 10.5, 0.5], True),  # 5/8 of the torque
    (5.5, 8.0 * TURN, YAW, [10.5, 0.5, 10.5, 0.5], True),  # no room for yaw
    (9.5, 2.0 * TURN, 0.0 * YAW, [10.5, 6.5, 10.5, 6.5], True),  # thrust goes down
    (1.5, 2.0 * TURN, 0.0 * YAW, [4.5, 0.5, 4.5, 0.5], True),  # thrust goes up
    (9.0, TURN, 2.0 * YAW, [10.5, 8.25, 9.5, 7.75], True),  # half of the yaw by the highest
]


@njit
def of_four(lift, tilt, yaw, lowest, highest):
    return share_out_four(lift, tilt, yaw, lowest, highest)


@pytest.mark.parametrize(("lift", "tilt", "yaw", "expected", "is_short"), FIT_IN)
def test_thrusts_keep_roll_and_pitch_then_thrust_then_yaw(lift, tilt, yaw, expected, is_short):
    out = np.zeros(4)
    assert share_out(np.full(4, lift), tilt, yaw, LOWEST, HIGHEST, out) == is_short
    np.testing.assert_allclose(out, expected, rtol=1e-14)
    four = of_four(lift, tuple(tilt.tolist()), tuple(yaw.tolist()), 0.5, 10.5)
    np.testing.assert_allclose(four, expected, rtol=1e-14)


def test_yaw_is_shared_by_the_rotor_with_the_least_room():
    """Rotor 2 may fall by 0.75 of the 1 that its yaw asks for, rotor 3 by 0.25 of 0.5: half of all yaw is left."""
    out = np.zeros(4)
    assert share_out(np.full(4, 1.0), 0.25 * TURN, 2.0 * YAW, LOWEST, HIGHEST, out)
    np.testing.assert_allclose(out, [1.75, 1.0, 0.75, 0.5], rtol=1e-14)


def test_a_rotor_that_does_not_turn_leaves_the_others_their_limits():
    lift, highest = np.array([5.0, 0.0, 5.0]), np.array([8.0, 0.0, 9.0])
    tilt, out = np.array([2.0, 0.0, -2.0]), np.full(3, 7.0)
    assert not share_out(lift, tilt, np.zeros(3), np.zeros(3), highest, out)
    np.testing.assert_allclose(out, [7.0, 0.0, 3.0])
    assert share_out(np.array([7.0, 0.0, 7.0]), tilt, np.zeros(3), np.zeros(3), highest, out)
    np.testing.assert_allclose(out, [8.0, 0.0, 4.0])  # by the highest of those that turn
    assert share_out(np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), out)
    np.testing.assert_array_equal(out, 0.0)  # none turns: all was given up


@njit
def of_share(base, part, limit, lowest):
    return share_within(base, part, limit, lowest)


@pytest.mark.parametrize(
    ("base", "part", "limit", "lowest", "share"),
    [
        ((0.0, 0.0, 3.0), (0.0, 4.0, 0.0), 5.0, 0.25, 1.0),
        ((0.0, 0.0, 3.0), (0.0, 4.0, 0.0), np.hypot(3.0, 2.0), 0.25, 0.5),
        ((0.0, 0.0, 3.0), (0.0, 4.0, 0.0), np.hypot(3.0, 0.4), 0.25, 0.25),
        ((0.0, 0.0, 3.0), (0.0, 4.0, 0.0), 2.0, 0.25, 0.25),
        ((3.0, 0.0, 0.0), (4.0, 0.0, 0.0), 5.0, 0.0, 0.5),
        ((3.0, 0.0, 0.0), (-1.0, 0.0, 0.0), 2.5, 0.0, 1.0),
        ((3.0, 0.0, 0.0), (-8.0, 0.0, 0.0), 4.0, 0.0, 0.875),
    ],
)
def test_the_largest_share_that_a_limit_of_thrust_leaves(base, part, limit, lowest, share):
    assert of_share(base, part, limit, lowest) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize(
    ("short", "left"), [(0.9e-9, 0.0), (-0.9e-9, 0.0), (1.05e-9, 1.05e-9), (-2e-9, -2e-9)]
)
def test_a_lack_below_a_billionth_is_rounding(short, left):
    assert without_rounding(short) == left


@pytest.mark.parametrize("damping", [0.3, 0.999, 1.0, 1.001, 2.5])
def test_a_step_of_second_order_is_the_exponential_of_its_matrix(damping):
    frequency, dt = 7.0, 0.13
    a = np.array([[0.0, 1.0], [-(frequency**2), -2.0 * damping * frequency]])
    np.testing.assert_allclose(transition(frequency, damping, dt), expm(a * dt), rtol=1e-9)


def test_light_and_levels_of_srgb_are_those_of_the_standard():
    """IEC 61966-2-1: straight below 0.0031308, where both pieces meet at a level of 0.04045."""
    light = np.array([0.0, 0.001, 0.0031308, 0.2140411, 0.5, 1.0])
    levels = np.array([0.0, 0.01292, 0.04045, 0.5, 0.7353570, 1.0])
    np.testing.assert_allclose(encoded(light), levels, atol=2e-6)
    np.testing.assert_allclose(decoded(levels), light, atol=2e-6)
    below, above = decoded(np.array([0.0404, 0.0405]))
    assert below == pytest.approx(0.0404 / 12.92, rel=1e-12)
    assert above == pytest.approx(((0.0405 + 0.055) / 1.055) ** 2.4, rel=1e-12)
    below, above = encoded(np.array([0.00313, 0.00314]))
    assert below == pytest.approx(12.92 * 0.00313, rel=1e-12)
    assert above == pytest.approx(1.055 * 0.00314 ** (1.0 / 2.4) - 0.055, rel=1e-12)


def test_pressures_are_those_of_the_standard_atmosphere():
    """ICAO Doc 7488, table of altitudes: 0, 1000, 5000 and 11000 m."""
    found = standard_pressure([0.0, 1000.0, 5000.0, 11000.0])
    np.testing.assert_allclose(found, [101_325.0, 89_874.6, 54_019.9, 22_632.0], rtol=2e-5)
    assert standard_pressure([44_331.0, 1e6]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("longitude", [0.0, 30.0, -120.0])
def test_a_place_at_45_degrees_is_where_tables_have_it(longitude):
    """WGS 84, 1000 m above 45 deg north: 4 518 297.986 m off the axis and 4 488 055.516 m above the equator."""
    off, above = 4_517_590.879 + 707.107, 4_487_348.409 + 707.107
    angle = np.radians(longitude)
    expected = [off * np.sin(angle), above, off * np.cos(angle) - 6_378_137.0]
    place, datum = Geodetic(45.0, longitude, 1000.0), Geodetic(0.0, 0.0, 0.0)
    np.testing.assert_allclose(local(place, datum), expected, atol=2e-3)
    found = geodetic(local(place, datum), datum)
    np.testing.assert_allclose(found, place, atol=1e-9, rtol=1e-12)


def test_a_datum_has_its_own_east_north_and_up():
    datum = Geodetic(45.0, 90.0, 0.0)
    east, north, up = (
        local(Geodetic(45.0, 90.001, 0.0), datum),
        local(Geodetic(45.001, 90.0, 0.0), datum),
        local(Geodetic(45.0, 90.0, 50.0), datum),
    )
    np.testing.assert_allclose(east, [4_517_590.879 * np.radians(0.001), 0.0, 0.0], atol=2e-3)
    np.testing.assert_allclose(north, [0.0, 111.132, 0.0], atol=2e-3)
    np.testing.assert_allclose(up, [0.0, 0.0, 50.0], atol=1e-8)

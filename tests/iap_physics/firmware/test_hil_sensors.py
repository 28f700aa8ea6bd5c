# SPDX-License-Identifier: BSD-3-Clause
"""Rates and noise of the sensors that PX4 flies by."""

import numpy as np
import pytest

from iap_description.math.atmosphere import standard_pressure
from iap_description.math.geodesy import Geodetic, geodetic
from iap_physics.firmware.firmware import AircraftMotion
from iap_physics.firmware.px4.hil_sensors import HilSensors
from iap_physics.firmware.px4.mavlink import HIL_GPS, HIL_SENSOR, MavlinkParser, Sender
from iap_physics.firmware.settings import Px4Settings

SEED = 5
NORTH = (0.0, 0.0, 0.5**0.5, 0.5**0.5)  # the nose looks there
MOTION = AircraftMotion(
    (0.1, 0.2, 0.3), (1.0, 2.0, 9.8), (40.0, -30.0, 12.0), NORTH, (-0.3, 0.4, 0.5)
)
NOISY = {
    "gyro_noise": 0.0,
    "accelerometer_noise": 0.0,
    "magnetometer_noise": 3e-6,
    "barometer_noise": 24.0,
    "position_noise": 8.0,
    "velocity_noise": 0.2,
    "altitude": 100.0,
    "magnetic_field": (2e-5, 3e-5, -4e-5),
}


def exchanged(settings, *motions):
    """HIL_SENSOR of each exchange, and the stamps and values of all HIL_GPS."""
    sensors, sender = HilSensors(settings, np.random.default_rng(SEED)), Sender()
    parser, inertial, fixes = MavlinkParser(), [], []
    for k, motion in enumerate(motions):
        for message in parser.add(sensors.frames(sender, 1000 * (k + 1), motion)):
            is_fix = message.number == HIL_GPS.number
            (fixes if is_fix else inertial).append(
                message.values(HIL_GPS if is_fix else HIL_SENSOR)
            )
    return np.array(inertial), fixes


@pytest.mark.parametrize(
    ("rate", "every"), [(250.0, (2, 5, 50)), (1000.0, (10, 20, 200)), (40.0, (1, 1, 8))]
)
def test_each_sensor_is_told_at_its_rate_from_the_first_exchange_on(rate, every):
    count = 2 * every[2] + 1
    told, fixes = exchanged(Px4Settings(rate_hz=rate, **NOISY), *[MOTION] * count)
    bits = told[:, 14].astype(int)
    for mask, n in ((0x3F, 1), (0x1C0, every[0]), (0x1A00, every[1])):
        has = (bits & mask) == mask
        assert np.flatnonzero(has).tolist() == list(range(0, count, n))
        assert np.all((bits[~has] & mask) == 0)
    assert [values[0] for values in fixes] == [1000 * (k * every[2] + 1) for k in range(3)]
    assert told[:, 0].tolist() == [1000.0 * (k + 1) for k in range(count)]
    assert np.all(told[:, 13] == 25.0) and np.all(told[:, 11] == 0.0)
    assert np.all(told[:, 15] == 0.0)


def test_values_between_two_samples_of_a_sensor_stay():
    higher = MOTION._replace(p_WB_W=(0.0, 0.0, 50.0), q_WB=(0.0, 0.0, 0.0, 1.0))
    told, _ = exchanged(Px4Settings(**NOISY), MOTION, *[higher] * 5)
    field, pressure, altitude = told[:, 7:10], told[:, 10], told[:, 12]
    assert np.array_equal(field[0], field[1]) and np.array_equal(field[2], field[3])
    assert not np.any(field[1] == field[2])
    assert len(set(pressure[:5])) == len(set(altitude[:5])) == 1
    assert pressure[5] < pressure[4] and altitude[5] > altitude[4]


def test_noise_of_slow_sensors_is_white_with_its_deviations():
    """Draws of the generator in their order: the field's three, the pressure's, the receiver's six."""
    settings = Px4Settings(**NOISY)
    draws = np.random.default_rng(SEED).standard_normal(10)
    (told,), (fix,) = exchanged(settings, MOTION)
    forward, left, up = np.array((3e-5, -2e-5, -4e-5)) + 3e-6 * draws[:3]
    np.testing.assert_allclose(told[7:10], np.array((forward, -left, -up)) / 1e-4, rtol=1e-6)
    off = 24.0 * draws[3]
    assert told[10] == pytest.approx((float(standard_pressure(112.0)) + off) / 100.0, rel=1e-6)
    assert told[12] == pytest.approx(112.0 - off / 12.0, rel=1e-6)
    datum = Geodetic(settings.latitude_deg, settings.longitude_deg, 100.0)
    place = geodetic(np.array(MOTION.p_WB_W) + 8.0 * draws[4:7], datum)
    assert fix[1:4] == (
        round(place.latitude * 1e7),
        round(place.longitude * 1e7),
        round(place.altitude * 1e3),
    )
    east, north, up = np.array(MOTION.v_WB_W) + 0.2 * draws[7:]
    course = np.degrees(np.arctan2(east, north)) % 360.0
    assert fix[4:] == (
        30, 30, round(100 * np.hypot(east, north)), round(100 * north), round(100 * east),
        round(-100 * up), round(100 * course), 3, 12, 0, 0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("v", "course"), [((1.0, 0.0, 0.0), 9000), ((-1.0, 0.0, 0.0), 27_000), ((-1e-6, 1.0, 0.0), 0)]
)
def test_a_course_is_clockwise_from_north_and_below_a_full_turn(v, course):
    _, (fix,) = exchanged(
        Px4Settings(**{**NOISY, "velocity_noise": 0.0}), MOTION._replace(v_WB_W=v)
    )
    assert fix[10] == course


def test_inertial_noise_is_the_aircrafts():
    noisy = Px4Settings(**{**NOISY, "gyro_noise": 0.1, "accelerometer_noise": 0.2})
    (quiet,), _ = exchanged(Px4Settings(**NOISY), MOTION)
    (loud,), _ = exchanged(noisy, MOTION)
    assert quiet[1:7].tolist() == pytest.approx([1.0, -2.0, -9.8, 0.1, -0.2, -0.3])
    assert np.all(loud[1:7] != quiet[1:7]) and np.abs(loud[1:7] - quiet[1:7]).max() < 1.0

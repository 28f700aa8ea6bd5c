# SPDX-License-Identifier: BSD-3-Clause
"""Messages of sensors become readings once each, in the run that they belong to."""

import numpy as np
import pytest

from iap_bringup.nodes.sensor_log import SensorLog
from iap_description.sensors.readings import ImuReading, MagneticReading, SensorSource
from iap_description.sensors.sensor_info import ImuInfo, MagnetometerInfo
from iap_io.sensor_messages.sensor_messages import encoder

PLACE = {
    "frame": "iap/drone_1_imu",
    "parent": "iap/drone_1",
    "p_BS_B": (0.0, 0.0, 0.0),
    "q_BS": (0.0, 0.0, 0.0, 1.0),
    "rate": 200.0,
}
NOISE = dict.fromkeys(("gyro_noise", "gyro_walk", "accel_noise", "accel_walk"), 0.1)
UNIT = ImuInfo(topic="/iap/drone_1/imu", **PLACE, **NOISE, has_bias=True)
MAGNETOMETER = MagnetometerInfo(topic="/iap/drone_1/mag", **PLACE, deviation=1e-6)
MAG, IMU, BIAS = "/iap/drone_1/mag", "/iap/drone_1/imu", "/iap/drone_1/imu/true_bias"
PERIOD = 5_000_000  # [ns]


@pytest.fixture
def heard():
    return []


@pytest.fixture
def log(heard):
    return SensorLog([UNIT, MAGNETOMETER], heard.append)


def mag(k):
    reading = MagneticReading(
        SensorSource(MAG, PLACE["frame"]), 0.005 * k, np.array([k, 0.0, 1.0])
    )
    return next(b"".join(parts) for _, parts in encoder(MAGNETOMETER)(reading))


def unit(k):
    values = np.random.default_rng(k).normal(size=(4, 3))
    reading = ImuReading(
        SensorSource(IMU, PLACE["frame"]), 0.005 * k, values[0], values[1], None, *values[2:]
    )
    return reading, {name: b"".join(parts) for name, parts in encoder(UNIT)(reading)}


def test_what_comes_again_counts_once(log, heard):
    for k in (0, 0, 1, 1, 2):
        log.put(MAG, mag(k))
    assert [reading.field_S[0] for reading in heard] == [0.0, 1.0, 2.0]
    assert log.missing == {IMU, BIAS}


@pytest.mark.parametrize("order", [(IMU, BIAS), (BIAS, IMU)])
def test_samples_find_their_biases_in_whatever_order_they_come(log, heard, order):
    sent = [unit(k) for k in (1, 2)]
    for name in order:  # all of one topic before any of the other
        for _, parts in sent:
            log.put(name, parts[name])
    assert len(heard) == 2
    for (reading, _), got in zip(sent, heard, strict=True):
        np.testing.assert_array_equal(got.f_S, reading.f_S)
        np.testing.assert_array_equal(got.accel_bias, reading.accel_bias)


def test_all_has_come_once_every_topic_is_less_than_a_period_behind(log):
    for k in (1, 2):
        for name, data in unit(k)[1].items():
            log.put(name, data)
    log.put(MAG, mag(1))
    assert log.has_all(PERIOD)
    assert not log.has_all(2 * PERIOD)
    log.put(MAG, mag(2))
    assert log.has_all(2 * PERIOD)
    assert log.has_all(3 * PERIOD - 1)


def test_after_a_reset_only_the_new_time_counts(log, heard):
    for k in (0, 1, 2):
        log.put(MAG, mag(k))
    log.reset()
    heard.clear()
    for k in (2, 2, 3, 4, 0, 1, 2, 3):  # some were still on their way
        log.put(MAG, mag(k))
    assert [reading.field_S[0] for reading in heard] == [0.0, 1.0, 2.0, 3.0]


def test_what_tells_of_the_new_time_before_the_reset_is_known_waits_for_it(log, heard):
    for k in (0, 1, 2, 0, 1):
        log.put(MAG, mag(k))
    assert [reading.field_S[0] for reading in heard] == [0.0, 1.0, 2.0]
    heard.clear()
    log.reset()
    log.put(MAG, mag(2))
    assert [reading.field_S[0] for reading in heard] == [0.0, 1.0, 2.0]


def test_a_reset_after_the_first_reading_loses_nothing(log, heard):
    log.put(MAG, mag(0))
    log.reset()
    heard.clear()
    for k in (0, 0, 1):
        log.put(MAG, mag(k))
    assert [reading.field_S[0] for reading in heard] == [0.0, 1.0]

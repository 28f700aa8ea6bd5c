# SPDX-License-Identifier: BSD-3-Clause
"""Noise of inertial units at rest and their vibration in the air, from logs of known noise."""

from pathlib import Path

import numpy as np
import pytest

from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_simulation.identification.rotorcraft.imu_noise import _at_rest, imu_noise

RATE, REST, FLIGHT = 100.0, 3.0, 4.0  # [Hz], [s], [s]
AT_REST, IN_THE_AIR = "gyroscope noise at rest", "gyroscope vibration"


def log_of(gyro: np.ndarray, rest: float = REST, rate: float = RATE) -> FlightLog:
    """A log at whose beginning the vehicle stands, and then is in the air until its end."""
    t = np.arange(len(gyro)) / rate
    landed = np.where(t < rest - 0.5 / rate, 1.0, 0.0)[:, None]
    made = {names.GYROSCOPE: gyro, names.LANDED: landed}
    return FlightLog(
        Path("log.ulg"), "ULog", "PX4", {k: Signal(t, x, k, UNITS[k]) for k, x in made.items()}
    )


def rested(seconds: float, deviation: float, seed: int = 1, rate: float = RATE) -> np.ndarray:
    """Rates of a unit at rest, and then of one in the air that shakes by 0.4 rad/s at a quarter of its rate."""
    rng = np.random.default_rng(seed)
    still = rng.normal([0.01, -0.02, 0.03], deviation, (round(seconds * rate), 3))
    flown = np.zeros((round(FLIGHT * rate), 3))
    flown[:, 1] = np.tile([0.4, 0.0, -0.4, 0.0], len(flown) // 4)
    return np.concatenate([still, flown])


def test_the_noise_of_a_unit_is_within_its_interval_in_nineteen_of_twenty_logs():
    inside = 0
    for seed in range(300):
        found = imu_noise(log_of(rested(2.0, 0.004, seed), rest=2.0))[0][AT_REST]
        inside += abs(found.value - 0.004) < found.half_width
    assert found.half_width < 0.1 * found.value
    assert 0.92 < inside / 300 < 0.98


def test_offsets_and_a_slow_drift_are_no_noise():
    drift = np.zeros((round((REST + FLIGHT) * RATE), 3))
    drift[:, 0] = 0.02 * np.arange(len(drift)) / RATE
    gyro = rested(REST, 0.002) + drift
    found = imu_noise(log_of(gyro))[0][AT_REST]
    assert found.value == pytest.approx(0.002, rel=0.1)
    assert (found.unit, found.method) == ("rad/s", "differences at rest, at 100 Hz")


def test_the_quietest_two_seconds_before_the_flight_count():
    gyro = rested(5.0, 0.002)
    gyro[:200] += 0.1 * np.sin(np.arange(200))[:, None]  # as somebody carries it
    assert imu_noise(log_of(gyro, 5.0))[0][AT_REST].value == pytest.approx(0.002, rel=0.1)


@pytest.mark.parametrize(
    ("gyro", "rest"),
    [(rested(1.9, 0.002), 1.9), (rested(REST, 0.06), REST)],
    ids=["too short", "never at rest"],
)
def test_who_was_not_at_rest_for_two_seconds_has_no_noise(gyro, rest):
    found, refused = imu_noise(log_of(gyro, rest))
    assert refused[AT_REST] == "not at rest for 2 s before the flight"
    assert AT_REST not in found and found[IN_THE_AIR].value > 0.2
    assert refused["accelerometer noise at rest"] == "not logged"


def test_vibration_is_of_the_flight_and_needs_forty_samples_a_second():
    found = imu_noise(log_of(rested(REST, 0.002)))[0][IN_THE_AIR]
    kept = 0.4 * 1.2 / np.sqrt(2.0)  # less the mean of five samples, of which three are peaks
    assert found.value == pytest.approx(kept, rel=0.01)
    assert found.method == "in the air, above 20 Hz"
    assert IN_THE_AIR not in imu_noise(log_of(rested(REST, 0.002, rate=39.0), rate=39.0))[0]
    assert IN_THE_AIR in imu_noise(log_of(rested(REST, 0.002, rate=40.0), rate=40.0))[0]


def test_without_a_flight_the_whole_log_may_be_at_rest():
    still = rested(REST, 0.003)[: round(REST * RATE)]
    found, _ = imu_noise(log_of(still, rest=99.0))
    assert found[AT_REST].value == pytest.approx(0.003, rel=0.1) and IN_THE_AIR not in found


def test_the_quietest_two_seconds_before_the_flight_are_those_at_rest():
    """Of four seconds the last two are quieter; what comes behind the end does not count."""
    rng = np.random.default_rng(4)
    x = np.concatenate(
        [rng.normal(0.0, 0.01, (200, 3)), rng.normal(0.0, 0.002, (200, 3)), np.zeros((300, 3))]
    )
    signal = Signal(0.01 * np.arange(700), x, "gyro", "rad/s")
    np.testing.assert_array_equal(_at_rest(signal, 1.0, 4.0), x[200:400])
    assert _at_rest(signal, 1e-3, 4.0) is None  # it moves
    assert _at_rest(signal, 1.0, 1.99) is None
    np.testing.assert_array_equal(_at_rest(signal, 1.0, 2.0), x[:200])

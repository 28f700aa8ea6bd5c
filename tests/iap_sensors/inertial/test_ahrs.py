# SPDX-License-Identifier: BSD-3-Clause
"""The attitude estimate on the paper's inertial unit: in a flight with its accelerations, and by itself."""

import math

import numpy as np
import pytest
from flying import DT, GRAVITY, PHYSICS_HZ, Log, scenario_of

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.sensors.readings import InertialMounts
from iap_description.states import Q
from iap_physics.plant.inertial import InertialProbe
from iap_sensors.inertial import imu, magnetometer
from iap_sensors.inertial.ahrs import PRESETS, AttitudeFilter, AttitudeGains, Noise, _turn
from iap_sensors.inertial.imu import Imu, ImuSpec
from iap_sensors.inertial.magnetometer import Magnetometer, MagnetometerSpec
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
UP = np.array([0.0, 0.0, GRAVITY])
STILL = np.zeros(3)
DRONE = 1  # row of the aircraft whose unit is looked at
POINTING = 4  # control periods between samples of the magnetometer


def gains_of(preset="default", **changes):
    return validate(AttitudeGains, {**PRESETS.tree(preset), **changes}, source="test")


def compass_of(preset="default", seed=1):
    spec = validate(MagnetometerSpec, magnetometer.PRESETS.tree(preset), source=preset)
    return Magnetometer(spec, stream(seed, "mag"))


def roll_pitch_yaw_deg(q_WS):
    return np.rad2deg(so3.euler_from_matrix(so3.matrix_from_quaternion(q_WS)))


@pytest.fixture(scope="module")
def flight():
    """Both laps of the figure-eight in PyBullet: true rates and specific forces (T, 3), and attitudes (T + 1, 4)."""
    scenario = scenario_of("figure_eight", engine="pybullet")
    mounts = InertialMounts(np.array([DRONE]), np.zeros((1, 3)), LEVEL[None])
    rate = {"physics_hz": PHYSICS_HZ, "every": round(PHYSICS_HZ * DT)}
    probe = InertialProbe(mounts, **rate, sampling="integrating", gravity=GRAVITY)
    log = Log(0)
    with Simulation(Flight.of(scenario), probes=[probe]) as simulation:
        simulation.begin(observers=[log])
        simulation.fly()
    _, w, f = probe.take()
    return w[:, 0], f[:, 0], log.flown().x[:, DRONE, Q]


def errors_deg(flight, seed):
    """Errors (T, 3) of roll, pitch and yaw [deg] with the paper's unit."""
    w, f, true = flight
    spec = validate(ImuSpec, imu.PRESETS.tree("paper"), source="paper")
    samples = Imu(spec, 1.0 / DT, stream(seed, "imu"))(w, f)
    compass, estimator = compass_of(seed=seed), AttitudeFilter(gains_of(), DT)
    estimator.reset(true[0])
    seen = np.empty((len(w), 4))
    for k in range(len(w)):
        seen[k] = estimator(samples.w_S[k], samples.f_S[k])
        if (k + 1) % POINTING == 0:
            estimator.correct_heading(compass.measure(true[k + 1]))
    difference = roll_pitch_yaw_deg(seen) - roll_pitch_yaw_deg(true[1:])
    return np.remainder(difference + 180.0, 360.0) - 180.0


@pytest.fixture(scope="module")
def errors(flight):
    """(10, T, 3) of ten seeds."""
    return np.array([errors_deg(flight, seed) for seed in range(10)])


@pytest.mark.slow
@pytest.mark.parametrize(("duration", "bar"), [(30.0, 1.0), (96.0, 1.5)])
def test_roll_and_pitch_in_the_figure_eight_with_the_paper_s_noise(errors, duration, bar):
    """RMSE, mean of 10 seeds."""
    steps = round(duration / DT)
    assert errors.shape[1] >= steps
    rmse = np.sqrt(np.mean(errors[:, :steps, :2] ** 2, axis=1)).mean(axis=0)
    assert rmse.max() <= bar


@pytest.mark.slow
def test_heading_stays_within_degrees(errors):
    """The field is steep, so that a tilt that is off by 1 deg turns the heading by up to 1.7 deg."""
    assert np.sqrt(np.mean(errors[..., 2] ** 2)) < 3.0


@pytest.mark.slow
def test_the_deviation_that_it_claims_is_that_of_the_flight(errors):
    found = np.deg2rad(np.sqrt(np.mean(errors[..., :2] ** 2)))
    assert 0.5 < found / AttitudeFilter(gains_of(), DT).deviation < 1.2


def settled(estimator, seconds, w_S=STILL, f_S=UP):
    for _ in range(round(seconds / DT)):
        q_WS = estimator(w_S, f_S)
    return q_WS.copy()


def test_the_covariance_settles_at_that_deviation():
    estimator = AttitudeFilter(gains_of(), DT)
    settled(estimator, 120.0)
    tilt = np.sqrt(np.diag(estimator.covariance)[:2])
    np.testing.assert_allclose(tilt, estimator.deviation, rtol=0.02)


@pytest.mark.slow
def test_the_covariance_stays_symmetric_and_positive(flight):
    w, f, true = flight
    compass, estimator = compass_of(), AttitudeFilter(gains_of(), DT)
    estimator.reset(true[0])
    for k in range(4000):
        estimator(w[k], f[k])
        estimator.correct_heading(compass.measure(true[k + 1]))
    np.testing.assert_allclose(estimator.covariance, estimator.covariance.T, atol=1e-12)
    assert np.linalg.eigvalsh(estimator.covariance).min() > 0.0


def test_a_true_turn_is_followed_exactly():
    """Gyroscopes alone: a turn at a constant rate about a tilted axis, without anything to feel."""
    w_S, estimator = np.array([0.5, -1.0, 2.0]), AttitudeFilter(gains_of(), DT)
    q_WS = settled(estimator, 3.0, w_S, STILL)
    expected = so3.matrix_from_quaternion(so3.quaternion_exp(3.0 * w_S))
    np.testing.assert_allclose(so3.matrix_from_quaternion(q_WS), expected, atol=1e-9)


def test_gravity_brings_a_tilted_estimate_upright():
    estimator = AttitudeFilter(gains_of(attitude_deg=10.0), DT)
    estimator.reset(so3.quaternion_exp(np.radians([10.0, -8.0, 0.0])))
    assert np.abs(roll_pitch_yaw_deg(settled(estimator, 60.0))[:2]).max() < 0.2


def test_a_bias_of_the_gyroscopes_is_learnt():
    bias = np.array([0.01, -0.008, 0.006])
    estimator, field_S = AttitudeFilter(gains_of("mems"), DT), compass_of("perfect").measure(LEVEL)
    for _ in range(round(60.0 / DT)):
        estimator(bias, UP)
        estimator.correct_heading(field_S)
    np.testing.assert_allclose(estimator.bias, bias, atol=5e-4)


@pytest.mark.parametrize("yaw_deg", [20.0, -60.0, 179.0])
def test_a_compass_turns_the_heading_and_tilts_nothing(yaw_deg):
    true, compass = so3.quaternion_exp(np.array([0.2, -0.3, 1.0])), compass_of("perfect")
    wrong = so3.quaternion_exp(np.radians([0.0, 0.0, yaw_deg]))
    estimator = AttitudeFilter(gains_of(attitude_deg=30.0), DT)
    estimator.reset(so3.multiply(wrong, true))
    for _ in range(400):
        estimator.correct_heading(compass.measure(true))
    seen = estimator(STILL, STILL)
    np.testing.assert_allclose(roll_pitch_yaw_deg(seen), roll_pitch_yaw_deg(true), atol=0.1)
    up = so3.rotate(so3.conjugate(seen), UP)
    np.testing.assert_allclose(up, so3.rotate(so3.conjugate(true), UP), atol=1e-9)


def test_free_fall_says_nothing_of_the_vertical():
    tilted = so3.quaternion_exp(np.array([0.3, 0.2, 0.1]))
    estimator = AttitudeFilter(gains_of(), DT)
    estimator.reset(tilted)
    np.testing.assert_allclose(settled(estimator, 1.0, STILL, 0.01 * UP), tilted, atol=1e-12)


@pytest.mark.slow
def test_a_reset_filter_has_forgotten(flight):
    w, f, true = flight
    estimator = AttitudeFilter(gains_of(), DT)
    runs = []
    for _ in range(2):
        estimator.reset(true[0])
        runs.append([estimator(w[k], f[k]).copy() for k in range(200)])
    np.testing.assert_array_equal(*runs)


def test_the_default_filter_knows_the_default_magnetometer_s_declination():
    assert PRESETS.names() == ["default", "mems"]
    for name in PRESETS.names():
        given = magnetometer.PRESETS.tree("default")["declination_deg"]
        assert gains_of(name).declination_deg == given


@pytest.mark.parametrize(
    "changes",
    [{"gyro_noise": 0.0}, {"acceleration": -1.0}, {"heading_deg": math.nan}, {"gain": 1.0}],
)
def test_impossible_gains_are_refused_by_the_key_s_name(changes):
    with pytest.raises(BadInput, match=f"test: .*'{next(iter(changes))}'"):
        gains_of(**changes)


def test_a_turn_carries_the_covariance_into_the_turned_axes():
    dt, rate, bias = 0.1, np.array([2.0, -3.0, 5.0]), np.array([0.5, 0.4, -0.3])
    root = stream(1, "covariance").normal(size=(6, 6))
    before, q = root @ root.T, so3.quaternion_exp(np.array([0.3, 0.2, -0.4]))
    after, turned = before.copy(), q.copy()
    _turn(rate, turned, bias, after, Noise(dt, 0.2, 0.1, 1.0, 1.0))
    step = so3.quaternion_exp(dt * (rate - bias))
    F, Q_k = np.eye(6), np.diag([0.2] * 3 + [0.1] * 3)
    F[:3, :3], F[:3, 3:] = so3.matrix_from_quaternion(step).T, -dt * np.eye(3)
    np.testing.assert_allclose(after, F @ before @ F.T + Q_k, atol=1e-12)
    np.testing.assert_allclose(turned, so3.multiply(q, step), atol=1e-12)

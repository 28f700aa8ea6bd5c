# SPDX-License-Identifier: BSD-3-Clause
"""The autopilots' own attitude estimate: what its sensors, its weights and a flight's accelerations make of it."""

import math

import numpy as np
import pytest
from flying import gains_of
from pydantic import ValidationError

from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_physics.propulsion.attitude_estimator import (
    ACCELEROMETER_BIAS,
    ATTITUDE,
    BIAS,
    GYROSCOPE_BIAS,
    KEY,
    EstimatorNumbers,
    estimate,
    memory_size,
)

RATE, G = 500.0, 9.81
DT = 1.0 / RATE
QUIET = dict.fromkeys(
    ("gyroscope_noise", "gyroscope_bias", "accelerometer_noise", "accelerometer_bias",
     "magnetometer_noise", "velocity_noise"), 0.0,
)  # fmt: skip
FREE = {"velocity_hz": None}  # without a satellite receiver


def px4(sensors=QUIET, **changes):
    """Gains of an autopilot like PX4's, with changes of its estimator and of the sensors."""
    gains = gains_of("px4").autopilot
    own = gains.estimator
    sensors = own.sensors.model_copy(update=sensors)
    estimator = own.model_copy(update={"sensors": sensors, **changes})
    return gains.model_copy(update={"estimator": estimator})


class Watch:
    """An estimator that goes with a motion."""

    def __init__(self, gains, key=5.0):
        self.numbers, self.memory = EstimatorNumbers.of(gains, G), np.zeros(memory_size(gains))
        self.memory[KEY] = key

    def __call__(self, row):
        """Error of the attitude [rad], axes of the true body, and the estimated rate [rad/s]."""
        q, w = estimate(self.memory, row, self.numbers)
        return so3.quaternion_log(so3.multiply(so3.conjugate(row[Q]), np.array(q))), np.array(w)


def resting(q=(0.0, 0.0, 0.0, 1.0)):
    row = np.zeros(13)
    row[Q] = q
    return row


def circling(t, speed, turn):
    """Row at a time of a multirotor on a level circle at constant heading, whose thrust is along its z axis."""
    a = speed * turn
    row, phase = np.zeros(13), turn * t
    row[P] = speed / turn * np.array([math.cos(phase), math.sin(phase), 0.0])
    row[V] = speed * np.array([-math.sin(phase), math.cos(phase), 0.0])
    lean = math.atan2(a, G)  # towards the middle
    axis = np.array([math.sin(phase), -math.cos(phase), 0.0])
    row[Q] = so3.quaternion_exp(lean * axis)
    before, after = (so3.quaternion_exp(lean * turned(phase + s * 1e-4)) for s in (-1.0, 1.0))
    row[W] = so3.quaternion_log(so3.multiply(after, so3.conjugate(before))) * turn / 2e-4
    return row, lean


def turned(phase):
    return np.array([math.sin(phase), -math.cos(phase), 0.0])


def test_without_errors_an_aircraft_at_rest_is_estimated_as_it_is():
    q, watch = so3.quaternion_exp(np.array([0.3, -0.2, 1.0])), Watch(px4())
    errors = np.array([watch(resting(q))[0] for _ in range(2000)])
    np.testing.assert_allclose(errors, 0.0, atol=1e-9)


def test_an_accelerometers_bias_tilts_by_its_share_of_gravity_and_a_gyroscopes_is_found():
    watch = Watch(px4({**QUIET, "gyroscope_bias": 0.01, "accelerometer_bias": 0.05}))
    for _ in range(int(120.0 * RATE)):
        error, rate = watch(resting())
    a, w = watch.memory[ACCELEROMETER_BIAS:][:3], watch.memory[GYROSCOPE_BIAS:][:3]
    assert np.linalg.norm(a) > 0.02 and np.linalg.norm(w) > 0.004
    np.testing.assert_allclose(error[:2], np.array([a[1], -a[0]]) / G, rtol=0.02, atol=1e-5)
    np.testing.assert_allclose(watch.memory[BIAS:][:3], w, atol=1e-4)
    np.testing.assert_allclose(rate, 0.0, atol=1e-4)


@pytest.mark.parametrize(("axis", "weight"), [(0, 0.2), (2, 0.1)])
def test_an_error_fades_with_the_weights_time_constant(axis, weight):
    watch = Watch(px4(gyroscope_bias=0.0))
    watch(resting())
    watch.memory[ATTITUDE : ATTITUDE + 4] = so3.quaternion_exp(0.02 * np.eye(3)[axis])
    for _ in range(int(5.0 * RATE)):
        error, _ = watch(resting())
    assert error[axis] == pytest.approx(0.02 * math.exp(-5.0 * weight), rel=0.01)


@pytest.mark.parametrize(("speed", "turn"), [(0.5, 0.5), (0.3, 1.5)])
def test_thrust_pulls_the_estimate_of_an_aircraft_on_a_circle(speed, turn):
    """The pull is along the body's own z axis: s / (s + k) of the tilt is estimated, k / (s + k) is the error."""
    watch = Watch(px4(gyroscope_bias=0.0, magnetometer=0.0, **FREE))
    sizes = []
    for k in range(int(60.0 * RATE)):
        row, lean = circling(k * DT, speed, turn)
        error, _ = watch(row)
        sizes.append(np.linalg.norm(error[:2]))
    expected = lean * 0.2 / math.hypot(0.2, turn)
    assert np.mean(sizes[-int(20.0 * RATE) :]) == pytest.approx(expected, rel=0.03)


def test_velocities_tell_the_accelerations_but_for_their_lag():
    """A difference over T that is held for T is the acceleration of T before, in the mean."""
    speed, turn, period = 0.5, 0.5, 0.1
    watch, sizes = Watch(px4(gyroscope_bias=0.0, magnetometer=0.0)), []
    for k in range(int(60.0 * RATE)):
        row, lean = circling(k * DT, speed, turn)
        sizes.append(np.linalg.norm(watch(row)[0][:2]))
    pulled = lean * 0.2 / math.hypot(0.2, turn)
    late = 2.0 * math.sin(0.5 * turn * period)
    assert np.mean(sizes[-int(20.0 * RATE) :]) == pytest.approx(pulled * late, rel=0.1)


@pytest.mark.parametrize(("spin", "moves"), [(0.1, True), (0.2, False)])
def test_biases_are_found_in_calm_and_within_their_limit(spin, moves):
    watch = Watch(px4({**QUIET, "gyroscope_bias": 0.0}, bias_limit=0.001))
    watch.memory[KEY] = 1.0
    for k in range(int(10.0 * RATE)):
        row = resting(so3.quaternion_exp(np.array([0.0, 0.0, spin * k * DT])))
        row[W] = [0.0, 0.0, spin]
        watch(row)
        watch.memory[GYROSCOPE_BIAS] = 0.02
    found = watch.memory[BIAS : BIAS + 3]
    assert np.abs(found).max() == (pytest.approx(0.001) if moves else 0.0)


def test_equal_keys_read_alike_and_others_do_not():
    noisy = gains_of("px4").autopilot
    a, b, c = Watch(noisy, 7.0), Watch(noisy, 7.0), Watch(noisy, 8.0)
    for _ in range(10):
        first, second, third = (each(resting())[1] for each in (a, b, c))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - third).max() > 0.0


def test_the_rate_has_the_gyroscopes_noise():
    watch = Watch(px4({**QUIET, "gyroscope_noise": 5e-3}, accelerometer=0.0))
    rates = np.array([watch(resting())[1] for _ in range(20000)])[1:]
    np.testing.assert_allclose(rates.std(axis=0), 5e-3 * math.sqrt(RATE), rtol=0.02)
    lagged = (rates[1:] * rates[:-1]).mean(axis=0) / rates.var(axis=0)
    np.testing.assert_allclose(lagged, 0.0, atol=0.03)


def test_other_presets_have_none_and_say_nothing_of_it():
    for name in ("default", "paper"):
        gains = gains_of(name).autopilot
        assert gains.estimator is None and "estimator" not in gains.model_dump()


@pytest.mark.parametrize(
    ("changes", "sensors", "key"),
    [
        ({"accelerometer": -0.1}, {}, "accelerometer"),
        ({"velocity_hz": 7.0}, {}, "'estimator.velocity_hz': 7 does not divide rate_hz 500"),
        ({"bias_limit": math.nan}, {}, "bias_limit"),
        ({"gain": 1.0}, {}, "gain"),
        ({}, {"inclination_deg": 90.0}, "inclination_deg"),
        ({}, {"gyroscope_noise": "much"}, "gyroscope_noise"),
    ],
)
def test_bad_numbers_are_refused_by_their_key(changes, sensors, key):
    tree = gains_of("px4").autopilot.model_dump()
    tree["estimator"] = {**tree["estimator"], **changes}
    tree["estimator"]["sensors"] = {**tree["estimator"]["sensors"], **sensors}
    with pytest.raises(ValidationError, match=key):
        AutopilotGains.model_validate(tree)


def test_an_estimator_needs_a_rate_loop():
    tree = {**gains_of("px4").autopilot.model_dump(), "rate_loop": None}
    with pytest.raises(
        ValidationError, match="'estimator': an autopilot with one has a rate_loop"
    ):
        AutopilotGains.model_validate(tree)

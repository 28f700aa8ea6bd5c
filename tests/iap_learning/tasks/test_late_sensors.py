# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of what is felt: noise, bias and delay."""

import numpy as np
import pytest
from pydantic import ValidationError

from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.late_sensors import LateSensors, WrenchSensorSpec


def test_the_observed_force_is_late_and_off_by_its_bias_and_noise():
    sensors = LateSensors("wall_push", [0.14], [0.1], delay=4, samples=1000, batch=200)
    seeds = np.arange(200)
    sensors.reset(np.arange(200), seeds)
    seen = []
    for k in range(1000):
        sensors(np.full((200, 1), 5.0 if k >= 10 else 0.0))
        seen.append(sensors.known[:, 0])
    errors = np.array(seen)[14:] - 5.0
    assert np.abs(np.array(seen)[:14]).max() < 1.0  # not known yet
    assert errors.std(axis=0).mean() == pytest.approx(0.14, rel=0.02)
    biases = errors.mean(axis=0)
    assert biases.std() == pytest.approx(0.1 / np.sqrt(3.0), rel=0.2)
    assert np.abs(biases).max() < 0.12


def test_axes_have_errors_of_their_own_and_an_episode_has_those_of_its_seed():
    sensors = LateSensors("peg_in_hole", [0.1, 0.0], [0.0, 0.5], delay=0, samples=50, batch=2)
    sensors.reset(np.arange(2), np.array([3, 4]))
    sensors(np.ones((2, 2)))
    first = sensors.known.copy()
    sensors.reset(np.array([1]), np.array([3]))
    sensors(np.ones((2, 2)))
    np.testing.assert_array_equal(sensors.known[1], first[0])
    assert first[0, 0] != first[1, 0]  # noise
    assert abs(first[0, 1] - 1.0) <= 0.5


def test_wrenches_are_measured_in_the_body_and_their_mean_is_that_of_the_last_step():
    spec = WrenchSensorSpec(
        force_noise=0.0, torque_noise=0.0, force_bias=0.0, torque_bias=0.0, delay=1
    )
    task = make_task("push_door", {"repeat": 2})
    sensors = spec.sensors(task, samples=10, batch=1)
    sensors.reset(np.arange(1), np.arange(1))
    x = np.zeros((1, 13))
    x[0, 3:7] = 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)  # turned by 90 deg about z
    for force in (1.0, 2.0, 4.0):
        sensors.measure(x, np.array([[force, 0.0, 0.0, 0.0, 2.0 * force, 0.0]]))
    # what is known last are 1 and 2 N, along -y of the body; torques along its x
    np.testing.assert_allclose(sensors.mean, [[0.0, -1.5, 0.0, 3.0, 0.0, 0.0]], atol=1e-12)


def test_a_slow_sensor_holds_each_sample_and_is_late_by_its_delay():
    sensors = LateSensors("eye", [0.0], [0.0], delay=2, hold=3, samples=10, batch=1)
    sensors.reset(np.arange(1), np.arange(1))
    known = []
    for value in range(9):
        sensors(np.array([[float(value)]]))
        known.append(sensors.known[0, 0])
    np.testing.assert_array_equal(known, [0, 0, 0, 0, 0, 3, 3, 3, 6])


def test_readings_that_would_not_fit_into_memory_are_refused():
    numbers = dict.fromkeys(("force_noise", "torque_noise", "force_bias", "torque_bias"), 0.0)
    assert WrenchSensorSpec(**numbers, delay=2000).delay == 2000
    with pytest.raises(ValidationError, match="delay"):
        WrenchSensorSpec(**numbers, delay=2001)

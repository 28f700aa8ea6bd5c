# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of what is felt: noise, bias and delay."""

import numpy as np
import pytest

from iap_learning.tasks.late_sensors import LateSensors


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

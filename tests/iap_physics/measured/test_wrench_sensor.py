# SPDX-License-Identifier: BSD-3-Clause
"""The wrench sensor: the same wrench in two frames, raw and low-passed in the world."""

import numpy as np

from iap_description.math import so3
from iap_physics.measured.wrench_sensor import WrenchFilter, WrenchSensor, to_platform, to_world

WRENCH = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])


def sensor():
    return WrenchSensor(WrenchFilter(cutoff=10.0, damping=1.414), 0.005)


def test_force_and_torque_turn_with_the_platform():
    q = so3.quaternion_exp(np.array([0.3, -0.5, 1.2]))
    measured = sensor()
    measured(WRENCH, q)
    R = so3.matrix_from_quaternion(q)
    np.testing.assert_allclose(
        measured.raw_P, np.r_[R.T @ WRENCH[:3], R.T @ WRENCH[3:]], atol=1e-12
    )
    np.testing.assert_array_equal(measured.raw_W, WRENCH)


def test_frames_and_back_is_the_same_wrench():
    q = so3.quaternion_exp(np.array([-1.0, 0.4, 0.2]))
    there, back = np.empty(6), np.empty(6)
    to_platform(WRENCH, q, there)
    to_world(there, q, back)
    np.testing.assert_allclose(back, WRENCH, atol=1e-12)


def test_a_turning_platform_under_a_constant_force_of_the_world_has_no_ripple_from_the_filter():
    """The filter works in world axes, so turning adds no lag."""
    measured = sensor()
    for k in range(2000):
        measured(WRENCH, so3.quaternion_exp(np.array([0.0, 0.0, 0.01 * k])))
    np.testing.assert_allclose(measured.filtered_W, WRENCH, atol=1e-6)
    np.testing.assert_allclose(measured.filtered_P, measured.raw_P, atol=1e-6)


def test_a_reset_sensor_has_forgotten():
    measured = sensor()
    for _ in range(100):
        measured(WRENCH, np.array([0, 0, 0, 1.0]))
    measured.reset()
    assert not measured.filtered_W.any()
    measured(np.zeros(6), np.array([0, 0, 0, 1.0]))
    assert not measured.filtered_W.any()

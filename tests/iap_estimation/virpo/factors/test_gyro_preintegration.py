# SPDX-License-Identifier: BSD-3-Clause
"""Rotation of the central body: its gyroscope between keyframes, and its autopilot's tilt."""

import numpy as np
import pytest
from centre_samples import NOISE, measured, rng, turned
from jacobians import along, assert_slopes

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States, retract
from iap_estimation.virpo.factors.gyro_preintegration import (
    Turn,
    predict_turn,
    preintegrate_turn,
    tilt_deviation,
    tilting,
    turning,
)


def test_the_gyroscope_carries_the_attitude_from_one_keyframe_to_the_next():
    bias = np.array([0.01, -0.02, 0.03])
    samples, q_i, q_j = measured(0.5, 0.4, bias)
    z, out = Turn.empty(), np.empty(7)
    preintegrate_turn(samples, 0.4, bias, NOISE, z)
    predict_turn(np.r_[q_i, bias], z, out)
    assert np.linalg.norm(so3.quaternion_log(so3.multiply(so3.conjugate(q_j), out[:4]))) < 1e-5
    r, J, raw = np.empty(6), np.empty((6, 12)), np.empty((6, 13))
    turning(np.r_[q_i, bias], np.r_[q_j, bias], z, r, J, raw)
    assert np.abs(r).max() < 0.02  # deviations


def test_another_bias_is_corrected_for_to_first_order():
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    old, new, out = Turn.empty(), Turn.empty(), np.empty(7)
    bias = np.array([0.004, -0.003, 0.002])
    preintegrate_turn(samples, 0.4, np.zeros(3), NOISE, old)
    preintegrate_turn(samples, 0.4, bias, NOISE, new)
    predict_turn(np.r_[0, 0, 0, 1, bias], old, out)
    off = so3.quaternion_log(so3.multiply(so3.conjugate(new.delta), out[:4]))
    assert np.linalg.norm(off) < 1e-3 * np.linalg.norm(bias * 0.4)


def test_turn_slopes_are_central_differences():
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    z = Turn.empty()
    preintegrate_turn(samples, 0.4, np.array([0.01, 0.0, -0.01]), NOISE, z)
    states = States.empty(2, 1, centre=True)
    states.centre[0, 0] = np.r_[turned(1)[0], 0.02, -0.03, 0.01]
    predict_turn(states.centre[0, 0], z, states.centre[1, 0])
    retract(states, 0.1 * rng().normal(size=states.size))

    def residual(moved):
        r = np.empty(6)
        turning(moved.centre[0, 0], moved.centre[1, 0], z, r, np.empty((6, 12)), np.empty((6, 13)))
        return r

    J = np.empty((6, 12))
    turning(states.centre[0, 0], states.centre[1, 0], z, np.empty(6), J, np.empty((6, 13)))
    numeric = along(states, residual)
    assert_slopes(J, numeric[:, np.r_[15:21, 36:42]])
    assert not numeric[:, np.r_[:15, 21:36, 42:46]].any()


def test_covariance_of_a_turn_is_that_of_many_noisy_ones():
    random, (samples, _, _) = rng(), measured(0.5, 0.2, np.zeros(3))
    noise, span, n = np.array([0.02, 0.3, 0.0]), 0.2, len(measured(0.5, 0.2, np.zeros(3))[0])
    exact, noisy, errors = Turn.empty(), Turn.empty(), []
    preintegrate_turn(samples, span, np.zeros(3), noise, exact)
    for _ in range(4000):
        walk = np.cumsum(noise[1] * 0.005**0.5 * random.normal(size=(n, 3)), axis=0)
        bias = np.vstack([np.zeros(3), walk])
        told = samples.copy()
        told[:, 1:] += bias[:-1] + noise[0] / 0.005**0.5 * random.normal(size=(n, 3))
        preintegrate_turn(told, span, np.zeros(3), noise, noisy)
        off = so3.quaternion_log(so3.multiply(so3.conjugate(noisy.delta), exact.delta))
        errors.append(exact.root @ np.r_[off, bias[-1]])
    assert np.abs(np.cov(np.array(errors).T) - np.eye(6)).max() < 0.12


def test_a_turn_is_as_uncertain_as_the_scale_of_its_gyroscope():
    w, span, relative = np.array([1.2, -0.5, 0.8]), 0.2, 0.02
    samples, z = np.tile(np.r_[0.005, w], (40, 1)), Turn.empty()
    preintegrate_turn(samples, span, np.zeros(3), np.array([1e-9, 0.0, relative]), z)
    expected = relative * np.linalg.norm(w) * span**0.5
    assert np.sqrt(np.linalg.eigvalsh(z.covariance[:3, :3])) == pytest.approx(
        [expected] * 3, rel=1e-5
    )


def test_what_no_sample_tells_makes_a_turn_uncertain_and_keeps_it_defined():
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    deviations = []
    for part in (samples, samples[:40], samples[:0]):
        z = Turn.empty()
        preintegrate_turn(part, 0.4, np.zeros(3), NOISE, z)
        assert np.isfinite(z.root).all()
        deviations.append(z.covariance[0, 0] ** 0.5)
        assert z.covariance[3, 3] == pytest.approx(NOISE[1] ** 2 * 0.4)
    assert deviations[0] < 0.002
    assert deviations[1] == pytest.approx(0.1, rel=0.01)
    assert deviations[2] == pytest.approx(0.2, rel=0.01)


def tilt_row(q, deviation=0.01):
    return np.r_[0.0, q, deviation]


def test_tilt_is_blind_to_what_both_say_of_the_yaw():
    q = turned(1)[0]
    r, J = np.empty(2), np.empty((2, 3))
    for yaw in (0.0, 1.0, -2.0):
        about = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
        tilting(np.r_[so3.multiply(about, q), 0, 0, 0], tilt_row(q), r, J)
        assert np.abs(r).max() < 1e-12
        vertical = so3.rotate(so3.conjugate(q), np.array([0.0, 0.0, 1.0]))
        assert np.abs(J @ vertical).max() < 1e-12


def test_tilt_measures_angles():
    tipped = so3.quaternion_exp(np.array([0.003, -0.004, 0.0]))
    r, J = np.empty(2), np.empty((2, 3))
    tilting(np.r_[tipped, 0, 0, 0], tilt_row(np.array([0, 0, 0, 1.0])), r, J)
    assert np.linalg.norm(r) == pytest.approx(0.5, rel=1e-4)  # deviations


def test_tilt_slopes_are_central_differences():
    states = States.empty(1, 1, centre=True)
    states.centre[0, 0, :4] = turned(1)[0]
    row = tilt_row(so3.multiply(turned(1)[0], so3.quaternion_exp(np.array([0.1, 0.2, 0.3]))))

    def residual(moved):
        r = np.empty(2)
        tilting(moved.centre[0, 0], row, r, np.empty((2, 3)))
        return r

    J = np.empty((2, 3))
    tilting(states.centre[0, 0], row, np.empty(2), J)
    numeric = along(states, residual)
    assert_slopes(J, numeric[:, 15:18])


def test_a_tilt_reported_more_often_counts_less():
    assert tilt_deviation(0.01, 0.1) == pytest.approx(0.01 * 10**0.5)
    assert tilt_deviation(0.01, 5.0) == 0.01

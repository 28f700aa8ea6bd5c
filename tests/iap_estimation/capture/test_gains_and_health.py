# SPDX-License-Identifier: BSD-3-Clause
"""Gains of the filter of a capture, its compiled steps in Python, and the health that it reports, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.capture import kernel
from iap_estimation.capture.gains import CaptureFilterSpec, CaptureGains, steady_gain
from iap_estimation.navigation.capture_navigator import health_of

QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # about z
NUMBERS = {
    "accel_noise": 0.1, "accel_walk": 0.02, "gyro_noise": 0.01, "gyro_walk": 0.002, "position": 0.005, "attitude": 0.01
}  # fmt: skip


def test_a_random_walk_that_is_measured_has_the_gain_of_the_textbook():
    # P = Q / 2 + sqrt(Q^2 / 4 + Q R) before, and K = P / (P + R).
    P = 1.0 + np.sqrt(1.0 + 2.0 * 3.0)
    gain, variance = steady_gain(np.eye(1), np.array([[2.0]]), 3.0)
    assert gain[0] == pytest.approx(P / (P + 3.0)) and variance == pytest.approx(
        P * 3.0 / (P + 3.0)
    )


@pytest.mark.parametrize("name", [None, *NUMBERS])
def test_gains_are_those_of_the_larger_of_setting_and_sensor(name):
    """A sensor that is worse in one respect counts as the setting of its number would."""
    spec = CaptureFilterSpec.model_validate(NUMBERS)
    none = dict.fromkeys(("accel_noise", "accel_walk", "gyro_noise", "gyro_walk"), 0.0)
    imu, capture = (
        SimpleNamespace(**none),
        SimpleNamespace(rate=50.0, position_deviation=0.0, attitude_deviation=0.0),
    )
    if name is not None:
        on = capture if name in ("position", "attitude") else imu
        setattr(on, f"{name}_deviation" if on is capture else name, 3.0 * NUMBERS[name])
        expected = CaptureGains.of(
            CaptureFilterSpec.model_validate({**NUMBERS, name: 3.0 * NUMBERS[name]}),
            SimpleNamespace(rate=50.0, position_deviation=0.0, attitude_deviation=0.0),
            SimpleNamespace(**none),
        )
        found = CaptureGains.of(spec, capture, imu)
        exact = SimpleNamespace(rate=50.0, position_deviation=0.0, attitude_deviation=0.0)
        plain = CaptureGains.of(spec, exact, SimpleNamespace(**none))
        np.testing.assert_allclose(found.place, expected.place)
        np.testing.assert_allclose(found.angle, expected.angle)
        changed = found.place if name in ("accel_noise", "accel_walk", "position") else found.angle
        before = plain.place if name in ("accel_noise", "accel_walk", "position") else plain.angle
        assert not np.allclose(changed, before)
        return
    found = CaptureGains.of(spec, capture, imu)
    T, R = 0.02, 0.005**2
    F = np.array([[1.0, T, -0.5 * T * T], [0.0, 1.0, -T], [0.0, 0.0, 1.0]])
    Q = np.zeros((3, 3))
    Q[:2, :2] = 0.01 * np.array([[T**3 / 3.0, T**2 / 2.0], [T**2 / 2.0, T]])
    Q[2, 2] = 4e-4 * T
    P = R * np.eye(3)
    for _ in range(20_000):
        kept = P - np.outer(P[:, 0], P[0]) / (P[0, 0] + R)
        P = F @ kept @ F.T + Q
    np.testing.assert_allclose(found.place, P[:, 0] / (P[0, 0] + R), rtol=1e-6)
    assert found.deviation == pytest.approx(np.sqrt(P[0, 0] * R / (P[0, 0] + R)), rel=1e-6)
    F, Q, P = np.array([[1.0, -T], [0.0, 1.0]]), np.diag([1e-4 * T, 4e-6 * T]), np.eye(2)
    for _ in range(20_000):
        kept = P - np.outer(P[:, 0], P[0]) / (P[0, 0] + 1e-4)
        P = F @ kept @ F.T + Q
    np.testing.assert_allclose(found.angle, P[:, 0] / (P[0, 0] + 1e-4), rtol=1e-6)


def test_a_turn_is_added_behind_an_attitude():
    for size in (0.0, 1e-13, 0.3, 2.0):
        phi = size * np.array([0.6, 0.0, 0.8])
        found = kernel.turned.py_func(tuple(QUARTER), tuple(phi))
        expected = so3.multiply(QUARTER, so3.quaternion_exp(phi))
        np.testing.assert_allclose(found, expected, atol=1e-15)


def test_a_sample_moves_the_state_on_less_its_offsets():
    x, out = np.zeros(kernel.SIZE), np.zeros(kernel.SIZE)
    x[:3], x[6], x[7:10], x[10:13], x[13:] = (
        [1, 2, 3],
        1.0,
        [4, 0, -2],
        [0.1, 0.2, 0.3],
        [0.01, 0.02, 0.03],
    )
    # A quarter turn in half a second; half-way the force along x is along both x and y.
    sample = np.array([0.01, 0.02, 0.03 + np.pi, 0.1 + np.sqrt(2.0), 0.2, 0.3 + 9.0])
    kernel._move_on.py_func(x, sample, 0.5, 9.0, out)
    np.testing.assert_allclose(out[:3], [1.0 + 2.0 + 0.125, 2.125, 2.0])
    np.testing.assert_allclose(out[3:7], QUARTER, atol=1e-12)
    np.testing.assert_allclose(out[7:10], [4.5, 0.5, -2.0], atol=1e-12)
    np.testing.assert_array_equal(out[10:], x[10:])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_pose_is_added_by_its_gains_whatever_the_sign_of_its_quaternion(sign):
    x = np.zeros(kernel.SIZE)
    x[3:7] = QUARTER
    then = x.copy()
    pose = np.array(
        [
            1.0,
            2.0,
            3.0,
            *sign * so3.multiply(QUARTER, so3.quaternion_exp(np.array([0.0, 0.02, 0.0]))),
        ]
    )
    kernel._add.py_func(x, then, pose, np.array([0.5, 2.0, 10.0]), np.array([0.25, 4.0]))
    np.testing.assert_allclose(x[:3], [0.5, 1.0, 1.5])
    np.testing.assert_allclose(x[7:10], [2.0, 4.0, 6.0])
    np.testing.assert_allclose(x[10:13], [20.0, -10.0, 30.0], atol=1e-12)
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(QUARTER), x[3:7]))
    np.testing.assert_allclose(turn, [0.0, 0.005, 0.0], atol=1e-6)
    np.testing.assert_allclose(x[13:], [0.0, 0.08, 0.0], atol=1e-5)


def test_a_body_is_where_its_unit_is_not_and_goes_on_at_its_twist():
    x, out = np.zeros(kernel.SIZE), np.zeros(13)
    x[:3], x[3:7], x[7:10], x[15] = [1, 2, 3], QUARTER, [0.5, 0, 0], 0.2
    sample, arm = np.array([0.0, 0.0, 1.2, 0.0, 0.0, 0.0]), np.array([0.3, 0.0, 0.0])
    kernel.body_row.py_func(x, sample, 0.0, arm, np.array([0.0, 0.0, 0.0, 1.0]), out)
    np.testing.assert_allclose(out[:3], [1.0, 2.3, 3.0])
    np.testing.assert_allclose(out[7:10], [0.5 - 0.3, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(out[10:], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(out[3:7], QUARTER)
    kernel.body_row.py_func(x, sample, 0.5, arm, so3.conjugate(QUARTER), out)
    np.testing.assert_allclose(out[:3], [1.1, 2.3, 3.0])
    np.testing.assert_allclose(so3.quaternion_log(out[3:7]), [0.0, 0.0, 0.5], atol=1e-12)


def test_markers_say_where_the_unit_is():
    out = np.zeros(7)
    kernel.unit_pose.py_func(
        np.array([1.0, 2.0, 3.0]), QUARTER, np.array([0.1, 0.2, 0.3]), QUARTER, out
    )
    np.testing.assert_allclose(out[:3], [0.8, 2.1, 3.3])
    np.testing.assert_allclose(np.abs(so3.quaternion_log(out[3:])), [0.0, 0.0, np.pi], atol=1e-6)


def test_a_ring_goes_round_and_a_pose_older_than_all_is_left_out():
    times, samples, states, ring = kernel.empty_ring()
    states[0, 6], ring[kernel.COUNT] = 1.0, 1
    for k in range(1, kernel.KEPT + 3):
        kernel.predict.py_func(
            times, samples, states, ring, 0.01 * k, np.full(6, float(k)) * 1e-3, 0.0
        )
    assert ring.tolist() == [2, kernel.KEPT]
    assert times[2] == pytest.approx(0.01 * (kernel.KEPT + 2)) and samples[2, 0] == pytest.approx(
        0.13
    )
    pose, gains = np.array([9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), (np.ones(3), np.ones(2))
    before = states.copy()
    assert not kernel.correct.py_func(times, samples, states, ring, 0.025, pose, *gains, 0.0)
    np.testing.assert_array_equal(states, before)
    assert kernel.correct.py_func(times, samples, states, ring, times[2], pose, *gains, 0.0)
    assert states[2, 0] == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("t", "t_pose", "seen"),
    [(1.0, 0.951, 1), (1.0, 0.949, 0), (0.04, -np.inf, 1), (0.06, -np.inf, 0)],
)
def test_a_body_is_seen_while_two_poses_may_be_lost(t, t_pose, seen):
    capture = SimpleNamespace(latency=0.01, rate=50.0)
    one = SimpleNamespace(t=0.03, t_pose=t_pose, capture=capture, deviation=0.007)
    found = health_of(one, t)
    assert found.tracks == seen and found.deviation == 0.007
    assert found.blind == pytest.approx(t - max(t_pose, 0.0)) and found.age == pytest.approx(
        t - 0.03
    )


@pytest.mark.parametrize("name", ["position", "attitude"])
def test_poses_too_uncertain_for_a_filter_are_refused_with_their_noise(name: str) -> None:
    none = dict.fromkeys(("accel_noise", "accel_walk", "gyro_noise", "gyro_walk"), 0.0)
    deviations = {"position_deviation": 0.0, "attitude_deviation": 0.0, f"{name}_deviation": 1e15}
    capture = SimpleNamespace(rate=50.0, **deviations)
    spec = CaptureFilterSpec.model_validate(NUMBERS)
    with pytest.raises(BadInput, match=r"'motion_capture': .*1e\+15 .*at 50 Hz"):
        CaptureGains.of(spec, capture, SimpleNamespace(**none))

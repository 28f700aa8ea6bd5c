# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a place after some time, bodies that carry a unit, and noise that messages say, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.capture.kernel import SIZE, body_row, empty_ring, unit_pose
from iap_estimation.evaluation.comparison import still_rmse
from iap_estimation.virpo.window.range_gate import place_after


def test_a_place_is_known_the_worse_the_longer_its_velocity_acts():
    half = np.random.default_rng(1).normal(size=(15, 15))
    C, span = half @ half.T, 0.7
    F = np.zeros((3, 15))
    F[:, :3], F[:, 6:9] = np.eye(3), span * np.eye(3)
    np.testing.assert_allclose(place_after(C, span), F @ C @ F.T)
    np.testing.assert_allclose(place_after(C, 0.0), C[:3, :3])


def test_the_estimate_that_nothing_moves_stays_at_its_first_place_or_in_the_middle():
    path = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [6.0, 0.0, 0.0]])
    assert still_rmse(path, begins_true=True) == pytest.approx(np.sqrt(45.0 / 3.0))
    assert still_rmse(path, begins_true=False) == pytest.approx(np.sqrt(18.0 / 3.0))


def turn(*vector):
    return so3.quaternion_exp(np.array(vector))


def test_a_unit_is_where_the_markers_pose_puts_it():
    p, q, arm, q_SI = (
        np.array([1.0, 2.0, 3.0]),
        turn(0.0, 0.0, 0.5),
        np.array([0.1, 0.2, 0.3]),
        turn(0.4, 0.0, 0.0),
    )
    out = np.zeros(7)
    unit_pose(p, q, arm, q_SI, out)
    np.testing.assert_allclose(out[:3], p + so3.rotate(q, arm), atol=1e-12)
    np.testing.assert_allclose(abs(out[3:] @ so3.multiply(q, q_SI)), 1.0)


@pytest.mark.parametrize("span", [0.0, 0.02])
def test_a_body_moves_on_with_the_twist_of_its_unit(span):
    """Its place by v + w x r, its attitude by the angular velocity less the bias."""
    x, sample = np.zeros(SIZE), np.zeros(6)
    q, bias, measured = (
        turn(0.1, 0.2, 0.3),
        np.array([0.01, 0.02, -0.01]),
        np.array([0.3, -0.2, 0.5]),
    )
    x[:3], x[3:7], x[7:10], x[13:16], sample[:3] = (
        (1.0, 2.0, 3.0),
        q,
        (0.4, 0.5, 0.6),
        bias,
        measured,
    )
    arm, q_IB, out = np.array([0.1, -0.2, 0.05]), turn(0.0, 0.7, 0.0), np.zeros(13)
    body_row(x, sample, span, arm, q_IB, out)
    w = so3.rotate(q, measured - bias)
    r = so3.rotate(q, arm)
    v = x[7:10] + np.cross(w, r)
    np.testing.assert_allclose(out[:3], x[:3] + r + span * v, atol=1e-12)
    np.testing.assert_allclose(out[7:10], v, atol=1e-12)
    np.testing.assert_allclose(out[10:13], w, atol=1e-12)
    expected = so3.multiply(so3.quaternion_exp(span * w), so3.multiply(q, q_IB))
    np.testing.assert_allclose(abs(out[3:7] @ expected), 1.0, atol=1e-12)


def test_an_empty_ring_has_room_for_a_state_more_than_samples():
    t, samples, states, indices = empty_ring()
    assert samples.shape == (len(t), 6) and states.shape == (len(t) + 1, SIZE)
    assert indices.tolist() == [0, 0]


def sample(ns, gyro, accel):
    stamp = SimpleNamespace(sec=0, nanosec=ns)
    return SimpleNamespace(
        header=SimpleNamespace(stamp=stamp),
        angular_velocity_covariance=gyro * np.eye(3).ravel(),
        linear_acceleration_covariance=accel * np.eye(3).ravel(),
    )


def test_covariances_of_samples_are_densities_by_their_period():
    from iap_estimation.datasets.bag_samples import MEMS, noise_of

    period = 5_000_000
    found, said = noise_of([sample(k * period, 4e-4, 0.0) for k in range(5)])
    assert found[0] == pytest.approx(np.sqrt(4e-4 * 5e-3))
    np.testing.assert_allclose(found[1:], np.array(MEMS)[1:])
    assert said.startswith(
        "noise of the linear acceleration and walk of the biases of the inertial"
    )
    found, said = noise_of([sample(k * period, 4e-4, 4e-2) for k in range(5)])
    assert found[1] == pytest.approx(np.sqrt(4e-2 * 5e-3)) and said.startswith(
        "walk of the biases"
    )

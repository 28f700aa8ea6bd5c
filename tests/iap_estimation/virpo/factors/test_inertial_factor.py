# SPDX-License-Identifier: BSD-3-Clause
"""Two keyframes against the inertial samples between them."""

import gtsam
import numpy as np
import pytest
from gtsam_twins import bias, by_pose, pose, preintegrated
from jacobians import along, assert_slopes, some_states
from synthetic import GRAVITY, Flight
from synthetic_fleet import BELIEVED

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States
from iap_estimation.virpo.factors.inertial import inertial, inertial_cost
from iap_estimation.virpo.factors.preintegration import ImuInterval, preintegrate

NOISE = np.array(BELIEVED)
AT = np.array([0.01, -0.02, 0.015, 0.1, -0.05, 0.08])


@pytest.fixture(scope="module")
def flight() -> Flight:
    return Flight.of(4.0)


@pytest.fixture(scope="module")
def told(flight) -> ImuInterval:
    out = ImuInterval.empty()
    preintegrate(flight.samples(0, 2.0, 2.2), AT, NOISE, out)
    return out


def factor(states: States, z: ImuInterval) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whitened residual, its derivatives, and the residual before whitening."""
    r, J, raw = np.empty(15), np.empty((15, 30)), np.empty((15, 31))
    inertial(states.x[0, 0], states.x[1, 0], GRAVITY, z, r, J, raw)
    return r, J, raw[:, 30].copy()


def true_states(flight: Flight, at: np.ndarray = AT) -> States:
    states = States.empty(2, 1)
    states.x[0, 0], states.x[1, 0] = flight.state(0, 2.0), flight.state(0, 2.2)
    states.x[..., 10:] = at
    return states


@pytest.mark.parametrize("seed", range(4))
def test_derivatives(told, seed):
    """Also far from where the samples fit: the rotation is off by most of a radian."""
    states = some_states(2, 1, seed=seed)
    numerical = along(states, lambda there: factor(there, told)[0])
    assert_slopes(factor(states, told)[1], numerical[:, :30])


def test_derivatives_where_the_samples_fit(flight, told):
    states = true_states(flight)
    numerical = along(states, lambda there: factor(there, told)[0])
    assert_slopes(factor(states, told)[1], numerical[:, :30])


def test_true_states_agree_with_exact_samples(flight):
    out = ImuInterval.empty()
    preintegrate(flight.samples(0, 2.0, 2.2), np.zeros(6), NOISE, out)
    r, _, raw = factor(true_states(flight, np.zeros(6)), out)
    assert np.abs(raw).max() < 2e-5
    assert np.linalg.norm(r) < 0.05  # deviations


def test_samples_without_the_bias_that_states_have_miss_what_the_slope_says(flight):
    out = ImuInterval.empty()
    preintegrate(flight.samples(0, 2.0, 2.2), np.zeros(6), NOISE, out)
    _, _, raw = factor(true_states(flight), out)
    assert np.allclose(raw[:9], -out.slope @ AT, atol=1e-4)


def test_cost_is_half_the_square(told):
    states = some_states(2, 1, seed=7)
    r = factor(states, told)[0]
    cost = inertial_cost(states.x[0, 0], states.x[1, 0], GRAVITY, told, np.empty((15, 31)))
    assert cost == pytest.approx(0.5 * r @ r, rel=1e-12)


def near_truth(flight: Flight, size: float) -> States:
    """States off the truth, as they are while a window is solved."""
    states, rng = true_states(flight), np.random.default_rng(3)
    states.x[:, 0, :3] += size * rng.normal(size=(2, 3))
    turn = so3.quaternion_exp(size * rng.normal(size=(2, 3)))
    states.x[:, 0, 3:7] = so3.multiply(states.x[:, 0, 3:7], turn)
    states.x[:, 0, 7:10] += size * rng.normal(size=(2, 3))
    states.x[:, 0, 10:] += 0.05 * size * rng.normal(size=(2, 6))
    return states


def twin(flight: Flight, pieces: int) -> gtsam.CombinedImuFactor:
    z = preintegrated(flight.samples(0, 2.0, 2.2), AT, NOISE, GRAVITY, pieces)
    return gtsam.CombinedImuFactor(1, 2, 3, 4, 5, 6, z)


def values(states: States) -> gtsam.Values:
    """As the twin's keys have it: pose and velocity of both, then both biases."""
    out = gtsam.Values()
    for k, x in enumerate(states.x[:, 0]):
        out.insert(2 * k + 1, pose(x))
        out.insert(2 * k + 2, x[7:10])
        out.insert(5 + k, bias(x))
    return out


def test_the_residual_is_that_of_gtsam(flight, told):
    """gtsam has told less seen, in the second body's axes, and ba before bg; ours has seen less told."""
    states = near_truth(flight, 0.05)
    turn, way, gain, ba, bg = np.split(-twin(flight, 40).unwhitenedError(values(states)), 5)
    ahead = so3.multiply(so3.conjugate(states.x[0, 0, 3:7]), states.x[1, 0, 3:7])
    theirs = [so3.rotate(ahead, way), turn, so3.rotate(ahead, gain), bg, ba]
    raw = factor(states, told)[2]
    assert np.allclose(raw, np.concatenate(theirs), rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.02])
def test_the_cost_is_that_of_gtsam(flight, told, size):
    states = near_truth(flight, size)
    r = factor(states, told)[0]
    assert 0.5 * r @ r == pytest.approx(twin(flight, 1).error(values(states)), rel=0.01)


def test_the_derivatives_are_those_of_gtsam(flight, told):
    """Compared through the information that the factor brings, which no choice of axes changes."""
    states = near_truth(flight, 0.0)
    A = twin(flight, 1).linearize(values(states)).jacobian()[0]
    parts = []
    for k, x in enumerate(states.x[:, 0]):
        by_x, by_v = A[:, 9 * k : 9 * k + 6], A[:, 9 * k + 6 : 9 * k + 9]
        by_bias = A[:, 18 + 6 * k : 24 + 6 * k]
        parts += [by_pose(by_x, x), by_v, by_bias[:, 3:], by_bias[:, :3]]
    theirs = np.hstack(parts)
    J = factor(states, told)[1]
    size = np.sqrt(np.diag(J.T @ J))
    assert np.abs((J.T @ J - theirs.T @ theirs) / np.outer(size, size)).max() < 0.01

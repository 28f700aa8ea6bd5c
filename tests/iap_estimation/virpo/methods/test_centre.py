# SPDX-License-Identifier: BSD-3-Clause
"""The central body from its aircraft: what the gyroscope adds to places that err for long, and how sure it is."""

from dataclasses import replace

import numpy as np
import pytest

from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Estimate, Tilt
from iap_estimation.virpo.methods.centre import CentreFilter

D = 0.35 * np.array([[1.0, 0.0, 0.0], [-0.5, 0.866, 0.0], [-0.5, -0.866, 0.0]])
ARM = np.array([0.0, 0.02, 0.05])
PERIOD, RATE = 0.1, 200.0  # of estimates [s], of samples [Hz]
START = 0.002  # deviation of places at first [m]
GYRO, ACCEL, PLACE, SPEED, TILT = 2e-4, 2e-3, 0.02, 0.01, 0.01
SPEC = load_settings().estimator
MEMORY = SPEC.rigid.place_memory
UP = np.array([0.0, 0.0, GRAVITY])


def fleet():
    models = [AircraftModel(f"drone_{a}", None, np.ones(5), p_BJ_B=ARM) for a in range(3)]
    noise, force_noise = np.array([GYRO, 2e-5, 0.0]), np.array([ACCEL, 1e-4])
    return Fleet(tuple(models), D, noise, TILT, force_noise=force_noise)


def attitude(t):
    turn = np.array([0.2 * np.sin(0.9 * t), 0.15 * np.sin(1.3 * t), 0.6 * np.sin(0.5 * t)])
    return so3.quaternion_exp(turn)


class Platform:
    """One that turns about its place, of whose aircraft's places the errors last."""

    def __init__(self, seed, bias=0.003, accel_bias=0.0):
        self.rng = np.random.default_rng(seed)
        self.accel_bias = accel_bias * self.rng.standard_normal(3)
        self.bias, self.filter = bias * self.rng.standard_normal(3), CentreFilter(fleet(), SPEC)
        self.off = START * self.rng.standard_normal((3, 3))
        self.lean = TILT * self.rng.standard_normal(2)
        self.t = 0.0
        self.sample(0.0)

    def sample(self, t):
        turn = so3.multiply(so3.conjugate(attitude(t - 1.0 / RATE)), attitude(t))
        w = RATE * so3.quaternion_log(turn) + self.bias
        w += GYRO * np.sqrt(RATE) * self.rng.standard_normal(3)
        lean = so3.quaternion_exp(np.append(self.lean, 0.0))
        f = so3.rotate(so3.conjugate(attitude(t - 0.5 / RATE)), UP) + self.accel_bias
        f += ACCEL * np.sqrt(RATE) * self.rng.standard_normal(3)
        self.filter.tilt(Tilt(t, so3.multiply(lean, attitude(t)), w, f))

    def lasting(self, values, memory, deviation, dt):
        share = np.exp(-dt / memory)
        return share * values + deviation * np.sqrt(1.0 - share**2) * self.rng.standard_normal(
            values.shape
        )

    def advance(self):
        """Fly on to the next estimates; returns those and the centre's."""
        for k in range(1, round(PERIOD * RATE) + 1):
            self.sample(self.t + k / RATE)
        self.t += PERIOD
        self.off = self.lasting(self.off, MEMORY, PLACE, PERIOD)
        self.lean = self.lasting(self.lean, SPEC.rigid.tilt_memory, TILT, PERIOD)
        q = attitude(self.t)
        share = np.exp(-2.0 * self.t / MEMORY)
        variance = share * START**2 + (1.0 - share) * PLACE**2
        C = np.diag([variance] * 3 + [1e-4] * 3 + [SPEED**2] * 3 + [1e-4] * 6)
        v = SPEED * self.rng.standard_normal((3, 3))
        rest = np.zeros(3)
        known = [
            Estimate(self.t, so3.rotate(q, d) + off - so3.rotate(q, ARM), q, v[a], rest, rest, C, rest)
            for a, (d, off) in enumerate(zip(D, self.off, strict=True))
        ]  # fmt: skip
        return known, self.filter.estimate(known)

    def error(self, centre):
        """Turn from the true attitude, in the body [rad]."""
        return so3.quaternion_log(so3.multiply(so3.conjugate(attitude(self.t)), centre.q_WB))


@pytest.fixture(scope="module")
def flights():
    """Of several platforms: turns, and their covariances, of 20 s."""
    turns, covariances = [], []
    for seed in range(8):
        platform = Platform(seed, SPEC.start.gyro_bias, SPEC.rigid.accel_bias_start)
        for _ in range(200):
            _, centre = platform.advance()
            turns.append(platform.error(centre))
            covariances.append(centre.covariance[3:6, 3:6])
    return np.array(turns), np.array(covariances)


@pytest.mark.slow
def test_the_gyroscope_takes_out_much_of_what_places_and_vertical_err(flights):
    turns, _ = flights
    from_places = PLACE / 0.35 / np.sqrt(1.5)  # of the yaw, by three arms
    assert (
        np.sqrt(np.mean(turns[:, 2] ** 2)) < 0.65 * from_places
    )  # the bias is not known at first
    assert np.sqrt(np.mean(turns[:, :2] ** 2)) < 0.95 * TILT


@pytest.mark.slow
def test_errors_are_as_large_as_the_filter_says(flights):
    turns, C = flights
    nees = np.einsum("ki,ki->k", turns, np.linalg.solve(C, turns[..., None])[..., 0]) / 3.0
    assert 0.4 < nees.mean() < 1.6


@pytest.mark.slow
def test_the_bias_is_found():
    platform = Platform(3, bias=0.005)
    for _ in range(400):
        _, centre = platform.advance()
    assert np.abs(centre.gyro_bias - platform.bias).max() < 0.001
    assert (
        np.abs(centre.gyro_bias - platform.bias) < 4.0 * np.sqrt(np.diag(centre.covariance)[9:12])
    ).all()


def test_a_time_that_was_has_the_same_estimate_and_an_older_one_none():
    platform = Platform(1)
    first, one = platform.advance()
    assert platform.filter.estimate(first) is one
    later, _ = platform.advance()
    assert platform.filter.estimate(first) is None
    assert platform.filter.estimate(later) is not None


def test_the_place_is_that_of_the_joints_and_its_velocity_theirs():
    platform = Platform(2)
    platform.off[:] = 0.0
    known, centre = platform.advance()
    joints = np.mean([one.p_WB_W + so3.rotate(one.q_WB, ARM) for one in known], axis=0)
    np.testing.assert_allclose(centre.p_WB_W, joints, atol=1e-9)
    assert np.isfinite(centre.covariance[:12, :12].diagonal()).all()


@pytest.mark.slow
def test_neither_a_leaning_autopilot_nor_the_bias_of_its_accelerometer_leans_the_centre():
    squares, leaning = [], np.deg2rad(2.0)
    for seed in range(4):
        platform = Platform(seed, accel_bias=0.2)  # 20 mg, 1.2 deg of the vertical
        for k in range(200):
            platform.lean = platform.lean + leaning * (k == 1)
            _, centre = platform.advance()
            squares.append(platform.error(centre)[:2] ** 2)
    assert np.sqrt(np.mean(squares)) < np.deg2rad(0.4)  # as the places had it at first


def test_estimates_whose_covariance_nobody_knows_do_no_harm():
    platform = Platform(3)
    estimate, unknown = platform.filter.estimate, np.full((15, 15), np.nan)
    platform.filter.estimate = lambda known: estimate(
        [replace(one, covariance=unknown) for one in known]
    )
    for _ in range(10):
        _, centre = platform.advance()
    assert np.linalg.norm(platform.error(centre)) < np.deg2rad(5.0)
    platform.filter.estimate = estimate
    for _ in range(100):
        _, centre = platform.advance()
    assert np.linalg.norm(platform.error(centre)) < np.deg2rad(2.0)
    assert np.isfinite(centre.covariance[3:6, 3:6]).all()


def test_a_place_that_jumps_three_times_as_far_hardly_turns_the_centre_further():
    """Huber's weight: what a residual pulls is bounded."""
    turned = []
    for jump in (0.0, 1.0, 3.0):
        platform = Platform(4)
        for _ in range(20):
            platform.advance()
        platform.off[0, :2] += jump
        _, centre = platform.advance()
        turned.append(centre.q_WB)
    turns = [
        np.linalg.norm(so3.quaternion_log(so3.multiply(so3.conjugate(turned[0]), q)))
        for q in turned
    ]
    assert 0.0 < turns[2] < 1.5 * turns[1]

# SPDX-License-Identifier: BSD-3-Clause
"""Inertial samples between two keyframes as one motion."""

import gtsam
import numpy as np
import pytest
from gtsam_twins import OURS, preintegrated
from jacobians import assert_slopes, numeric
from synthetic import GRAVITY, Flight
from synthetic_fleet import BELIEVED

from iap_description.math import so3
from iap_estimation.virpo.factors.preintegration import (
    ImuInterval,
    inverse_root,
    motions_at,
    preintegrate,
)

NOISE = np.array(BELIEVED)
STRONG_WALKS = np.array([0.0015, 0.02, 0.01, 0.1, 0.0])
UNBIASED = np.zeros(6)
AT = np.array([0.01, -0.02, 0.015, 0.1, -0.05, 0.08])  # biases that are not zero


@pytest.fixture(scope="module")
def flight() -> Flight:
    return Flight.of(8.0)


def inertia(
    samples: np.ndarray, bias: np.ndarray = UNBIASED, noise: np.ndarray = NOISE
) -> ImuInterval:
    out = ImuInterval.empty()
    preintegrate(samples, bias, noise, out)
    return out


def off(delta: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Error (9,) [dp, dtheta, dv] of a motion (10,)."""
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(base[3:7]), delta[3:7]))
    return np.concatenate([delta[:3] - base[:3], turn, delta[7:] - base[7:]])


def true_motion(flight: Flight, begin: float, end: float) -> np.ndarray:
    """Preintegration (10,) of exact samples."""
    a, b, T = flight.truth(0, begin), flight.truth(0, end), end - begin
    back = so3.conjugate(a.q_WB)
    fall = np.array([0.0, 0.0, -GRAVITY])
    dp = so3.rotate(back, b.p_WB_W - a.p_WB_W - T * a.v_WB_W - 0.5 * T * T * fall)
    dv = so3.rotate(back, b.v_WB_W - a.v_WB_W - T * fall)
    return np.concatenate([dp, so3.multiply(back, b.q_WB), dv])


@pytest.mark.parametrize("begin", [0.0, 2.5, 6.0])
def test_a_second_of_exact_samples_tells_the_motion_to_a_tenth_of_a_millimetre(flight, begin):
    told = inertia(flight.samples(0, begin, begin + 1.0))
    error = off(told.delta, true_motion(flight, begin, begin + 1.0))
    assert told.span[0] == pytest.approx(1.0)
    assert np.linalg.norm(error[:3]) < 1e-4
    assert np.linalg.norm(error[3:6]) < 1e-5
    assert np.linalg.norm(error[6:]) < 2e-4


def test_a_known_bias_is_taken_out(flight):
    samples = flight.samples(0, 1.0, 2.0)
    biased = samples.copy()
    biased[:, 1:] += AT
    assert np.allclose(inertia(biased, AT).delta, inertia(samples).delta, atol=1e-13)


def test_slopes_by_the_biases_are_derivatives(flight):
    samples = flight.samples(0, 1.0, 1.3)
    told = inertia(samples, AT)
    by_bias = numeric(lambda step: off(inertia(samples, AT + step).delta, told.delta), 6)
    assert_slopes(told.slope, by_bias, 1e-7)


def test_the_first_order_correction_is_right_to_second_order(flight):
    samples = flight.samples(0, 1.0, 1.3)
    told = inertia(samples)
    step = np.array([0.02, -0.03, 0.02, 0.3, -0.2, 0.1])

    def left(share: float) -> float:
        moved = off(inertia(samples, share * step).delta, told.delta)
        return float(np.linalg.norm(moved - told.slope @ (share * step)))

    assert left(0.5) == pytest.approx(0.25 * left(1.0), rel=0.02)
    assert left(1.0) < 0.01 * np.linalg.norm(told.slope @ step)


def test_two_intervals_after_each_other_are_one(flight):
    samples = flight.samples(0, 1.0, 1.3)
    whole, first = inertia(samples, AT), inertia(samples[:25], AT)
    rest = inertia(samples[25:], AT)
    T = rest.span[0]
    turn = first.delta[3:7]
    dp = first.delta[:3] + T * first.delta[7:] + so3.rotate(turn, rest.delta[:3])
    dv = first.delta[7:] + so3.rotate(turn, rest.delta[7:])
    joined = np.concatenate([dp, so3.multiply(turn, rest.delta[3:7]), dv])
    assert np.abs(off(joined, whole.delta)).max() < 1e-12


def test_motions_at_instants_pass_through_the_samples(flight):
    samples = flight.samples(0, 1.0, 1.2)
    times = np.array([0.0, 0.005, 0.0123, 0.0123, 0.1, 0.1999, 0.2])
    out = np.empty((len(times), 10))
    motions_at(samples, AT, times, out)
    assert np.array_equal(out[0], ImuInterval.empty().delta)
    for time, motion in zip(times[1:], out[1:], strict=True):
        whole = int(time / 0.005 + 1e-9)
        part = samples[: whole + 1].copy()
        part[whole:, 0] = time - 0.005 * whole
        assert np.abs(off(motion, inertia(part[part[:, 0] > 1e-12], AT).delta)).max() < 1e-12


def test_the_root_is_that_of_the_inverse():
    A = np.random.default_rng(0).normal(size=(15, 15))
    cov, root = A @ A.T + np.eye(15), np.empty((15, 15))
    inverse_root(cov, root)
    assert np.allclose(root, np.tril(root))
    assert np.allclose(root.T @ root, np.linalg.inv(cov), rtol=1e-9, atol=1e-12)


def covariance(told: ImuInterval) -> np.ndarray:
    return np.linalg.inv(told.root.T @ told.root)


def test_the_covariance_is_that_of_many_noisy_runs(flight):
    """Strong walks of the biases, so that their part of the covariance is seen too."""
    noise = STRONG_WALKS
    samples, runs = flight.samples(0, 1.0, 1.5), 800
    exact, rng = inertia(samples, noise=noise), np.random.default_rng(4)
    dt, white, walk = samples[:, :1], np.repeat(noise[:2], 3), np.repeat(noise[2:4], 3)
    errors = np.empty((runs, 15))
    for n in range(runs):
        steps = walk * np.sqrt(dt) * rng.normal(size=(len(dt), 6))
        walked = np.vstack([np.zeros(6), np.cumsum(steps, axis=0)])
        noisy = samples.copy()
        noisy[:, 1:] += walked[:-1] + white / np.sqrt(dt) * rng.normal(size=(len(dt), 6))
        # as the residual has it: what was seen less what was told
        errors[n] = np.r_[-off(inertia(noisy).delta, exact.delta), walked[-1]]
    predicted = np.sqrt(np.diag(covariance(exact)))
    assert np.allclose(errors.std(axis=0), predicted, rtol=0.1)
    whitened = errors @ exact.root.T
    assert np.abs(whitened.T @ whitened / runs - np.eye(15)).max() < 0.2
    assert (whitened**2).sum(axis=1).mean() == pytest.approx(15.0, rel=0.05)


def test_errors_of_scale_count_as_noise_that_grows_with_the_rate():
    w, span, relative = np.array([0.9, 1.1, -0.3]), 0.3, 0.01
    samples = np.tile(np.r_[0.005, w, 0.0, 2.0, 9.6], (60, 1))
    told = inertia(samples, noise=np.array([1e-9, 1e-9, 1e-9, 1e-9, relative]))
    turn = relative * np.linalg.norm(w) * span**0.5
    deviations = np.sqrt(np.linalg.eigvalsh(covariance(told)[3:6, 3:6]))
    assert deviations == pytest.approx([turn] * 3, rel=1e-5)


@pytest.fixture(scope="module")
def interval(flight) -> np.ndarray:
    return flight.samples(0, 2.0, 2.2)


def test_the_motion_is_that_of_gtsam_on_fine_steps(interval):
    """gtsam turns a sample by the attitude at its start, which costs it half a step's turn.

    Told each sample in forty pieces it comes to what we have from the middle of whole samples.
    """
    ours = inertia(interval, AT)

    def gap(pieces: int) -> np.ndarray:
        theirs = preintegrated(interval, AT, NOISE, GRAVITY, pieces)
        turn = so3.quaternion_from_matrix(theirs.deltaRij().matrix())
        return off(np.concatenate([theirs.deltaPij(), turn, theirs.deltaVij()]), ours.delta)

    coarse, fine = gap(1), gap(40)
    assert np.abs(fine[3:6]).max() < 1e-9
    assert np.linalg.norm(fine[:3]) < 2e-5 and np.linalg.norm(fine[6:]) < 2e-4
    assert np.linalg.norm(fine[6:]) == pytest.approx(np.linalg.norm(coarse[6:]) / 40, rel=0.3)


@pytest.mark.parametrize("pieces, relative", [(1, 0.04), (40, 1.3e-3), (160, 6e-4)])
def test_slopes_by_the_biases_are_those_of_gtsam(interval, pieces, relative):
    """The gap closes with gtsam's step; what remains of it is in dp, by 3e-4."""
    theirs = preintegrated(interval, AT, NOISE, GRAVITY, pieces)
    start = gtsam.NavState(gtsam.Pose3(), np.zeros(3))

    def predicted(step: np.ndarray) -> np.ndarray:
        at = gtsam.imuBias.ConstantBias(AT[3:] + step[3:], AT[:3] + step[:3])
        there = theirs.predict(start, at)
        turn = so3.log(theirs.deltaRij().matrix().T @ there.attitude().matrix())
        return np.concatenate([there.position(), turn, there.velocity()])

    slope, numerical = inertia(interval, AT).slope, numeric(predicted, 6)
    for row in (0, 3, 6):
        for col in (0, 3):
            theirs = numerical[row : row + 3, col : col + 3]
            gap = np.abs(slope[row : row + 3, col : col + 3] - theirs).max()
            assert gap <= relative * np.abs(theirs).max() + 1e-12


@pytest.mark.parametrize("noise", [NOISE, STRONG_WALKS])
def test_the_covariance_is_that_of_gtsam(interval, noise):
    """`residualCovariance` has the signs of the residual; in `preintMeasCov` those of the biases differ.

    On whole samples gtsam's slopes are half a step off, which is what is between the two.
    """
    ours = covariance(inertia(interval, AT, noise))
    theirs = preintegrated(interval, AT, noise, GRAVITY).residualCovariance()[np.ix_(OURS, OURS)]
    size = np.sqrt(np.outer(np.diag(ours), np.diag(ours)))
    assert np.allclose(np.diag(ours), np.diag(theirs), rtol=1e-3)
    assert np.abs((ours - theirs) / size).max() < 0.01

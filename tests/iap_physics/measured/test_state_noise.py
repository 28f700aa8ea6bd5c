# SPDX-License-Identifier: BSD-3-Clause
"""The noisy state, and random streams that do not depend on each other."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.states import P, Q, V, W
from iap_physics.measured import state_noise
from iap_physics.measured.state_noise import NO_NOISE, NoisyState, StateNoise

LEVEL = StateNoise(position=0.005, attitude_deg=0.2, velocity=0.02, rate_deg=0.573)
DEVIATIONS = 0.005, np.deg2rad(0.2), 0.02, np.deg2rad(0.573)
COUNT = 6000


def true_state():
    x = np.zeros(13)
    x[P], x[Q] = (1.0, -2.0, 3.0), so3.quaternion_exp(np.array([0.3, -0.5, 1.2]))
    x[V], x[W] = (0.1, 0.2, -0.3), (0.4, 0.0, -0.1)
    return x


def samples(level=LEVEL, seed=1, count=COUNT):
    sense, x = NoisyState(level, stream(seed, "iap/state_noise")), true_state()
    return np.array([sense(x).copy() for _ in range(count)])


def errors(rows):
    """Position, rotation vector in body axes, velocity and rate errors (T, 3) each."""
    x = true_state()
    turns = so3.quaternion_log(so3.multiply(so3.conjugate(x[Q]), rows[:, Q]))
    return rows[:, P] - x[P], turns, rows[:, V] - x[V], rows[:, W] - x[W]


def test_noise_has_the_standard_deviation_of_its_level_on_every_axis():
    for error, sigma in zip(errors(samples()), DEVIATIONS, strict=True):
        np.testing.assert_allclose(error.std(axis=0), sigma, rtol=0.05)


def test_noise_has_no_mean_and_no_memory():
    for error, sigma in zip(errors(samples()), DEVIATIONS, strict=True):
        assert np.abs(error.mean(axis=0)).max() < 5.0 * sigma / np.sqrt(COUNT)
        following = (error[1:] * error[:-1]).mean(axis=0) / sigma**2
        assert np.abs(following).max() < 5.0 / np.sqrt(COUNT)


def test_the_channels_are_independent():
    columns = np.hstack(errors(samples()))
    correlation = np.corrcoef(columns.T) - np.eye(12)
    assert np.abs(correlation).max() < 5.0 / np.sqrt(COUNT)


def test_noisy_attitudes_are_unit_quaternions():
    rows = samples(NO_NOISE.model_copy(update={"attitude_deg": 28.6}), count=200)
    np.testing.assert_allclose(np.linalg.norm(rows[:, Q], axis=1), 1.0, atol=1e-12)


def test_without_noise_the_state_is_the_truth():
    sense, x = NoisyState(NO_NOISE, stream(1, "a")), true_state()
    np.testing.assert_array_equal(sense(x), true_state())


def test_the_truth_is_not_touched():
    sense, x = NoisyState(LEVEL, stream(1, "a")), true_state()
    assert np.abs(sense(x) - x).max() > 0.0
    np.testing.assert_array_equal(x, true_state())


def test_one_channel_s_level_does_not_change_the_others():
    """Position errors are the same with and without attitude noise."""
    quiet = samples(NO_NOISE.model_copy(update={"position": 0.005}), count=50)
    np.testing.assert_array_equal(quiet[:, P], samples(count=50)[:, P])


def test_the_same_seed_gives_the_same_noise_and_another_seed_another():
    np.testing.assert_array_equal(samples(count=50), samples(count=50))
    assert (samples(count=50) != samples(seed=2, count=50))[:, P].all()


def test_reset_starts_the_noise_anew():
    sense, x = NoisyState(LEVEL, stream(1, "a")), true_state()
    first = np.array([sense(x).copy() for _ in range(1500)])
    sense.reset(stream(1, "a"))
    np.testing.assert_array_equal(np.array([sense(x).copy() for _ in range(1500)]), first)


@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_the_sequence_does_not_depend_on_how_many_draws_are_made_at_once(chunk, monkeypatch):
    expected = samples(count=50)
    monkeypatch.setattr(state_noise, "_CHUNK", chunk)
    np.testing.assert_array_equal(samples(count=50), expected)


def test_streams_of_other_names_are_other_streams_and_change_nothing():
    a = stream(1, "iap/state_noise").standard_normal(100)
    stream(1, "gusts").standard_normal(10)
    np.testing.assert_array_equal(stream(1, "iap/state_noise").standard_normal(100), a)
    b = stream(1, "iap_2/state_noise").standard_normal(100)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.5

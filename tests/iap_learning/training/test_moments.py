# SPDX-License-Identifier: BSD-3-Clause
"""Moments of observations that come in parts are those of all of them."""

import numpy as np

from iap_learning.training.moments import no_moments, scaling, updated


def test_moments_of_parts_are_those_of_the_whole():
    rng = np.random.default_rng(5)
    rows = rng.normal([1e3, -2.0, 0.0], [1.0, 1e-3, 5.0], (700, 3))
    moments = no_moments(3)
    for part in np.split(rows, [1, 10, 300]):
        moments = updated(moments, part)
    assert moments.samples == 700
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.squares / 700, rows.var(axis=0), rtol=1e-9)


def test_scaled_observations_have_mean_zero_and_deviation_one():
    rows = np.random.default_rng(6).normal(4.0, 2.0, (500, 2)).astype(np.float32)
    seen = scaling(updated(no_moments(2), rows), 0.01)(rows)
    np.testing.assert_allclose(seen.mean(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(seen.std(axis=0), 1.0, rtol=1e-5)


def test_nothing_is_scaled_before_anything_is_seen_nor_by_less_than_the_least_deviation():
    row = np.array([3.0, -4.0], np.float32)
    np.testing.assert_array_equal(scaling(no_moments(2), 0.01)(row), row)
    still = updated(no_moments(2), np.tile(row, (10, 1)))
    np.testing.assert_allclose(scaling(still, 0.5)(row + 1.0), [2.0, 2.0])

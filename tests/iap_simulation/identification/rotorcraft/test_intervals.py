# SPDX-License-Identifier: BSD-3-Clause
"""Intervals of estimates: by blocks of two seconds, of combinations, and never narrower than a hundredth."""

import numpy as np
import pytest

from iap_simulation.identification.rotorcraft.estimate import (
    Regression,
    block_scatter,
    estimate,
    regression,
)


def test_scores_are_summed_up_in_blocks_of_two_seconds():
    scores = np.column_stack([np.ones(50), np.arange(50.0)])
    sums = np.array([scores[:20].sum(axis=0), scores[20:40].sum(axis=0), scores[40:].sum(axis=0)])
    np.testing.assert_allclose(block_scatter(scores, 0.1), sums.T @ sums)
    np.testing.assert_allclose(block_scatter(scores, 4.0), scores.T @ scores)  # each a block


def test_an_estimate_is_no_better_than_a_hundredth_of_its_value():
    assert estimate(-2.0, 0.015, "m", "x").half_width == pytest.approx(0.02)
    assert estimate(-2.0, 0.025, "m", "x").half_width == pytest.approx(0.025)


def test_a_combination_has_the_interval_of_its_gradient():
    made = Regression(np.zeros(2), np.array([[4.0, 1.0], [1.0, 9.0]]), np.zeros(3), 1.0)
    assert made.half_width(np.array([1.0, 0.0])) == pytest.approx(1.959964 * 2.0)
    assert made.half_width(np.array([1.0, -1.0])) == pytest.approx(1.959964 * np.sqrt(11.0))
    indefinite = made._replace(covariance=-np.eye(2))
    assert indefinite.half_width(np.array([1.0, 0.0])) == 0.0


def test_least_squares_have_their_coefficients_share_and_residuals_in_any_unit():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(400, 2)) * [1.0, 1e4]
    noise = rng.normal(size=400)
    y = A @ [3.0, 2e-4] + noise
    found = regression(A, y, 2.0)
    exact = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(found.values, exact, rtol=1e-9)
    np.testing.assert_allclose(found.residuals, y - A @ exact, atol=1e-9)
    assert found.share == pytest.approx(1.0 - np.var(y - A @ exact) / np.var(y))
    widths = [found.half_width(axis) for axis in np.eye(2)]
    np.testing.assert_allclose(widths, 1.96 / np.sqrt(400) / np.array([1.0, 1e4]), rtol=0.2)
    assert regression(np.column_stack([A, np.zeros(400)]), y, 2.0).values[2] == 0.0

# SPDX-License-Identifier: BSD-3-Clause
"""Correlations of velocities with commands at any lag, and what a command's past explains."""

import numpy as np
import pytest

from iap_simulation.identification.responses import correlations, response_of

RNG = np.random.default_rng(6)
U = RNG.normal(size=300)


def test_correlations_are_those_of_the_parts_that_overlap() -> None:
    v = np.r_[np.zeros(7), U[:-7]] + 0.5 * RNG.normal(size=300)
    values = correlations(U, v, -40, 60)
    for lag, value in zip(range(-40, 61), values, strict=True):
        a, b = (U[: 300 - lag], v[lag:]) if lag >= 0 else (U[-lag:], v[:lag])
        assert value == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-9)
    assert int(np.argmax(values)) - 40 == 7


def test_what_does_not_move_correlates_with_nothing() -> None:
    still = np.full(300, 0.7)
    assert not correlations(U, still, -5, 5).any() and not correlations(still, U, -5, 5).any()
    assert response_of(U, still, 20) == (0.0, 0.0)


def test_a_delayed_part_of_the_command_is_explained_with_its_gain() -> None:
    held = np.repeat(U[:60], 5)
    v = 0.8 * np.r_[np.zeros(10), held[:-10]]
    answer = response_of(held, v, 23)
    assert answer.explained == pytest.approx(1.0) and answer.gain == pytest.approx(0.8)
    early = 0.8 * np.r_[held[10:], np.zeros(10)]
    assert response_of(held, early, 23).explained < 0.5
    ahead = response_of(held, early, 23, 10, 10)
    assert ahead.explained == pytest.approx(1.0) and ahead.gain == pytest.approx(0.8)


def test_too_few_samples_explain_nothing() -> None:
    assert response_of(U[:60], U[:60], 23) == (0.0, 0.0)

# SPDX-License-Identifier: BSD-3-Clause
"""Signals with derivatives: rules of products, quotients and sines, against derivatives by hand."""

import numpy as np
import pytest

from iap_control.references.jet import Jet, constant, polyline

T = np.array([0.4, 0.9, 1.7])
TIME = Jet.time(T)
SQUARE = TIME * TIME


def check(jet, f, df, ddf):
    for found, expected in zip((jet.f, jet.df, jet.ddf), (f, df, ddf), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("jet", "f", "df", "ddf"),
    [
        (SQUARE, T**2, 2 * T, 2.0 + 0 * T),
        (SQUARE * TIME, T**3, 3 * T**2, 6 * T),
        (SQUARE.sin(), np.sin(T**2), 2 * T * np.cos(T**2), 2 * np.cos(T**2) - 4 * T**2 * np.sin(T**2)),
        (SQUARE.cos(), np.cos(T**2), -2 * T * np.sin(T**2), -2 * np.sin(T**2) - 4 * T**2 * np.cos(T**2)),
        (SQUARE.reciprocal(), T**-2, -2 * T**-3, 6 * T**-4),
        (3.0 - SQUARE, 3.0 - T**2, -2 * T, -2.0 + 0 * T),
        (SQUARE - TIME, T**2 - T, 2 * T - 1, 2.0 + 0 * T),
        (2.0 + SQUARE * 3.0, 2 + 3 * T**2, 6 * T, 6.0 + 0 * T),
        (constant(T, 4), 4.0 + 0 * T, 0 * T, 0 * T),
    ],
)  # fmt: skip
def test_derivatives_follow_the_rules(jet, f, df, ddf):
    check(jet, f, df, ddf)


def test_a_smooth_step_of_a_square_has_its_polynomial_and_ends_at_one():
    s, inside = T**2, T < 1.0
    g = s**3 * (10 - 15 * s + 6 * s**2)
    dg, ddg = 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3
    check(
        SQUARE.smooth_step(),
        np.where(inside, g, 1.0),
        np.where(inside, dg * 2 * T, 0.0),
        np.where(inside, ddg * 4 * T**2 + dg * 2.0, 0.0),
    )


def test_a_smooth_ramp_lags_by_half_of_its_ease():
    ramp = Jet.time(np.array([-1.0, 0.0, 1.0, 2.0, 5.0])).smooth_ramp(2.0)
    check(ramp, [0.0, 0.0, 2 * (2.5 / 16 - 3 / 32 + 1 / 64), 1.0, 4.0], [0, 0, 0.5, 1, 1],
          [0, 0, 1.875 / 2, 0, 0])  # fmt: skip


def test_a_polyline_has_the_slope_of_the_line_that_begins_and_none_outside():
    times, values = np.array([1.0, 3.0, 3.0, 7.0]), np.array([2.0, 6.0, 9.0, 1.0])
    t = np.array([0.9, 1.0, 2.0, 3.0, 5.0, 7.0, 8.0])
    jet = polyline(t, times, values)
    np.testing.assert_allclose(jet.f[[0, 1, 2, 4, 5, 6]], [2.0, 2.0, 4.0, 5.0, 1.0, 1.0])
    np.testing.assert_allclose(jet.df, [0.0, 2.0, 2.0, -2.0, -2.0, 0.0, 0.0])
    assert not jet.ddf.any()

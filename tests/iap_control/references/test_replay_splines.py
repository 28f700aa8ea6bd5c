# SPDX-License-Identifier: BSD-3-Clause
"""The smoothing spline against its definition, its frequency response and another library."""

import numpy as np
import pytest

from iap_control.references import splines

CUTOFF = 4.0  # [Hz]


def sine(t: np.ndarray, f: float, derivative: int = 0) -> np.ndarray:
    """The derivative of sin(2 pi f t), as a column."""
    w = 2.0 * np.pi * f
    return w**derivative * np.sin(w * t + 0.5 * np.pi * derivative)[:, None]


def test_derivatives_are_those_of_the_curve() -> None:
    t = np.arange(0.0, 3.0, 0.02)
    curve = splines.fit(t, {0: np.random.default_rng(0).normal(size=(len(t), 2))}, CUTOFF)
    inside, h = np.linspace(0.1, 2.8, 200), 1e-5
    for derivative in range(4):
        central = (curve(inside + h, derivative) - curve(inside - h, derivative)) / (2.0 * h)
        scale = np.abs(central).max()
        np.testing.assert_allclose(curve(inside, derivative + 1), central, atol=1e-6 * scale)


@pytest.mark.parametrize("frequency", [0.5, 1.0, 2.0, 4.0, 6.0])
@pytest.mark.parametrize("rate", [40.0, 200.0])
def test_gain_is_that_of_the_filter_at_any_sample_rate(frequency: float, rate: float) -> None:
    t = np.arange(0.0, 10.0, 1.0 / rate)
    curve = splines.fit(t, {0: sine(t, frequency)}, CUTOFF)
    middle = np.linspace(3.0, 7.0, 801)
    gain = 1.0 / (1.0 + (frequency / CUTOFF) ** 6)
    np.testing.assert_allclose(curve(middle), gain * sine(middle, frequency), atol=2e-3)


def test_parabolas_pass_unchanged() -> None:
    t = np.sort(np.random.default_rng(1).uniform(0.0, 5.0, 150))
    t[0] = 0.0
    curve = splines.fit(t, {0: np.stack([2.0 + t, 0.5 * t**2], axis=1)}, CUTOFF)
    inside = np.linspace(0.0, t[-1], 500)
    expected = np.stack([2.0 + inside, 0.5 * inside**2], axis=1)
    np.testing.assert_allclose(curve(inside), expected, atol=1e-6)
    np.testing.assert_allclose(curve(inside, 2), [0.0, 1.0] * np.ones((500, 1)), atol=1e-4)


def test_samples_of_the_derivative_sharpen_the_curve() -> None:
    t = np.arange(0.0, 10.0, 0.025)
    samples = {order: sine(t, 3.0, order) for order in range(3)}
    middle = np.linspace(3.0, 7.0, 801)
    x = 3.0 / CUTOFF
    for orders in ((0, 1), (0, 1, 2)):
        curve = splines.fit(t, {order: samples[order] for order in orders}, CUTOFF)
        kept = sum(x ** (2 * order) for order in orders)
        np.testing.assert_allclose(
            curve(middle), kept / (kept + x**6) * sine(middle, 3.0), atol=2e-3
        )


@pytest.mark.parametrize("t", [[0.0, 0.025], [0.0, 1.0], [0.0, 0.4, 0.5], [0.0, 0.9, 1.8, 1.81]])
def test_few_samples_are_joined_without_detours(t: list[float]) -> None:
    times = np.array(t)
    curve = splines.fit(times, {0: 3.0 - 2.0 * times[:, None]}, CUTOFF)
    inside = np.linspace(0.0, t[-1], 50)
    np.testing.assert_allclose(curve(inside), 3.0 - 2.0 * inside[:, None], atol=1e-4)
    np.testing.assert_allclose(curve(inside, 1), -2.0, atol=1e-3)


def test_coefficients_are_those_of_scipys_basis() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    t = np.sort(np.random.default_rng(2).uniform(0.0, 2.0, 60))
    t[0] = 0.0
    y = np.random.default_rng(3).normal(size=(60, 1))
    curve = splines.fit(t, {0: y}, CUTOFF)
    count = len(curve.coefficients)
    step = t[-1] / (count - 5)
    knots = step * np.arange(-5, count + 1)
    bases = [interpolate.BSpline(knots, row, 5) for row in np.eye(count)]

    def design(times: np.ndarray, derivative: int) -> np.ndarray:
        return np.stack([basis.derivative(derivative)(times) for basis in bases], axis=1)

    tau = 1.0 / (2.0 * np.pi * CUTOFF)
    fine = (np.arange(20_000) + 0.5) * t[-1] / 20_000
    A, weights = design(t, 0), np.gradient(t)[:, None]
    M = A.T @ (weights * A)
    for derivative, weight in ((3, tau**6), (2, 1e-6 * tau**4)):
        rough = design(fine, derivative)
        M += weight * t[-1] / 20_000 * rough.T @ rough
    expected = np.linalg.solve(M, A.T @ (weights * y))
    inside = np.linspace(0.0, t[-1], 300)
    np.testing.assert_allclose(curve(inside), design(inside, 0) @ expected, atol=1e-5)

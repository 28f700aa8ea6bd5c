# SPDX-License-Identifier: BSD-3-Clause
"""The fewest samples of a log, units, confidence intervals, and platforms that models start from."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from iap_description.errors import BadInput
from iap_simulation.identification.least_squares import fitted, half_widths
from iap_simulation.identification.log import SI, make_log
from iap_simulation.identification.rotorcraft.platform_file import Scale, platform_files

NAMES = ("u_l", "u_m", "u_n", "w")


def signals(count: int) -> dict[str, np.ndarray]:
    """Commands of noise and velocities that are half of them."""
    rng, out = np.random.default_rng(1), {"t": 0.05 * np.arange(count)}
    for name in NAMES:
        out[f"{name}_ref"] = rng.uniform(-1.0, 1.0, count)
        out[name] = 0.5 * out[f"{name}_ref"]
    return out


def test_a_log_has_twenty_samples_at_least_and_units_only_where_they_are_said() -> None:
    log = make_log("log", "log.csv", signals(20))
    assert len(log.t) == 20 and not log.in_units and not log.has_arm
    assert make_log("log", "log.csv", signals(20), in_units=True).in_units
    assert (SI.speed, SI.angle) == (1.0, 1.0)
    with pytest.raises(BadInput, match=r"^log\.csv: 19 samples, 20 at least are expected$"):
        make_log("log", "log.csv", signals(19))


def test_an_interval_has_95_percent_of_a_normal_distribution() -> None:
    m = 400
    white = np.tile([1.0, -1.0], m // 2)  # whose neighbours are not alike
    (width,) = half_widths(np.ones((m, 1)), white, np.ones(1))
    assert width == pytest.approx(norm.ppf(0.975) * np.sqrt(m / (m - 1.0) / m), rel=1e-6)


def test_residuals_that_stay_alike_widen_an_interval_up_to_a_hundredth_of_the_samples() -> None:
    m = 4000
    for residuals, r in ((np.repeat(np.tile([1.0, -1.0], m // 8), 4), 0.5), (np.ones(m), 0.99)):
        (width,) = half_widths(np.ones((m, 1)), residuals, np.ones(1))
        independent = m * (1.0 - r) / (1.0 + r) - 1.0
        expected = norm.ppf(0.975) * np.sqrt(m / independent / m)
        assert width == pytest.approx(expected, rel=1e-2)


def test_what_leaves_no_trace_has_no_interval_and_what_lies_at_a_bound_neither() -> None:
    jacobian = np.column_stack([np.arange(10.0), np.zeros(10)])
    widths = half_widths(jacobian, np.tile([1.0, -1.0], 5), np.ones(2))
    assert np.isfinite(widths[0]) and np.isinf(widths[1])
    t = np.linspace(0.0, 1.0, 50)
    fit = fitted(
        lambda p: p[0] * t + p[1] - (2.0 * t + 1.0),
        np.array([0.5, 0.5]),
        scale=np.ones(2),
        bounds=(np.array([0.0, 0.0]), np.array([1.5, 5.0])),
    )
    assert fit.values[0] == pytest.approx(1.5) and np.isinf(fit.half_widths[0])
    assert np.isfinite(fit.half_widths[1])


def test_a_model_of_one_aircraft_starts_from_a_platform_of_one() -> None:
    model: Any = None  # it is not looked at before
    with pytest.raises(
        BadInput, match=r"three_star has \d aircraft; a platform of one is expected"
    ):
        platform_files(model, "three_star", Scale(), [])

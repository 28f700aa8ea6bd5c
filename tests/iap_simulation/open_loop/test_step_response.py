# SPDX-License-Identifier: BSD-3-Clause
"""Step responses from set-points: those of systems whose response is known, or none where nothing tells."""

import numpy as np
import pytest
from scipy.signal import butter, lfilter

from iap_description.math import so3
from iap_simulation.open_loop import step_response
from iap_simulation.open_loop.step_response import LEAST_MOTION, StepResponse

DT, SECONDS, LAG, DELAY = 0.005, 60.0, 0.1, 0.04


def setpoints(seed=1, size=5.0):
    """Noise below 1 Hz, as a pilot moves sticks [deg]."""
    white = np.random.default_rng(seed).standard_normal(round(SECONDS / DT))
    u = lfilter(*butter(2, 2.0 * DT), white)
    return size * u / np.std(u)


def lagged(u):
    """A delay and a lag of first order behind set-points."""
    held = np.concatenate([np.full(round(DELAY / DT), u[0]), u])[: len(u)]
    share = 1.0 - np.exp(-DT / LAG)
    return lfilter([share], [1.0, share - 1.0], held, zi=[u[0] * (1.0 - share)])[0]


def test_a_lag_and_a_delay_are_found_within_their_deviations_from_noisy_angles():
    u = setpoints()
    noise = 0.1 * np.random.default_rng(2).standard_normal(len(u))
    found = StepResponse.of(u, lagged(u) + 0.3 + noise, DT)
    exact = 1.0 - np.exp(-np.maximum(found.t - DELAY, 0.0) / LAG)
    np.testing.assert_allclose(found.values, exact, atol=0.04)
    assert found.rise_time == pytest.approx(LAG + DELAY, abs=0.01)
    assert found.overshoot < 0.02 and found.deviations.max() < 0.02


def test_an_overshoot_is_that_of_the_damping():
    """A second-order system of damping 0.5 overshoots by exp(-pi 0.5 / sqrt(1 - 0.25)) = 16 %."""
    w, z = 12.0, 0.5
    u = setpoints()
    y = np.zeros(len(u))
    v = 0.0
    y[0] = u[0]
    for k in range(1, len(u)):
        v += DT * (w * w * (u[k - 1] - y[k - 1]) - 2.0 * z * w * v)
        y[k] = y[k - 1] + DT * v
    assert StepResponse.of(u, y, DT).overshoot == pytest.approx(0.163, abs=0.03)


def test_an_angle_that_does_not_follow_reaches_no_step():
    u = setpoints()
    assert StepResponse.of(u, 0.3 * lagged(u), DT).rise_time is None


@pytest.mark.parametrize(
    "change",
    [
        lambda u: (u[:1000], lagged(u)[:1000]),  # too short
        lambda u: (0.5 * LEAST_MOTION / 5.0 * u, lagged(u)),  # hardly moves
        lambda u: (u, 100.0 * np.random.default_rng(3).standard_normal(len(u))),  # no response
    ],
)
def test_nothing_is_said_where_nothing_tells(change):
    assert StepResponse.of(*change(setpoints()), DT) is None


@pytest.mark.parametrize(
    ("seconds", "size", "is_found"),
    [(8.2, 5.0, True), (7.8, 5.0, False), (SECONDS, 0.31, True), (SECONDS, 0.29, False)],
)
def test_eight_seconds_of_set_points_that_move_by_three_tenths_of_a_degree_tell(
    seconds, size, is_found
):
    u = setpoints()
    u = u[: round(seconds / DT)]
    u = size * (u - u.mean()) / np.std(u[:: round(0.02 / DT)])
    assert (StepResponse.of(u, lagged(u), DT) is not None) == is_found


def test_a_response_rises_to_63_percent_and_ends_with_its_span():
    response = StepResponse(np.array([0.1, 0.3, 0.5]), np.array([0.2, 0.6, 0.7]), np.zeros(3))
    at = 0.3 + 0.2 * (1.0 - np.exp(-1.0) - 0.6) / 0.1
    assert response.rise_time == pytest.approx(at) and response.overshoot == 0.0
    u = setpoints()
    found = StepResponse.of(u, lagged(u), DT)
    assert len(found.t) == 40  # 0.8 s at 50 Hz
    np.testing.assert_allclose(found.t[:2], [0.01, 0.03])


def test_steps_are_sums_of_taps_whose_bends_cost():
    """(I + w d d') h = m with the bend d = (1, -2, 1) has h = m - w d (d m) / (1 + 6 w); the constant is left out."""
    normal, moment = np.diag([1.0, 1.0, 1.0, 2.0]), np.array([1.0, 0.0, 0.0, 6.0])
    np.testing.assert_allclose(step_response._steps(normal, moment, 0.5), [0.875, 1.125, 1.0])
    np.testing.assert_allclose(step_response._steps(normal, moment, 0.0), [1.0, 1.0, 1.0])
    straight = np.array([1.0, 2.0, 3.0, 6.0])  # does not bend
    np.testing.assert_allclose(step_response._steps(normal, straight, 0.5), [1.0, 3.0, 6.0])


def test_blocks_hold_every_angle_once_with_the_set_points_before_it():
    u, y = np.arange(1.0, 20.0) ** 2, 3.0 * np.arange(19.0)
    normals, moments = step_response._blocks(u, y, 3)
    A = np.array([[u[k], u[k - 1], u[k - 2], 1.0] for k in range(2, 19)])
    assert normals.shape == (8, 4, 4)
    np.testing.assert_allclose(normals.sum(axis=0), A.T @ A)
    np.testing.assert_allclose(moments.sum(axis=0), A.T @ y[2:])
    np.testing.assert_allclose(normals[0], A[:3].T @ A[:3])  # 17 rows in 8 blocks


def test_axes_keep_recorded_and_simulated_responses_apart():
    u = np.radians(np.column_stack([setpoints(1), setpoints(2)]))
    slow = np.column_stack([lagged(u[:, 0]), 0.5 * lagged(u[:, 1])])

    def attitudes(angles):
        x, y = 0.5 * angles[:, 0], 0.5 * angles[:, 1]
        pitch = np.column_stack([0 * y, np.sin(y), 0 * y, np.cos(y)])
        roll = np.column_stack([np.sin(x), 0 * x, 0 * x, np.cos(x)])
        return so3.multiply(pitch, roll)

    found = step_response.axis_responses(attitudes(u), attitudes(slow), attitudes(u), DT)
    assert list(found) == ["roll", "pitch"]
    ends = {
        key: (pair.recorded.values[-1], pair.simulated.values[-1]) for key, pair in found.items()
    }
    assert ends["roll"] == pytest.approx((1.0, 1.0), abs=0.03)
    assert ends["pitch"] == pytest.approx((0.5, 1.0), abs=0.03)

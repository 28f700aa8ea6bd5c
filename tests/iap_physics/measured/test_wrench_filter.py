# SPDX-License-Identifier: BSD-3-Clause
"""The second-order low-pass of the contact wrench against its transfer function."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math.second_order import transition
from iap_physics.measured.wrench_sensor import SecondOrderLowPass

CUTOFF = 10.0
every_damping = pytest.mark.parametrize("damping", [1.414, 1.0, 0.5, 1.0 + 1e-9])


def step_response(t, damping, cutoff=CUTOFF):
    """Output at times `t` under a unit step, from the poles of the transfer function."""
    root = np.sqrt(complex(damping**2 - 1.0))
    a, b = cutoff * (-damping + root), cutoff * (-damping - root)
    if abs(a - b) < 1e-3:
        return 1.0 - (1.0 + cutoff * t) * np.exp(-cutoff * t)
    return np.real(1.0 + (b * np.exp(a * t) - a * np.exp(b * t)) / (a - b))


def response(dt, duration, damping, u=1.0):
    low_pass = SecondOrderLowPass(CUTOFF, damping, dt, size=1)
    count = round(duration / dt)
    return np.array([low_pass(np.array([u]))[0] for _ in range(count)])


@every_damping
@pytest.mark.parametrize("dt", [0.001, 0.005, 0.05])
def test_the_step_response_is_the_analytic_one_whatever_the_period(damping, dt):
    y = response(dt, 1.5, damping)
    t = dt * np.arange(1, len(y) + 1)
    np.testing.assert_allclose(y, step_response(t, damping), atol=1e-8)


@every_damping
def test_a_constant_wrench_comes_through_unchanged(damping):
    assert response(0.005, 10.0, damping, u=-7.0)[-1] == pytest.approx(-7.0, abs=1e-9)


def test_a_sine_is_damped_and_delayed_as_the_transfer_function_says():
    dt, omega = 1e-4, 25.0
    low_pass = SecondOrderLowPass(CUTOFF, 1.414, dt, size=1)
    t = dt * np.arange(1, 40001)
    y = np.array([low_pass(np.array([np.sin(omega * (s - 0.5 * dt))]))[0] for s in t])
    s = 1j * omega
    G = CUTOFF**2 / (s**2 + 2.0 * 1.414 * CUTOFF * s + CUTOFF**2)
    expected = abs(G) * np.sin(omega * t + np.angle(G))
    np.testing.assert_allclose(y[20000:], expected[20000:], atol=1e-4)


def test_a_spike_of_one_period_counts_by_its_impulse():
    """600 N for one period of 5 ms are 3 N s; the impulse response peaks at 2.9 1/s."""
    low_pass = SecondOrderLowPass(CUTOFF, 1.414, 0.005)
    spike = np.array([600.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    out = [low_pass(spike if k == 0 else np.zeros(6)).copy() for k in range(400)]
    assert max(y[0] for y in out) == pytest.approx(3.0 * 2.89, rel=0.02)
    assert np.sum(out, axis=0)[0] * 0.005 == pytest.approx(3.0, rel=1e-3)


def test_channels_do_not_mix_and_reset_forgets():
    low_pass = SecondOrderLowPass(CUTOFF, 1.414, 0.005)
    u = np.array([1.0, 2.0, 3.0, -1.0, 0.0, 5.0])
    first = [low_pass(u).copy() for _ in range(50)]
    np.testing.assert_allclose(first[-1], u * first[-1][0], atol=1e-14)
    low_pass.reset()
    np.testing.assert_array_equal([low_pass(u).copy() for _ in range(50)], first)


def test_steps_of_the_transition_compose():
    one, two = transition(CUTOFF, 0.7, 0.01), transition(CUTOFF, 0.7, 0.02)
    np.testing.assert_allclose(one @ one, two, atol=1e-14)


def test_a_cutoff_far_above_the_sampling_rate_passes_everything():
    low_pass = SecondOrderLowPass(1e6, 1.414, 0.005, size=1)
    assert low_pass(np.array([4.0]))[0] == pytest.approx(4.0, abs=1e-9)


@pytest.mark.parametrize(
    "numbers", [(0.0, 1.0, 0.005), (10.0, -1.0, 0.005), (10.0, 1.0, float("nan"))]
)
def test_numbers_that_are_not_positive_are_refused(numbers):
    with pytest.raises(BadInput, match="wrench filter: .* must be positive"):
        SecondOrderLowPass(*numbers)

# SPDX-License-Identifier: BSD-3-Clause
"""Measured states and wrenches."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.math.second_order import transition
from iap_description.states import P, Q, V, W
from iap_physics.measured import state_noise
from iap_physics.measured.state_noise import NO_NOISE, NoisyState, NoisyStates, StateNoise
from iap_physics.measured.wrench_sensor import (
    SecondOrderLowPass,
    WrenchFilter,
    WrenchSensor,
    to_platform,
    to_world,
)

LEVEL = StateNoise(position=0.005, attitude_deg=0.2, velocity=0.02, rate_deg=0.573)
DEVIATIONS = 0.005, np.deg2rad(0.2), 0.02, np.deg2rad(0.573)
EXACT = {"position": 0.0, "attitude_deg": 0.0, "velocity": 0.0, "rate_deg": 0.0}
COUNT = 6000
CUTOFF = 10.0
every_damping = pytest.mark.parametrize("damping", [1.414, 1.0, 0.5, 1.0 + 1e-9])
WRENCH = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])


def true_state():
    x = np.zeros(13)
    x[P], x[Q] = (1.0, -2.0, 3.0), so3.quaternion_exp(np.array([0.3, -0.5, 1.2]))
    x[V], x[W] = (0.1, 0.2, -0.3), (0.4, 0.0, -0.1)
    return x


def samples(level=LEVEL, seed=1, count=COUNT):
    sense, x = NoisyState(level, stream(seed, "iap/state_noise"), 0.005), true_state()
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
    sense, x = NoisyState(NO_NOISE, stream(1, "a"), 0.005), true_state()
    np.testing.assert_array_equal(sense(x), true_state())


def test_the_truth_is_not_touched():
    sense, x = NoisyState(LEVEL, stream(1, "a"), 0.005), true_state()
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
    sense, x = NoisyState(LEVEL, stream(1, "a"), 0.005), true_state()
    first = np.array([sense(x).copy() for _ in range(1500)])
    sense.reset(stream(1, "a"))
    np.testing.assert_array_equal(np.array([sense(x).copy() for _ in range(1500)]), first)


def moving(count):
    """Rows of a body that moves on by 1 mm along x in each period."""
    rows = np.tile(true_state(), (count, 1))
    rows[:, 0] = 0.001 * np.arange(count)
    return rows


def test_measurements_come_late_by_whole_periods_and_the_first_one_stands_till_then():
    sense = NoisyState(StateNoise(**EXACT, latency=0.03), stream(1, "a"), 0.005)
    places = [sense(row)[0] for row in moving(20)]
    np.testing.assert_allclose(places[:7], 0.0, atol=1e-15)
    np.testing.assert_allclose(places[6:], 0.001 * np.arange(14), atol=1e-15)


def test_of_lost_measurements_the_one_before_stands():
    sense = NoisyState(StateNoise(**EXACT, dropout=0.3), stream(1, "a"), 0.005)
    places = np.array([sense(row)[0] for row in moving(COUNT)])
    steps = np.diff(places)
    assert (steps >= 0.0).all()
    assert places[0] == 0.0
    assert np.mean(steps == 0.0) == pytest.approx(0.3, abs=0.02)
    assert np.isclose(places, 0.001 * np.arange(COUNT)).mean() == pytest.approx(0.7, abs=0.02)


def test_every_flight_draws_its_latency():
    noise = StateNoise(**EXACT, latency=0.03, latency_spread=0.03)
    late = []
    for seed in range(200):
        sense = NoisyState(noise, stream(seed, "a"), 0.005)
        late.append(29 - round(1000.0 * [sense(row)[0] for row in moving(30)][-1]))
    assert set(late) == set(range(13))
    assert np.mean(late) == pytest.approx(6.0, abs=0.7)


def test_worlds_measure_late_and_lose_what_each_would_alone_bit_for_bit():
    noise = LEVEL.model_copy(update={"latency": 0.02, "latency_spread": 0.02, "dropout": 0.2})
    many = NoisyStates(noise, [stream(seed, "a") for seed in range(3)], 0.005)
    alone = [NoisyState(noise, stream(seed, "a"), 0.005) for seed in (0, 1, 2, 7)]
    rows = moving(300)
    for k in range(100):
        seen = many(rows[[k, k, k]])
        for world in range(3):
            np.testing.assert_array_equal(seen[world], alone[world](rows[k]))
    many.reset(np.array([1]), [stream(7, "a")])
    for k in range(100, 300):
        seen = many(rows[[k, k, k]])
        for world, other in enumerate((0, 3, 2)):
            np.testing.assert_array_equal(seen[world], alone[other](rows[k]))


def test_what_would_be_measured_before_it_is_there_is_refused():
    with pytest.raises(
        ValueError, match="key 'latency_spread': 0.02 s is more than latency, 0.01"
    ):
        StateNoise(**EXACT, latency=0.01, latency_spread=0.02)


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


def sensor():
    return WrenchSensor(WrenchFilter(cutoff=10.0, damping=1.414), 0.005)


def test_force_and_torque_turn_with_the_platform():
    q = so3.quaternion_exp(np.array([0.3, -0.5, 1.2]))
    measured = sensor()
    measured(WRENCH, q)
    R = so3.matrix_from_quaternion(q)
    np.testing.assert_allclose(
        measured.raw_P, np.r_[R.T @ WRENCH[:3], R.T @ WRENCH[3:]], atol=1e-12
    )
    np.testing.assert_array_equal(measured.raw_W, WRENCH)


def test_frames_and_back_is_the_same_wrench():
    q = so3.quaternion_exp(np.array([-1.0, 0.4, 0.2]))
    there, back = np.empty(6), np.empty(6)
    to_platform(WRENCH, q, there)
    to_world(there, q, back)
    np.testing.assert_allclose(back, WRENCH, atol=1e-12)


def test_a_turning_platform_under_a_constant_force_of_the_world_has_no_ripple_from_the_filter():
    """The filter works in world axes, so turning adds no lag."""
    measured = sensor()
    for k in range(2000):
        measured(WRENCH, so3.quaternion_exp(np.array([0.0, 0.0, 0.01 * k])))
    np.testing.assert_allclose(measured.filtered_W, WRENCH, atol=1e-6)
    np.testing.assert_allclose(measured.filtered_P, measured.raw_P, atol=1e-6)


def test_a_reset_sensor_has_forgotten():
    measured = sensor()
    for _ in range(100):
        measured(WRENCH, np.array([0, 0, 0, 1.0]))
    measured.reset()
    assert not measured.filtered_W.any()
    measured(np.zeros(6), np.array([0, 0, 0, 1.0]))
    assert not measured.filtered_W.any()

# SPDX-License-Identifier: BSD-3-Clause
"""The momentum observer in the closed loop: on real rotors and autopilots, in free flight."""

import numpy as np
import pytest
from flying import DT, GRAVITY, gains_of
from swings import NOTHING, estimates_of, swinging
from various_platforms import platform_of, various

from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_physics.measured.state_noise import NO_NOISE, NoisyState

UP = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0])
NOISY = NO_NOISE.model_copy(update={"velocity": 0.005, "rate_deg": 0.2})


def observer_of(name, gains, gain=10.0):
    platform = load_platform(name)
    return MomentumObserver(
        Assembly.of(platform),
        platform.fleet,
        gains.autopilot,
        gravity=GRAVITY,
        gain=np.full(6, gain),
        dt=DT,
    )


def fly(name, duration, *, noise=NO_NOISE, preset="default", gain=10.0, **flight):
    """Estimates (T, 6) in world axes of a flight on measured states."""
    gains = gains_of(preset)
    observer, sense = (
        observer_of(name, gains, gain),
        NoisyState(noise, stream(1, "iap/state_noise"), 0.005),
    )
    return estimates_of(name, duration, gains, lambda _: observer, sense=sense, **flight)


@pytest.mark.parametrize("name", ["three_star", "three_line", "f450"])
@pytest.mark.parametrize("axis", range(6))
def test_a_step_is_seen_within_5_percent_after_half_a_second(name, axis):
    wrench_W = np.eye(6)[axis] * (5.0 if axis < 3 else 1.0)
    if name == "three_line" and axis == 3:
        wrench_W *= 0.02  # nothing but its weight holds it against a turn about the line
    estimate = fly(name, 1.05, wrench_W=wrench_W, at=0.5)
    assert estimate[201, axis] == pytest.approx(wrench_W[axis], rel=0.05)
    others = np.delete(estimate[201], axis)
    assert np.abs(others).max() < max(0.05 * wrench_W[axis], 0.01)


def test_it_answers_as_the_first_order_low_pass_of_equation_38():
    estimate = fly("three_star", 1.0, wrench_W=UP, at=0.5)
    t = DT * np.arange(len(estimate)) - 0.5
    expected = np.where(t > 0.0, 5.0 * (1.0 - np.exp(-10.0 * np.maximum(t, 0.0))), 0.0)
    np.testing.assert_allclose(estimate[:, 2], expected, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("name", ["three_star", "f450"])
def test_noise_biases_nothing_in_hover(name, preset):
    """The autopilots are kept busy by 5 mm/s and 0.2 deg/s, and their rotors rise faster than they fall."""
    estimate = fly(name, 8.0, noise=NOISY, preset=preset)
    bias = np.abs(estimate[400:].mean(axis=0))
    assert bias[:3].max() < 0.03
    assert bias[3:].max() < 0.005


def test_without_the_autopilot_s_gains_the_busy_rotors_look_like_a_force():
    """The reason for an observer that follows every rotor."""
    gains = gains_of()
    blind = MomentumObserver(
        Assembly.of(load_platform("three_star")),
        load_platform("three_star").fleet,
        gains.autopilot.model_copy(update={"attitude": NOTHING[:3], "rate": NOTHING[:3]}),
        gravity=GRAVITY,
        gain=np.full(6, 10.0),
        dt=DT,
    )
    sense = NoisyState(NOISY, stream(1, "iap/state_noise"), 0.005)
    seen = estimates_of("three_star", 5.0, gains, lambda _: blind, sense=sense)
    assert np.mean(seen[400:], axis=0)[2] > 0.5


@pytest.mark.parametrize("name", ["three_star", "three_line"])
def test_a_swinging_platform_feels_nothing(name):
    estimate = fly(name, 4.0, reference=swinging)[
        200:
    ]  # the jump of acceleration at the start left out
    assert np.abs(estimate[:, :3]).max() < 0.05
    assert np.abs(estimate[:, 3:]).max() < 0.01


def test_a_wrench_is_seen_while_the_platform_swings():
    wrench_W = np.array([1.0, -2.0, 0.5, 0.3, -0.4, 0.2])
    estimate = fly("three_star", 4.0, wrench_W=wrench_W, reference=swinging)[200:]
    np.testing.assert_allclose(estimate[:, :3], np.tile(wrench_W[:3], (600, 1)), atol=0.05)
    np.testing.assert_allclose(estimate[:, 3:], np.tile(wrench_W[3:], (600, 1)), atol=0.02)


@pytest.mark.parametrize("gain", [1.0, 200.0, 1000.0])
def test_every_gain_is_stable(gain):
    estimate = fly("three_star", 6.0, wrench_W=UP, gain=gain)
    np.testing.assert_allclose(estimate[-100:, 2], 5.0, rtol=0.02)


def test_reset_forgets_and_the_first_state_gives_no_wrench():
    observer, x = observer_of("three_star", gains_of()), np.zeros((4, 13))
    x[:, 6] = 1.0
    command = Command.zeros(3)
    command.thrust[:] = 19.3
    assert not observer(x, command).any()
    assert observer(x, command).any()
    observer.reset()
    assert not observer(x, command).any()


def test_a_platform_s_wrench_is_no_command_for_it():
    observer, x = observer_of("three_star", gains_of()), np.zeros((4, 13))
    with pytest.raises(BadInput, match="momentum observer: .* 'wrench'"):
        observer(x, Command.zeros(3, Mode.WRENCH))


@pytest.mark.parametrize(
    ("joint", "key"),
    [
        ({"heavy": 1}, r"joints\.1\.aircraft"),
        ({"fixed": (2,)}, r"joints\.2\.type"),
        ({"offset": [0.0, 0.0, 0.02]}, r"joints\.0\.offset"),
    ],
)
def test_platforms_that_it_has_no_model_of_are_refused_by_their_key(joint, key):
    platform = platform_of(various(**joint))
    settings = {"gravity": GRAVITY, "gain": np.full(6, 10.0), "dt": DT}
    with pytest.raises(BadInput, match=f"key 'platform.{key}'"):
        MomentumObserver(Assembly.of(platform), platform.fleet, gains_of().autopilot, **settings)

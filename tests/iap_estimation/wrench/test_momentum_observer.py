# SPDX-License-Identifier: BSD-3-Clause
"""The momentum observer in the closed loop: on real rotors and autopilots, in free flight."""

import numpy as np
import pytest
from flying import (
    DT,
    GRAVITY,
    STEPPED,
    controller_of,
    gains_of,
    hover_rpm,
    plant_of,
)
from swings import still, swinging
from various_platforms import platform_of, various

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.signals import Reference
from iap_description.states import Command, Mode, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_physics.engines.joints import joined_rows
from iap_physics.measured.state_noise import NO_NOISE, NoisyState

NOTHING = np.zeros(6)
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


def fly(
    name,
    duration,
    *,
    wrench_W=NOTHING,
    at=0.0,
    noise=NO_NOISE,
    preset="default",
    reference=still,
    gain=10.0,
):
    """Estimates (T, 6) in world axes of a flight in which a wrench about P's origin acts from a time on."""
    gains, platform = gains_of(preset), load_platform(name)
    controller = controller_of(name, gains)
    plant = plant_of(name, gains, **STEPPED)
    observer = observer_of(name, gains, gain)
    start = joined_rows(Assembly.of(platform), resting_state(np.zeros(3), still(0.0, 0)[3:7]))
    count = controller.model.count
    plant.reset(start[None], [np.full((count, 4), hover_rpm(platform))], stream(1, "gusts"))
    sense, apply = NoisyState(noise, stream(1, "iap/state_noise")), plant.engine.apply
    wrench = np.zeros(6)

    def push(wrenches):
        wrenches[0, 0] += wrench
        apply(wrenches)

    plant.engine.apply = push
    command, estimates = None, []
    for k in range(round(duration / DT)):
        x = plant.state()[0].copy()
        x[0] = sense(x[0])
        seen_P = np.zeros(6) if command is None else observer(x, command)
        estimates.append(so3.rotate(x[0, 3:7], seen_P.reshape(2, 3)).ravel())
        command = controller(x[0], Reference(reference(k * DT, count)))
        wrench[:] = wrench_W if k * DT >= at else 0.0
        plant.command(0, command)
        plant.advance()
    return np.array(estimates)


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
    """Why the observer follows every rotor."""
    gains = gains_of()
    blind = MomentumObserver(
        Assembly.of(load_platform("three_star")),
        load_platform("three_star").fleet,
        gains.autopilot.model_copy(update={"attitude": NOTHING[:3], "rate": NOTHING[:3]}),
        gravity=GRAVITY,
        gain=np.full(6, 10.0),
        dt=DT,
    )
    controller, plant = controller_of("three_star", gains), plant_of("three_star", gains)
    platform = load_platform("three_star")
    start = joined_rows(Assembly.of(platform), resting_state(np.zeros(3), still(0.0, 0)[3:7]))
    plant.reset(start[None], [np.full((3, 4), hover_rpm(platform))], stream(1, "gusts"))
    sense, seen, command = NoisyState(NOISY, stream(1, "iap/state_noise")), [], None
    for _ in range(1000):
        x = plant.state()[0].copy()
        x[0] = sense(x[0])
        if command is not None:
            seen.append(blind(x, command).copy())
        command = controller(x[0], Reference(still(0.0, 3)))
        plant.command(0, command)
        plant.advance()
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

# SPDX-License-Identifier: BSD-3-Clause
"""The wrench from distributed inertial units in the closed loop: on real rotors and autopilots, in free flight."""

import numpy as np
import pytest
from flying import DT, GRAVITY, PHYSICS_HZ, gains_of
from swings import estimates_of, still, swinging

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.sensors.readings import InertialMounts
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench.acceleration_wrench import AccelerationObserver, Units
from iap_physics.plant.inertial import InertialProbe
from iap_sensors.inertial.imu import PRESETS, Imu, ImuSpec

BOTH = np.array([3.0, -4.0, 0.0, 0.6, 0.0, -0.8])  # 5 N and 1 N m
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
TURNED = so3.quaternion_exp(np.array([0.3, -0.2, 2.0]))


def units_of(assembly, arm=(0.0, 0.0, 0.0), q_BS=LEVEL):
    """One on every body that is the centre's or an aircraft's, all of them off its CoM and turned alike."""
    bodies = np.array(sorted({0, *assembly.aircraft}), dtype=np.int64)
    places = (np.tile(arm, (len(bodies), 1)), np.tile(q_BS, (len(bodies), 1)))
    return Units(bodies, *places, accel_noise=0.02, gyro_noise=0.0015)


def observer_of(name, gains, units, cutoff=2.0):
    platform = load_platform(name)
    return AccelerationObserver(
        Assembly.of(platform),
        platform.fleet,
        gains.autopilot,
        units,
        cutoff=cutoff,
        dt=DT,
    )


class Feeling:
    """Measured samples of a flight's units, each mean over a control period."""

    def __init__(self, plant, units, preset, seed):
        mounts = InertialMounts(*units[:3])
        rate = {"physics_hz": PHYSICS_HZ, "every": round(PHYSICS_HZ * DT)}
        self._probe = InertialProbe(mounts, **rate, sampling="integrating", gravity=GRAVITY)
        spec = validate(ImuSpec, PRESETS.tree(preset), source=preset)
        self._units = [Imu(spec, 1.0 / DT, stream(seed, f"imu_{m}")) for m in range(len(units[0]))]
        self._step, self._engine = plant.engine.step, plant.engine
        plant.engine.step = self._stepped
        self._probe.reset(plant.engine.state())

    def _stepped(self, dt):
        self._step(dt)
        self._probe.after_step(self._engine.state())

    def take(self):
        _, w, f = self._probe.take()
        pairs = [unit(w[:, m], f[:, m]) for m, unit in enumerate(self._units)]
        return np.array([pair.w_S[0] for pair in pairs]), np.array([p.f_S[0] for p in pairs])


def fly(
    name,
    duration,
    *,
    preset="perfect",
    cutoff=2.0,
    arm=(0.0, 0.0, 0.0),
    q_BS=LEVEL,
    seed=1,
    **flight,
):
    """Estimates (T, 6) in world axes of a flight on samples of units."""
    gains, units = gains_of(), units_of(Assembly.of(load_platform(name)), arm, q_BS)
    observer = observer_of(name, gains, units, cutoff)

    def observing(plant):
        feeling = Feeling(plant, units, preset, seed)
        return lambda x, command: observer(x, command, feeling.take())

    return estimates_of(name, duration, gains, observing, **flight)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bound"), [("three_star", 0.01), ("f450", 0.02)])
@pytest.mark.parametrize("axis", range(6))
def test_a_step_is_seen_after_half_a_second_of_hover(name, bound, axis):
    wrench_W = np.eye(6)[axis] * (5.0 if axis < 3 else 1.0)
    estimate = fly(name, 1.05, wrench_W=wrench_W, at=0.5)[201]
    assert estimate[axis] == pytest.approx(wrench_W[axis], rel=bound)
    assert np.abs(np.delete(estimate, axis)).max() < bound * wrench_W[axis]


def test_it_answers_as_a_first_order_low_pass_of_its_cutoff():
    up = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0])
    estimate = fly("three_star", 1.0, wrench_W=up, at=0.5, cutoff=1.5)
    t = np.maximum(DT * np.arange(len(estimate)) - 0.5, 0.0)
    expected = 5.0 * (1.0 - np.exp(-2.0 * np.pi * 1.5 * t))
    np.testing.assert_allclose(estimate[:, 2], expected, atol=0.02)


@pytest.mark.parametrize("name", ["three_star", "three_line"])
def test_a_swinging_platform_feels_nothing(name):
    estimate = fly(name, 4.0, reference=swinging)[200:]  # without the jump at the start
    assert np.abs(estimate[:, :3]).max() < 0.02
    assert np.abs(estimate[:, 3:]).max() < 0.02


def test_a_wrench_is_seen_while_the_platform_swings():
    estimate = fly("three_star", 4.0, wrench_W=BOTH, reference=swinging)[300:]
    np.testing.assert_allclose(estimate[:, :3], np.tile(BOTH[:3], (500, 1)), atol=0.05)
    np.testing.assert_allclose(estimate[:, 3:], np.tile(BOTH[3:], (500, 1)), atol=0.02)


def test_units_may_sit_anywhere_and_turned():
    """At 23 cm from aircraft that turn on their joints, whose own motion is taken off."""
    settings = {"reference": swinging, "arm": (0.2, 0.05, -0.1), "q_BS": TURNED}
    estimate = fly("three_star", 4.0, wrench_W=BOTH, **settings)[300:]
    np.testing.assert_allclose(estimate[:, :3], np.tile(BOTH[:3], (500, 1)), atol=0.1)
    np.testing.assert_allclose(estimate[:, 3:], np.tile(BOTH[3:], (500, 1)), atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("reference", [still, swinging])
def test_with_the_paper_s_noise_it_stays_within_0_8_N_and_0_3_N_m(reference):
    """Of which the biases' walk in these 5 s is about 0.2 N, and the noise 0.15 N and 0.06 N m."""
    for seed in range(3):
        flight = {"wrench_W": BOTH, "preset": "paper", "reference": reference, "seed": seed}
        error = fly("three_star", 5.0, **flight)[300:] - BOTH
        assert np.abs(error[:, :3]).max() < 0.8
        assert np.abs(error[:, 3:]).max() < 0.3
        assert error[:, :3].std(axis=0).max() < 0.25
        assert error[:, 3:].std(axis=0).max() < 0.1


def resting(observer, command):
    """Its estimate for a platform at rest."""
    x = np.zeros((4, 13))
    x[:, 6] = 1.0
    return observer(x, command, (np.zeros((4, 3)), np.tile([0.0, 0.0, GRAVITY], (4, 1))))


def test_reset_forgets_and_the_first_state_gives_no_wrench():
    assembly = Assembly.of(load_platform("three_star"))
    observer = observer_of("three_star", gains_of(), units_of(assembly))
    command = Command.zeros(3)
    assert not resting(observer, command).any()
    assert resting(observer, command)[2] > 0.1  # something else than thrust holds it up
    observer.reset()
    assert not resting(observer, command).any()


def test_a_platform_s_wrench_is_no_command_for_it():
    assembly = Assembly.of(load_platform("three_star"))
    observer = observer_of("three_star", gains_of(), units_of(assembly))
    with pytest.raises(BadInput, match="acceleration observer: .* 'wrench'"):
        resting(observer, Command.zeros(3, Mode.WRENCH))


def test_units_on_aircraft_alone_are_refused():
    assembly = Assembly.of(load_platform("three_star"))
    units = units_of(assembly)
    units = units._replace(
        **{name: getattr(units, name)[1:] for name in ("bodies", "p_BS_B", "q_BS")}
    )
    with pytest.raises(BadInput, match="no inertial unit on the central body"):
        observer_of("three_star", gains_of(), units)

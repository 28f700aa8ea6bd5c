# SPDX-License-Identifier: BSD-3-Clause
"""Samples of inertial units between two control steps, and what makes accelerations of them, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.sensors.readings import ImuReading, ScalarReading, SensorSource
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench.acceleration_wrench import _least_squares
from iap_estimation.wrench.imu_wrench_observer import ImuWrenchObserver
from iap_estimation.wrench.module_observer import module_observer
from iap_estimation.wrench.momentum_observer import Momenta, order_of
from iap_estimation.wrench.thrust_model import STEPS


def _sample(topic, number):
    return ImuReading(
        SensorSource(topic, topic), 0.0, np.full(3, number), np.full(3, 10.0 * number)
    )


class _Heard:
    def __init__(self):
        self.samples, self.resets = [], 0

    def reset(self):
        self.resets += 1

    def __call__(self, x, command, samples):
        self.samples.append([each[:, 0].tolist() for each in samples])
        return np.zeros(6)


def test_a_period_is_the_mean_of_its_samples_and_a_slow_units_last_word_counts():
    heard = _Heard()
    units = ImuWrenchObserver(heard, ("/a", "/b"))
    for topic, number in (("/a", 1.0), ("/b", 4.0), ("/a", 2.0), ("/a", 6.0), ("/c", 99.0)):
        units.receive(_sample(topic, number))
    units.receive(ScalarReading(SensorSource("/a", "a"), 0.0, 77.0))
    assert units(None, None).tolist() == [0.0] * 6
    units.receive(_sample("/a", 5.0))
    units(None, None)
    units(None, None)
    assert heard.samples == [[[3.0, 4.0], [30.0, 40.0]], *[[[5.0, 4.0], [50.0, 40.0]]] * 2]
    units.receive(_sample("/b", 8.0))
    units.reset()
    units(None, None)
    assert heard.resets == 1 and heard.samples[-1] == [[0.0, 0.0], [0.0, 0.0]]


def test_an_observer_by_units_needs_one_on_a_body():
    platform = load_platform("f450")
    gains = AutopilotGains(rate_hz=None, attitude=(0.0,) * 3, rate=(0.0,) * 3, rotor_lead=1.0)
    elsewhere = [SimpleNamespace(parent="other/base")]
    with pytest.raises(BadInput, match="acceleration observer: no inertial unit on a body$"):
        ImuWrenchObserver.of(
            Assembly.of(platform), platform.fleet, gains, elsewhere, cutoff=2.0, dt=0.005
        )


def test_accelerations_of_a_rigid_body_are_solved_for_from_its_units():
    places = np.array([[0.3, 0.0, 0.1], [-0.2, 0.4, 0.0], [0.0, -0.3, -0.2]])
    s_P, alpha = np.array([1.0, -2.0, 9.0]), np.array([0.5, 0.7, -0.3])
    forces = s_P + np.cross(alpha, places)
    rigid = np.array([True, False, True])
    rates = np.where(rigid[:, None], alpha, 77.0)  # of one that turns freely nothing is taken
    solve = _least_squares(places, rigid, accel=0.2, alpha=3.0)
    assert solve.shape == (6, 18)
    found = solve @ np.stack([forces, rates], axis=1).ravel()
    np.testing.assert_allclose(found, [*s_P, *alpha], atol=1e-10)
    # One unit at the origin: forces say nothing of turns, and gyroscopes all.
    alone = _least_squares(np.zeros((1, 3)), np.array([True]), accel=0.2, alpha=3.0)
    np.testing.assert_allclose(alone, np.eye(6), atol=1e-12)


def test_two_estimates_of_a_turn_count_by_their_noise():
    places = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    solve = _least_squares(places, np.array([True, True]), accel=0.5, alpha=2.0)
    # About z: forces at both ends say it with a variance of 0.5^2 / 2, gyroscopes with one of 2^2 / 2.
    share = (2.0 / 0.5**2) / (2.0 / 0.5**2 + 2.0 / 2.0**2)
    np.testing.assert_allclose(solve[5, [1, 7]], [0.5 * share, -0.5 * share])
    np.testing.assert_allclose(solve[5, [5, 11]], 0.5 * (1.0 - share))


def test_a_platform_is_known_about_its_common_centre():
    platform = load_platform("three_star")
    assembly = Assembly.of(platform)
    made = Momenta.of(assembly, 9.5)
    assert made.mass == assembly.mass and made.weight == pytest.approx(9.5 * assembly.mass)
    assert len(made.bodies) == 3 and made.turns
    np.testing.assert_allclose(made.arms + made.d_0, assembly.p_PB_P[list(assembly.aircraft)])


def test_an_order_is_a_command_that_says_what_each_aircraft_does():
    command = Command.zeros(2)
    command.mode = Mode.RPM
    mode, thrust, q, w, rpm = order_of(command, "x")
    assert mode == int(Mode.RPM) and thrust is command.thrust and rpm is command.rpm
    assert q is command.q_WB and w is command.w_WB_B
    command.mode = Mode.WRENCH
    with pytest.raises(
        BadInput, match="^momentum observer: a command of mode 'wrench' names no thrusts$"
    ):
        order_of(command, "momentum observer")


def _unit(topic, parent, x, **noise):
    return SimpleNamespace(
        topic=topic, parent=parent, p_BS_B=(x, 0.0, 0.0), q_BS=(0.0, 0.0, 0.0, 1.0), **noise
    )


@pytest.mark.parametrize(
    ("said", "taken"), [((0.02, 0.003), (0.02, 0.003)), ((0.0, 0.0), (1.0, 0.1))]
)
def test_an_observer_by_units_has_those_on_its_bodies_with_the_noise_of_the_first(said, taken):
    platform = load_platform("f450")
    assembly = Assembly.of(platform)
    gains = AutopilotGains(rate_hz=None, attitude=(0.0,) * 3, rate=(0.0,) * 3, rotor_lead=1.0)
    frame = f"{assembly.name}/{assembly.bodies[0].name}"
    first = _unit("/a", frame, 0.1, accel_noise=said[0], gyro_noise=said[1])
    units = [
        _unit("/x", "other/base", 9.0),
        first,
        _unit("/b", frame, -0.2, accel_noise=7.0, gyro_noise=7.0),
    ]
    made = ImuWrenchObserver.of(assembly, platform.fleet, gains, units, cutoff=2.0, dt=0.005)
    assert made._rows == {"/a": 0, "/b": 1}
    layout = made._observer._layout
    np.testing.assert_allclose(layout.positions_P[:, 0], [0.1, -0.2])
    assert layout.is_rigid.all() and layout.bodies.tolist() == [0, 0]
    bandwidth = 2.0 * np.pi * 2.0
    accel, alpha = taken[0] * np.sqrt(0.5 * bandwidth), taken[1] * bandwidth / np.sqrt(0.005)
    np.testing.assert_allclose(
        layout.solve, _least_squares(layout.positions_P, layout.is_rigid, accel=accel, alpha=alpha)
    )
    assert made._observer._share == pytest.approx(1.0 - np.exp(-bandwidth * 0.005))


def test_an_observer_of_a_module_needs_rotors_that_tilt():
    beetle = load_platform("beetle").fleet
    settings = {"gravity": 9.81, "gain": [2.0] * 6, "dt": 0.005}
    made = module_observer("m1", beetle, 3.0, np.eye(3), **settings)
    assert made._body[0] == 3.0 and made._body[2] == pytest.approx(3.0 * 9.81)
    rotor, tilt = beetle[0].rotor, beetle[0].tilt
    h = 0.005 / STEPS
    expected = [
        np.exp(-h / lag)
        for lag in (rotor.time_constant_up, rotor.time_constant_down, tilt.time_constant)
    ]
    np.testing.assert_allclose([made._rotors.up, made._rotors.down, made._rotors.turn], expected)
    assert made._rotors.most == pytest.approx(h * tilt.rate)
    for fleet in (load_platform("f450").fleet, [beetle[0], beetle[0]]):
        with pytest.raises(
            BadInput, match="^key 'modules': 'm1' is no single aircraft with rotors that tilt$"
        ):
            module_observer("m1", fleet, 3.0, np.eye(3), **settings)

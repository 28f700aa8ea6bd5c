# SPDX-License-Identifier: BSD-3-Clause
"""Ideal inertial units: gravity, lever arms, and the engine's own accelerations, without lag."""

import numpy as np
import pytest
from dead_reckoning import figure_eight, reckon, worst_errors
from flying import GRAVITY

from iap_description.math import so3
from iap_description.sensors.readings import InertialMounts
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.joints import joined_rows
from iap_physics.plant.inertial import InertialProbe

HZ, EVERY, DT = 1000.0, 5, 1e-3
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
UP = np.array([0.0, 0.0, GRAVITY])
ARM = np.array([0.2, -0.05, 0.1])
TILT = so3.quaternion_exp(np.array([0.4, -0.9, 2.0]))
INTEGRATING, INSTANTANEOUS = "integrating", "instantaneous"
BOTH = pytest.mark.parametrize("sampling", [INTEGRATING, INSTANTANEOUS])


def probe_of(sampling, p_BS_B=(0.0, 0.0, 0.0), q_BS=LEVEL, row=0, every=EVERY):
    mounts = InertialMounts(np.array([row]), np.array([p_BS_B]), np.array([q_BS]))
    return InertialProbe(mounts, physics_hz=HZ, every=every, sampling=sampling, gravity=GRAVITY)


def watch(probe, rows):
    """Samples of one body's rows (steps, 13), the first of which is the start."""
    probe.reset(rows[:1, None])
    for row in rows[1:]:
        probe.after_step(row[None, None])
    return probe.take()


def rows_of(steps, q=LEVEL, v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0)):
    rows = np.zeros((steps + 1, 13))
    rows[:, Q], rows[:, V], rows[:, W] = q, v, w
    return rows


def turning(t):
    """Rows (steps, 13) at times (steps,) of a body on a circle that pitches to 80 deg and turns ever faster, and its
    acceleration and angular acceleration (steps, 3) in world axes.
    """
    pitch, yaw = 0.7 * (1.0 - np.cos(2.0 * t)), 1.5 * t * t
    dpitch, dyaw = 1.4 * np.sin(2.0 * t), 3.0 * t
    zero = np.zeros_like(t)
    about_y = so3.quaternion_exp(np.stack([zero, pitch, zero], -1))
    about_z = so3.quaternion_exp(np.stack([zero, zero, yaw], -1))
    side = np.stack([-np.sin(yaw), np.cos(yaw), zero], -1)
    forth = np.stack([np.cos(yaw), np.sin(yaw), zero], -1)
    x = np.zeros((len(t), 13))
    x[:, P] = np.stack([np.cos(t), np.sin(t), zero], -1)
    x[:, Q] = so3.multiply(about_z, about_y)
    x[:, V] = np.stack([-np.sin(t), np.cos(t), zero], -1)
    x[:, W] = dpitch[:, None] * side + dyaw[:, None] * np.array([0.0, 0.0, 1.0])
    ddpitch = 2.8 * np.cos(2.0 * t)[:, None]
    alpha = ddpitch * side - (dpitch * dyaw)[:, None] * forth + np.array([0.0, 0.0, 3.0])
    return x, -x[:, P], alpha


def felt(t, p_BS_B, q_BS):
    """True rate and specific force (steps, 3) of a unit on that body, in its own axes."""
    x, a, alpha = turning(t)
    q, w, arm = x[:, Q], x[:, W], so3.rotate(x[:, Q], np.asarray(p_BS_B))
    a_S = a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    back = so3.conjugate(so3.multiply(q, q_BS))
    return so3.rotate(back, w), so3.rotate(back, a_S + UP)


@BOTH
@pytest.mark.parametrize("q", [LEVEL, TILT])
def test_a_unit_at_rest_feels_gravity_upwards_in_its_own_axes(sampling, q):
    samples = watch(probe_of(sampling, ARM), rows_of(20, q))
    expected = so3.rotate(so3.conjugate(q), UP)
    np.testing.assert_allclose(samples.f_S[:, 0], np.tile(expected, (4, 1)), atol=1e-12)
    np.testing.assert_allclose(samples.w_WS_S, 0.0, atol=1e-9)


@BOTH
def test_a_rotated_mount_feels_the_same_in_turned_axes(sampling):
    rows = turning(np.arange(101) * DT)[0]
    straight, turned = (watch(probe_of(sampling, ARM, q), rows) for q in (LEVEL, TILT))
    for a, b in ((straight.f_S, turned.f_S), (straight.w_WS_S, turned.w_WS_S)):
        np.testing.assert_allclose(so3.rotate(TILT, b), a, atol=1e-9)


def test_the_mean_over_an_interval_holds_tangential_and_centripetal_terms_while_pitched():
    steps = 1000
    samples = watch(probe_of(INTEGRATING, ARM, TILT), turning(np.arange(steps + 1) * DT)[0])
    fine = (np.arange(50 * steps) + 0.5) * DT / 50
    w, f = (each.reshape(-1, 50 * EVERY, 3).mean(1) for each in felt(fine, ARM, TILT))
    at_centre = felt(fine, np.zeros(3), TILT)[1].reshape(f.shape[0], -1, 3).mean(1)
    assert np.abs(f - at_centre).max() > 1.0
    np.testing.assert_allclose(samples.f_S[:, 0], f, atol=1e-4)
    np.testing.assert_allclose(samples.w_WS_S[:, 0], w, atol=1e-5)


def test_an_instant_holds_tangential_and_centripetal_terms_while_pitched():
    """An engine's velocities are those of half a step before its places."""
    t = np.arange(1001) * DT
    rows = turning(t)[0]
    rows[:, V.start :] = turning(t - 0.5 * DT)[0][:, V.start :]
    samples = watch(probe_of(INSTANTANEOUS, ARM, TILT), rows)
    w, f = felt(t[:-1:EVERY], ARM, TILT)
    np.testing.assert_allclose(samples.f_S[:, 0], f, atol=1e-4)
    np.testing.assert_allclose(samples.w_WS_S[:, 0], w, atol=1e-5)


def test_half_a_turn_pitched_up_a_lever_arm_along_the_nose_is_pulled_inwards():
    """0.1 m ahead of a centre that turns at 2 rad/s about its own z axis: 0.4 m/s^2 along -x, also nose up."""
    q = so3.quaternion_exp(np.array([0.0, -0.5 * np.pi, 0.0]))
    rows = rows_of(50, w=so3.rotate(q, np.array([0.0, 0.0, 2.0])))
    spin = np.outer(np.arange(51) * DT, [0.0, 0.0, 2.0])
    rows[:, Q] = so3.multiply(q, so3.quaternion_exp(spin))
    samples = watch(probe_of(INSTANTANEOUS, (0.1, 0.0, 0.0)), rows)
    np.testing.assert_allclose(samples.f_S[0, 0], [GRAVITY - 0.4, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(samples.w_WS_S[0, 0], [0.0, 0.0, 2.0], atol=1e-9)


@BOTH
def test_in_free_fall_an_inertial_unit_measures_the_turning_alone(sampling):
    assembly = Assembly.of(load_platform("three_star"))
    engine = ClosedFormEngine()
    engine.load(World(), [assembly])
    base = np.array([0.0, 0.0, 50.0, *LEVEL, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    engine.reset(joined_rows(assembly, base)[None])
    arm = np.array([0.3, 0.0, 0.0])
    probe = probe_of(sampling, assembly.d_0 + arm)
    probe.reset(engine.state())
    for _ in range(100):
        engine.apply(np.zeros((1, len(assembly.bodies), 6)))
        engine.step(DT)
        probe.after_step(engine.state())
    samples = probe.take()
    np.testing.assert_allclose(samples.f_S[:, 0], np.tile(-9.0 * arm, (20, 1)), atol=2e-3)


def test_a_push_is_measured_in_the_step_in_which_it_acts_and_in_no_other():
    """It speeds the body up in the step that begins at 40 ms."""
    rows = rows_of(100)
    rows[41:, V] = (0.01, 0.0, 0.0)
    instants, means = (watch(probe_of(s), rows) for s in (INSTANTANEOUS, INTEGRATING))
    assert instants.ticks[np.abs(instants.f_S[:, 0, 0]) > 1e-9].tolist() == [40]
    assert means.ticks[np.abs(means.f_S[:, 0, 0]) > 1e-9].tolist() == [45]
    assert instants.f_S[8, 0, 0] == pytest.approx(10.0)
    assert means.f_S[8, 0, 0] == pytest.approx(2.0)


def test_means_are_stamped_at_their_ends_and_instants_where_they_are():
    rows = rows_of(20)
    assert watch(probe_of(INTEGRATING), rows).ticks.tolist() == [5, 10, 15, 20]
    assert watch(probe_of(INSTANTANEOUS), rows).ticks.tolist() == [0, 5, 10, 15]


@BOTH
@pytest.mark.parametrize("every", [1, 3, 5])
def test_samples_do_not_depend_on_when_they_are_taken(sampling, every):
    rows = turning(np.arange(61) * DT)[0]
    whole = watch(probe_of(sampling, ARM, every=every), rows)
    probe = probe_of(sampling, ARM, every=every)
    probe.reset(rows[:1, None])
    parts = []
    for k, row in enumerate(rows[1:]):
        probe.after_step(row[None, None])
        if k % 7 == 0 or k == 59:
            parts.append(probe.take())
    for a, b in zip(whole, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(a, np.concatenate(b))


@BOTH
def test_a_reset_probe_has_forgotten(sampling):
    rows = turning(np.arange(33) * DT)[0]
    probe = probe_of(sampling, ARM)
    first, again = watch(probe, rows), watch(probe, rows)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_taking_nothing_gives_empty_arrays():
    probe = probe_of(INTEGRATING)
    probe.reset(rows_of(1)[:1, None])
    ticks, w, f = probe.take()
    assert ticks.shape == (0,)
    assert w.shape == f.shape == (0, 1, 3)


@pytest.fixture(scope="module")
def flight():
    """The figure-eight, with units on all bodies; two of them off their body's centre and turned."""
    arms = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.2, 0.05, -0.1], [-0.1, 0.3, 0.05]])
    turns = np.array([LEVEL, LEVEL, LEVEL, TILT])
    return figure_eight(InertialMounts(np.arange(4), arms, turns), duration=16.0)


@pytest.mark.slow
def test_means_of_a_flight_integrate_to_the_true_motion_over_10_s(flight):
    """Bar: 2 mm and 0.001 deg."""
    position, angle = worst_errors(flight, INTEGRATING)
    assert position < 2e-3
    assert np.rad2deg(angle) < 1e-3


@pytest.mark.slow
def test_instants_of_a_flight_integrate_to_the_true_motion_over_10_s(flight):
    """Bar: 50 mm and 0.01 deg; by the trapezoidal rule."""
    position, angle = worst_errors(flight, INSTANTANEOUS)
    assert position < 0.05
    assert np.rad2deg(angle) < 0.01


@pytest.mark.slow
def test_a_wrong_lever_arm_would_be_seen(flight):
    """A unit 1 cm off its place gives motion that is centimetres off: the bars above are sharp."""
    wrong = flight.moved(np.array([0.01, 0.0, 0.0]))
    position, _ = reckon(wrong, INTEGRATING, 600)
    assert position.max() > 4e-3


def test_samples_are_exactly_5_ms_apart(flight):
    for name in (INTEGRATING, INSTANTANEOUS):
        assert set(np.diff(flight.samples[name].ticks)) == {5}

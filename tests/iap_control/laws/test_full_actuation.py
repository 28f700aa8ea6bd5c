# SPDX-License-Identifier: BSD-3-Clause
"""The motion law of fully actuated platforms, and the tracking errors that all laws share."""

import numpy as np
import pytest
from flying import DT, GRAVITY, controller_of, gains_of
from moving import Tumble, newton_euler

from iap_control.laws.tracking import (
    Errors,
    Law,
    advanced6,
    errors,
    motion_at,
    pid_of,
    reference_motion_at,
)
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Level
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform

PLATFORMS = ["three_star", "three_square", "star_7"]
TIMES = [0.0, 0.7, 2.3]


def tracked(x, row, level=0):
    return Errors(*map(np.array, errors(motion_at(x), reference_motion_at(row), level)))


def still(**changes):
    """Gains whose error terms all vanish, so that the feed-forward is left."""
    nothing = (0.0,) * 6
    return gains_of(kP=nothing, kI=nothing, kD=nothing, **changes)


def matrix(q):
    return so3.matrix_from_quaternion(q)


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", TIMES)
def test_pose_error_is_that_of_equation_10(t):
    x, row = Tumble(1).state(t), Tumble(2).row(t)
    R, R_r = matrix(x[3:7]), matrix(row[3:7])
    e = tracked(x, row).e_T
    np.testing.assert_allclose(e[:3], R.T @ (x[:3] - row[:3]), atol=1e-12)
    np.testing.assert_allclose(so3.hat(e[3:]), 0.5 * (R_r.T @ R - R.T @ R_r), atol=1e-12)


@pytest.mark.parametrize("t", TIMES)
def test_nominal_velocity_is_the_reference_s_expressed_in_the_platform(t):
    x, row = Tumble(1).state(t), Tumble(2).row(t)
    R, R_r = matrix(x[3:7]), matrix(row[3:7])
    xi_r = tracked(x, row).xi_r
    np.testing.assert_allclose(xi_r[:3], R.T @ row[7:10], atol=1e-12)
    np.testing.assert_allclose(xi_r[3:], R.T @ R_r @ row[10:13], atol=1e-12)


@pytest.mark.parametrize("t", TIMES)
def test_nominal_acceleration_is_the_derivative_of_the_nominal_velocity(t):
    """Along a moving reference, seen from a platform that moves otherwise."""
    platform, reference, h = Tumble(3), Tumble(4), 1e-5
    after, before = (tracked(platform.state(t + s), reference.row(t + s)).xi_r for s in (h, -h))
    expected = (after - before) / (2.0 * h)
    found = tracked(platform.state(t), reference.row(t)).dxi_r
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("t", TIMES)
def test_the_pose_error_moves_with_the_velocity_error(t):
    """d e_p = e_v - w x e_p and 2 d e_R = (tr(E) I - E^T) e_w with E = R_r^T R."""
    platform, reference, h = Tumble(3), Tumble(4), 1e-5
    after, before = (tracked(platform.state(t + s), reference.row(t + s)).e_T for s in (h, -h))
    now = tracked(platform.state(t), reference.row(t))
    w = platform.body_rate(t)
    E = matrix(reference.pose(t)[1]).T @ matrix(platform.pose(t)[1])
    d_turn = 0.5 * (np.trace(E) * np.eye(3) - E.T) @ now.e_xi[3:]
    expected = np.concatenate([now.e_xi[:3] - np.cross(w, now.e_T[:3]), d_turn])
    np.testing.assert_allclose((after - before) / (2.0 * h), expected, atol=1e-7)


def test_errors_vanish_on_the_reference():
    motion = Tumble(5)
    found = tracked(motion.state(1.0), motion.row(1.0))
    np.testing.assert_allclose(found.e_T, 0.0, atol=1e-14)
    np.testing.assert_allclose(found.e_xi, 0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("level", "pose_counts", "velocity_counts"),
    [(Level.POSE, True, True), (Level.VELOCITY, False, True), (Level.ACCELERATION, False, False)],
)
def test_each_level_drops_the_errors_below_it(level, pose_counts, velocity_counts):
    found = tracked(Tumble(1).state(0.3), Tumble(2).row(0.3), int(level))
    assert found.e_T.any() == pose_counts
    assert found.e_xi.any() == velocity_counts
    assert found.dxi_r.all()  # the feed-forward always counts


# --- feed-forward ------------------------------------------------------------------------------


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize("name", PLATFORMS)
def test_on_the_reference_the_wrench_is_that_of_newton_and_euler(name, t):
    """With the CoM coupling; the rigid platform carries its aircraft as points at the joints."""
    motion = Tumble(6)
    controller = controller_of(name)
    U = controller.wrench(motion.state(t), Reference(motion.row(t, controller.model.count)))
    expected = newton_euler(Assembly.of(load_platform(name)), motion.row(t), GRAVITY)
    np.testing.assert_allclose(U, expected, atol=1e-6)


@pytest.mark.parametrize("t", TIMES)
def test_on_the_reference_the_paper_s_wrench_is_equation_4_as_printed(t):
    """M = diag(m I, J), C = [[m w^, 0], [0, -(J w)^]], G = -m g [R^T e_3; d_0 x R^T e_3] in ENU."""
    motion = Tumble(6)
    x, row = motion.state(t), motion.row(t, 3)
    controller = controller_of("three_star", gains_of("paper"))
    assembly = Assembly.of(load_platform("three_star"))
    m, J, d_0 = assembly.mass, assembly.inertia, assembly.d_0
    now = tracked(x, row)
    w = motion.body_rate(t)
    M, C = np.zeros((6, 6)), np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = m * np.eye(3), J
    C[:3, :3], C[3:, 3:] = m * so3.hat(w), -so3.hat(J @ w)
    weight = -m * GRAVITY * matrix(x[3:7]).T[:, 2]
    expected = M @ now.dxi_r + C @ now.xi_r - np.concatenate([weight, np.cross(d_0, weight)])
    np.testing.assert_allclose(controller.wrench(x, Reference(row)), expected, atol=1e-10)


def test_the_paper_s_wrench_lacks_the_coupling_through_the_com():
    motion = Tumble(6)
    row = motion.row(0.7, 3)
    U = controller_of("three_star", gains_of("paper")).wrench(motion.state(0.7), Reference(row))
    exact = newton_euler(Assembly.of(load_platform("three_star")), row, GRAVITY)
    assert np.abs(U - exact).max() > 0.05


def test_a_platform_at_rest_is_carried_with_its_lever():
    """Force m g upwards and the torque that carries a CoM beside the origin, at any attitude."""
    for name in PLATFORMS:
        assembly = Assembly.of(load_platform(name))
        q = so3.quaternion_exp(np.array([0.3, -0.2, 1.0]))
        row = np.concatenate([np.zeros(3), q, np.zeros(12 + len(assembly.aircraft))])
        U = controller_of(name).wrench(row[:13].copy(), Reference(row))
        lift = assembly.mass * GRAVITY * matrix(q).T[:, 2]
        np.testing.assert_allclose(
            U, np.concatenate([lift, np.cross(assembly.d_0, lift)]), atol=1e-9
        )


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_external_wrench_is_subtracted(preset):
    x, row = Tumble(1).state(0.3), Tumble(2).row(0.3, 3)
    F_e = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    without, with_it = (
        controller_of("three_star", gains_of(preset)).wrench(x, Reference(row), F)
        for F in (np.zeros(6), F_e)
    )
    np.testing.assert_allclose(without - with_it, F_e, atol=1e-12)


# --- feedback ----------------------------------------------------------------------------------


def feedback_of(gains):
    """The error part of U away from the reference: U with the gains less U without."""
    x, row = Tumble(1).state(0.3), Tumble(2).row(0.3, 3)
    none = still(per_inertia=gains.per_inertia, com_coupling=gains.com_coupling)
    U, forward = (controller_of("three_star", g).wrench(x, Reference(row)) for g in (gains, none))
    return U - forward, tracked(x, row)


BOUNDLESS = (100.0, 100.0)


def test_feedback_of_the_paper_is_diagonal_in_the_errors():
    gains = gains_of("paper", error_limit=BOUNDLESS)
    feedback, now = feedback_of(gains)
    kP, kI, kD = map(np.array, (gains.kP, gains.kI, gains.kD))
    expected = -kP * now.e_T - kI * now.e_T * DT - kD * now.e_xi
    np.testing.assert_allclose(feedback, expected, atol=1e-10)


def test_feedback_of_the_default_gains_is_an_acceleration_times_the_inertia():
    gains = gains_of(error_limit=BOUNDLESS)
    feedback, now = feedback_of(gains)
    kP, kI, kD = map(np.array, (gains.kP, gains.kI, gains.kD))
    acceleration = -kP * now.e_T - kI * now.e_T * DT - kD * now.e_xi
    M = controller_of("three_star").model.inertia.M
    np.testing.assert_allclose(feedback, M @ acceleration, atol=1e-10)


def test_an_error_along_one_axis_accelerates_the_platform_along_that_axis_alone():
    """By the exact dynamics: U - (weight) = M a has one component, although the CoM is off the origin."""
    row = np.zeros(22)
    row[6] = 1.0
    for axis in range(6):
        x = np.zeros(13)
        x[6] = 1.0
        x[7 + axis] = 0.1
        controller = controller_of("three_star")
        U = controller.wrench(x, Reference(row)) - controller.wrench(
            row[:13].copy(), Reference(row)
        )
        a = np.linalg.solve(controller.model.inertia.M, U)
        assert abs(a[axis]) > 0.3
        np.testing.assert_allclose(np.delete(a, axis), 0.0, atol=1e-9)


@pytest.mark.parametrize("distance", [0.2, 5.0])
def test_a_distant_reference_pulls_no_harder_than_one_at_the_error_limit(distance):
    """Towards the reference, with kP times the limit, and the integral waits."""
    row = np.zeros(22)
    row[6] = 1.0
    x = row[:13].copy()
    towards = np.array([0.6, -0.8, 0.0])
    x[:3] = -distance * towards
    gains = gains_of(kP=(9.0,) * 6, kI=(0.0,) * 6, error_limit=(0.4, 0.3))
    controller = controller_of("three_star", gains)
    U = controller.wrench(x, Reference(row)) - controller.wrench(row[:13].copy(), Reference(row))
    a = np.linalg.solve(controller.model.inertia.M, U)
    np.testing.assert_allclose(a[:3], 9.0 * min(distance, 0.4) * towards, atol=1e-9)
    np.testing.assert_allclose(a[3:], 0.0, atol=1e-9)


# --- integral ----------------------------------------------------------------------------------


def integrated(integral, e, gains, dt, *, far=False):
    law = pid_of(Law.of(gains))
    short = (0.0,) * 6
    return np.array(advanced6(tuple(integral), tuple(e), law.kI, law.limit, dt, short, far))


def test_the_integral_adds_up_the_error():
    integral, e = np.zeros(6), np.array([0.1, -0.1, 0.05, 0.02, 0.0, -0.02])
    for _ in range(10):
        integral = integrated(integral, e, gains_of(), DT)
    np.testing.assert_allclose(integral, 10 * DT * e, atol=1e-15)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_integral_s_share_never_exceeds_its_limit(preset):
    gains, integral = gains_of(preset), np.zeros(6)
    for sign in (1.0, -1.0):
        for _ in range(2000):
            integral = integrated(integral, sign * np.ones(6), gains, 0.05)
        share = np.array(gains.kI) * integral
        np.testing.assert_allclose(share, sign * np.array(gains.integral_limit), rtol=1e-12)


def test_the_integral_only_shrinks_while_saturated():
    integral = np.array([0.1, -0.1, 0.0, 0.1, -0.1, 0.1])
    e = np.array([1.0, -1.0, 0.0, -1.0, 1.0, 1.0])
    after = integrated(integral, e, gains_of(), DT, far=True)
    np.testing.assert_array_equal(after[[0, 1, 5]], integral[[0, 1, 5]])  # would grow: frozen
    np.testing.assert_allclose(after[[3, 4]], integral[[3, 4]] + DT * e[[3, 4]], atol=1e-15)


def test_an_axis_without_integral_gain_integrates_nothing():
    gains = gains_of(kI=(1.0, 0.0, 1.0, 1.0, 0.0, 1.0))
    integral = integrated(np.zeros(6), np.ones(6), gains, DT)
    np.testing.assert_array_equal(integral == 0.0, [False, True, False, False, True, False])


def test_a_saturated_controller_stops_integrating():
    """One metre above the platform for a second asks for more than 36 N an aircraft with steep gains."""
    gains = gains_of(kP=(9.0, 9.0, 90.0, 25.0, 25.0, 16.0))
    row, x = np.zeros(22), np.zeros(13)
    row[6] = x[6] = 1.0
    x[2] = -1.0
    saturated = controller_of("three_star", gains)
    saturated(x, Reference(row))
    assert saturated.allocator.saturated
    U = [saturated.wrench(x, Reference(row))[2] for _ in range(200)]
    assert max(U) == pytest.approx(min(U), abs=1e-9)
    x[2] = -0.05
    free = controller_of("three_star", gains)
    U = [free.wrench(x, Reference(row))[2] for _ in range(200)]
    assert max(U) > min(U) + 0.1


def test_reset_forgets_the_integral():
    row, x = np.zeros(22), np.zeros(13)
    row[6] = x[6] = 1.0
    x[:3] = 0.02
    controller = controller_of("three_star")
    first = controller.wrench(x, Reference(row)).copy()
    for _ in range(100):
        controller.wrench(x, Reference(row))
    assert np.abs(controller.wrench(x, Reference(row)) - first).max() > 1e-3
    controller.reset()
    np.testing.assert_array_equal(controller.wrench(x, Reference(row)), first)


def test_changed_gains_count_at_once_and_keep_the_integral():
    row, x = np.zeros(22), np.zeros(13)
    row[6] = x[6] = 1.0
    x[0] = 0.02
    controller = controller_of("three_star")
    for _ in range(100):
        controller.wrench(x, Reference(row))
    nothing = (0.0,) * 6
    controller.set_gains(gains_of(kP=nothing, kD=nothing))
    U = controller.wrench(x, Reference(row))
    m, kI = controller.model.inertia.mass, gains_of().kI[0]
    assert U[0] == pytest.approx(-m * kI * 101 * DT * 0.02, rel=1e-6)


def test_gains_of_another_preset_bring_their_own_coupling_in_flight():
    motion = Tumble(6)
    x, row = motion.state(0.7), motion.row(0.7, 3)
    switched = controller_of("three_star")
    switched.set_gains(gains_of("paper"))
    expected = controller_of("three_star", gains_of("paper")).wrench(x, Reference(row))
    np.testing.assert_allclose(switched.wrench(x, Reference(row)), expected, atol=1e-12)

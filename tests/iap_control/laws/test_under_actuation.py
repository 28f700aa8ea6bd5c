# SPDX-License-Identifier: BSD-3-Clause
"""The motion law of platforms with collinear joints on R^3 x S^2, iap_simulator eq. (16)."""

import numpy as np
import pytest
from flying import (
    DT,
    GRAVITY,
    Loop,
    controller_of,
    gains_of,
    scenario_of,
)
from lines import LINES, every_line, hanging
from moving import Tumble, newton_euler

from iap_control.laws.decomposition import Decomposition
from iap_control.laws.tracking import errors, motion_at, reference_motion_at
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Level
from iap_description.vehicles.assembly import Assembly

every_preset = pytest.mark.parametrize("preset", ["default", "paper"])


def wrench_of(line, preset="default", seed=1, t=0.3):
    """A controller and its wrench for a platform that tumbles beside its reference."""
    controller = controller_of(LINES[line], gains_of(preset))
    row = Tumble(seed + 1).row(t, controller.model.count)
    return controller, controller.wrench(Tumble(seed).state(t), Reference(row))


@every_line
@every_preset
def test_the_wrench_asks_for_no_torque_about_the_line(line, preset):
    controller, U = wrench_of(line, preset)
    free = Decomposition.of(controller.model).Delta[:, 5]
    assert abs(free @ U) < 1e-10
    assert np.abs(U[3:]).max() > 0.1


@every_line
def test_thrusts_can_make_the_wrench(line):
    controller, U = wrench_of(line)
    model = controller.model
    np.testing.assert_allclose(model.B @ (model.B_inverse @ U), U, atol=1e-9)


@every_line
@pytest.mark.parametrize("t", [0.0, 0.7, 2.3])
def test_on_the_reference_the_wrench_is_that_of_newton_and_euler_but_for_the_free_turn(line, t):
    """The line moves as the reference says; the platform hangs below it and does not turn about it."""
    controller = controller_of(LINES[line])
    axis = controller.model.line.direction_P
    row = Tumble(6).row(t, controller.model.count)
    row[3:7] = hanging(controller.model, row[3:7])
    for part in (slice(10, 13), slice(16, 19)):
        row[part] -= axis * (axis @ row[part])
    x = np.concatenate([row[:10], so3.rotate(row[3:7], row[10:13])])
    U = controller.wrench(x, Reference(row))
    exact = newton_euler(Assembly.of(LINES[line]), row, GRAVITY)
    split = Decomposition.of(controller.model)
    np.testing.assert_allclose(split.Delta[:, :5].T @ (U - exact), 0.0, atol=1e-6)


@every_line
def test_a_free_turn_about_the_line_costs_the_line_no_acceleration(line):
    """The line moves as the reference says while the platform turns about it: its Coriolis forces are carried.

    Newton and Euler with the real velocities; of the accelerations, the one about the line does not matter.
    """
    controller = controller_of(LINES[line])
    axis, split = controller.model.line.direction_P, Decomposition.of(controller.model)
    row = Tumble(6).row(0.7, controller.model.count)
    row[3:7] = hanging(controller.model, row[3:7])
    for part in (slice(10, 13), slice(16, 19)):
        row[part] -= axis * (axis @ row[part])
    R = so3.matrix_from_quaternion(row[3:7])
    v_r, w_r = R.T @ row[7:10], row[10:13]
    v, w = np.split(np.concatenate([v_r, w_r]) + 1.5 * split.Delta[:, 5], 2)
    x = np.concatenate([row[:7], R @ v, R @ w])
    U = controller.wrench(x, Reference(row))
    real = row.copy()
    real[10:13] = w
    real[13:16] += R @ np.cross(w, v - v_r)
    real[16:19] -= np.cross(w, w_r)
    exact = newton_euler(Assembly.of(LINES[line]), real, GRAVITY)
    np.testing.assert_allclose(split.Delta[:, :5].T @ (U - exact), 0.0, atol=1e-6)


@every_line
@every_preset
def test_the_wrench_does_not_depend_on_the_reference_s_turn_about_the_line(line, preset):
    """Only the line's direction is commanded: any roll of the reference is the same reference."""
    controller = controller_of(LINES[line], gains_of(preset))
    axis = controller.model.line.direction_P
    x, row = Tumble(1).state(0.3), Tumble(2).row(0.3, controller.model.count)
    row[10:13] = row[16:19] = 0.0
    U = controller.wrench(x, Reference(row)).copy()
    for roll in (0.5, -1.0, 2.5):
        turned = row.copy()
        turned[3:7] = so3.multiply(row[3:7], so3.quaternion_exp(roll * axis))
        controller.reset()
        np.testing.assert_allclose(controller.wrench(x, Reference(turned)), U, atol=1e-10)


@every_line
def test_without_axis_error_there_is_no_feedback_whatever_the_roll(line):
    """The platform swung about its line, which is where it shall be: the wrench is that of its weight alone."""
    controller = controller_of(LINES[line])
    model = controller.model
    row = np.zeros(19 + model.count)
    row[3:7] = hanging(model, so3.quaternion_exp(np.array([0.0, 0.1, 0.4])))
    x = row[:13].copy()
    x[3:7] = so3.multiply(row[3:7], so3.quaternion_exp(0.3 * model.line.direction_P))
    x[:3] += so3.rotate(row[3:7], model.line.point_P) - so3.rotate(x[3:7], model.line.point_P)
    U = controller.wrench(x, Reference(row))
    weight = so3.rotate(so3.conjugate(x[3:7]), [0, 0, -model.inertia.mass * GRAVITY])
    load = np.concatenate([weight, np.cross(model.inertia.d_0, weight)])
    split = Decomposition.of(model)
    np.testing.assert_allclose(split.Delta[:, :5].T @ (U + load), 0.0, atol=1e-9)


@every_line
def test_an_axis_error_turns_the_line_towards_its_reference(line):
    controller = controller_of(LINES[line])
    model = controller.model
    axis = model.line.direction_P
    row = np.zeros(19 + model.count)
    row[6] = 1.0
    balanced = controller.wrench(row[:13].copy(), Reference(row)).copy()
    for across in np.linalg.svd(axis[None])[2][1:]:
        x = row[:13].copy()
        x[3:7] = so3.quaternion_exp(0.05 * across)
        controller.reset()
        U = controller.wrench(x, Reference(row))
        turn = np.linalg.solve(model.inertia.M, U - balanced)[3:]
        assert across @ turn < 0.0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_position_error_pulls_straight_back_with_gains_per_inertia(axis):
    """Across the line the free turn takes a part; the integral of each error grows by itself."""
    controller = controller_of("three_line")
    row = np.zeros(22)
    row[6] = 1.0
    balanced = controller.wrench(row[:13].copy(), Reference(row)).copy()
    x = row[:13].copy()
    x[axis] = 0.1
    controller.reset()
    forces = [(controller.wrench(x, Reference(row)) - balanced)[:3] for _ in range(3)]
    gains = gains_of()
    pulls = [gains.kP[axis] + gains.kI[axis] * n * DT for n in (1, 2, 3)]
    if axis == 0:
        expected = -controller.model.inertia.mass * pulls[0] * 0.1
        np.testing.assert_allclose(forces[0], [expected, 0.0, 0.0], atol=1e-9)
    for force, pull in zip(forces, pulls, strict=True):
        np.testing.assert_allclose(force, pull / pulls[0] * forces[0], atol=1e-9)
    assert forces[0][axis] < 0.0


def test_the_paper_s_pose_error_is_the_printed_one():
    """e_T = Delta_a^T [I 0; d_0^ -r^] [R^T (p - p_r); R^T r_r] below equation (16)."""
    gains = gains_of("paper")
    nothing = (0.0,) * 6
    x, row = Tumble(1).state(0.3), Tumble(2).row(0.3, 3)
    with_error, without = (
        controller_of("three_line", g)
        for g in (
            gains.model_copy(update={"kI": nothing}),
            gains_of("paper", kP=nothing, kI=nothing),
        )
    )
    feedback = with_error.wrench(x, Reference(row)) - without.wrench(x, Reference(row))
    split = Decomposition.of(with_error.model)
    r, d_0 = np.array([1.0, 0.0, 0.0]), with_error.model.inertia.d_0
    printed = np.zeros((6, 6))
    printed[:3, :3], printed[3:, :3], printed[3:, 3:] = np.eye(3), so3.hat(d_0), -so3.hat(r)
    back = so3.conjugate(x[3:7])
    errors = np.concatenate(
        [so3.rotate(back, x[:3] - row[:3]), so3.rotate(back, so3.rotate(row[3:7], r))]
    )
    e_T = split.Delta[:, :5].T @ printed @ errors
    kP = np.array(gains.kP)[[0, 1, 2, 4, 5]]
    u = split.Delta_T @ feedback
    across = np.argmax(np.abs(split.basis), axis=0)
    assert sorted(across) == [1, 2]
    kP[3:] = np.array(gains.kP)[3 + across]
    np.testing.assert_allclose(u[:5], -kP * e_T, atol=1e-10)


@pytest.mark.parametrize("level", [Level.VELOCITY, Level.ACCELERATION])
@every_line
def test_levels_drop_the_errors_below_them(line, level):
    controller = controller_of(LINES[line])
    x, row = Tumble(1).state(0.3), Tumble(2).row(0.3, controller.model.count)
    U = controller.wrench(x, Reference(row, level)).copy()
    elsewhere = x.copy()
    elsewhere[:3] += 5.0
    np.testing.assert_allclose(controller.wrench(elsewhere, Reference(row, level)), U, atol=1e-10)
    faster = x.copy()
    faster[7:10] += 0.1
    changed = np.abs(controller.wrench(faster, Reference(row, level)) - U).max() > 0.1
    assert changed == (level == Level.VELOCITY)


@every_line
def test_the_external_wrench_is_subtracted_as_far_as_thrusts_can(line):
    controller = controller_of(LINES[line])
    x, row = Tumble(1).state(0.3), Tumble(2).row(0.3, controller.model.count)
    F_e = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    U = controller.wrench(x, Reference(row)).copy()
    controller.reset()
    change = U - controller.wrench(x, Reference(row), F_e)
    split = Decomposition.of(controller.model)
    np.testing.assert_allclose(split.Delta[:, :5].T @ (change - F_e), 0.0, atol=1e-10)


def test_tracking_itself_knows_nothing_of_lines():
    """The shared errors hold the roll error that the law leaves out."""
    row = np.zeros(22)
    row[6] = 1.0
    x = row[:13].copy()
    x[3:7] = so3.quaternion_exp(np.array([0.2, 0.0, 0.0]))
    found = errors(motion_at(x), reference_motion_at(row), 0)
    assert found.e_T[3] == pytest.approx(np.sin(0.2))


# --- in flight ---------------------------------------------------------------------------------


CIRCLE = {
    "type": "circle",
    "duration": 6.0,
    "period": 8.0,
    "altitude": 2.0,
    "amplitude": [0.6, 0.6, 0.2],
    "pitch_amplitude": 0.15,
    "yaw_amplitude": 0.15,
}


@pytest.mark.slow
@every_line
def test_every_line_flies_a_circle_in_five_degrees_of_freedom(line):
    """The line's direction is held whichever way it lies in the platform."""
    tree = {"platform": LINES[line].model_dump(mode="json"), "reference": CIRCLE}
    loop = Loop.of(scenario_of(tree))
    flown = loop.fly()[0]
    axis = loop.vehicles[0].controller.model.line.direction_P
    assert flown.position_rmse < 0.01
    assert np.sqrt((flown.axis_error_deg(axis) ** 2).mean()) < 0.25


def test_a_swing_about_the_line_is_survived_without_losing_place_or_direction():
    """Rolled by 20 degrees at the start, the platform swings like a pendulum below its joints."""
    loop = Loop.of(scenario_of("hover", platform="three_line", duration=5.0))
    pilot = loop.vehicles[0]
    x = pilot.start.copy()
    roll = so3.quaternion_exp(np.array([np.deg2rad(20.0), 0.0, 0.0]))
    joints = np.array([joint.position for joint in LINES["three_line"].joints])
    x[0, 3:7] = roll
    x[0, :3] += joints[1] - so3.rotate(roll, joints[1])  # about the line, not about the origin
    loop.plant.reset(x[None], [pilot.start_rpm], np.random.default_rng(1))
    flown = loop.fly()[0]
    rolls = so3.quaternion_log(flown.x[:, 0, 3:7])[:, 0]
    assert rolls.min() < -0.2  # it did swing to the other side
    centre = flown.x[:, 2, :3]  # the aircraft on the line
    assert np.abs(centre - centre[0]).max() < 0.06
    assert flown.axis_error_deg(np.array([1.0, 0.0, 0.0])).max() < 0.5

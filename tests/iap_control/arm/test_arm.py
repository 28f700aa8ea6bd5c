# SPDX-License-Identifier: BSD-3-Clause
"""Models, motions and motors of an arm under control."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import DT, GRAVITY, gains_of, model_of

from iap_control.arm.arm_control import ArmControl, JointCoordinates
from iap_control.arm.arm_model import ArmModel
from iap_control.arm.arm_spec import ArmSpec
from iap_control.controllers.controller import disturbance_settings
from iap_control.controllers.disturbance_observer import DisturbanceObserver
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import ForceMode, ForceTask, Reference
from iap_description.states import REF_FIXED, P, Q, resting_state
from iap_description.vehicles.arm import load_arm
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import composite, holding_torques
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.serial_chain import tip_pose

ARM = load_arm("m100").model_copy(update={"home": (0.1, 0.2, -0.3)})
MOTIONS = {
    "hold": {"type": "hold", "joints": [0.5, 1.0, -0.5]},
    "swing": {"type": "swing", "joint": "q2", "middle": 0.8, "amplitude": 0.5, "frequency": 0.7},
    "trajectory": {
        "type": "trajectory",
        "points": [
            {"t": 1.0, "q": [0.3, 0.9, 0.0], "v": [0.1, -0.2, 0.4]},
            {"t": 2.5, "q": [0.0, 1.5, 0.2]},
        ],
    },
}
FORCE_P = np.array([3.0, -0.45, 0.4])


@pytest.mark.parametrize("name", ["m100_arm", "f450_arm"])
def test_at_home_it_is_the_platform_of_the_file_and_elsewhere_the_whole_chain_as_one_body(name):
    platform = load_platform(name)
    assembly, model = Assembly.of(platform), model_of(name)
    arm = ArmModel(assembly.arm, model.inertia, moves=True)
    for own, given in zip(
        arm.inertia_at(assembly.arm.record.home_pose), model.inertia, strict=True
    ):
        np.testing.assert_allclose(own, given, atol=1e-12)
    q, center = np.array([0.4, 1.1, -0.7]), assembly.bodies[0]
    bodies = assembly.arm.bodies_with(center.mass, center.inertia)
    whole, own = composite(assembly.arm.chain, bodies, np.eye(3), q), arm.inertia_at(q)
    cross = so3.hat(whole.p_PC_W)
    np.testing.assert_allclose(own.d_0, whole.p_PC_W, atol=1e-14)
    np.testing.assert_allclose(own.J, whole.inertia - whole.mass * cross @ cross, atol=1e-14)


@pytest.mark.slow
def test_the_disturbance_observer_takes_no_moving_arm_for_a_disturbance():
    """A platform that stands still while its arm swings, under the wrench that this takes: nothing is left over."""
    model, assembly = model_of("m100_arm"), Assembly.of(load_platform("m100_arm"))
    gains = gains_of().disturbance.model_copy(
        update={"actuation": ("rigid",), "bandwidth": (4.0, 4.0)}
    )
    gains = gains_of(disturbance=gains)
    x, largest = resting_state(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])), []
    for moves in (True, False):
        arm = ArmModel(assembly.arm, model.inertia, moves=True)
        observer = DisturbanceObserver(*disturbance_settings(model, gains), DT)
        for k in range(400):
            phase = 4.0 * k * DT
            q, v, a = (
                np.array([0.0, 0.8 * f, 0.0])
                for f in (np.sin(phase), 4.0 * np.cos(phase), -16.0 * np.sin(phase))
            )
            told = arm(x, q, v, a)
            weight = model.inertia.mass * GRAVITY * np.array([0.0, 0.0, 1.0])
            made = told.wrench_P + np.concatenate([weight, np.cross(told.inertia.d_0, weight)])
            if moves:
                observer.set_inertia(told.inertia, told.momentum_P)
            observer(x, np.zeros(6))
            observer.note(made)
        largest.append(np.abs(observer.wrench_P).max())
    assert largest[0] < 0.02 * largest[1]


def motion_of(tree):
    """A motion of the scenario's key `arm`."""
    spec = {"motion": tree, "feed_forward": "inertia", "holding": True}
    return validate(ArmSpec, spec, source="test", prefix="arm").motion


@pytest.mark.parametrize("name", MOTIONS)
def test_rates_are_those_of_the_coordinates_and_all_begins_at_home_at_rest(name):
    t, motion = np.linspace(-0.5, 4.0, 4501), motion_of(MOTIONS[name])
    q, v, a = np.moveaxis(motion.targets(t, ARM), 1, 0)
    dt = t[1] - t[0]
    np.testing.assert_allclose(np.gradient(q, dt, axis=0)[1:-1], v[1:-1], atol=2e-4)
    np.testing.assert_allclose(np.gradient(v, dt, axis=0)[1:-1], a[1:-1], atol=2e-2)
    np.testing.assert_allclose(q[t <= 0.0], np.broadcast_to(ARM.home_pose, q[t <= 0.0].shape))
    assert not v[t <= 0.0].any()


def test_a_trajectory_goes_through_its_points_and_stays_at_the_last():
    points = MOTIONS["trajectory"]["points"]
    out = motion_of(MOTIONS["trajectory"]).targets(np.array([1.0, 2.5, 9.0]), ARM)
    np.testing.assert_allclose(out[0, :2], [points[0]["q"], points[0]["v"]])
    np.testing.assert_allclose(out[1:, 0], [points[1]["q"]] * 2)
    np.testing.assert_allclose(out[1:, 1], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("tree", "key"),
    [
        ({**MOTIONS["swing"], "joint": "q9"}, "arm.motion.joint': no joint 'q9'"),
        ({"type": "hold", "joints": [0.0]}, "arm.motion.joints': 3 joints"),
        ({"type": "trajectory", "points": [{"t": 0.0, "q": [0.0]}]}, "points"),
        ({"type": "dance"}, "arm.motion"),
    ],
)
def test_what_no_arm_can_do_is_refused_with_its_key(tree, key):
    with pytest.raises(BadInput, match=key):
        motion_of(tree).targets(np.zeros(1), ARM)


def told(mode, *, holding=True):
    """Torques (n,) that motors are told while the tip feels a force, the arm, and the platform's row."""
    assembly = Assembly.of(load_platform("three_star_pen"))
    motion = {"type": "hold"}
    spec = ArmSpec.model_validate({"motion": motion, "feed_forward": "none", "holding": holding})
    control = ArmControl.of(
        assembly.arm, model_of("three_star_pen"), spec, lead=0.0, last=3, dt=DT
    )
    task = ForceTask(mode, np.array([*FORCE_P, 0.0, 0.0, 0.0]), np.zeros(6), np.ones(6, bool))
    x = resting_state(np.ones(3), so3.quaternion_exp(np.array([0.1, -0.2, 0.7])))
    home = assembly.arm.record.home_pose
    control.feel(task)
    control(0, x, JointCoordinates(home, np.zeros(3)), None, Reference(np.zeros(REF_FIXED)))
    return control.target[2], assembly.arm, x


def test_motors_hold_the_links_and_what_the_tip_feels_by_virtual_work():
    torque, arm, x = told(ForceMode.SELECTIVE)
    R, home = so3.matrix_from_quaternion(x[Q]), arm.record.home_pose
    weight = holding_torques(arm.chain, arm.bodies, R, home, GRAVITY)
    for i, step in enumerate(1e-6 * np.eye(3)):
        ends = [tip_pose(arm.chain, x[P], R, home + sign * step)[0] for sign in (-1.0, 1.0)]
        work = (R @ FORCE_P) @ (ends[1] - ends[0]) / 2e-6  # of the environment, per radian
        np.testing.assert_allclose(torque[i], weight[i] - work, atol=1e-8)


@pytest.mark.parametrize(("mode", "holding"), [("NONE", True), ("SELECTIVE", False)])
def test_without_wrench_control_or_unasked_they_hold_no_force(mode, holding):
    torque, arm, x = told(ForceMode[mode], holding=holding)
    R = so3.matrix_from_quaternion(x[Q])
    weight = holding_torques(arm.chain, arm.bodies, R, arm.record.home_pose, GRAVITY)
    np.testing.assert_allclose(torque, holding * weight, atol=1e-12)


def test_the_tip_of_an_arm_is_the_tool_where_the_central_body_has_none():
    model, arm = model_of("three_star_pen"), Assembly.of(load_platform("three_star_pen")).arm
    np.testing.assert_allclose(model.tip_P, arm.tip_P(arm.record.home_pose))
    assert model.tip_moves and model.tip_P[0] < -0.7
    assert not model_of("three_star").tip_moves


def control_of(motion, *, last=3, **keys):
    """The control of the pen's arm, what it is told at an instant, and what it was told to feel."""
    arm = Assembly.of(load_platform("three_star_pen")).arm
    spec = {"motion": motion, "feed_forward": "none", "holding": True, **keys}
    made = ArmControl.of(
        arm,
        model_of("three_star_pen"),
        validate(ArmSpec, spec, source="test"),
        lead=0.0,
        last=last,
        dt=DT,
    )
    x = resting_state(np.ones(3), np.array([0.0, 0.0, 0.0, 1.0]))

    def at(k, q=None):
        joints = JointCoordinates(arm.record.home_pose if q is None else q, np.zeros(3))
        made(k, x, joints, None, Reference(np.zeros(REF_FIXED)))
        return made.target.copy()

    return made, at, arm


def test_targets_stay_at_the_last_of_a_motion_and_a_flight_begins_anew_at_home():
    control, at, arm = control_of({**MOTIONS["hold"], "ease": 0.01})
    np.testing.assert_allclose(control.target[0], arm.record.home_pose)
    np.testing.assert_allclose(at(3)[0], MOTIONS["hold"]["joints"])
    np.testing.assert_array_equal(at(99), at(3))
    control.reset()
    np.testing.assert_allclose(control.target[0], arm.record.home_pose)
    np.testing.assert_array_equal(control.target[1:], 0.0)


def test_a_programs_torque_is_left_alone_and_without_one_the_motors_hold_where_the_joints_are():
    control, at, arm = control_of({"type": "external"})
    there = arm.record.home_pose + 0.2
    weight = holding_torques(arm.chain, arm.bodies, np.eye(3), there, GRAVITY)
    control.give(there, None, None)
    out = at(0, there)
    np.testing.assert_allclose(out, [there, np.zeros(3), weight], atol=1e-12)
    control.give(there, [0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(at(1, there), [there, [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])
    with pytest.raises(BadInput, match="3 joints expected"):
        control.give([0.0, 0.0], None, None)


def test_nothing_of_an_arm_is_cut_that_nobody_guides_whatever_its_number_of_joints():
    unguided = SimpleNamespace(guide=None, target=np.zeros((3, 5)))
    assert ArmControl.clipped.fget(unguided).tolist() == [0] * 5

# SPDX-License-Identifier: BSD-3-Clause
"""What an arm's motors are told, and where wrench control has its tip."""

import numpy as np
import pytest
from flying import DT, GRAVITY, model_of

from iap_control.arm.arm_control import ArmControl, JointCoordinates
from iap_control.arm.arm_spec import ArmSpec
from iap_description.math import so3
from iap_description.signals import ForceMode, ForceTask, Reference
from iap_description.states import REF_FIXED, P, Q, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import holding_torques
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.serial_chain import tip_pose

FORCE_P = np.array([3.0, -0.45, 0.4])


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


@pytest.mark.slow
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

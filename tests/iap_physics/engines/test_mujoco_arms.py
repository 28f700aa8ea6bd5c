# SPDX-License-Identifier: BSD-3-Clause
"""Joints of arms in MuJoCo's coordinates, and MuJoCo's warnings."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from iap_physics.engines.make import is_installed

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco import library
    from iap_physics.engines.mujoco.arm_joints import ArmBatch, ArmJoints
    from iap_physics.engines.mujoco.arms import DrivenArm


def arm_joints(count=2):
    """Arms of three joints in all, in so many worlds, filled with numbers."""
    full = [np.full((count, 3), k) for k in (1.0, 2.0, 3.0, 4.0)]
    q_at, v_at = np.array([7, 8, 20]), np.array([6, 7, 18])
    home, targets = np.array([0.1, -0.2, 0.3]), np.full((count, 3, 3), 9.0)
    return ArmJoints(q_at, v_at, None, home, targets, *full, np.full((count, 3), 5))


def test_arms_of_some_worlds_begin_at_home_at_rest_and_nothing_was_clipped():
    joints, qpos = arm_joints(), np.zeros((2, 21))
    joints.reset(np.array([1]), qpos)
    home = [0.1, -0.2, 0.3]
    assert joints.q[1].tolist() == home and joints.v[1].tolist() == [0.0] * 3
    assert joints.targets[1].tolist() == [home, [0.0] * 3, [0.0] * 3]
    assert not joints.efforts[1].any() and not joints.clipped[1].any()
    assert qpos[1, [7, 8, 20]].tolist() == home and not qpos[0].any()
    assert [np.unique(each[0]).tolist() for each in joints[4:]] == [
        [9.0],
        [1.0],
        [2.0],
        [3.0],
        [4.0],
        [5],
    ]


def test_an_arm_sees_its_own_joints_in_all_worlds():
    arm = ArmBatch(None, arm_joints(), slice(1, 3))
    for array, value in ((arm.q, 1.0), (arm.v, 2.0), (arm.efforts, 3.0), (arm.clipped, 5)):
        assert array.tolist() == [[value, value]] * 2
    assert arm.targets.shape == (2, 3, 2)


def test_an_arm_that_is_driven_stands_where_its_motors_have_it():
    data = SimpleNamespace(qpos=np.zeros(9), qvel=np.zeros(8), qfrc_applied=np.ones(8))
    model = SimpleNamespace(
        body_jntadr=np.array([-1, 0, 2, 1]), jnt_qposadr=np.array([0, 7, 8]),
        jnt_dofadr=np.array([0, 6, 7]),
    )  # fmt: skip
    motors = SimpleNamespace(q=np.zeros(2), v=np.zeros(2), drive=lambda: np.array([3.0, 4.0]))
    motors.reset = lambda: motors.q.__setitem__(slice(None), (0.5, 0.6))
    arm = DrivenArm(model, data, [3, 2], motors)
    motors.v[:] = -1.0, -2.0
    arm.reset()
    assert data.qpos[7:].tolist() == [0.5, 0.6] and data.qvel[6:].tolist() == [-1.0, -2.0]
    arm.push()
    assert data.qfrc_applied.tolist() == [1.0] * 6 + [3.0, 4.0]
    data.qpos[7:], data.qvel[6:] = (0.7, 0.8), (1.0, 2.0)
    arm.read()
    assert motors.q.tolist() == [0.7, 0.8] and motors.v.tolist() == [1.0, 2.0]


def test_warnings_of_mujoco_are_logged_but_for_those_of_numbers(caplog):
    with caplog.at_level(logging.WARNING):
        library._warn("Nan, Inf. The simulation is unstable at time 1.")
        assert caplog.messages == []
        library._warn("a contact is lost")
    assert caplog.messages == ["MuJoCo: a contact is lost"]

# SPDX-License-Identifier: BSD-3-Clause
"""Compiled parts of MuJoCo's worlds by numbers: joints that yield, sliding, forces of contacts, latches, endings."""

import numpy as np
import pytest
from state_rows import plain

from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.joints import at_rest
from iap_physics.engines.make import is_installed

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco import arm_joints, bond_forces, latches, points, stepping
    from iap_physics.engines.mujoco.latches import Latches
    from iap_physics.engines.mujoco.worlds import MuJoCoWorlds

R = so3.matrix_from_quaternion(so3.quaternion_exp(np.array([0.3, -0.5, 0.8])))
FRAME = R.ravel().copy()
F450 = Assembly.of(load_platform("f450"))


@pytest.mark.parametrize("is_weld", [False, True])
def test_a_joint_bears_its_force_and_a_weld_half_a_turn_s_torque_in_the_second_body(is_weld):
    force, wrench = np.array([1.0, -2.0, 3.0, 4.0, 5.0, -6.0]), np.full(6, 9.0)
    plain(bond_forces.borne)(force, is_weld, FRAME, wrench)
    torque = 0.5 * R @ force[3:] if is_weld else np.zeros(3)
    np.testing.assert_allclose(wrench, [*force[:3], *torque])


def test_a_joint_yields_to_a_force_above_its_limit_which_acts_in_its_place():
    wrench = np.array([2.0, -3.0, 6.0, 1.0, 2.0, 3.0])  # a force of 7 N
    assert not plain(bond_forces.yields)(wrench, 7.0)
    assert wrench.tolist() == [2.0, -3.0, 6.0, 1.0, 2.0, 3.0]
    assert plain(bond_forces.yields)(wrench, 3.5)
    assert wrench.tolist() == [1.0, -1.5, 3.0, 0.5, 1.0, 1.5]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_a_joint_bears_pulls_a_body_at_its_place_about_its_com(sign):
    load, offset = np.ones(6), np.array([0.01, 0.02, -0.03])
    place, wrench = np.array([0.5, -0.4, 0.3]), np.array([1.0, 2.0, -3.0, 0.4, 0.5, 0.6])
    plain(bond_forces.pull)(load, FRAME, offset, place, wrench, sign)
    lever = R @ place + offset
    torque = wrench[3:] + np.cross(lever, wrench[:3])
    np.testing.assert_allclose(load, 1.0 + sign * np.append(wrench[:3], torque))


def test_what_slides_is_not_lifted_off():
    """By mu b |v| with b = 100 1/s, and sliding dies down by b."""
    aref, velocity = np.array([7.0, 1.0, 2.0, 3.0, 8.0]), np.array([9.0, 0.5, 0.3, -0.4, 9.0])
    plain(stepping.slide)(aref, velocity, 1, 0.6)
    np.testing.assert_allclose(aref, [7.0, 1.0 - 0.6 * 100.0 * 0.5, -30.0, 40.0, 8.0])
    aref = np.arange(7.0)
    velocity = np.array([0.0, 0.3, 0.4, 0.0, 0.0, 0.6, 0.8])
    plain(stepping._let_slide)(aref, velocity, np.array([-1, 4]), np.array([[0.9], [0.5]]))
    np.testing.assert_allclose(aref, [0.0, 1.0, 2.0, 3.0, 4.0 - 50.0, -60.0, -80.0])


def test_a_contacts_force_is_turned_from_its_axes_and_acts_on_both():
    f = np.array([1.0, 2.0, 3.0])
    force = plain(points.force_on_first)(f, FRAME)
    np.testing.assert_allclose(force, -R.T @ f)
    position, center = (1.0, 2.0, 3.0), (0.5, 0.0, 0.1)
    for is_first, sign in ((True, 1.0), (False, -1.0)):
        wrench = np.ones(6)
        plain(points.add_force)(force, is_first, position, center, wrench)
        torque = np.cross(np.subtract(position, center), force)
        np.testing.assert_allclose(wrench, 1.0 + sign * np.append(force, torque))
    out = np.zeros((2, 3))
    plain(points._turn)(np.array([9.0, *f]), np.array([-1, 1]), np.stack([FRAME, FRAME]), out)
    np.testing.assert_allclose(out, [[0.0, 0.0, 0.0], force])


def test_a_latch_holds_its_angle_until_its_own_worlds_lever_is_turned():
    numbers = np.zeros((2, 2, 4))
    numbers[1] = [[50.0, 8.0, 2.0, -0.5], [70.0, 9.0, 3.0, 0.5]]
    made = Latches(np.array([0, 2]), np.array([1, 3]), np.array([4, 5]), numbers)
    qpos, qvel = np.array([0.1, 9.0, 0.05, 9.0, -0.4, 0.6]), np.array([9.0, 0.5, 9.0, 0.25])
    forces = np.full(4, 7.0)
    plain(latches.push_latches)(made, 1, qpos, qvel, forces)
    np.testing.assert_allclose(forces, [7.0, -50.0 * 0.1 - 2.0 * 0.5, 7.0, 0.0])
    qpos[4:] = -0.51, 0.49
    plain(latches.push_latches)(made, 1, qpos, qvel, forces)
    np.testing.assert_allclose(forces, [7.0, 0.0, 7.0, -70.0 * 0.05 - 3.0 * 0.25])


def test_joints_of_a_worlds_arms_are_read_where_they_stand():
    full = np.zeros((4, 2, 2))
    q_at, v_at = np.array([3, 1]), np.array([2, 0])
    joints = arm_joints.ArmJoints(
        q_at, v_at, None, np.zeros(2), np.zeros((2, 3, 2)), *full, np.zeros((2, 2), int)
    )
    plain(arm_joints.read_joints)(
        joints, 1, np.array([9.0, 0.2, 9.0, 0.1]), np.array([4.0, 9.0, 3.0])
    )
    assert joints.q.tolist() == [[0.0, 0.0], [0.1, 0.2]]
    assert joints.v.tolist() == [[0.0, 0.0], [3.0, 4.0]]


@pytest.fixture
def low():
    """Three worlds of two quadrotors; in the second one of them is on the ground, in the third both are."""
    worlds = MuJoCoWorlds(batch=3)
    worlds.load(World(), [F450, F450])
    x = np.repeat(at_rest([F450, F450])[None], 3, axis=0)
    x[:, 0, 2], x[:, 1, 2], x[:, 1, 0] = 3.0, 3.0, 5.0
    x[1, 1, 2] = x[2, 0, 2] = x[2, 1, 2] = 0.1
    worlds.reset(x)
    return worlds


def test_a_touch_that_may_not_be_gives_its_status_and_the_vehicle_that_is_to_blame(low):
    endings = np.zeros((2, 1, 2), dtype=np.int64) + RUNNING
    endings[1, 0] = 7, 8  # of the second vehicle on the ground
    low.watch(endings)
    low.step(1e-3)
    assert low.touched.tolist() == [RUNNING, 7, 7]
    assert low.culprits.tolist()[1:] == [1, 1]
    endings[0, 0] = 5, 6
    low.step(1e-3)
    assert low.touched.tolist()[:2] == [RUNNING, 7] and low.touched[2] in (5, 7)
    low.reset(low.state()[[2]].copy() + [0.0, 0.0, 1.0, *[0.0] * 10], [2])
    assert low.touched.tolist() == [RUNNING, 7, RUNNING] and low.culprits[2] == 0


def test_a_wrench_that_is_none_ends_its_world_by_its_vehicle_and_leaves_its_state(low):
    before, wrenches = low.state().copy(), np.zeros((3, 2, 6))
    wrenches[0, 1, 4] = np.nan
    low.apply(wrenches)
    low.step(1e-3)
    assert low.status.tolist() == [DIVERGED, RUNNING, RUNNING] and low.culprits[0] == 1
    np.testing.assert_allclose(low.state()[0], before[0], atol=1e-15)
    assert low.step_counts.tolist() == [0, 1, 1]
    low.step(1e-3)
    assert low.step_counts.tolist() == [0, 2, 2]


def test_wrenches_act_on_the_bodies_of_their_rows_for_one_step(low):
    wrenches = np.zeros((3, 2, 6))
    wrenches[0, 1, :3] = 1.0, 2.0, 3.0
    low.apply(wrenches)
    low.step(1e-3)
    low.step(1e-3)
    v = low.state()[0, :, 7:10]
    fall = np.array([0.0, 0.0, -2e-3 * World().gravity])
    np.testing.assert_allclose(v[0], fall, atol=1e-12)
    np.testing.assert_allclose(
        v[1], fall + 1e-3 * np.array([1.0, 2.0, 3.0]) / F450.mass, atol=1e-12
    )


def test_what_is_felt_is_the_contacts_force_about_each_bodys_com(low):
    """A vehicle that stands is carried at its CoM; one in the air feels nothing."""
    low.measure_contacts([1, 0])
    for _ in range(400):
        low.step(1e-3)
    low.felt[:], before = 0.0, low.state()[:, ::-1, 7:10].copy()
    for _ in range(100):
        low.step(1e-3)
    mean, change = low.felt / 100.0, low.state()[:, ::-1, 7:10] - before
    gained = F450.mass * (change / 0.1 + [0.0, 0.0, World().gravity])
    np.testing.assert_allclose(mean[2, :, :3], gained[2], atol=1e-6)
    np.testing.assert_allclose(mean[1, 0, :3], gained[1, 0], atol=1e-6)
    assert mean[2, 0, 2] > 0.5 * F450.mass * World().gravity
    np.testing.assert_allclose(mean[2, :, 3:5], 0.0, atol=1.0)
    assert not mean[1, 1].any() and not mean[0].any()

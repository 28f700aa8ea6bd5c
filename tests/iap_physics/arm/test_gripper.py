# SPDX-License-Identifier: BSD-3-Clause
"""Grippers: they take what is near, bear its weight, give way to too much, and let go."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.geometry.shapes import Surface
from iap_description.math import so3
from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import composite
from iap_description.vehicles.gripper import GripperSpec, Load, carrying
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.serial_chain import tip_pose
from iap_description.world.objects import Box
from iap_description.world.world import World
from iap_physics.arm.gripper import Gripper

ARM = Assembly.of(load_platform("m100_gripper"))
BASE = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
SPEC = {"object": "box", "point": (0.0, 0.0, 0.04), "close": 0.0, "open": 1.0, "reach": 0.03}
SPEC |= {"max_force": 20.0, "known_load": True, "target": (0.0, 0.0, 0.0)}


def world_with_a_box(gap, **more):
    """A box whose top is below the tip of the arm at home by so much [m]."""
    tip, _ = tip_pose(ARM.arm.chain, BASE[P], np.eye(3), ARM.arm.record.home_pose)
    place = tuple((tip - [0.0, 0.0, 0.04 + gap]).tolist())
    surface = Surface(friction=0.5, restitution=0.0)
    box = {"type": "box", "size": (0.08, 0.08, 0.08), "position": place, "surface": surface}
    return World(gravity=9.81, ground=False, objects={"box": Box(**box, mass=0.2, **more)})


def held(engine, seconds, **spec):
    """A gripper of an arm whose platform is held up, after some time, and what its joint bore at the end."""
    world = world_with_a_box(0.02)
    engine.load(world, [ARM])
    engine.reset(BASE[None, None])
    gripper = Gripper(engine, GripperSpec(**SPEC | spec), world, 0, 0)
    engine.add_joint(0, -1, np.zeros(3), BASE[P], type="fixed")
    for k in range(round(seconds * 2000)):
        gripper.begin_period(k, k / 2000)
        engine.step(5e-4)
    return gripper


def test_a_box_hangs_on_the_arm_by_its_weight(engine):
    gripper = held(engine, 0.8)
    assert gripper.taken and gripper.load is not None
    force = engine.joint_wrench(gripper._handle)[:3]  # on the box
    np.testing.assert_allclose(force, [0.0, 0.0, 0.2 * 9.81], atol=0.15)


def test_it_lets_go_when_it_opens(engine):
    gripper = held(engine, 0.5, open=0.3)
    assert gripper.load is None and gripper.taken and not gripper.lost
    fallen = 0.5 * 9.81 * 0.2**2
    assert gripper.object_row[2] == pytest.approx(
        world_with_a_box(0.02).objects["box"].position[2] - fallen, abs=0.05
    )


def test_what_is_heavier_than_it_can_hold_is_lost(engine):
    gripper = held(engine, 0.8, max_force=1.0)
    assert gripper.taken and gripper.lost and gripper.load is None
    gripper.reset(BASE[None], np.zeros(1, dtype=int))
    assert not gripper.taken and not gripper.lost


def test_what_is_out_of_reach_is_not_taken(engine):
    gripper = held(engine, 0.01, reach=0.005)
    assert not gripper.taken


def test_the_load_is_where_the_box_is(engine):
    gripper = held(engine, 0.01)
    tip, R = tip_pose(
        ARM.arm.chain,
        engine.state()[0, 0, P],
        so3.matrix_from_quaternion(engine.state()[0, 0, 3:7]),
        engine.arms[0].q,
    )
    origin = tip - R @ ARM.arm.chain.tip
    np.testing.assert_allclose(origin + R @ gripper.load.com, gripper.object_row[:3], atol=1e-3)
    np.testing.assert_allclose(np.trace(gripper.load.inertia), 3 * 0.2 * 0.08**2 / 6.0, rtol=1e-9)


def test_a_carried_load_counts_as_one_more_body():
    arm, q = ARM.arm, ARM.arm.record.home_pose
    load = Load(0.2, np.array([0.2, 0.01, 0.0]), np.diag([1e-4, 2e-4, 3e-4]))
    mass, com, J = composite(arm.chain, carrying(arm.bodies, load), np.eye(3), q)
    own_mass, own_com, own_J = composite(arm.chain, arm.bodies, np.eye(3), q)
    tip, R = tip_pose(arm.chain, np.zeros(3), np.eye(3), q)
    place = tip + R @ (load.com - arm.chain.tip)
    assert mass == pytest.approx(own_mass + 0.2)
    np.testing.assert_allclose(com, (own_mass * own_com + 0.2 * place) / mass, atol=1e-12)
    expected = R @ load.inertia @ R.T + own_J
    for m, at in ((own_mass, own_com), (0.2, place)):
        d = so3.hat(at - com)
        expected = expected - m * d @ d
    np.testing.assert_allclose(J, expected, atol=1e-12)


def test_an_object_that_does_not_move_is_refused():
    with pytest.raises(BadInput, match="no object 'cup' of the world that moves freely"):
        Gripper(None, GripperSpec(**SPEC | {"object": "cup"}), world_with_a_box(0.02), 0, 0)
    with pytest.raises(ValueError, match="must be later than 'close'"):
        GripperSpec(**SPEC | {"close": 2.0})

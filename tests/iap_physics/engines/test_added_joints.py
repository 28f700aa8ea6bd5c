# SPDX-License-Identifier: BSD-3-Clause
"""Joints that are added, bodies that pass, and drogues."""

from dataclasses import replace

import numpy as np
import pytest
from contact_engines import NAMES
from docking_pairs import WEIGHTLESS, assemblies, engine, momentum, start

from iap_description.errors import IapError
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.make import make_engine

PLACE_A = np.array([0.0, -0.446, -0.03])
DT, SIZE = 1e-3, 0.52  # [s], [m]
PUSH = 5.0  # [N] along the axis
OFF = (0.0, 0.055, 0.03)  # of the probe from the drogue's axis [m]: 63 mm
SPRING, DAMPER, TURN, SPIN = 400.0, 40.0, 400.0, 20.0  # by which modules are held


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def tumbling():
    x = start(depth=0.12, aside=(0.01, 0.02), turn=(0.1, -0.15, 0.2))
    x[0, 0, W], x[0, 1, V], x[0, 1, W] = (0.1, 0.0, 0.1), (0.02, 0.3, -0.05), (0.0, 0.2, -0.3)
    return x


def joined(name):
    x = tumbling()
    made = engine(name, x, shapes=False)
    at_W = x[0, 0, P] + so3.rotate(x[0, 0, Q], PLACE_A)
    place_b = so3.rotate(so3.conjugate(x[0, 1, Q]), at_W - x[0, 1, P])
    return made, place_b, made.add_joint(0, 1, PLACE_A, place_b, type="fixed")


def gap_and_turn(x, place_b, q_AB):
    ends = x[0, P] + so3.rotate(x[0, Q], PLACE_A) - x[1, P] - so3.rotate(x[1, Q], place_b)
    now = so3.multiply(so3.conjugate(x[0, Q]), x[1, Q])
    return ends, so3.quaternion_log(so3.multiply(so3.conjugate(q_AB), now))


def test_a_fixed_joint_keeps_place_and_attitude_and_the_momenta(name, flown):
    made, place_b, _ = joined(name)
    before = made.state()[0].copy()
    q_AB = so3.multiply(so3.conjugate(before[0, Q]), before[1, Q])
    first = made.state()[0].copy()
    after = flown(made, 1000)[-1, 0]
    ends, turn = gap_and_turn(after, place_b, q_AB)
    assert np.linalg.norm(ends) < 1e-4
    assert np.linalg.norm(turn) < 1e-4
    np.testing.assert_allclose(momentum(after)[:3], momentum(first)[:3], atol=1e-9)
    # semi-implicit Euler conserves it to first order
    np.testing.assert_allclose(momentum(after)[3:], momentum(first)[3:], atol=5e-3)
    np.testing.assert_allclose(after[0, W], after[1, W], atol=1e-4)


def test_what_a_joint_bears_is_what_changes_the_momentum_of_its_first_body(name, flown):
    made, _, joint = joined(name)
    loads = np.zeros((1, 2, 6))
    loads[0, 0], loads[0, 1] = (3.0, 1.0, 2.0, 0.1, 0.2, 0.3), (-3.0, -1.0, 4.0, -0.1, 0.2, -0.3)
    flown(made, 200, wrenches=loads)
    before = made.state()[0, 0].copy()
    after = flown(made, 1, wrenches=loads)[-1, 0, 0]
    wrench = made.joint_wrench(joint)
    force = 2.0 * (after[V] - before[V]) / 1e-3 - loads[0, 0, :3]
    np.testing.assert_allclose(wrench[:3], force, atol=1e-6)
    J = np.diag([0.065, 0.0204, 0.084])
    spins = [
        so3.rotate(row[Q], J @ so3.rotate(so3.conjugate(row[Q]), row[W]))
        for row in (before, after)
    ]
    lever = np.cross(so3.rotate(before[Q], PLACE_A), wrench[:3])
    torque = (spins[1] - spins[0]) / 1e-3 - loads[0, 0, 3:] - lever
    np.testing.assert_allclose(wrench[3:], torque, atol=0.01)


def test_a_snapshot_brings_joints_back_with_their_handles(name, flown):
    made, _, joint = joined(name)
    flown(made, 50)
    snapshot = made.snapshot()
    went_on = flown(made, 100)
    made.remove_joint(joint)
    flown(made, 20)
    made.restore(snapshot)
    np.testing.assert_array_equal(flown(made, 100), went_on)
    assert made.joint_wrench(joint).any()


def test_a_reset_leaves_no_joint(name, flown):
    made, _, joint = joined(name)
    made.reset(tumbling())
    with pytest.raises(IapError, match="no joint"):
        made.joint_wrench(joint)
    after = flown(made, 100)[-1, 0]
    np.testing.assert_allclose(after[1, V], tumbling()[0, 1, V], atol=1e-9)


def test_a_fixed_joint_yields_to_more_than_it_bears(name, flown):
    x = start(depth=0.12)
    made = engine(name, x, shapes=False)
    made.add_joint(0, 1, PLACE_A, np.array([0.0, 0.2655, -0.03]), type="fixed", max_force=20.0)
    loads = np.zeros((1, 2, 6))
    away = []
    for force in (15.0, 30.0):
        loads[0, 0, 1], loads[0, 1, 1] = force, -force
        after = flown(made, 200, wrenches=loads)[-1, 0]
        away.append(after[0, 1] - after[1, 1])
    assert away[0] - (x[0, 0, 1] - x[0, 1, 1]) < 1e-4
    # twice (30 - 20) N over 2 kg for 0.2 s; the rotation that the joint still keeps costs nothing
    assert away[1] - away[0] == pytest.approx(2 * 0.5 * 10.0 / 2.0 * 0.2**2, rel=0.05)


def test_other_joints_are_refused(name):
    made = engine(name, start(), shapes=False)
    with pytest.raises(IapError, match="type 'hinge': spherical or fixed"):
        made.add_joint(0, 1, PLACE_A, PLACE_A, type="hinge")
    with pytest.raises(IapError, match="no joint 7"):
        made.joint_wrench(7)


def meeting():
    """Two aircraft that overlap."""
    x = start(depth=0.12, aside=(0.0, 0.0), turn=(0.0, 0.0, 0.0))
    x[0, 1, P] = x[0, 0, P] + [0.02, -0.1, 0.05]
    return x


def touches(made):
    return any({c.body_a, c.body_b} == {0, 1} and c.distance < 0.0 for c in made.contacts())


def test_bodies_pass_each_other_until_they_are_to_touch_again(name, flown):
    made = engine(name, meeting())
    flown(made, 1)
    assert touches(made)
    made.let_pass(0, 1, passes=True)
    before = made.snapshot()
    flown(made, 1)
    assert not touches(made)
    made.let_pass(1, 0, passes=False)
    flown(made, 1)
    assert touches(made)
    made.restore(before)
    flown(made, 1)
    assert not touches(made)
    made.reset(meeting())
    flown(made, 1)
    assert touches(made)


def test_bodies_of_different_surfaces_pass_each_other_too(name, flown):
    target, chaser = assemblies()
    ice = chaser.bodies[0].surface.model_copy(update={"friction": 0.05})
    chaser = replace(chaser, bodies=(replace(chaser.bodies[0], surface=ice),))
    made = make_engine(name)
    made.load(WEIGHTLESS, [target, chaser])
    made.reset(meeting())
    flown(made, 1)
    assert touches(made)
    made.let_pass(0, 1, passes=True)
    flown(made, 1)
    assert not touches(made)


def test_a_fixed_joint_brings_about_the_attitude_that_it_is_given(name, flown):
    x = start(depth=0.12, aside=(0.0, 0.0), turn=(0.05, -0.03, 0.08))
    made = engine(name, x, shapes=False)
    q_AB = np.array([0.0, 0.0, 0.0, 1.0])
    place_a = so3.rotate(so3.conjugate(x[0, 0, Q]), x[0, 1, P] - x[0, 0, P])
    made.add_joint(0, 1, place_a, np.zeros(3), type="fixed", max_force=220.0, q_AB=q_AB)
    after = flown(made, 1000)[-1, 0]
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(after[0, Q]), after[1, Q]))
    assert np.linalg.norm(turn) < 1e-3


def held(row, place_W, stiffness):
    """Wrench (6,) of a spring and a damper at a place, and of those that hold it level."""
    force = stiffness * (place_W - row[P]) - DAMPER * row[V]
    return np.concatenate([force, -TURN * so3.quaternion_log(row[Q]) - SPIN * row[W]])


def pressed(name, platform, seconds=3.0):
    """Place (3,) of a follower whose probe is pressed along x, and by nothing aside, from where it is docked [m]."""
    engine = make_engine(name)
    parts = [Assembly.of(load_platform(platform), each) for each in ("leader", "follower")]
    engine.load(World(ground=False, gravity=0.0), parts)
    x = np.zeros((1, 2, 13))
    x[..., 6] = 1.0
    x[0, 1, P] = np.array([-SIZE - 0.13, 0.0, 0.0]) + OFF
    engine.reset(x)
    for _ in range(round(seconds / DT)):
        leader, follower = engine.state()[0]
        wrenches = np.zeros((1, 2, 6))
        wrenches[0, 0] = held(leader, np.zeros(3), SPRING)
        wrenches[0, 1] = held(follower, np.zeros(3), 0.0)
        wrenches[0, 1, 0] += PUSH
        engine.apply(wrenches)
        engine.step(DT)
    leader, follower = engine.state()[0]
    found = follower[P] - leader[P] + [SIZE, 0.0, 0.0]
    engine.close()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_cone_guides_home_what_is_off_its_axis(name):
    found = pressed(name, "beetle_drogue")
    assert abs(found[0]) < 5e-3
    assert (
        np.linalg.norm(found[1:]) < 4e-3
    )  # of a play of 2 mm, where two of the surfaces are soft


@pytest.mark.parametrize("name", NAMES)
def test_faces_without_a_cone_leave_it_where_it_is(name):
    found = pressed(name, "beetle", seconds=5.0)
    assert np.linalg.norm(found[1:] - OFF[1:]) < 5e-3

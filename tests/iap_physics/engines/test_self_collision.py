# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of one vehicle cannot pass through each other."""

from dataclasses import replace

import numpy as np

from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.world.world import World
from iap_physics.engines.joints import joined_rows

ONTO_THE_TUBE = (
    -0.7071,
    -0.7071,
    0.0,
)  # axis about which a star's aircraft tips a propeller onto its tube
BASE = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def turned(assembly, body, axis, degrees):
    """Start (1, bodies, 13) with one aircraft turned about an axis of its own."""
    q_WB = np.array([joint.q_PJ for joint in assembly.joints])
    turn = so3.quaternion_exp(np.deg2rad(degrees) * np.array(axis))
    q_WB[body - 1] = so3.multiply(q_WB[body - 1], turn)
    return joined_rows(assembly, BASE, q_WB)[None]


def pairs(engine):
    return {tuple(sorted((c.body_a, c.body_b))) for c in engine.contacts() if c.distance <= 0.0}


def test_an_aircraft_that_folds_onto_its_tube_is_stopped_by_it(engine, assembly_of):
    """A torque of 0.3 N m tips the aircraft until a propeller is on the tube, and not through it."""
    star, tilts, seen = assembly_of("three_star"), [], set()
    engine.load(World(gravity=0.0, ground=False), [star])
    engine.reset(joined_rows(star, BASE)[None])
    wrench = np.zeros((1, 4, 6))
    wrench[0, 1, 3:] = 0.3 * np.array(ONTO_THE_TUBE)
    wrench[0, 0, 3:] = -wrench[0, 1, 3:]
    for _ in range(800):
        engine.apply(wrench)
        engine.step(1e-3)
        q = so3.multiply(so3.conjugate(engine.state()[0, 0, Q]), engine.state()[0, 1, Q])
        up = so3.rotate(q, np.array([0.0, 0.0, 1.0]))
        tilts.append(np.rad2deg(np.arctan2(np.hypot(up[0], up[1]), up[2])))
        seen |= pairs(engine)
    assert seen == {(0, 1)}
    assert 38.0 < max(tilts) < 100.0  # it slides about the tube, and hangs there


def test_aircraft_whose_joints_are_close_touch_each_other(engine, assembly_of):
    """0.62 m apart, propellers of 0.127 m that are 0.225 m from the joint clear each other unless they point at it."""
    line = assembly_of("three_line")
    near = tuple(replace(j, p_PJ_P=j.p_PJ_P * [0.62, 1.0, 1.0]) for j in line.joints)
    line = replace(line, joints=near)
    engine.load(World(gravity=0.0, ground=False), [line])
    engine.reset(joined_rows(line, BASE)[None])
    assert pairs(engine) == set()
    engine.reset(joined_rows(line, BASE, np.tile([0.0, 0.0, 0.3826834, 0.9238795], (3, 1)))[None])
    assert pairs(engine) == {(1, 2), (2, 3)}


def test_bodies_that_overlap_at_rest_pass_through_each_other(engine, assembly_of):
    """As an aircraft that sits on its tube; its neighbours still collide with the tubes."""
    star = assembly_of("three_star")
    low = replace(star.joints[0], p_PJ_P=star.joints[0].p_PJ_P - [0.0, 0.0, 0.08])
    star = replace(star, joints=(low, *star.joints[1:]))
    engine.load(World(gravity=0.0, ground=False), [star])
    engine.reset(turned(star, 1, ONTO_THE_TUBE, 60.0))
    assert (0, 1) not in pairs(engine)
    engine.reset(turned(star, 2, ONTO_THE_TUBE, 60.0))
    assert (0, 2) in pairs(engine)


def test_what_is_one_rigid_part_does_not_push_itself_apart(engine, assembly_of):
    fixed = assembly_of("three_star_fixed")
    assert fixed.rigid_part == (0, 0, 0, 0)
    assert assembly_of("three_star").rigid_part == (0, 1, 2, 3)
    engine.load(World(gravity=0.0, ground=False), [fixed])
    start = joined_rows(fixed, BASE)[None]
    engine.reset(start)
    for _ in range(100):
        engine.step(1e-3)
    assert engine.contacts() == []
    np.testing.assert_allclose(engine.state()[..., P], start[..., P], atol=1e-12)


def test_touching_itself_is_no_wrench_of_the_environment(engine, assembly_of):
    star = assembly_of("three_star")
    engine.load(World(gravity=0.0, ground=False), [star])
    engine.reset(turned(star, 1, ONTO_THE_TUBE, 60.0))
    engine.step(1e-3)
    assert any(np.any(contact.force_W) for contact in engine.contacts())
    assert not engine.contact_wrench(0).any() and not engine.contact_wrench(1).any()

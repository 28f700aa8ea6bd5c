# SPDX-License-Identifier: BSD-3-Clause
"""Assemblies, joints, latches and platforms of keys by numbers that are worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import Q, W, resting_state
from iap_description.vehicles.assembly import Assembly, Joint, _joint, locked_inertia
from iap_description.vehicles.joint_motion import (
    fitted,
    free_axes,
    joint_angles,
    joint_attitude,
    joint_coordinates,
    put_coordinates,
    turn_about,
)  # fmt: skip
from iap_description.vehicles.joint_spec import JointSpec
from iap_description.vehicles.platform import load_platform

HALF = math.sqrt(0.5)
QUARTER = np.array([0.0, 0.0, HALF, HALF])
X_AND_Y = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def joint(kind="spherical", **keys):
    keys = {
        "p_PJ_P": np.array([1.0, 0.0, 0.5]),
        "q_PJ": QUARTER,
        "p_CJ_C": np.array([0.1, 0.0, 0.0]),
        **keys,
    }
    return Joint("joint_1", kind, parent=0, child=1, **keys)


def test_a_child_stands_at_its_joint_by_its_own_lever():
    np.testing.assert_allclose(joint().p_PC_P, [1.0, -0.1, 0.5])


@pytest.mark.parametrize(
    ("keys", "resists"),
    [
        ({}, False),
        ({"viscous": 0.1}, True),
        ({"coulomb": 0.1}, True),
        ({"limit": 1.0}, True),
        ({"stiffness": 2.0}, True),
    ],
)
def test_a_joint_resists_by_friction_travel_or_a_spring(keys, resists):
    assert joint(**keys).resists == resists and joint(**keys).is_sprung == ("stiffness" in keys)


def test_keys_of_a_joint_become_its_numbers():
    spec = JointSpec.model_validate({
        "type": "revolute", "position": (1.0, 2.0, 3.0), "yaw_deg": 90.0, "axes": ((0.0, 0.0, 5.0),), "limit_deg": 60.0,
        "friction": {"viscous": 0.1, "coulomb": 0.2}, "spring": {"stiffness": 4.0, "rest_deg": 45.0},
        "offset": (0.1, 0.0, 0.0),
    })  # fmt: skip

    made = _joint(spec, 3)
    assert (made.name, made.parent, made.child, made.viscous, made.coulomb, made.stiffness) == (
        "joint_3",
        0,
        3,
        0.1,
        0.2,
        4.0,
    )
    np.testing.assert_allclose(made.q_PJ, QUARTER)
    assert (made.limit, made.rest) == pytest.approx(
        (math.pi / 3.0, math.pi / 4.0)
    ) and made.axes.tolist() == [[0, 0, 1]]
    plain = _joint(JointSpec(type="spherical", position=(1.0, 2.0, 3.0), yaw_deg=0.0), 1)
    assert (
        math.isinf(plain.limit)
        and (plain.stiffness, plain.rest) == (0.0, 0.0)
        and plain.axes.shape == (0, 3)
    )
    assert (
        spec.holds and not JointSpec(type="spherical", position=(1.0, 2.0, 3.0), yaw_deg=0.0).holds
    )


def test_what_a_body_can_turn_about_is_not_held_by_its_joint():
    J = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 5.0]])
    assert locked_inertia(J, np.zeros((0, 3))) is J
    np.testing.assert_allclose(
        locked_inertia(J, X_AND_Y[:1]), [[0, 0, 0], [0, 1.75, 0], [0, 0, 5]], atol=1e-12
    )
    np.testing.assert_allclose(locked_inertia(J, np.eye(3)), np.zeros((3, 3)), atol=1e-12)


STAR = Assembly.of(load_platform("three_star"))


def test_mass_com_and_inertia_of_a_star_are_sums_over_its_bodies():
    masses = np.array([body.mass for body in STAR.bodies])
    places = np.array([np.zeros(3), *(each.p_PJ_P for each in STAR.joints)])
    assert STAR.mass == pytest.approx(masses.sum())
    np.testing.assert_allclose(STAR.p_PF_P, places)
    np.testing.assert_allclose(STAR.d_0, masses @ places / masses.sum(), atol=1e-12)
    squares = sum(
        m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, places, strict=True)
    )
    np.testing.assert_allclose(STAR.inertia, STAR.bodies[0].inertia + squares)
    assert STAR.is_jointed and STAR.rigid_part == (0, 1, 2, 3)
    table = STAR.joint_table
    assert table.bodies.tolist() == [[0, 1], [0, 2], [0, 3]] and table.turns.all()
    np.testing.assert_allclose(table.p_PJ_P, places[1:])


def test_aircraft_that_are_fixed_bring_their_own_inertia_and_are_one_body_with_the_centre():
    fixed = Assembly.of(load_platform("three_star_fixed"))
    assert not fixed.is_jointed and fixed.rigid_part == (0, 0, 0, 0)
    own = sum(
        so3.matrix_from_quaternion(each.q_PJ)
        @ fixed.bodies[each.child].inertia
        @ so3.matrix_from_quaternion(each.q_PJ).T
        for each in fixed.joints
    )
    np.testing.assert_allclose(fixed.inertia, STAR.inertia + own, atol=1e-12)
    chained = replace(
        fixed,
        joints=(
            fixed.joints[0],
            replace(fixed.joints[1], parent=1),
            replace(fixed.joints[2], type="spherical"),
        ),
    )
    assert chained.rigid_part == (0, 0, 0, 3)


def test_the_origin_goes_with_the_central_com_and_all_else_stays():
    assert STAR.with_central_com(np.zeros(3)) is STAR
    by = np.array([0.1, 0.2, 0.3])
    moved = replace(STAR, tool_tip_P=np.array([1.0, 0.0, 0.0])).with_central_com(by)
    np.testing.assert_allclose(moved.p_FP_F, by)
    np.testing.assert_allclose(moved.tool_tip_P, [0.9, -0.2, -0.3])
    for now, before in zip(moved.joints, STAR.joints, strict=True):
        np.testing.assert_allclose(now.p_PJ_P, before.p_PJ_P - by)
    for now, before in zip(moved.bodies[0].visual, STAR.bodies[0].visual, strict=True):
        np.testing.assert_allclose(now.position, np.subtract(before.position, by))
    assert moved.bodies[1:] == STAR.bodies[1:]
    onwards = moved.with_central_com(by)
    np.testing.assert_allclose(onwards.p_FP_F, 2.0 * by)


def test_an_assembly_without_shapes_is_seen_and_one_without_looks_is_neither_seen_nor_sensed():
    bare, plain = STAR.without_shapes(), STAR.without_looks()
    assert (
        not any(body.collision for body in bare.bodies)
        and bare.bodies[1].visual == STAR.bodies[1].visual
    )
    assert not any(b.collision or b.visual or b.propeller or b.mounts for b in plain.bodies)
    assert plain.mass == STAR.mass and bare.bodies[1].mounts == STAR.bodies[1].mounts


@pytest.mark.parametrize("angle", [0.0, 3.0, -3.0, 3.3, -3.3])
def test_an_angle_about_one_axis_is_within_half_a_turn(angle):
    q = so3.quaternion_exp(np.array([angle, 0.0, 0.0]))
    expected = math.remainder(angle, 2.0 * math.pi)
    assert joint_angles(X_AND_Y[:1], q) == pytest.approx([expected])
    assert joint_angles(X_AND_Y[:1], -q) == pytest.approx([expected])


def test_angles_about_two_axes_are_those_that_they_were_made_of_in_stacks():
    angles = np.array([[[0.3, -0.4], [1.2, 0.9]], [[-2.0, 0.1], [3.0, -1.5]]])
    q = joint_attitude(X_AND_Y, angles)
    assert q.shape == (2, 2, 4)
    np.testing.assert_allclose(joint_angles(X_AND_Y, q), angles, atol=1e-12)
    now = free_axes(X_AND_Y, np.array([math.pi / 2.0, 0.7]))
    np.testing.assert_allclose(now, [[1, 0, 0], [0, 0, 1]], atol=1e-12)
    assert turn_about((0.0, 0.0, 1.0), math.pi / 2.0) == pytest.approx((0.0, 0.0, HALF, HALF))


def rows(q_child=QUARTER, w_child=(0.1, 0.2, 0.3)):
    parent = resting_state(np.zeros(3), QUARTER)
    parent[W] = 0.0, 0.0, 1.0
    child = resting_state(np.zeros(3), q_child)
    child[W] = w_child
    return parent, child


def test_coordinates_of_each_type_of_joint():
    parent, child = rows(np.array([0.0, 0.0, 1.0, 0.0]))
    q, v = joint_coordinates(joint(), parent, child)
    np.testing.assert_allclose(q, QUARTER)
    np.testing.assert_allclose(v, [-0.1, -0.2, -0.7], atol=1e-12)
    about_z = joint(
        "revolute", q_PJ=np.array([0.0, 0.0, 0.0, 1.0]), axes=np.array([[0.0, 0.0, 1.0]])
    )
    q, v = joint_coordinates(about_z, parent, child)
    assert (q, v) == (pytest.approx([math.pi / 2.0]), pytest.approx([-0.7]))
    q, v = joint_coordinates(joint("fixed"), parent, child)
    assert q.shape == v.shape == (0,)
    positions, velocities = np.zeros(6), np.zeros(5)
    put_coordinates(
        [about_z, joint("fixed"), joint()], np.stack([parent, child]), positions, velocities
    )
    np.testing.assert_allclose(positions, [math.pi / 2.0, *QUARTER, 0.0], atol=1e-12)
    np.testing.assert_allclose(velocities, [-0.7, -0.1, -0.2, -0.7, 0.0], atol=1e-12)


def test_a_child_moves_as_nearly_as_its_joint_lets_it():
    parent, _ = rows()
    wanted, w = so3.quaternion_exp(np.array([0.2, 0.3, 0.4])), np.array([0.5, 0.6, 0.7])
    at_rest = so3.multiply(parent[Q], QUARTER)
    for found, expected in zip(fitted(joint(), parent, wanted, w), (wanted, w), strict=True):
        np.testing.assert_allclose(found, expected)
    for kind in ("spherical", "fixed"):
        q, turn = fitted(joint(kind), parent, None, None)
        np.testing.assert_allclose(q, at_rest)
        np.testing.assert_allclose(turn, parent[W])
    np.testing.assert_allclose(fitted(joint("fixed"), parent, wanted, w)[0], at_rest)
    about_z = joint("revolute", axes=np.array([[0.0, 0.0, 1.0]]))
    q, turn = fitted(about_z, parent, so3.multiply(at_rest, QUARTER), w)
    np.testing.assert_allclose(np.abs(q @ so3.multiply(at_rest, QUARTER)), 1.0)
    np.testing.assert_allclose(turn, [0.0, 0.0, 0.7], atol=1e-12)
    q, turn = fitted(about_z, parent, None, None)
    np.testing.assert_allclose(q, at_rest)
    np.testing.assert_allclose(turn, parent[W])

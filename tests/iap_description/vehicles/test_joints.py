# SPDX-License-Identifier: BSD-3-Clause
"""Types of joints and their motion."""

from dataclasses import replace

import numpy as np
import pytest
from turning_joints import PLATFORMS, any_rows, assembly_of
from various_platforms import platform_of, various

from iap_control.actuation.kinds import platform_model
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles import joint_types
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_motion import (
    fitted,
    free_axes,
    joint_angles,
    joint_attitude,
    joint_coordinates,
    put_coordinates,
)
from iap_description.vehicles.joint_types import JOINT_TYPES, JointType, joint_type
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.urdf import urdf_text
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.pybullet.engine import PyBulletEngine

STAR = load_platform("three_star")
HINGE = JointType(1, 1, turns_freely=False, urdf="revolute", bullet_urdf="revolute")
RNG = np.random.default_rng(2)
CROSS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.fixture
def hinged(monkeypatch):
    """A star on joints of a type that a user has added to the table."""
    monkeypatch.setitem(joint_types.JOINT_TYPES, "hinge", HINGE)
    star = Assembly.of(STAR)
    return replace(star, joints=tuple(replace(joint, type="hinge") for joint in star.joints))


def test_a_free_joint_has_positions_and_a_fixed_one_has_none():
    for kind in JOINT_TYPES.values():
        assert kind.is_free == (kind.position_size > 0)
    assert joint_type("spherical").turns_freely
    assert not joint_type("fixed").is_free


def test_an_unknown_type_is_refused_with_the_known_ones():
    known = "'spherical', 'universal', 'revolute' or 'fixed' is expected"
    with pytest.raises(BadInput, match=f"joint type 'ball': {known}"):
        joint_type("ball")


@pytest.mark.parametrize("engine", [ClosedFormEngine, PyBulletEngine])
def test_an_engine_refuses_what_it_cannot_build_by_its_name(hinged, engine):
    name = {ClosedFormEngine: "closed_form", PyBulletEngine: "pybullet"}[engine]
    made = engine()
    try:
        with pytest.raises(BadInput, match=f"engine '{name}': .* 'hinge', as 'iap/joint_1' is"):
            made.load(World(), [hinged])
    finally:
        made.close()


def test_there_is_no_control_law_for_a_type_that_neither_turns_freely_nor_is_fixed(hinged):
    with pytest.raises(BadInput, match="no control law for joints of type 'hinge'"):
        platform_model(hinged, STAR.fleet, gravity=9.81, com_coupling=True)


def test_a_new_type_appears_in_the_urdf_and_does_not_turn_freely(hinged):
    assert 'type="revolute"' in urdf_text(hinged, target="ros")
    assert not hinged.is_jointed


@pytest.mark.parametrize("axes", [CROSS, CROSS[:1], np.array([[0.0, 0.6, 0.8]])])
def test_angles_are_those_of_the_attitude_that_they_make(axes):
    angles = RNG.uniform(-1.4, 1.4, (50, len(axes)))
    np.testing.assert_allclose(
        joint_angles(axes, joint_attitude(axes, angles)), angles, atol=1e-12
    )


@pytest.mark.parametrize("axes", [CROSS, CROSS[:1]])
def test_free_axes_are_the_derivatives_of_the_attitude(axes):
    angles, h = RNG.uniform(-1.4, 1.4, len(axes)), 1e-6
    for k, axis in enumerate(free_axes(axes, angles)):
        step = h * np.eye(len(axes))[k]
        ahead, behind = (joint_attitude(axes, angles + s * step) for s in (1.0, -1.0))
        turn = so3.quaternion_log(so3.multiply(ahead, so3.conjugate(behind))) / (2.0 * h)
        np.testing.assert_allclose(turn, axis, atol=1e-8)


@pytest.mark.parametrize("name", PLATFORMS)
def test_coordinates_grow_by_their_velocities(name):
    assembly, dt = assembly_of(name), 1e-6
    x = any_rows(assembly, 3, rate=1.0)
    later = x.copy()
    later[:, P] += dt * x[:, V]
    later[:, Q] = so3.multiply(so3.quaternion_exp(dt * x[:, W]), x[:, Q])
    for joint in assembly.joints:
        q, v = joint_coordinates(joint, x[joint.parent], x[joint.child])
        assert (len(q), len(v)) == (joint.kind.position_size, joint.kind.velocity_size)
        if not joint.kind.turns_freely:
            after, _ = joint_coordinates(joint, later[joint.parent], later[joint.child])
            np.testing.assert_allclose((after - q) / dt, v, atol=1e-5)


def test_all_coordinates_of_a_platform_are_stacked_in_the_order_of_its_joints():
    assembly = assembly_of("three_star_mixed")
    x, q, v = any_rows(assembly, 4, rate=1.0), np.zeros(6), np.zeros(5)
    put_coordinates(assembly.joints, x, q, v)
    ends = [joint_coordinates(joint, x[0], x[joint.child]) for joint in assembly.joints]
    np.testing.assert_array_equal(q, np.concatenate([a for a, _ in ends]))
    np.testing.assert_array_equal(v, np.concatenate([b for _, b in ends]))


@pytest.mark.parametrize("name", PLATFORMS)
def test_what_a_joint_allows_is_left_alone(name):
    assembly = assembly_of(name)
    x = any_rows(assembly, 5, rate=1.0)
    for joint in assembly.joints:
        q, w = fitted(joint, x[0], x[joint.child, Q], x[joint.child, W])
        np.testing.assert_allclose(np.abs(q @ x[joint.child, Q]), 1.0, atol=1e-12)
        np.testing.assert_allclose(w, x[joint.child, W], atol=1e-12)


@pytest.mark.parametrize(
    ("joint", "said"),
    [
        ({"type": "revolute"}, "a joint of type 'revolute' has 1 of them"),
        ({"type": "spherical", "axes": [[1.0, 0.0, 0.0]]}, "type 'spherical' has 0 of them"),
        ({"type": "revolute", "axes": [[0.0, 0.0, 0.0]]}, "an axis has no direction"),
        (
            {"type": "universal", "axes": [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]},
            "the axes of a universal joint are perpendicular",
        ),
    ],
)
def test_axes_that_are_none_are_refused(joint, said):
    with pytest.raises(BadInput, match=said):
        platform_of(various(**joint))


def test_a_platform_extends_another_and_can_be_fixed():
    star, hinged = load_platform("three_star"), load_platform("three_star_hinge")
    assert hinged.center == star.center and hinged.aircraft == star.aircraft
    assert [joint.type for joint in load_platform("three_star_hinge_fixed").joints] == [
        "fixed"
    ] * 3

# SPDX-License-Identifier: BSD-3-Clause
"""Types of joints: one table that everything looks up, and refusals that name type and engine."""

from dataclasses import replace

import pytest

from iap_control.actuation.kinds import platform_model
from iap_description.errors import BadInput
from iap_description.vehicles import joint_types
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_types import JOINT_TYPES, JointType, joint_type
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.urdf import urdf_text
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.pybullet.engine import PyBulletEngine

STAR = load_platform("three_star")
HINGE = JointType(1, 1, turns_freely=False, urdf="revolute", bullet_urdf="revolute")


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

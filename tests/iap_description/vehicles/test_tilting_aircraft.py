# SPDX-License-Identifier: BSD-3-Clause
from xml.etree import ElementTree

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform, load_platform, platform_tree
from iap_description.vehicles.urdf import rotor_joint, tilt_joint, urdf_text


def changed(platform, key, value):
    """A platform's tree with another value at a dotted key of its aircraft."""
    tree, source = platform_tree(platform)
    *path, last = key.split(".")
    part = tree["aircraft"]
    for name in path:
        part = part[int(name) if name.isdigit() else name]
    part[last] = value
    return validate(Platform, tree, source=source)


def test_a_module_is_what_its_papers_say():
    """Thrust of 1..20 N, of which the housing leaves 94 %: thrust to weight 1.66."""
    aircraft = load_platform("beetle").aircraft
    assert aircraft.mass == 4.6
    free = aircraft.rotor.thrust_coefficient * np.array(
        [aircraft.rotor.rpm_min**2, aircraft.rotor.rpm_max**2]
    )
    np.testing.assert_allclose(free, [1.0, 20.0], rtol=1e-4)
    assert aircraft.thrust_limits[1] / (4.6 * 9.81) == pytest.approx(1.666, abs=1e-3)


def test_arms_lead_from_the_centre_to_the_rotors_or_where_keys_say():
    rotor = load_platform("beetle").aircraft.rotors[1]
    np.testing.assert_allclose(rotor.axis, [-(0.5**0.5), 0.5**0.5, 0.0])
    np.testing.assert_allclose(np.cross(rotor.axis, [0.0, 0.0, 1.0]), rotor.sideways)
    told = changed("beetle", "rotors.1.arm", [0.0, 2.0, 0.0]).aircraft.rotors[1]
    np.testing.assert_array_equal(told.axis, [0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("platform", "key", "value", "reason"),
    [
        (
            "f450",
            "rotors.0.arm",
            [1.0, 0.0, 0.0],
            "the rotors do not tilt, there is no key 'tilt'",
        ),
        ("beetle", "rotors.0.arm", [1.0, 0.0, 0.5], "an axis across z is needed"),
        ("beetle", "rotors.0.arm", [0.0, 0.0, 0.0], "an axis across z is needed"),
        ("beetle", "tilt.limit_deg", 200.0, "tilt.limit_deg"),
        ("beetle", "tilt.rate", 0.0, "tilt.rate"),
        ("beetle", "tilt.speed", 1.0, "tilt.speed"),
        ("beetle", "rotor.thrust_factor", 1.2, "rotor.thrust_factor"),
    ],
)
def test_what_cannot_tilt_is_refused(platform, key, value, reason):
    with pytest.raises(BadInput, match=reason):
        changed(platform, key, value)


def test_standard_urdf_tilts_each_rotor_between_its_limits():
    robot = ElementTree.fromstring(urdf_text(Assembly.of(load_platform("beetle")), target="ros"))
    joints = {joint.get("name"): joint for joint in robot.iter("joint")}
    tilt, rotor = joints[tilt_joint("base_link", 3)], joints[rotor_joint("base_link", 3)]
    assert tilt.get("type") == "revolute" and rotor.get("type") == "continuous"
    assert tilt.find("child").get("link") == rotor.find("parent").get("link")
    limit = tilt.find("limit")
    assert float(limit.get("upper")) == -float(limit.get("lower")) == pytest.approx(np.pi / 2)
    axis = np.array(tilt.find("axis").get("xyz").split(), dtype=float)
    np.testing.assert_allclose(axis, load_platform("beetle").aircraft.rotors[2].axis)


@pytest.mark.parametrize("b", [0.0, 0.6, -1.5])
def test_a_disc_is_across_the_thrust_of_its_rotor(b):
    """L = T (-sin b t + cos b z); a rotor that leans has its direction."""
    up = np.array([0.0, 0.0, 1.0])
    for rotor in load_platform("beetle").aircraft.rotors:
        along = np.cos(b) * up + np.sin(b) * rotor.sideways
        np.testing.assert_allclose(so3.rotate(rotor.attitude(b), up), along, atol=1e-12)
    for aircraft in load_platform("octo_full").fleet:
        for rotor in aircraft.rotors:
            np.testing.assert_allclose(so3.rotate(rotor.attitude(), up), rotor.ahead, atol=1e-12)


def test_propellers_are_seen_at_the_tilts_of_their_rotors():
    body = Assembly.of(load_platform("beetle")).bodies[0]
    blur = next(k for k, shape in enumerate(body.propeller) if shape.color[3] < 1.0)
    tilts = np.array([0.3, -0.4, 0.5, 0.0])
    seen = body.propellers(tilts)
    for k, (rotor, tilt) in enumerate(zip(body.rotors, tilts, strict=True)):
        disc = seen[k * len(body.propeller) + blur]
        np.testing.assert_allclose(disc.position, rotor.position, atol=1e-12)
        axis = so3.matrix_from_euler(np.deg2rad(disc.rpy_deg))[:, 2]
        np.testing.assert_allclose(axis[2], np.cos(tilt), atol=1e-12)
        np.testing.assert_allclose(axis @ rotor.sideways, np.sin(tilt), atol=1e-12)

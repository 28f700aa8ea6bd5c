# SPDX-License-Identifier: BSD-3-Clause
"""Places of ports' pieces, axes of arms, and what joints cannot have, by hand."""

import numpy as np
import pytest
from pydantic import ValidationError

from iap_description.geometry.cavities import pipe, thick
from iap_description.math import so3
from iap_description.vehicles.arm import ARMS, load_arm
from iap_description.vehicles.joint_spec import JointSpec
from iap_description.vehicles.ports import Boom, Drogue, Probe, _corner

PLACE = {
    "position": (1.0, 2.0, 3.0),
    "rpy_deg": (0.0, 0.0, 90.0),
    "boom": Boom(radius=0.01, length=0.5),
    "segments": 8,
}


def probe(**keys):
    values = {"profile": ((0.0, 0.02), (0.1, 0.04)), "flange": 0.05, "thickness": 0.01}
    return Probe(type="probe", **{**PLACE, **values, **keys})


def drogue():
    return Drogue(type="drogue", mouth=0.2, throat=0.1, depth=0.3, wall=0.01, **PLACE)


def along(shape):
    """Place along x of the port, radius and length of a cylinder on its axis."""
    assert (
        shape.shape == "cylinder"
        and shape.position[0] == pytest.approx(1.0)
        and shape.position[2] == 3.0
    )
    return pytest.approx((shape.position[1] - 2.0, shape.radius, shape.length))


def test_flange_and_boom_lie_behind_a_probe_one_behind_the_other():
    flange, boom = probe()._behind
    assert (-0.105, 0.05, 0.01) == along(flange)
    assert (-0.36, 0.01, 0.5) == along(boom)
    assert probe().length == 0.1 and probe().mount.position == (1.0, 2.0, 3.0)


def test_a_probe_is_shown_as_cylinders_of_the_mean_radius_of_their_piece():
    *shapes, _, _ = probe(profile=((0.0, 0.02), (0.1, 0.02))).visual
    (only,) = shapes
    assert (-0.05, 0.02, 0.1) == along(only)
    *shapes, _, _ = probe().visual
    count = len(shapes)
    assert (-0.05 / count, 0.02 + 0.01 / count, 0.1 / count) == along(shapes[0])
    assert (0.05 / count - 0.1, 0.04 - 0.01 / count, 0.1 / count) == along(shapes[-1])


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"profile": ((0.01, 0.02), (0.1, 0.04))}, "profile"),
        ({"profile": ((0.0, 0.02), (0.0, 0.04))}, "profile"),
        ({"profile": ((0.0, 0.04), (0.1, 0.02))}, "profile"),
        ({"flange": 0.039}, "profile"),
    ],
)
def test_a_probe_widens_to_its_flange(keys, key):
    with pytest.raises(ValidationError, match=f"key '{key}'"):
        probe(**keys)
    probe(flange=0.04)


def test_bottom_and_boom_lie_behind_a_drogue():
    bottom, boom = drogue()._behind
    assert (-0.305, 0.11, 0.01) == along(bottom)
    assert (-0.56, 0.01, 0.5) == along(boom)


def test_a_drogue_is_shown_as_three_rings_of_boxes_around_its_inside():
    *boxes, _, _ = drogue().visual
    assert len(boxes) == 3 * 8
    for ring, (depth, radius) in enumerate(((0.0, 0.2), (0.15, 0.15), (0.3, 0.1))):
        width = 2.0 * (radius + 0.01) * np.tan(np.pi / 8.0)
        for k, box in enumerate(boxes[8 * ring : 8 * ring + 8]):
            angle = 2.0 * np.pi * k / 8.0
            out = (radius + 0.005) * np.array([np.cos(angle), np.sin(angle)])
            np.testing.assert_allclose(
                box.position, [1.0 - out[0], 2.0 - depth, 3.0 + out[1]], atol=1e-12
            )
            assert box.size == pytest.approx((0.01, 0.01, width))
    with pytest.raises(ValidationError, match="key 'throat'"):
        Drogue(**{**dict(drogue()), "throat": 0.2})


def test_sides_of_a_pipe_are_flat_above_each_multiple_of_its_angle():
    profile = np.array([[0.0, 1.0], [-2.0, 1.0]])
    first, second, *rest = pipe(profile, 4, thick(0.5), (1.0, 1.0, 1.0, 1.0))
    assert len(rest) == 2
    for side, axis in ((first, 1), (second, 2)):
        corners = np.array(side.vertices)
        radii = np.sort(corners[:, axis])
        np.testing.assert_allclose(radii, [np.sqrt(0.5)] * 4 + [1.5 * np.sqrt(0.5)] * 4)
        assert sorted(set(corners[:, 0].tolist())) == [-2.0, 0.0]
    assert _corner(4) == pytest.approx(2.0 / (1.0 + np.sqrt(0.5)))


@pytest.mark.parametrize("name", ARMS.names())
def test_axes_of_an_arm_have_length_1_and_its_first_link_is_at_the_base(name):
    arm = load_arm(name)
    joints = [arm.joints[0].model_copy(update={"axis": (0.0, 3.0, -4.0)}), *arm.joints[1:]]
    chain = arm.model_copy(update={"joints": tuple(joints)}).chain()
    np.testing.assert_allclose(chain[1][0], [0.0, 0.6, -0.8])
    np.testing.assert_allclose(np.linalg.norm(chain[1], axis=1), 1.0)
    np.testing.assert_allclose(chain[2][0], np.add(arm.joints[0].origin, arm.base))


def test_a_spring_is_about_one_axis():
    spring = {"stiffness": 1.0}
    place = {"position": (0.0, 0.0, 0.0), "yaw_deg": 0.0}
    for kind, axes, fits in (
        ("revolute", ((0, 1, 0),), True),
        ("universal", ((1, 0, 0), (0, 1, 0)), False),
        ("spherical", (), False),
        ("fixed", (), False),
    ):
        if fits:
            assert JointSpec(type=kind, axes=axes, spring=spring, **place).holds
        else:
            with pytest.raises(ValidationError, match="key 'spring'"):
                JointSpec(type=kind, axes=axes, spring=spring, **place)


def test_a_pitch_of_a_right_angle_is_one_in_spite_of_rounding():
    R = so3.matrix_from_euler(np.array([0.0, 0.5 * np.pi, 0.0]))
    for length in (1.0 + 1e-12, 1.0 - 1e-12):
        assert so3.euler_from_matrix(length * R)[1] == pytest.approx(0.5 * np.pi, abs=1e-5)
        assert so3.euler_from_matrix(length * R.T)[1] == pytest.approx(-0.5 * np.pi, abs=1e-5)

# SPDX-License-Identifier: BSD-3-Clause
"""The frame of a platform: tubes from the centre to the joints, posts and balls, and legs that stand on the ground."""

import numpy as np
import pytest

from iap_description.math import euler
from iap_description.vehicles.chassis import Chassis, chassis_shapes

CHASSIS = Chassis.model_validate(
    {
        "level": -0.02, "tube_radius": 0.015, "post_radius": 0.008, "leg_at": 0.7, "skid_length": 0.4,
        "color": (0.1, 0.1, 0.1, 1.0), "metal": (0.7, 0.7, 0.7, 1.0), "rubber": (0.2, 0.0, 0.0, 1.0),
    }
)  # fmt: skip
CLEARANCE = 0.25


def rods(shapes):
    """Ends (2, 3) and radius of each cylinder [m]."""
    found = []
    for each in shapes:
        if each.shape == "cylinder":
            along = euler.matrix_from_rpy_deg(each.rpy_deg)[:, 2] * 0.5 * each.length
            found.append((np.array([each.position - along, each.position + along]), each.radius))
    return found


def built(position, yaw=0.0):
    visual, collision = chassis_shapes(CHASSIS, ((position, yaw),), CLEARANCE)
    return visual, collision, rods(collision)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 2, np.pi, -np.pi / 2])
def test_a_joint_on_an_axis_of_its_aircraft_has_one_tube_from_the_centre(yaw):
    (first, radius), *legs = built((0.5, 0.0, 0.1), yaw)[2]
    np.testing.assert_allclose(first, [[0.0, 0.0, -0.02], [0.5, 0.0, -0.02]], atol=1e-12)
    assert radius == 0.015 and len(legs) == 4


@pytest.mark.parametrize(
    ("yaw", "bend"), [(0.0, (0.0, 0.2)), (np.pi / 2, (0.0, 0.2)), (np.pi / 6, None)]
)
def test_a_tube_comes_along_the_nearer_axis_and_another_across_it(yaw, bend):
    (first, _), (second, _), *_ = built((0.5, 0.2, 0.1), yaw)[2]
    np.testing.assert_allclose(first[1], second[0], atol=1e-12)
    np.testing.assert_allclose(second[1], [0.5, 0.2, -0.02], atol=1e-12)
    assert (first[1] - first[0]) @ (second[1] - second[0]) == pytest.approx(0.0, abs=1e-12)
    direction = (second[1] - second[0])[:2] / np.linalg.norm(second[1] - second[0])
    assert abs(direction @ [np.cos(yaw), np.sin(yaw)]) == pytest.approx(
        0.0 if bend and yaw else 1.0, abs=1e-9
    )
    if bend:
        np.testing.assert_allclose(first[1][:2], bend, atol=1e-12)


def test_a_post_carries_a_ball_at_the_joint_and_is_not_where_the_tube_is_as_high():
    visual, collision, _ = built((0.5, 0.0, 0.1))
    clamp, post, ball = visual[len(collision) :]
    (clamped, grip), (posted, radius) = rods([clamp, post])
    np.testing.assert_allclose(posted, [[0.5, 0.0, -0.02], [0.5, 0.0, 0.1]], atol=1e-12)
    np.testing.assert_allclose(clamped[:, 2], [-0.0425, 0.0025], atol=1e-12)  # 1.5 radii around
    assert (grip, radius) == (pytest.approx(0.0225), 0.008)
    assert (ball.shape, ball.position, ball.radius) == ("sphere", (0.5, 0.0, 0.1), 0.016)
    assert ball.color == clamp.color == post.color == CHASSIS.metal
    level = built((0.5, 0.0, -0.02))
    assert len(level[0]) - len(level[1]) == 2


def test_sleeves_at_both_ends_of_a_skid_across_stand_on_the_ground():
    _, collision, (_, (leg, r), (skid, _), *sleeves) = built((0.5, 0.0, 0.1))
    assert r == 0.008
    np.testing.assert_allclose(leg[0], [0.55 * 0.5, 0.0, -0.02], atol=1e-12)
    np.testing.assert_allclose(leg[1][:2], [0.35, 0.0], atol=1e-12)
    np.testing.assert_allclose(np.sort(skid[:, 1]), [-0.2, 0.2], atol=1e-12)
    for ends, radius in sleeves:
        assert radius == pytest.approx(0.012)
        np.testing.assert_allclose(ends[:, 2] - radius, -CLEARANCE, atol=1e-12)
        np.testing.assert_allclose(np.sort(np.abs(ends[:, 1])), [0.16, 0.2], atol=1e-12)
    assert [each.color for each in collision[-2:]] == [CHASSIS.rubber] * 2
    assert np.sign(sleeves[0][0][:, 1]).tolist() == [-1.0, -1.0]


def test_a_joint_above_the_centre_has_a_post_alone():
    visual, collision, _ = built((0.0, 0.0, 0.1))
    assert collision == () and [each.shape for each in visual] == [
        "cylinder",
        "cylinder",
        "sphere",
    ]

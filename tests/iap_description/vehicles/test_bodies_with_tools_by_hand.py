# SPDX-License-Identifier: BSD-3-Clause
"""Attitude loops, tools, bodies with tools and arms by numbers that are worked out by hand."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.vehicles.arm import arm_joint, load_arm
from iap_description.vehicles.autopilot_gains import attitude_torque
from iap_description.vehicles.body import body_of, shifted, with_tool
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.tool import PlateTip, SphereTip, Tool


def test_an_attitude_loop_turns_back_by_its_gains_and_an_inertia():
    J = (0.1, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.4)
    gains = ((100.0, 50.0, 25.0), (10.0, 20.0, 30.0))
    level, none = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    angle = np.sin(0.1), np.cos(0.1)
    rolled = (angle[0], 0.0, 0.0, angle[1])
    torque = attitude_torque(True, rolled, none, level, none, *gains, J)
    assert torque == pytest.approx((-0.1 * 100.0 * 2.0 * np.sin(0.1), 0.0, 0.0))
    other_sign = tuple(-each for each in rolled)
    assert attitude_torque(True, other_sign, none, level, none, *gains, J) == pytest.approx(torque)
    assert attitude_torque(False, rolled, none, level, none, *gains, J) == pytest.approx(none)
    w = (0.5, -0.25, 2.0)
    moments, off = np.array([0.1, 0.2, 0.4]), np.array(w) - [0.1, 0.2, 0.3]
    expected = np.cross(w, moments * w) - moments * [10.0, 20.0, 30.0] * off
    asked = (0.1, 0.2, 0.3)
    assert attitude_torque(True, level, w, level, asked, *gains, J) == pytest.approx(
        tuple(expected)
    )
    assert attitude_torque(False, rolled, w, level, asked, *gains, J) == pytest.approx(
        tuple(expected)
    )
    yawed = (
        0.0,
        0.0,
        np.sqrt(0.5),
        np.sqrt(0.5),
    )  # the rate is asked for in the commanded attitude's axes
    turned = attitude_torque(True, yawed, none, level, (1.0, 0.0, 0.0), *gains, J)
    assert turned[1] == pytest.approx(-0.2 * 20.0)


ROD = {
    "type": "rod",
    "length": 0.8,
    "radius": 0.02,
    "position": (0.1, 0.2, 0.3),
    "rpy_deg": (0.0, 0.0, 90.0),
}


def test_a_tool_is_a_rod_along_its_x():
    tool = Tool(tip=SphereTip(type="sphere", radius=0.05), mass=2.0, **ROD)
    np.testing.assert_allclose(tool.point(0.5), [0.1, 0.7, 0.3])
    np.testing.assert_allclose(tool.mount.position, [0.1, 1.0, 0.3])
    across = 2.0 * (0.02**2 / 4.0 + 0.8**2 / 12.0)
    np.testing.assert_allclose(tool.inertia, np.diag([across, 0.0004, across]), atol=1e-15)
    rod, ball = tool.visual
    assert (rod.shape, rod.length, ball.radius) == ("cylinder", 0.8, 0.05)
    np.testing.assert_allclose(rod.position, [0.1, 0.6, 0.3])
    np.testing.assert_allclose(ball.position, [0.1, 1.0, 0.3])
    capsule, touched = tool.collision
    assert (capsule.shape, capsule.length) == ("capsule", pytest.approx(0.78)) and touched == ball
    np.testing.assert_allclose(capsule.position, [0.1, 0.61, 0.3])


def test_a_plate_ends_where_its_rod_would():
    tool = Tool(tip=PlateTip(type="plate", size=(0.1, 0.3, 0.4)), **ROD)
    rod, plate = tool.visual
    assert rod.length == pytest.approx(0.7) and tool.collision == tool.visual
    np.testing.assert_allclose(rod.position, [0.1, 0.55, 0.3])
    np.testing.assert_allclose(plate.position, [0.1, 0.95, 0.3])
    with pytest.raises(
        ValueError,
        match="key 'tip.size': the plate, 0.8 m thick, is no thinner than the rod is long",
    ):
        Tool(tip=PlateTip(type="plate", size=(0.8, 0.3, 0.4)), **ROD)
    Tool(tip=PlateTip(type="plate", size=(0.79, 0.3, 0.4)), **ROD)
    assert len(Tool(tip=None, **ROD).visual) == 1


def test_a_body_takes_a_tool_and_is_moved_with_its_shapes_and_mounts():
    body = body_of(load_platform("three_star").aircraft, "base_link")
    tool = Tool(tip=None, mass=body.mass, **ROD)
    both = with_tool(body, tool)
    assert both.mass == pytest.approx(2.0 * body.mass)
    d = so3.hat(np.array([0.1, 0.6, 0.3]))
    np.testing.assert_allclose(both.inertia, body.inertia + tool.inertia - 0.5 * body.mass * d @ d)
    assert both.mounts["tool"] == tool.mount and both.surface == body.surface
    assert both.visual[-1] == tool.visual[0] and both.collision[-1] == tool.collision[0]
    assert shifted(both, np.zeros(3)) is both
    moved = shifted(both, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(moved.mounts["tool"].position, [1.1, 3.0, 3.3])
    for now, before in zip(
        (*moved.visual, *moved.collision), (*both.visual, *both.collision), strict=True
    ):
        np.testing.assert_allclose(np.subtract(now.position, before.position), [1.0, 2.0, 3.0])
    assert len(body.propellers(np.array([0.1, 0.2]))) == 2 * len(body.propeller)


def test_an_arm_has_limits_and_names_of_its_joints():
    arm = load_arm("m100")
    low, high = arm.limits
    assert low.tolist() == [each.limits[0] for each in arm.joints]
    assert high.tolist() == [each.limits[1] for each in arm.joints]
    assert arm.speeds.tolist() == [each.speed for each in arm.joints]
    assert (
        arm.joint_names == tuple(f"arm_{each.name}" for each in arm.joints)
        and arm_joint("a") == "arm_a"
    )
    assert arm.home_pose.shape == (len(arm.joints),)
    chain = arm.chain()
    np.testing.assert_allclose(chain.origins[0], np.add(arm.joints[0].origin, arm.base))
    np.testing.assert_allclose(np.linalg.norm(chain.axes, axis=1), 1.0)
    np.testing.assert_allclose(chain.tip, arm.end)

# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of actuation: each platform is of one, and all that differs is asked of it."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import model_of

from iap_control.actuation.kinds import KINDS, _tip, check_names, laws
from iap_control.allocation.actuation import Thrusters
from iap_control.controllers.controller import disturbance_settings
from iap_control.gains import PRESETS, Gains
from iap_description.errors import BadInput
from iap_description.states import Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.tool import Tool

PLATFORMS = {
    "three_star": "full",
    "three_line": "collinear",
    "f450": "rigid",
    "beetle": "vectored",
}


@pytest.mark.parametrize(("name", "kind"), PLATFORMS.items())
def test_a_platform_is_of_one_kind(name, kind):
    platform = load_platform(name)
    assembly = Assembly.of(platform)
    thrusters = Thrusters.of(assembly, platform.fleet)
    fitting = [each.name for each in KINDS if each.effectiveness(assembly, thrusters) is not None]
    assert fitting == [kind] == [model_of(name).actuation.name]


@pytest.mark.parametrize("name", PLATFORMS)
def test_thrusts_of_hover_lie_within_the_limits_of_their_kind(name):
    model = model_of(name)
    inertia = model.inertia
    force = np.array([0.0, 0.0, inertia.mass * inertia.gravity])
    parts = model.B_inverse @ np.concatenate([force, np.cross(inertia.d_0, force)])
    low, high = model.actuation.limits(model)
    thrusts = model.actuation.thrusts(parts)
    assert len(thrusts) == (4 if model.actuation.mode == Mode.RPM else 1) * model.count
    assert (low <= thrusts).all() and (thrusts <= high).all()


def test_each_law_names_the_kinds_that_it_flies():
    assert laws() == {
        "full_actuation": ("full", "vectored"),
        "under_actuation": ("collinear",),
        "position_yaw": ("rigid",),
    }


def test_a_kind_that_does_not_exist_is_refused_by_its_key():
    check_names(("full", "rigid"), "disturbance.actuation")
    gains = Gains.model_validate(PRESETS.tree("default"))
    strange = gains.disturbance.model_copy(update={"actuation": ("full", "loose")})
    with pytest.raises(
        BadInput, match="key 'disturbance.actuation': no kind of actuation 'loose'"
    ):
        disturbance_settings(
            model_of("three_star"), gains.model_copy(update={"disturbance": strange})
        )


def test_the_tip_is_that_of_the_tool_else_of_the_arm_at_home_else_the_origin():
    tool_P, tip_P = np.array([0.5, 0.0, 0.1]), np.array([0.2, 0.3, -0.1])
    arm = SimpleNamespace(record=SimpleNamespace(home_pose="home"), tip_P={"home": tip_P}.get)
    for tool, arm_of, expected, moves in (
        (tool_P, None, tool_P, False),
        (tool_P, arm, tool_P, False),
        (None, arm, tip_P, True),
        (None, None, np.zeros(3), False),
    ):
        place, is_moving = _tip(SimpleNamespace(tool_tip_P=tool, arm=arm_of))
        np.testing.assert_array_equal(place, expected)
        assert is_moving == moves


def test_a_platform_with_a_tool_pushes_with_its_tip():
    platform = load_platform("three_star")
    bare = model_of("three_star")
    np.testing.assert_array_equal(bare.tip_P, np.zeros(3))
    rod = {"type": "rod", "length": 0.4, "radius": 0.01, "tip": None, "position": (0.1, 0.0, 0.0)}
    tool = Tool.model_validate({**rod, "rpy_deg": (0.0, 0.0, 0.0)})
    fitted = model_of(platform.model_copy(update={"tool": tool}))
    assert np.linalg.norm(fitted.tip_P) == pytest.approx(0.5) and not fitted.tip_moves

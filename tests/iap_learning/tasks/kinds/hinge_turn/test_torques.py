# SPDX-License-Identifier: BSD-3-Clause
"""Hinges that no draw lets a platform turn are refused before anything flies; shipped ones are not."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.hinge_turn.torques import largest_force, least_torque
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_physics.engines.make import is_installed
from iap_simulation.scenario.resolving import resolved

TASKS = ("turn_valve", "push_door", "open_door")
FRICTION = "world.objects.wheel.hinge.friction"
needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")


def scenario_of(task, **options):
    return resolved(task.scenario, dict(task.settings), options)[0]


def test_the_force_of_all_rotors_is_what_their_thrust_leaves_beside_the_weight():
    """F^2 + (m g)^2 = T^2, with T and m as the strongest draw has them."""
    scenario = scenario_of(make_task("turn_valve"))
    platform = scenario.vehicles[0].platform
    thrust = 1.02 * sum(4.0 * each.rotor.c_f * each.rotor.rpm_max**2 for each in platform.fleet)
    mass = 0.95 * (platform.center.mass + sum(each.mass for each in platform.fleet))
    expected = np.sqrt(thrust**2 - (mass * scenario.world.gravity) ** 2)
    assert largest_force(scenario) == pytest.approx(expected, rel=1e-9)


def test_a_platform_that_cannot_carry_itself_has_no_force():
    scenario = scenario_of(make_task("turn_valve"))
    heavy = scenario.world.model_copy(update={"gravity": 100.0})
    assert largest_force(scenario.model_copy(update={"world": heavy})) == 0.0


def test_the_least_torque_is_the_work_of_the_easiest_draw_over_the_angle():
    task, draw = make_task("push_door"), SimpleNamespace(hinge_friction=0.5, hinge_stiffness=0.25)
    hinge = SimpleNamespace(friction=2.0, stiffness=3.0, rest_deg=-10.0)
    angles = np.deg2rad(np.linspace(0.0, task.success.angle_deg, 1001))
    spring = 0.75 * 3.0 * (angles - np.deg2rad(-10.0))
    found = least_torque(task, SimpleNamespace(draw=draw), hinge)
    assert found == pytest.approx(1.0 + spring.mean(), rel=1e-9)
    opener = SimpleNamespace(friction=2.0, stiffness=3.0, rest_deg=90.0)  # helps, at most by 5/4
    helped = 1.0 + 1.25 * 3.0 * np.deg2rad(30.0 - 90.0)
    assert least_torque(task, SimpleNamespace(draw=draw), opener) == pytest.approx(helped)


@needs_mujoco
@pytest.mark.parametrize("platform", [None, "f450"])
@pytest.mark.parametrize("name", TASKS)
def test_what_ships_is_flown_and_a_single_quadrotor_may_try(name, platform):
    """An f450 leans, and turns the valve in most draws."""
    assert make_episodes(name, 1, platform=platform).count == 1


@needs_mujoco
def test_a_valve_beyond_the_largest_force_of_a_success_is_refused_in_a_line():
    line = (
        "task 'turn_valve': 'wheel' needs at least 52 N m about its hinge, and success.peak allows 30 N, 4.17 N m"
        " at 0.139 m: lower world.objects.wheel.hinge.friction or .stiffness"
    )
    with pytest.raises(BadInput, match=f"^{re.escape(line)}$"):
        make_episodes("turn_valve", 1, scenario={FRICTION: 200.0})
    assert make_episodes("turn_valve", 1, scenario={FRICTION: 16.0}).count == 1  # 0.26 x 16 N m


@needs_mujoco
def test_a_valve_beyond_the_rotors_of_a_platform_is_refused_in_a_line():
    line = (
        "task 'turn_valve': 'wheel' needs at least 5.2 N m about its hinge, and the rotors of f450 give at most"
        " 33.6 N, 4.66 N m at 0.139 m: lower world.objects.wheel.hinge.friction or .stiffness"
    )
    settings = {"success.peak": 100.0}
    with pytest.raises(BadInput, match=f"^{re.escape(line)}$"):
        make_episodes(
            "turn_valve", 1, settings=settings, scenario={FRICTION: 20.0}, platform="f450"
        )
    stronger = make_episodes("turn_valve", 1, settings=settings, scenario={FRICTION: 20.0})
    assert stronger.platform == "three_star"


@needs_mujoco
def test_a_flap_about_a_level_axis_is_left_to_its_weight():
    lying = {"world.objects.wheel.rpy_deg": [90.0, 0.0, 0.0], FRICTION: 200.0}
    lying |= {"world.objects.wheel.position": [0.125, 3.0, 5.0]}
    assert make_episodes("turn_valve", 1, scenario=lying).count == 1

# SPDX-License-Identifier: BSD-3-Clause
"""Several vehicles in each of many worlds: they touch, and each has its own law, draws, noise and actions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support.world_flights import assert_one_flight, cases, ends_of

from iap_description.errors import BadInput
from iap_description.states import Level
from iap_physics.engines.engine import HIT_GROUND, INVALID_COMMAND, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.batch.actions import action_of
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import MixedActions
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.scenario import Scenario

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")

LEVEL = {"rpy_deg": [0.0, 0.0, 0.0]}
ONWARD = {"seconds": 1.0, "by": [0.0, 0.35, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
HOVER = {"type": "hover", "duration": 2.0, "position": [0.0, 0.0, 5.0], **LEVEL}
APPROACH = {
    "type": "moves",
    "position": [0.0, -0.9, 5.0],
    **LEVEL,
    "ease": 0.3,
    "moves": [ONWARD],
}
DRAWN = {"draw.position": 0.01, "draw.attitude_deg": 1.0}


def pair(noise=None, **chaser):
    """A chaser's probe meets the socket of another aircraft, which hovers."""
    shared = {"platform": "f450_dock", "start": {"mode": "hover", "lead_in": 0.0}}
    heard = {"state_noise": noise} if noise else {}
    return {
        "description": "Two aircraft that touch.",
        "vehicles": [
            {"name": "target", **shared, "reference": HOVER},
            {"name": "chaser", **shared, **heard, "reference": APPROACH, **chaser},
        ],
    }


def worlds_of(tree, keys, seeds, **how):
    every = {"engine.name": "mujoco", **DRAWN, **keys}
    return Worlds.of(tree, seeds, settings=every, sensors="none", **how)


GENTLE = {"seconds": 1.2, "by": [0.0, 0.3, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
MIXED = {  # of another kind than the target, whose own aircraft collide where it is moved faster
    "platform": "three_star",
    "reference": {**APPROACH, "ease": 0.6, "moves": [GENTLE]},
}


def assert_single_runs(chaser, case, periods):
    full = {"position": 0.0, "attitude_deg": 0.0, "velocity": 0.0, "rate_deg": 0.0, **case.noise}
    tree = pair(full if case.noise else None, **chaser)
    assert_one_flight(
        lambda seeds, **how: worlds_of(tree, case.settings, seeds, **how), case, periods
    )


@settings(deadline=None, derandomize=True, max_examples=1)
@given(case=cases(most=6))
def test_a_world_of_two_that_touch_is_the_same_flight_with_any_others(case):
    assert_single_runs({}, case, periods=200)


@pytest.mark.slow
@pytest.mark.parametrize("chaser", [{}, MIXED])
@settings(deadline=None, derandomize=True, max_examples=2)
@given(case=cases())
def test_a_world_of_two_that_touch_is_the_same_flight_for_long(chaser, case):
    assert_single_runs(chaser, case, periods=300)


def test_vehicles_take_their_own_actions_and_others_are_left_to_their_controllers():
    worlds, beside = worlds_of(pair(), {}, 2), worlds_of(pair(), {}, 2)
    for _ in range(30):
        chaser = worlds.vehicle("chaser")
        climb = action_of("velocity", np.tile([0.0, 0.0, 0.4, 0.0], (2, 1)), chaser)
        worlds.advance({"chaser": climb})
        beside.advance()
    rise = chaser.state[:, 0, 2] - beside.vehicle("chaser").state[:, 0, 2]
    assert rise.min() > 0.01
    np.testing.assert_array_equal(worlds.state, beside.state)  # the target has not met it yet


def test_worlds_mix_actions_of_one_vehicle_and_start_anew_one_by_one():
    worlds, fresh = worlds_of(pair(), {}, 2), worlds_of(pair(), {}, [0, 5])
    for _ in range(20):
        rows = worlds.vehicle("chaser").references()
        away = References.of(rows.rows - 0.05, Level.POSE)
        worlds.advance({"chaser": MixedActions((rows, away), np.array([0, 1]))})
    worlds.reset([1], seeds=[5])
    for _ in range(40):
        worlds.advance()
        fresh.advance()
    assert ends_of(worlds)[1] == ends_of(fresh)[1]


def test_the_failure_of_a_world_names_the_vehicle_whose_flight_has_ended():
    worlds = worlds_of(pair(), {}, 3)
    chaser = worlds.vehicle("chaser")
    falls = action_of("rpm", np.full((3, 4), 1000.0), chaser)
    wrong = action_of("rpm", np.full((3, 4), np.nan), chaser)
    hold = chaser.references()
    for k in range(220):
        which = np.array([0, 1, 2 if k == 10 else 0])
        hold = References.of(chaser.references().rows.copy())
        worlds.advance({"chaser": MixedActions((hold, falls, wrong), which)})
    assert worlds.status.tolist() == [RUNNING, HIT_GROUND, INVALID_COMMAND]
    assert str(worlds.failure(1)).endswith("chaser hit the ground")


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (References.of(np.zeros((1, 20))), "by the names of their vehicles .*target, chaser"),
        ({"nobody": None}, "no vehicle 'nobody'"),
        ({"chaser": "hover"}, "an action is References"),
    ],
)
def test_actions_that_fit_no_vehicle_are_refused_in_one_line(action, why):
    worlds: Any = worlds_of(pair(), {}, 1)
    with pytest.raises(BadInput, match=why) as refusal:
        worlds.advance(action)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("tree", "keys", "why"),
    [
        (pair(), {"engine.name": "closed_form"}, "several in one world in closed_form"),
        ("docking", {}, ": docking$"),
        ("module_assembly", {}, ": modules$"),
        (pair(sensors="imu"), {}, "sensors.imu of several vehicles"),
    ],
)
def test_fleets_that_worlds_do_not_fly_are_refused_in_one_line(tree: Scenario, keys, why):
    with pytest.raises(BadInput, match=why) as refusal:
        Worlds.of(tree, 1, settings={"engine.name": "mujoco", **keys})
    assert "\n" not in str(refusal.value)

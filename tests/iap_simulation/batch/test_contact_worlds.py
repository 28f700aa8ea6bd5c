# SPDX-License-Identifier: BSD-3-Clause
"""Worlds with contact: each is its single run in MuJoCo bit for bit, and ends as that run does.

Hypothesis chooses batches, draws, threads and where they are brought back to a snapshot. What touches slides, too.
"""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support.world_flights import assert_one_flight, cases, ends_of, flown_alone

from iap_description.errors import BadInput, IapError
from iap_description.states import Level
from iap_physics.engines.engine import (
    AIRCRAFT_HIT,
    CONTACT_LOST,
    HIT_GROUND,
    RUNNING,
)
from iap_physics.engines.make import is_installed
from iap_simulation.batch.actions import act, action_of
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import MixedActions
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")

PAGE = Path(__file__).parents[3] / "docs/how_to/worlds.md"
ALONG = [{"seconds": 1.0, "by": [-0.2, 0.1, 0.05], "turn_deg": [0.0, 0.0, 0.0]}]
AT_WALL: dict[str, Any] = {  # the rod's tip is some cm off the wall, slides along it and presses
    "engine.name": "mujoco",
    "start.lead_in": 0.0,
    "reference.position": [-1.85, 0.0, 2.0],
    "reference.ease": 0.4,
    "reference.moves": ALONG,
}
BY_POSE = {**AT_WALL, "control.wrench_mode": "none"}
BY_FORCE = {
    **AT_WALL,
    "reference.position": [-1.955, 0.0, 2.0],
    "push.at": 0.05,
    "push.ramp": 0.1,
}
RIGID = {
    **BY_POSE,
    "world.objects.wall.surface": {"friction": 0.4, "restitution": 0.2},
    "control.gains.compensation": 0.5,
}
QUADROTOR = {
    **BY_POSE,
    "platform.tool.length": 0.6,
    "reference.position": [-2.3, 0.0, 2.0],
    "disturbances": [{"at": 0.2, "until": 0.5, "force": [-2.0, 0, 0], "torque": [0, 0, 0.01]}],
}
YIELDING = {**BY_POSE, "control.admittance": True}
STILL = {"seconds": 1.0, "by": [0.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
SOFT = {"friction": 0.4, "restitution": 0.0, "stiffness": 2.0e4, "damping": 200.0}
WALL = {"type": "wall", "position": [-3.0, 0.0, 2.0], "width": 4.0, "height": 4.0, "surface": SOFT}
COMING = {  # a wall that moves as prescribed meets a platform that hovers
    **BY_POSE,
    "reference.moves": [STILL],
    "world.objects": {"wall": {**WALL, "motion": {"type": "velocity", "velocity": [0.25, 0, 0]}}},
}
ROUGH = {"friction": 0.5, "restitution": 0.0}
CUBE = {"type": "box", "position": [-2.96, 0.0, 1.945], "size": [0.1, 0.1, 0.2], "mass": 0.5}
SHELF = {"type": "box", "position": [-3.0, 0.0, 1.55], "size": [0.4, 0.6, 0.59]}
LOOSE = {  # the tip pushes a cube over a shelf
    **BY_POSE,
    "reference.position": [-1.85, 0.0, 1.95],
    "reference.moves": [{**ALONG[0], "by": [-0.2, 0.0, 0.0]}],
    "world.objects": {"cube": {**CUBE, "surface": ROUGH}, "shelf": {**SHELF, "surface": ROUGH}},
}
HINGE = {"point": [0.0, -0.4, 0.0], "limits_deg": [0.0, 90.0], "friction": 0.5, "damping": 0.2}
LEAF = {"type": "box", "position": [-2.92, 0.3, 2.0], "size": [0.04, 0.8, 2.0], "mass": 12.0}
DOOR = {  # the tip pushes a door with a closer open; seeds draw mass, place and torques
    **BY_POSE,
    "reference.moves": [{**ALONG[0], "by": [-0.3, 0.0, 0.0]}],
    "world.objects": {
        "door": {**LEAF, "surface": ROUGH, "hinge": {**HINGE, "stiffness": 0.8, "rest_deg": -30.0}}
    },
    "draw.object_mass": 0.5,
    "draw.object_position": [0.005, 0.02, 0.0],
    **dict.fromkeys(("draw.hinge_friction", "draw.hinge_damping", "draw.hinge_stiffness"), 0.8),
}
LEVER = {"limits_deg": [0.0, 45.0], "axis": [-1.0, 0.0, 0.0], "stiffness": 0.4, "damping": 0.05}
BOLT = {"lever": "lever", "release_deg": 9.0, "stiffness": 1e4, "strength": 60.0, "damping": 60.0}
HANDLE = {"type": "box", "position": [-2.84, 0.05, 1.87], "size": [0.02, 0.14, 0.02], "mass": 0.4}
LATCHED = {  # a lever on the door, which its spring turns, frees the door that the tip pushes
    **DOOR,
    "world.objects": {
        "door": {**LEAF, "surface": ROUGH, "hinge": {**HINGE, "latch": BOLT}},
        "lever": {
            **HANDLE,
            "surface": ROUGH,
            "hinge": {**LEVER, "point": [0.0, 0.05, 0.0], "rest_deg": 30.0, "carrier": "door"},
        },
    },
    "draw.object_rpy_deg": [0.0, 0.0, 2.0],
    "draw.hinge_release": 0.3,
}
FLOWN = [
    (BY_POSE, "three_star"),
    (BY_FORCE, "three_star"),
    (QUADROTOR, "f450"),
    (RIGID, "three_star"),
    (YIELDING, "three_star"),
    (COMING, "three_star"),
    (LOOSE, "three_star"),
    (DOOR, "three_star"),
    (LATCHED, "three_star"),
]
QUICK = 3
ALWAYS = {"draw.position": [0.005, 0.05, 0.05], "draw.attitude_deg": 1.0}


def worlds_of(settings, seeds, platform="three_star", **how):
    return Worlds.of(
        "wall_push", seeds, settings=settings, platform=platform, sensors="none", **how
    )


def assert_single_runs(base, platform, case, periods):
    """Compare worlds with their single runs."""
    noise = {f"state_noise.{key}": value for key, value in case.noise.items()}
    keys = {**base, **ALWAYS, **case.settings, **noise}
    assert_one_flight(partial(worlds_of, keys, platform=platform), case, periods)


@pytest.mark.parametrize(("base", "platform"), FLOWN[:QUICK])
@settings(deadline=None, derandomize=True, max_examples=1)
@given(case=cases())
def test_a_world_with_contact_is_the_same_flight_with_any_others(base, platform, case):
    assert_single_runs(base, platform, case, periods=180)


@pytest.mark.slow
@pytest.mark.parametrize(("base", "platform"), FLOWN)
@settings(deadline=None, derandomize=True, max_examples=2)
@given(case=cases())
def test_a_world_with_contact_is_the_same_flight_with_any_others_for_long(base, platform, case):
    assert_single_runs(base, platform, case, periods=320)


def test_a_snapshot_brings_back_vehicles_that_other_seeds_have_replaced():
    keys = {**BY_POSE, "draw.com": 0.005, "draw.mass": 0.1}
    worlds = worlds_of(keys, range(2))
    for _ in range(20):
        worlds.advance()
    snapshot = worlds.snapshot()
    for _ in range(40):
        worlds.advance()
    ends = ends_of(worlds)
    worlds.reset(seeds=[7, 8])
    worlds.restore(snapshot)
    for _ in range(40):
        worlds.advance()
    assert ends_of(worlds) == ends


@pytest.mark.slow
def test_a_peg_in_its_bore_is_the_single_run():
    start = {"reference.position": [-1.8, 0.0, 2.1], "start.lead_in": 0.0}
    moves = [{"seconds": 1.0, "by": [-0.45, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}]
    keys = {"engine.name": "mujoco", "reference.ease": 0.4, **start, "reference.moves": moves}
    worlds = Worlds.of("peg_in_hole", 2, settings=keys, sensors="none")
    for _ in range(300):
        worlds.advance()
    assert worlds.contact_wrenches.any(axis=1).all()
    for i in range(2):
        assert flown_alone(worlds.world(i), 300) == ends_of(worlds)[i]


@pytest.mark.parametrize("base", [BY_POSE, BY_FORCE])
def test_worlds_start_anew_one_by_one_as_fresh_ones(base):
    worlds, fresh = worlds_of({**base, **ALWAYS}, 3), worlds_of({**base, **ALWAYS}, [0, 7, 2])
    for _ in range(120):
        worlds.advance()
    worlds.reset([1], seeds=[7])
    before = worlds.state[0].copy()
    for _ in range(120):
        worlds.advance()
        fresh.advance()
    assert ends_of(worlds)[1] == ends_of(fresh)[1]
    assert not np.array_equal(worlds.state[0], before)


def test_each_world_takes_its_own_action_in_contact_too():
    worlds, velocity, idle = (worlds_of(BY_POSE, 2) for _ in range(3))
    for _ in range(120):
        rows = worlds.references().rows.copy()
        rows[:, 7] = -0.3
        push = References.of(rows, Level.VELOCITY)
        hover = action_of("attitude_thrust", np.tile([0.0, 0.0, 0.0, 19.0] * 3, (2, 1)), worlds)
        worlds.advance(MixedActions((push, hover), np.arange(2)))
        velocity.advance(push)
        idle.advance(hover)
    assert ends_of(worlds) == [ends_of(velocity)[0], ends_of(idle)[1]]


def test_friction_that_seeds_draw_carries_a_part_of_the_push():
    drawn, pushes = worlds_of({**BY_POSE, "draw.friction": 0.9}, 8), np.zeros((8, 6))
    for _ in range(220):
        drawn.advance()
        pushes += drawn.contact_wrenches
    ratio = np.linalg.norm(pushes[:, 1:3], axis=1) / pushes[:, 0]
    assert ratio.min() < 0.06  # it slides
    assert ratio.max() > 0.07  # it sticks


def test_a_cube_that_is_pushed_has_moved_as_in_its_single_run():
    worlds = worlds_of({**LOOSE, **ALWAYS}, 2)
    start = worlds.object_states.copy()
    for _ in range(180):
        worlds.advance()
    with Simulation(Flight.of(worlds.world(1))) as simulation:
        for _ in range(180):
            simulation.step()
        alone = simulation.plant.engine.object_states()
    np.testing.assert_array_equal(worlds.object_states[1], alone)
    assert (start[:, 0, 0] - worlds.object_states[:, 0, 0]).min() > 0.02
    np.testing.assert_array_equal(worlds.object_states[:, 1], start[:, 1])


def test_doors_that_are_pushed_open_stand_as_in_their_single_runs_also_after_a_snapshot():
    worlds = worlds_of({**DOOR, **ALWAYS}, 2)
    for _ in range(100):
        worlds.advance()
    snapshot = worlds.snapshot()
    for _ in range(200):
        worlds.advance()
    doors = worlds.object_states[:, 0].copy()
    assert (doors[:, 12] ** 2).min() > 0.0 and doors[0, 12] != doors[1, 12]  # rates [rad/s]
    door = worlds.scenario.world.objects["door"]
    angles = [door.hinge.angle(door.q_WO, row[3:7]) for row in doors]
    np.testing.assert_allclose(worlds.object_angles("door"), angles, atol=1e-12)
    assert min(angles) > 0.001 and max(angles) > 0.1  # [rad]
    worlds.restore(snapshot)
    for _ in range(200):
        worlds.advance()
    np.testing.assert_array_equal(worlds.object_states[:, 0], doors)
    with Simulation(Flight.of(worlds.world(1))) as simulation:
        for _ in range(300):
            simulation.step()
        alone = simulation.plant.engine.object_states()
    np.testing.assert_array_equal(doors[1:], alone)


def test_angles_of_what_has_no_hinge_are_refused():
    worlds = worlds_of(LOOSE, 1)
    with pytest.raises(IapError, match="no object 'door'"):
        worlds.object_angles("door")
    with pytest.raises(IapError, match="object 0 of the world has no hinge"):
        worlds.object_angles("cube")


FALLING = {**BY_POSE, "reference.position": [0.0, 0.0, 0.6]}


def test_who_falls_to_the_ground_ends_alone_as_in_its_single_run():
    worlds = worlds_of({**FALLING, "reference.moves": [{**ALONG[0], "by": [0.0, 0.0, 0.0]}]}, 2)
    stopped = action_of("rpm", np.full((2, 12), 1000.0), worlds)
    for _ in range(120):
        hold = worlds.references()
        worlds.advance(MixedActions((hold, stopped), np.array([0, 1])))
    assert worlds.status.tolist() == [RUNNING, HIT_GROUND]
    assert str(worlds.failure(1)).endswith("iap hit the ground")
    end = worlds.state[1].copy()
    worlds.advance()
    np.testing.assert_array_equal(worlds.state[1], end)


def test_an_aircraft_that_touches_an_object_and_a_lost_push_end_flights():
    blunt = {"platform.tool.length": 0.2, "reference.position": [-2.2, 0.0, 2.0]}
    worlds = worlds_of({**BY_POSE, **blunt}, 1)
    for _ in range(60):
        act("velocity", [[-1.0, 0.0, 0.0, 0.0]], worlds, 10)
    assert worlds.status[0] == AIRCRAFT_HIT
    lost = worlds_of({**BY_FORCE, "push.lost_after": 0.1}, 1)
    for _ in range(160):
        lost.advance()
    rows = lost.references().rows.copy()
    rows[:, 0] = -1.5
    for _ in range(200):
        lost.advance(
            References.of(rows, Level.WRENCH, np.array([[6.0, 0.0, 57.0, 0.0, 0.0, 0.0]]))
        )
    assert lost.status[0] == CONTACT_LOST


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("docking", {}, ": docking"),
        ("wall_push", {"engine.name": "closed_form"}, "contact, .*in closed_form"),
        ("hover", {"faults": [{"type": "rotor", "aircraft": 1, "rotor": 1, "at": 1.0}]}, "faults"),
    ],
)
def test_what_worlds_do_not_fly_is_refused_in_one_line(name, settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        Worlds.of(name, 2, settings={"engine.name": "mujoco", **settings}, sensors="none")
    assert "\n" not in str(refusal.value)


def test_the_code_of_the_page_on_worlds_works(capsys):
    names: dict[str, Any] = {}
    for code in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(code, PAGE.name, "exec"), names)
    assert names["walls"].contact_wrenches.any()
    assert capsys.readouterr().out

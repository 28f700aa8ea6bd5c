# SPDX-License-Identifier: BSD-3-Clause
"""Clearance among loose boxes and other vehicles: where they are, in worlds and in single runs alike."""

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.geometry.tessellation import mesh
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.world.distances import SIDES
from iap_learning.tasks.kinds.platform.clearance import (
    Clearance,
    FlightClearance,
    shapes_of_others,
)
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_simulation.batch.worlds import Worlds
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import COLLIDED

pytest.importorskip("mujoco")
TWO = """
description: An f450 that is flown, and one that hovers beside it.
engine: {name: mujoco}
vehicles:
  - name: own
    platform: f450
    reference: {type: hover, duration: 10.0, position: [0.0, 0.0, 2.0], rpy_deg: [0.0, 0.0, 0.0]}
  - name: other
    platform: f450
    offset: [1.3, 0.4, 0.3]
    reference: {type: hover, duration: 10.0, position: [0.0, 0.0, 2.0], rpy_deg: [0.0, 0.0, 30.0]}
"""
SURFACE = {"friction": 0.5, "restitution": 0.0}
BOX = {
    "type": "box",
    "position": [0.1, 0.0, 0.6],
    "size": [2.0, 2.0, 0.2],
    "mass": 3.0,
    "surface": SURFACE,
}
DOOR = {
    "type": "box", "position": [0.0, 1.4, 1.6], "size": [0.1, 1.0, 2.0], "mass": 15.0, "surface": SURFACE,
    "hinge": {"point": [0.0, 0.5, 0.0], "limits_deg": [-90.0, 90.0], "stiffness": 12.0, "rest_deg": 60.0},
}  # fmt: skip


def nearest(shapes, rows, p, count=40):
    """Distance of a point from shapes of bodies with state rows, by a grid of points on each triangle."""
    steps = [(i, j) for i in range(count + 1) for j in range(count + 1 - i)]
    weights, found = np.array([(i, j, count - i - j) for i, j in steps]) / count, np.inf
    for of_body, row in zip(shapes, rows, strict=True):
        for shape in of_body:
            vertices, _, faces = mesh(shape, sides=SIDES)
            corners = row[P] + so3.rotate(row[Q], vertices[faces])
            points = np.einsum("wk,tkx->twx", weights, corners).reshape(-1, 3)
            found = min(found, np.linalg.norm(points - p, axis=1).min())
    return found


def flown_beside(tmp_path, **more):
    """A task in which the other vehicle is an obstacle, and the keys of its single run."""
    path = tmp_path / "beside.yaml"
    path.write_text(TWO)
    settings = {
        "scenario": str(path),
        "settings": {"engine.name": "mujoco", "draw.position": 0.05},
        "platform": None,
        "action": {"kind": "velocity", "low": [-1.0] * 4, "high": [1.0] * 4},
        "observation": {"position_error": 1.0, "velocity": 1.0},
        **more,
    }
    return settings, str(path)


def test_another_vehicle_is_an_obstacle_and_ends_who_comes_too_close(tmp_path):
    settings, _ = flown_beside(tmp_path, clearance=0.6)
    episodes = make_episodes("hold", 2, settings=settings)
    worlds, shapes = episodes.worlds, shapes_of_others(episodes.worlds.scenario)
    towards = np.tile([0.9, 0.25, 0.1, 0.0], (2, 1))
    for n in range(200):
        step = episodes.step(towards)
        if step.terminated.any():
            break
        if n % 10 == 0:
            found = episodes._clearance()
            for b in range(2):
                near = nearest(shapes, worlds.bodies[b, 1:], worlds.state[b, 0, P])
                assert near - 0.02 < found[b] <= near + 1e-9
    ended = step.terminated
    assert ended.any() and (episodes.outcome[ended] == COLLIDED).all()
    assert (episodes._clearance()[ended] < 0.6).all()


def test_beside_another_vehicle_world_i_is_the_single_run_and_as_far_away(tmp_path):
    settings, path = flown_beside(tmp_path, clearance=0.2)
    episodes = make_episodes("hold", 3, settings=settings)
    policy = linear_policy(episodes, gains={"position_error": 0.8}, settings=settings, drawn=0.1)
    policy.save(tmp_path / "policy.npz")
    seen = episodes.reset(seeds=[4, 5, 6])
    keys = {**episodes.task.settings, "policy": str(tmp_path / "policy.npz")}
    with Simulation.of(path, settings=keys, seed=5) as simulation:
        distance = FlightClearance(simulation.scenario)
        for _ in range(25):
            seen = episodes.step(policy(seen)).observation
            for _ in range(episodes.task.repeat):
                simulation.step()
            rows = np.concatenate([simulation.plant.state(i)[0] for i in range(2)])
            np.testing.assert_array_equal(rows, episodes.worlds.bodies[1])
            assert distance(simulation.plant)[0] == episodes._clearance()[1] < 1.6


def test_a_box_that_falls_and_a_door_that_swings_are_as_far_as_they_are():
    """The box lies below: its top; beside stands a door on a spring: whichever is nearer, by a grid on its faces."""
    keys = {"engine.name": "mujoco", "world.objects": {"box": BOX, "door": DOOR}}
    worlds = Worlds.of("hover", [3, 4], settings={**keys, "draw.position": 0.1}, platform="f450")
    clearance, items = Clearance(worlds), list(worlds.scenario.world.objects.values())
    shapes, heights, angles = [item.pieces() for item in items], [], []
    with Simulation.of(worlds.world(1)) as simulation:
        alone = FlightClearance(simulation.scenario)
        for n in range(120):
            found = clearance()
            assert alone(simulation.plant)[0] == found[1]
            rows = worlds.object_states
            if n % 20 == 0:
                for b in range(2):
                    near = nearest(shapes, rows[b], worlds.state[b, 0, P])
                    assert near - 0.03 < found[b] <= near + 1e-9
            heights.append(rows[0, 0, 2])
            angles.append(worlds.object_angles("door")[0])
            worlds.advance()
            simulation.step()
    assert heights[0] == pytest.approx(0.6) and heights[-1] == pytest.approx(0.1, abs=0.02)
    assert angles[-1] - angles[0] > 0.2


def test_a_task_among_loose_objects_is_made_where_it_was_refused():
    settings = {
        "clearance": 0.3,
        "settings": {"world.objects": {"box": BOX}, "engine.name": "mujoco"},
    }
    episodes = make_episodes("hold", 2, settings={**settings, "platform": "f450"})
    assert make_task("hold", settings).minds_obstacles
    top = episodes.worlds.object_states[:, 0, 2] + 0.1
    away = episodes.worlds.state[:, 0, 2] - top
    np.testing.assert_allclose(episodes._clearance(), away, atol=1e-9)

# SPDX-License-Identifier: BSD-3-Clause
"""Objects, paths and the scene itself stand where a flight has them, and the first view sees its way."""

import numpy as np
import pytest
from measured_stage import RNG, MeasuredStage, moved, random_rows, scene_of
from starting_flight import starting_flight

from iap_bringup.viewing.scene import add_paths, initial_view
from iap_bringup.viewing.scene_notes import SceneNotes
from iap_description.states import P
from iap_description.world.scene_objects import standing
from iap_simulation.scenario.rig_spec import rig_spec


def test_objects_stand_where_they_are_and_those_that_move_freely_where_they_are_said_to_be():
    flight, steps = starting_flight("arm_pick")
    scene, stage = scene_of(flight)
    world = flight.scenario.world
    for name, item in world.objects.items():
        assert stage.poses[f"world/bodies/objects/{name}"] == pytest.approx(item.row(0.0)[:7])
        assert any(node.startswith(f"world/bodies/objects/{name}/") for node in stage.parts)
    place = random_rows(1)[0]
    (name, *_) = world.objects
    scene.update(stage, steps, SceneNotes(objects={name: place}))
    assert stage.poses[f"world/bodies/objects/{name}"] == pytest.approx(place[:7])


def test_a_scene_is_moved_aside_and_stays_where_its_first_vehicle_was_where_that_is_followed():
    flight, (step,) = starting_flight("hover")
    scene, stage = scene_of(flight)
    scene.offset = np.array([1.0, 2.0, 0.0])
    first, second = moved(step), moved(step)
    scene.update(stage, [first])
    assert stage.poses["world"] == pytest.approx([1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    assert scene.home == pytest.approx(first.x[0, P])
    scene.update(stage, [second])
    assert stage.poses["world"][P] == pytest.approx([1.0, 2.0, 0.0])
    scene.follows = True
    scene.update(stage, [second])
    assert stage.poses["world"][P] == pytest.approx(scene.offset + first.x[0, P] - second.x[0, P])
    assert scene.home == pytest.approx(first.x[0, P])
    assert scene.nodes("paths") == ("world/paths",) and scene.nodes("ground") == ("world/ground",)


def test_paths_are_lines_from_point_to_point_in_their_colours():
    stage, ways = MeasuredStage(), [RNG.normal(size=(n, 3)) for n in (4, 1, 2)]
    add_paths(stage, ways, ways[:1], root="r")
    assert set(stage.lines) == {"r/paths/vehicle_0", "r/paths/vehicle_2", "r/paths/reference_0"}
    lines = stage.lines["r/paths/vehicle_0"]
    np.testing.assert_array_equal(lines[:, 0], ways[0][:-1])
    np.testing.assert_array_equal(lines[:, 1], ways[0][1:])
    assert stage.colors["r/paths/vehicle_0"] == (40, 90, 200) and stage.colors[
        "r/paths/reference_0"
    ] == (150, 150, 150)
    assert stage.widths["r/paths/vehicle_0"] == 0.012


def test_the_first_view_is_of_the_middle_of_the_way_from_where_nothing_hides_it():
    flight, _ = starting_flight("hover")
    rig = rig_spec(flight.scenario)
    points = np.array([[0.0, 0.0, 1.0], [4.0, 2.0, 3.0]])
    eye, middle = initial_view(points, rig)
    assert middle == pytest.approx((2.0, 1.0, 2.0))
    assert np.linalg.norm(np.subtract(eye, middle)) == pytest.approx(
        0.7 * np.linalg.norm([5.0, 3.0, 3.0])
    )
    away = np.subtract(eye, middle) / np.linalg.norm(np.subtract(eye, middle))
    assert away == pytest.approx(
        np.array([-0.55, -0.75, 0.4]) / np.linalg.norm([-0.55, -0.75, 0.4])
    )
    low, _ = initial_view(points * [1.0, 1.0, 0.0] - [0.0, 0.0, 3.0], rig)
    assert low[2] == 0.3
    wall = starting_flight("wall_push")[0]
    objects = rig_spec(wall.scenario)
    (item, *_) = standing(objects.world, 0.0)
    behind = item.row[P] + [1.0, 0.0, 0.0]
    way = behind + 0.2 * RNG.normal(size=(50, 3))
    eye, _ = initial_view(way, objects)
    hidden = np.any(
        [each.hides(way, np.array(eye)) for each in standing(objects.world, 0.0)], axis=0
    ).sum()
    assert hidden < 25

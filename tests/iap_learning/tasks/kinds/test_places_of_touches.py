# SPDX-License-Identifier: BSD-3-Clause
"""Lines, bores, goals and axes of tasks that touch, and the rules that tasks make."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import TIP, goals, holes, line, state, yaw

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_learning.tasks.kinds.hinge_turn.arc import Arc, _axis_of
from iap_learning.tasks.kinds.hinge_turn.counts import TurnRules
from iap_learning.tasks.kinds.peg_in_hole.counts import PegRules
from iap_learning.tasks.kinds.perch_on_wall.counts import PerchRules
from iap_learning.tasks.kinds.push_object.counts import ShoveRules
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.kinds.slide_along_wall.counts import SlideRules
from iap_learning.tasks.kinds.wall_push.counts import PushRules
from iap_learning.tasks.kinds.wall_push.interface import PushInterface

DT, SHARE = 0.005, 1.0 - math.exp(-0.1)
TEN, THIRTY, SIXTY = np.deg2rad([10.0, 30.0, 60.0])


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (TurnRules.of(make_task("push_door"), DT), (SIXTY, 30.0, 100, 4000, False)),
        (TurnRules.of(make_task("push_door"), DT, has_latch=True), (SIXTY, 30.0, 100, 4000, True)),
        (
            PushRules.of(make_task("wall_push"), 5.0, DT),
            (5.0, 0.3, 15.0, 3, 0.02, 200, 1600, SHARE),
        ),
        (
            SlideRules.of(make_task("slide_along_wall"), 6.0, DT),
            (6.0, 1.0, 0.02, 0.3, 0.02, 15.0, 3, 4000, SHARE, 40),
        ),
        (PegRules.of(make_task("peg_in_hole"), DT), (0.35, 10.0, 60.0, 100, 2400)),
        (PerchRules.of(make_task("perch_on_wall"), DT), (80.0, 400, 1600)),
        (ShoveRules.of(make_task("push_object"), DT), (0.05, TEN, 0.02, THIRTY, 30.0, 100, 4000)),
    ],
)
def test_rules_are_the_demands_of_a_task_in_radians_and_control_periods(rules, expected):
    assert tuple(rules) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("task", "count"),
    [
        ("push_door", 3), ("open_door", 4), ("wall_push", 1), ("perch_on_wall", 1), ("slide_along_wall", 3),
        ("peg_in_hole", 5), ("push_object", 2),
    ],
)  # fmt: skip
def test_actions_of_a_kind_have_its_columns_and_no_others(task, count):
    assert make_task(task).action.columns == count
    with pytest.raises(BadInput, match=rf"key 'low': kind '.*' has {count} columns"):
        make_task(task, {"action.low": [-0.1] * (count + 1), "action.high": [0.1] * (count + 1)})


X = np.array([state((1.3, 2.2, 3.4), np.pi / 2 + 0.0), state((1.0, 2.0, 3.0), np.pi / 2 + 0.1)])


def test_tips_are_seen_along_the_line_of_approach():
    found = line()
    np.testing.assert_allclose(found.tips_W(X)[0], [1.2, 2.7, 3.6])
    np.testing.assert_allclose(found.tips(X)[0], [0.7, -0.2, 0.6])
    np.testing.assert_allclose(found.way_along(X)[0], [-0.3, 0.4], atol=1e-12)
    np.testing.assert_allclose(found.gaps(found.tips(X))[0], 2.0 - 0.7)
    wrenches = np.array([[9.0, -5.0, 9.0, 9.0, 9.0, 9.0]])
    np.testing.assert_allclose(found.forces(wrenches), [5.0])


def test_a_platform_goes_back_to_its_line_and_turns_back():
    velocities = line().velocities(X, np.array([0.3, 0.4]), 2.0)
    np.testing.assert_allclose(velocities[0], [-0.6, 0.3, -0.8, 0.0], atol=1e-12)
    np.testing.assert_allclose(velocities[1], [0.0, 0.4, 0.0, -0.2], atol=1e-12)


def felt(*forces):
    """Contact wrenches of the wall of `line`, which is along y, with other components."""
    wrenches = np.full((len(forces), 6), 9.0)
    wrenches[:, 1] = -np.array(forces)
    return wrenches


def test_missing_force_is_added_up_from_where_the_wall_was_felt():
    exact = {"sensor.noise": 0.0, "sensor.bias": 0.0, "sensor.delay": 0, "repeat": 2}
    found = PushInterface(make_task("wall_push", exact), line(), dt=0.01, batch=2)
    worlds = np.arange(2)
    found.reset(worlds, worlds)
    found.measure(X, felt(0.5, 3.0))
    found.measure(X, felt(0.8, 1.0))
    np.testing.assert_allclose(found.integral, [0.0, 0.02 + 0.04])
    np.testing.assert_allclose(found.largest, [0.8, 3.0])
    x = X.copy()
    x[0, 7:10] = 0.1, 0.2, 0.3
    action = np.array([[0.7], [0.8]])
    inputs = found.inputs(x, action)
    np.testing.assert_allclose(inputs.force, [0.65, 2.0])
    np.testing.assert_array_equal(inputs.integral, found.integral)
    np.testing.assert_array_equal(inputs.largest, found.largest)
    assert inputs.has_felt.tolist() == [False, True] and inputs.desired == 5.0
    np.testing.assert_allclose(inputs.velocity[0], [0.2, -0.1, 0.3])
    np.testing.assert_allclose(inputs.gap[0], 1.3)
    np.testing.assert_allclose(inputs.drift[0], [-0.3, 0.4], atol=1e-12)
    assert inputs.action is action
    found.measure(X, felt(0.9, 6.0))
    np.testing.assert_allclose(found.integral, [0.041, 0.05])
    found.reset(np.array([1]), np.array([7]))
    np.testing.assert_allclose(found.integral, [0.041, 0.0])
    np.testing.assert_allclose(found.largest, [0.9, 0.0])


def test_measurements_of_a_task_are_late_by_its_sensors_delay():
    found, worlds = PushInterface(make_task("wall_push"), line(), dt=DT, batch=3), np.arange(3)
    found.reset(worlds, worlds)
    largest = []
    for _ in range(6):
        found.measure(np.tile(X[0], (3, 1)), felt(50.0, 50.0, 50.0))
        largest.append(found.largest.max())
    assert largest[3] == 0.0 and 48.0 < largest[4] < 52.0


@pytest.mark.parametrize("key", ["noise", "bias"])
def test_measured_forces_have_the_errors_of_the_task_s_sensor(key):
    errors = {"sensor.noise": 0.0, "sensor.bias": 0.0, f"sensor.{key}": 0.4}
    task, count = make_task("wall_push", {**errors, "sensor.delay": 0, "repeat": 1}), 200
    found = PushInterface(task, line(), dt=DT, batch=count)
    found.reset(np.arange(count), np.arange(count))
    x, measured = np.tile(X[0], (count, 1)), []
    for _ in range(2):
        found.measure(x, felt(*[5.0] * count))
        measured.append(found.inputs(x, np.zeros((count, 1))).force - 5.0)
    first, second = measured
    assert np.array_equal(first, second) == (key == "bias")
    assert first.std() == pytest.approx(0.4 if key == "noise" else 0.4 / math.sqrt(3.0), rel=0.15)


def test_depths_are_against_the_axis_of_a_bore_and_ways_off_it_across():
    tips = np.array([[0.7, 0.1, 0.2], [-0.1, -0.3, 0.2]])
    np.testing.assert_allclose(holes().inside(tips), [[0.3, 0.1, 0.2]] * 2, atol=1e-12)
    np.testing.assert_allclose(holes().axes(), [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(holes().tips(X)[0], [1.2, 2.7, 3.6])


def test_an_object_is_seen_from_its_start_and_its_goal():
    found = goals()
    np.testing.assert_allclose(found.components(np.array([[3.0, 4.0, 9.0]])), [[4.0, -3.0]])
    np.testing.assert_allclose(found.left(np.array([[1.0, 2.2, 9.0]])), [[0.3, 0.1]])
    objects = np.array([state((1.1, 2.2, 0.4), np.pi / 2 + 0.2, (0.03, 0.0, 0.04))])
    np.testing.assert_allclose(found.poses(objects), [[1.1, 2.2, 0.2]])
    np.testing.assert_allclose(
        found.measures(objects), [[0.3, 0.2, 0.2, 0.05, 0.0, 0.1]], atol=1e-7
    )
    objects[0, 3:7] = so3.multiply(
        yaw(-np.pi + 0.1), so3.quaternion_exp(np.array([0.4, 0.0, 0.0]))
    )
    assert found.poses(objects)[0, 2] == pytest.approx(np.pi / 2 + 0.1)
    assert found.measures(objects)[0, 4] == pytest.approx(0.4)
    objects[0, 3:7] = yaw(np.pi / 2 - 0.3)
    assert found.measures(objects)[0, 2] == pytest.approx(0.3)


def test_goals_are_drawn_evenly_about_their_mean_by_their_seeds():
    found, task = goals(300), make_task("push_object")
    for world in range(300):
        found.draw(world, task, seed=world)
    away = (found.ways - [0.5, 0.0]) / [0.2, 0.04]
    assert 0.95 < np.abs(away).max(axis=0).min() and np.abs(away).max() <= 1.0
    assert np.abs(away.mean(axis=0)).max() < 0.12 and abs((away[:, 0] * away[:, 1]).mean()) < 0.1
    before = found.ways[3].copy()
    found.draw(3, task, seed=5)
    np.testing.assert_array_equal(found.ways[3], found.ways[5])
    assert np.abs(before - found.ways[3]).max() > 0.0


def test_an_axis_lies_where_its_object_does():
    hinge = SimpleNamespace(point=(0.5, 0.0, 0.2), direction=np.array([0.0, 1.0, 0.0]))
    item = SimpleNamespace(position=np.array([1.0, 2.0, 3.0]), q_WO=yaw(np.pi / 2), hinge=hinge)
    point, axis = _axis_of(item)
    np.testing.assert_allclose(point, [1.0, 2.5, 3.2])
    np.testing.assert_allclose(axis, [-1.0, 0.0, 0.0], atol=1e-12)


def test_the_reach_of_an_arc_is_from_the_axis_as_it_is_believed():
    z, points = np.array([0.0, 0.0, 1.0]), np.tile([1.0, 0.0, 0.0], (2, 1))
    arc = Arc(TIP, np.array([3.0, 4.0, 9.0]), np.zeros(3), z, points, np.tile(z, (2, 1)))
    assert arc.reach == pytest.approx(5.0)
    places = np.array([[-4.0, 3.0, 9.5], [5.0, 0.0, 8.0]])
    believed, true = arc.polar(places), arc.true_polar(places)
    np.testing.assert_allclose(believed.turns, [np.pi / 2, -np.arctan2(4.0, 3.0)])
    np.testing.assert_allclose(believed.heights, [0.5, -1.0])
    np.testing.assert_allclose(believed.radii, 0.0, atol=1e-12)
    np.testing.assert_allclose(true.radii, [np.sqrt(34.0) - np.sqrt(20.0), 4.0 - np.sqrt(20.0)])

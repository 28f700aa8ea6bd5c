# SPDX-License-Identifier: BSD-3-Clause
"""Prescribed motions: where they are in time, one by one and in tables of many worlds."""

import math

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.states import P, V
from iap_description.world.object_motions import Drift, MotionTable, Sine, Waypoints
from iap_description.world.world import World

CORNERS = ((2.0, 0.0, 0.0), (2.0, 1.0, 0.0))


def way(**keys):
    given = {"type": "waypoints", "points": CORNERS, "speed": 0.5, **keys}
    return Waypoints(**given)


def test_waypoints_are_passed_at_constant_speed_and_the_last_one_is_kept():
    to = way()
    np.testing.assert_allclose(to.at(1.0), ([0.5, 0.0, 0.0], [0.5, 0.0, 0.0]))
    np.testing.assert_allclose(to.at(5.0), ([2.0, 0.5, 0.0], [0.0, 0.5, 0.0]))
    np.testing.assert_allclose(to.at(100.0), ([2.0, 1.0, 0.0], np.zeros(3)))
    np.testing.assert_allclose(to.at(-1.0), np.zeros((2, 3)))


def test_a_path_that_returns_goes_the_same_way_back_and_begins_anew():
    to = way(then="return")  # 6 s there, 6 s back
    np.testing.assert_allclose(to.at(7.0), ([2.0, 0.5, 0.0], [0.0, -0.5, 0.0]), atol=1e-12)
    for t in (0.3, 4.4, 5.9):
        np.testing.assert_allclose(to.at(12.0 - t)[0], to.at(t)[0], atol=1e-12)
        np.testing.assert_allclose(to.at(t + 24.0), to.at(t), atol=1e-12)


def test_a_loop_closes_along_the_straight_way():
    closing = math.sqrt(5.0) / 0.5
    place, velocity = way(then="loop").at(6.0 + 0.25 * closing)
    np.testing.assert_allclose(place, [1.5, 0.75, 0.0], atol=1e-12)
    np.testing.assert_allclose(velocity, 0.5 * np.array([-2.0, -1.0, 0.0]) / math.sqrt(5.0))


@pytest.mark.parametrize(
    "motion",
    [
        Drift(
            type="velocity", velocity=(0.3, -0.2, 0.1), start=-5.0, time_scale=1.5, turn_deg=30.0
        ),
        Sine(type="sine", amplitude=(0.5, 1.0, 0.2), period=3.0, time_shift=0.7, turn_deg=-80.0),
        way(then="loop", time_scale=0.7, time_shift=2.0, turn_deg=115.0),
    ],
)
def test_velocities_are_the_derivatives_of_places(motion):
    for t in (0.4, 1.9, 8.3):
        h = 1e-6
        slope = (motion.at(t + h)[0] - motion.at(t - h)[0]) / (2.0 * h)
        np.testing.assert_allclose(motion.at(t)[1], slope, atol=1e-8)


def test_scale_shift_and_turn_are_those_of_time_and_of_the_vertical():
    plain, changed = (
        way(then="loop"),
        way(then="loop").changed(time_scale=2.0, time_shift=0.5, turn_deg=90.0),
    )
    place, velocity = plain.at(2.0 * (1.1 + 0.5))
    np.testing.assert_allclose(changed.at(1.1)[0], [-place[1], place[0], place[2]], atol=1e-12)
    np.testing.assert_allclose(
        changed.at(1.1)[1], [-2.0 * velocity[1], 2.0 * velocity[0], 0.0], atol=1e-12
    )


def test_a_table_of_many_worlds_has_the_bits_of_single_objects():
    rough = {"friction": 0.5, "restitution": 0.0}
    box = {"type": "box", "size": [1.0, 1.0, 1.0], "surface": rough}
    turned = {"position": [1.0, 2.0, 3.0], "rpy_deg": [10.0, 20.0, 30.0]}
    motions = [
        {"type": "waypoints", "points": CORNERS, "speed": 0.5, "then": "loop", "turn_deg": 12.0},
        {"type": "sine", "amplitude": [0.1, 0.2, 0.3], "period": 1.7, "phase_deg": 20.0},
        {"type": "velocity", "velocity": [0.3, 0.1, 0.0], "start": 1.0},
    ]
    objects = {f"o{k}": {**box, **turned, "motion": each} for k, each in enumerate(motions)}
    objects["still"] = {**box, **turned}
    world = validate(World, {"objects": objects}, source="world")
    items = list(world.objects.values())
    table = MotionTable.of(world.resting_rows(), [item.motion for item in items], 3)
    fast = [None if item.motion is None else item.motion.changed(time_scale=1.3) for item in items]
    table.put(1, world.resting_rows() + 0.25, fast)
    times = np.array([0.37, 2.91])
    states = table.states(np.array([0, 1]), times)
    np.testing.assert_array_equal(states[0], world.object_states(0.37))
    for row, item, motion in zip(states[1], items, fast, strict=True):
        away, velocity = (np.zeros(3), np.zeros(3)) if motion is None else motion.at(2.91)
        np.testing.assert_array_equal(row[P], np.array(item.position) + 0.25 + away)
        np.testing.assert_allclose(row[V], velocity + 0.25, rtol=1e-15)


def test_two_equal_points_in_succession_are_refused_by_their_key():
    for points in ([[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]):
        tree = {"type": "waypoints", "points": points, "speed": 1.0}
        with pytest.raises(BadInput, match="key 'points': two points in succession"):
            validate(Waypoints, tree, source="motion")

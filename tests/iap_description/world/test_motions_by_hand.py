# SPDX-License-Identifier: BSD-3-Clause
"""Hinges, what is carried, motions and what a world keeps, by numbers that are worked out by hand."""

import numpy as np
import pytest
from boxed_worlds import BOX, HALF, world

from iap_description.math import so3
from iap_description.scenes.scene import Scene
from iap_description.states import P, Q, V, W, resting_state
from iap_description.world.hinge import Hinge, Latch, carried
from iap_description.world.object_motions import Drift, Sine, Waypoints
from iap_description.world.world import World


def test_an_angle_about_a_hinge_and_its_resistance():
    hinge = Hinge(
        axis=(0.0, 0.0, 4.0),
        point=(0.5, 0.0, 0.0),
        limits_deg=(-90.0, 90.0),
        stiffness=2.0,
        damping=3.0,
        rest_deg=90.0,
    )
    assert hinge.direction.tolist() == [0.0, 0.0, 1.0]
    assert hinge.resistance(0.0, 0.5) == pytest.approx(np.pi - 1.5)
    q_WO = so3.quaternion_exp(np.array([0.3, 0.0, 0.0]))
    x = hinge.row(np.array([1.0, 2.0, 3.0]), q_WO, 0.5 * np.pi, 2.0)
    assert hinge.angle(q_WO, x[Q]) == pytest.approx(0.5 * np.pi)
    level = hinge.row(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0, 1.0]), 0.5 * np.pi, 2.0)
    np.testing.assert_allclose(level[P], [1.5, 1.5, 3.0])
    np.testing.assert_allclose(level[W], [0.0, 0.0, 2.0])
    np.testing.assert_allclose(level[V], [1.0, 0.0, 0.0], atol=1e-12)
    latch = Latch(lever="a", release_deg=-90.0, stiffness=5.0, strength=6.0, damping=7.0)
    assert latch.numbers == pytest.approx((5.0, 6.0, 7.0, -0.5 * np.pi))


def test_what_is_carried_moves_and_turns_with_its_carrier():
    quarter = np.array([0.0, 0.0, HALF, HALF])
    start, now = (
        resting_state(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])),
        np.zeros(13),
    )
    now[P], now[Q], now[V], now[W] = (5.0, 6.0, 7.0), quarter, (0.1, 0.2, 0.3), (0.0, 0.0, 2.0)
    x = np.zeros(13)
    x[P], x[Q], x[V], x[W] = (3.0, 0.0, 1.0), quarter, (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
    row = carried(x, start, now)
    np.testing.assert_allclose(row[P], [5.0, 8.0, 8.0])
    np.testing.assert_allclose(row[Q], [0.0, 0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(row[W], [0.0, 1.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(row[V], [0.1 - 4.0 - 1.0, 0.2, 0.3], atol=1e-12)


def test_terms_and_paths_of_motions():
    drift = Drift(type="velocity", velocity=(1.0, 2.0, 3.0), start=4.0)
    assert drift.terms().tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 4] and drift.path()[1] == 0.0
    sine = Sine(type="sine", amplitude=(1.0, 2.0, 3.0), period=4.0, phase_deg=90.0)
    np.testing.assert_allclose(sine.terms(), [1, 2, 3, np.pi / 2, np.pi / 2, 0, 0, 0, 0])
    np.testing.assert_allclose(sine.changed(turn_deg=90.0, time_scale=2.0, time_shift=0.5).at(0.0), [
        [0.0, 0.0, 0.0], [2.0 * np.pi, -np.pi, -3.0 * np.pi]], atol=1e-12)  # fmt: skip
    points = ((3.0, 0.0, 0.0), (3.0, 4.0, 0.0))
    for then, times, period in (
        ("stop", [0.0, 1.5, 3.5], 0.0), ("return", [0.0, 1.5, 3.5, 5.5, 7.0], 7.0), ("loop", [0.0, 1.5, 3.5, 6.0], 6.0),
    ):  # fmt: skip
        knots, found = Waypoints(type="waypoints", points=points, speed=2.0, then=then).path()
        assert knots[:, 0].tolist() == times and found == period
        assert knots[1:3, 1:].tolist() == [list(each) for each in points]


def test_a_world_keeps_what_moves_or_what_stands_and_knows_what_is_carried():
    door = {**BOX, "mass": 2.0, "hinge": {"limits_deg": [0.0, 90.0]}}
    handle = {**BOX, "mass": 0.2, "hinge": {"limits_deg": [0.0, 40.0], "carrier": "door"}}
    whole = world(wall=BOX, handle=handle, door=door)
    assert list(whole.with_objects(moving=True).objects) == ["handle", "door"]
    assert list(whole.with_objects(moving=False).objects) == ["wall"]
    assert whole.has_free_objects and not world(wall=BOX).has_free_objects
    assert whole.carried == [(1, 2)]
    rows = whole.resting_rows()
    assert rows.shape == (3, 13) and rows[0, :3].tolist() == [1.0, 2.0, 3.0]
    rows[2, :3] += 1.0
    whole.carry(rows)
    np.testing.assert_allclose(rows[:, 0], [1.0, 2.0, 2.0])
    assert world().resting_rows().shape == world().object_states(0.0).shape == (0, 13)
    assert world(wall=BOX).object_states(0.0)[0, :3].tolist() == [1.0, 2.0, 3.0]


def test_the_ground_is_there_where_it_is_asked_for_and_the_scene_has_it():
    assert World().has_ground and not World(ground=False).has_ground
    assert World(scene="open_field").has_ground


def test_a_world_without_light_of_its_own_leaves_a_scene_as_it_is():
    scene = World().surroundings()
    assert isinstance(scene, Scene) and World().lit(scene) is scene

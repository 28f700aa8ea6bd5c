# SPDX-License-Identifier: BSD-3-Clause
"""Rays end at analytic shapes, where a scene is seen, and where the contact shapes of the engine are."""

import numpy as np
import pytest
from touching import world_of

from iap_description.scenes.library import scene_names
from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.joints import at_rest
from iap_physics.engines.pybullet.engine import PyBulletEngine
from iap_sensors.rays.world_rays import Rays

PUSH = {"type": "velocity", "velocity": [0.0, 1.0, 0.0]}
CRATE = {
    "type": "board",
    "width": 0.8,
    "height": 0.8,
    "thickness": 0.3,
    "hole": {"type": "through", "radius": 0.2, "fillet": None},
    "position": [2.0, 0.3, 2.0],
    "rpy_deg": [10.0, 20.0, 30.0],
    "mass": 2.0,
}
DOOR = {"type": "box", "size": [0.1, 2.0, 2.0], "position": [-2.5, 0.0, 1.0], "motion": PUSH}
POST = {"type": "cylinder", "radius": 0.5, "length": 2.0, "position": [3.0, 0.0, 1.0]}
NOTHING = np.zeros((0, 13))
STAR = [Assembly.of(load_platform("three_star"))]


@pytest.fixture(scope="module")
def worlds():
    """The engine that flies, a third of a second on, and rays in the same world."""
    world = world_of(crate=CRATE, door=DOOR)
    flown, rays = PyBulletEngine(), Rays(world, STAR)
    flown.load(world, STAR)
    x = at_rest(STAR)[None]
    x[..., P] += [0.0, 0.0, 2.0]
    flown.reset(x)
    for _ in range(300):
        flown.apply(np.zeros((1, x.shape[1], 6)))
        flown.step(0.001)
    yield flown, rays
    flown.close()


def lines():
    """Starts around everything, and ends beyond it."""
    rng = np.random.default_rng(4)
    starts = rng.uniform([-4.0, -4.0, 0.2], [4.0, 4.0, 4.0], (2000, 3))
    return starts, -starts + rng.normal(0.0, 0.5, starts.shape)


def assert_hits_agree(hit, expected, lengths):
    """Distances agree to 2.5 mm, but for three in a thousand: rays that graze an edge or begin inside a solid.

    The engine rounds convex shapes by a margin of its own, and convex shapes do not stop what begins inside them.
    """
    apart = np.abs(hit - expected) * lengths
    assert (apart > 2.5e-3).mean() <= 0.003
    assert np.median(apart) < 1e-5
    assert (hit < 1.0).mean() > 0.2


def test_rays_end_where_those_of_the_engine_that_flies_end(worlds):
    flown, rays = worlds
    starts, ends = lines()
    rays.follow(flown.state()[0], flown.object_states())
    lengths = np.linalg.norm(ends - starts, axis=1)
    hit, expected = rays.ray_cast(starts, ends), flown.ray_cast(starts, ends)
    assert_hits_agree(hit, expected, lengths)
    only = rays.ray_cast(starts, ends, world_only=True)
    assert_hits_agree(only, flown.ray_cast(starts, ends, world_only=True), lengths)


def test_they_follow_back_and_forth(worlds):
    flown, rays = worlds
    states = flown.state()[0].copy(), flown.object_states()
    rays.follow(*states)
    first = rays.ray_cast(*lines())
    moved = states[0].copy()
    moved[:, P] += [0.0, 0.0, 1.0]
    rays.follow(moved, states[1])
    assert np.abs(rays.ray_cast(*lines()) - first).max() > 0.1
    rays.follow(*states)
    np.testing.assert_array_equal(rays.ray_cast(*lines()), first)


@pytest.mark.parametrize("name", scene_names())
def test_in_every_scene_they_end_where_those_of_the_engine_do(name):
    world, engine = World(scene=name), PyBulletEngine()
    engine.load(world, STAR)
    x = at_rest(STAR)[None] + np.eye(13)[2] * 3.0
    engine.reset(x)
    rays = Rays(world, STAR)
    rays.follow(x[0], NOTHING)
    rng = np.random.default_rng(5)
    starts = rng.uniform((-9.0, -5.0, 0.5), (9.0, 5.0, 7.0), (3000, 3))
    ends = starts + 40.0 * np.array([p / np.linalg.norm(p) for p in rng.normal(size=(3000, 3))])
    hit, expected = rays.ray_cast(starts, ends), engine.ray_cast(starts, ends)
    engine.close()
    assert_hits_agree(hit, expected, 40.0)


def test_a_cylinder_is_round_to_an_eighth_of_a_percent_of_its_radius():
    rays = Rays(world_of(ground=False, post=POST), [])
    rays.follow(NOTHING, NOTHING)
    angles = np.linspace(0.0, 2.0 * np.pi, 181)
    outwards = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], -1)
    starts = np.array([3.0, 0.0, 1.0]) + 4.0 * outwards
    hit = 4.0 - 4.0 * rays.ray_cast(starts, starts - 4.0 * outwards)
    assert hit.max() < 0.5 + 1e-5
    assert hit.min() > 0.5 * (1.0 - 1.25e-3)


def test_the_ground_is_exact_to_micrometres_a_hundred_metres_away_and_may_be_left_out():
    starts = np.array([[1.0, 2.0, 10.0], [0.3, -7.0, 2.0]])
    ends = starts + np.array([[90.0, 40.0, -12.0], [-50.0, 80.0, -2.5]])
    expected = [10.0 / 12.0, 2.0 / 2.5]
    rays = Rays(world_of(), [])
    rays.follow(NOTHING, NOTHING)
    np.testing.assert_allclose(rays.ray_cast(starts, ends), expected, atol=2e-7)
    empty = Rays(world_of(ground=False), [])
    empty.follow(NOTHING, NOTHING)
    np.testing.assert_array_equal(empty.ray_cast(starts, ends), 1.0)


def test_a_solid_does_not_stop_a_ray_that_begins_in_it_but_stops_others_and_what_is_behind_it_does():
    behind = {**POST, "position": [6.0, 0.0, 1.0]}
    rays = Rays(world_of(ground=False, post=POST, behind=behind), [])
    rays.follow(NOTHING, NOTHING)
    starts = np.array([[3.2, 0.0, 1.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(
        rays.ray_cast(starts, starts + [10.0, 0.0, 0.0]), [0.23, 0.25], atol=1e-4
    )

# SPDX-License-Identifier: BSD-3-Clause
"""What is seen of a scene is what is touched, and what rays hit."""

import numpy as np
import pytest
from triangles import distances

from iap_description.geometry.shapes import Surface
from iap_description.math import so3
from iap_description.scenes.library import load_scene, scene_names
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.objects import Box
from iap_description.world.world import World
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.engines.joints import joined_rows

F450 = Assembly.of(load_platform("f450"), "f450")
RAYS, FAR = 600, 80.0
DT = 1e-3


def at(p, v=(0.0, 0.0, 0.0)):
    return joined_rows(F450, np.array([*p, 0.0, 0.0, 0.0, 1.0, *v, 0.0, 0.0, 0.0]))[None]


@pytest.mark.parametrize("name", scene_names())
def test_rays_end_where_the_scene_is_seen(engine, name):
    engine.load(World(scene=name), [F450])
    engine.reset(at((0.0, 0.0, 500.0)))  # out of the way
    rng = np.random.default_rng(5)
    starts = rng.uniform((-9.0, -5.0, 0.5), (9.0, 5.0, 7.0), (RAYS, 3))
    directions = so3.rotate(so3.normalized(rng.normal(size=(RAYS, 4))), np.array([1.0, 0.0, 0.0]))
    seen = [part for part in load_scene(name).parts if part.name != "ground"]
    corners = [part.vertices[part.faces] for part in seen]
    down = np.where(directions[:, 2] < 0.0, -starts[:, 2] / directions[:, 2], np.inf)
    expected = distances(starts, directions, np.vstack([np.zeros((0, 3, 3)), *corners]))
    expected = np.minimum(expected, down)
    measured = FAR * engine.ray_cast(starts, starts + FAR * directions)
    within = expected < FAR - 1.0
    assert within.sum() > RAYS / 3
    np.testing.assert_allclose(measured[within], expected[within], atol=0.01)
    np.testing.assert_array_equal(measured[~within] > FAR - 1.01, True)


def test_rays_of_the_world_alone_go_through_vehicles(engine):
    brick = Box(
        type="box",
        position=(0.0, 4.0, 2.0),
        size=(1.0, 1.0, 1.0),
        mass=2.0,
        surface=Surface(friction=0.5, restitution=0.0),
    )
    post = brick.model_copy(update={"position": (0.0, -4.0, 2.0), "mass": None})
    engine.load(World(scene="textured_walls", objects={"brick": brick, "post": post}), [F450])
    engine.reset(at((0.0, 0.0, 2.0)))
    starts = np.array([[-5.0, y, 2.0] for y in (0.0, 4.0, -4.0)])
    ends = starts + [30.0, 0.0, 0.0]
    everything = 30.0 * engine.ray_cast(starts, ends)
    world = 30.0 * engine.ray_cast(starts, ends, world_only=True)
    np.testing.assert_allclose(everything, [4.8, 4.5, 4.5], atol=0.2)
    assert world[0] > 20.0  # the wall behind
    np.testing.assert_allclose(world[1:], 4.5, atol=1e-3)
    down = engine.ray_cast(starts, starts - [0.0, 0.0, 4.0], world_only=True)
    np.testing.assert_allclose(down, 0.5, atol=1e-6)


def test_a_vehicle_that_flies_into_a_wall_touches_the_world(engine):
    engine.load(World(scene="textured_walls", gravity=0.0), [F450])
    engine.reset(at((15.0, 0.0, 3.0), v=(4.0, 0.0, 0.0)))
    touched = set()
    for _ in range(1000):
        engine.step(DT)
        touched |= {each.body_b if each.body_a == 0 else each.body_a for each in engine.contacts()}
    assert touched == {WORLD}
    assert engine.state()[0, 0, 0] < 18.0  # it did not get through
    assert engine.state()[0, 0, 7] < 0.5  # it lost its speed there


def test_a_vehicle_rests_on_what_stands_in_the_scene(engine):
    engine.load(World(scene="foggy_arena"), [F450])
    engine.reset(at((4.6, 9.6, 3.9)))
    for _ in range(1500):
        engine.step(DT)
    assert engine.state()[0, 0, 2] > 3.5
    assert abs(engine.state()[0, 0, 7:]).max() < 0.02
    assert engine.contact_wrench(0)[2] == pytest.approx(9.81 * F450.mass, rel=0.05)


def test_far_from_it_a_flight_is_the_same_with_the_scene_and_without(engine):
    flights = []
    for scene in (None, "building_cluster"):
        engine.load(World(scene=scene), [F450])
        engine.reset(at((0.0, 0.0, 3.0), v=(1.0, 0.5, 0.0)))
        for _ in range(1000):
            engine.step(DT)
        flights.append(engine.state().copy())
    np.testing.assert_array_equal(*flights)
    assert OBJECT not in {each.body_a for each in engine.contacts()}

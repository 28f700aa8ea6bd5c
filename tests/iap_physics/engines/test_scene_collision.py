# SPDX-License-Identifier: BSD-3-Clause
"""Collisions with scenes, the ground and oneself."""

from dataclasses import replace

import numpy as np
import pytest
from triangles import distances

from iap_description.geometry.shapes import Surface
from iap_description.math import so3
from iap_description.scenes.library import load_scene, scene_names
from iap_description.sensors.mounts import optical
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.objects import Box
from iap_description.world.world import World
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.engines.joints import joined_rows
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.spec import PRESETS as CAMERAS
from iap_sensors.cameras.spec import CameraSpec

F450 = Assembly.of(load_platform("f450"), "f450")
RAYS, FAR = 600, 80.0
DT = 1e-3
CAMERA = CameraSpec(**{**CAMERAS.tree("vi_g"), "outputs": ("depth",)})
MODEL = CameraModel.of(CAMERA)
REACH = 59.0  # to which all scenes have ground [m]
LOOKS = 24
RAYS_C = MODEL.unproject(np.stack(np.meshgrid(np.arange(0.0, 640, 4), np.arange(0.0, 480, 4)), -1))
ONTO_THE_TUBE = (
    -0.7071,
    -0.7071,
    0.0,
)  # axis about which a star's aircraft tips a propeller onto its tube
BASE = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def at(p, v=(0.0, 0.0, 0.0)):
    return joined_rows(F450, np.array([*p, 0.0, 0.0, 0.0, 1.0, *v, 0.0, 0.0, 0.0]))[None]


FLAT_SIDED = sorted(
    set(scene_names()) - {"furnished_hall"}
)  # what is round is drawn with flat sides


@pytest.mark.parametrize("name", FLAT_SIDED)
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


def looks():
    """Places (3,) and attitudes (4,) of cameras about where aircraft fly."""
    rng = np.random.default_rng(6)
    for place in rng.uniform((-9.0, -5.0, 1.0), (9.0, 5.0, 7.0), (LOOKS, 3)):
        rpy = rng.uniform((-0.4, -0.4, -np.pi), (0.4, 0.4, np.pi))
        yield place, optical(so3.quaternion_from_matrix(so3.matrix_from_euler(rpy)))


def on_ground(place, attitude):
    """Flags of the rays that meet the ground within reach."""
    rays_W = RAYS_C @ so3.matrix_from_quaternion(attitude).T
    is_down = rays_W[..., 2] < -0.05
    depth = -place[2] / np.where(is_down, rays_W[..., 2], -1.0)
    spots = place + depth[..., None] * rays_W
    return is_down & (np.abs(spots[..., :2]) < REACH).all(axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("name", scene_names())
def test_there_is_no_hole_in_the_ground(opengl, name):
    opengl.load(load_scene(name), [])
    shots = [Shot(MODEL, CAMERA, place, attitude) for place, attitude in looks()]
    for shot, frame in zip(shots, opengl.render(shots, np.zeros((0, 7))), strict=True):
        unseen = np.isposinf(frame.depth[::4, ::4]) & on_ground(shot.p_WC_W, shot.q_WC)
        assert not unseen.any(), f"{unseen.mean():.1%} of the image from {shot.p_WC_W.round(2)}"


def turned(assembly, body, axis, degrees):
    """Start (1, bodies, 13) with one aircraft turned about an axis of its own."""
    q_WB = np.array([joint.q_PJ for joint in assembly.joints])
    turn = so3.quaternion_exp(np.deg2rad(degrees) * np.array(axis))
    q_WB[body - 1] = so3.multiply(q_WB[body - 1], turn)
    return joined_rows(assembly, BASE, q_WB)[None]


def pairs(engine):
    return {tuple(sorted((c.body_a, c.body_b))) for c in engine.contacts() if c.distance <= 0.0}


def test_an_aircraft_that_folds_onto_its_tube_is_stopped_by_it(engine, assembly_of):
    """A torque of 0.3 N m tips the aircraft until a propeller is on the tube, and not through it."""
    star, tilts, seen = assembly_of("three_star"), [], set()
    engine.load(World(gravity=0.0, ground=False), [star])
    engine.reset(joined_rows(star, BASE)[None])
    wrench = np.zeros((1, 4, 6))
    wrench[0, 1, 3:] = 0.3 * np.array(ONTO_THE_TUBE)
    wrench[0, 0, 3:] = -wrench[0, 1, 3:]
    for _ in range(800):
        engine.apply(wrench)
        engine.step(1e-3)
        q = so3.multiply(so3.conjugate(engine.state()[0, 0, Q]), engine.state()[0, 1, Q])
        up = so3.rotate(q, np.array([0.0, 0.0, 1.0]))
        tilts.append(np.rad2deg(np.arctan2(np.hypot(up[0], up[1]), up[2])))
        seen |= pairs(engine)
    assert seen == {(0, 1)}
    assert 38.0 < max(tilts) < 100.0  # it slides about the tube, and hangs there


def test_aircraft_whose_joints_are_close_touch_each_other(engine, assembly_of):
    """0.62 m apart, propellers of 0.127 m that are 0.225 m from the joint clear each other unless they point at it."""
    line = assembly_of("three_line")
    near = tuple(replace(j, p_PJ_P=j.p_PJ_P * [0.62, 1.0, 1.0]) for j in line.joints)
    line = replace(line, joints=near)
    engine.load(World(gravity=0.0, ground=False), [line])
    engine.reset(joined_rows(line, BASE)[None])
    assert pairs(engine) == set()
    engine.reset(joined_rows(line, BASE, np.tile([0.0, 0.0, 0.3826834, 0.9238795], (3, 1)))[None])
    assert pairs(engine) == {(1, 2), (2, 3)}


def test_bodies_that_overlap_at_rest_pass_through_each_other(engine, assembly_of):
    """As an aircraft that sits on its tube; its neighbours still collide with the tubes."""
    star = assembly_of("three_star")
    low = replace(star.joints[0], p_PJ_P=star.joints[0].p_PJ_P - [0.0, 0.0, 0.08])
    star = replace(star, joints=(low, *star.joints[1:]))
    engine.load(World(gravity=0.0, ground=False), [star])
    engine.reset(turned(star, 1, ONTO_THE_TUBE, 60.0))
    assert (0, 1) not in pairs(engine)
    engine.reset(turned(star, 2, ONTO_THE_TUBE, 60.0))
    assert (0, 2) in pairs(engine)


def test_what_is_one_rigid_part_does_not_push_itself_apart(engine, assembly_of):
    fixed = assembly_of("three_star_fixed")
    assert fixed.rigid_part == (0, 0, 0, 0)
    assert assembly_of("three_star").rigid_part == (0, 1, 2, 3)
    engine.load(World(gravity=0.0, ground=False), [fixed])
    start = joined_rows(fixed, BASE)[None]
    engine.reset(start)
    for _ in range(100):
        engine.step(1e-3)
    assert engine.contacts() == []
    np.testing.assert_allclose(engine.state()[..., P], start[..., P], atol=1e-12)


def test_touching_itself_is_no_wrench_of_the_environment(engine, assembly_of):
    star = assembly_of("three_star")
    engine.load(World(gravity=0.0, ground=False), [star])
    engine.reset(turned(star, 1, ONTO_THE_TUBE, 60.0))
    engine.step(1e-3)
    assert any(np.any(contact.force_W) for contact in engine.contacts())
    assert not engine.contact_wrench(0).any() and not engine.contact_wrench(1).any()

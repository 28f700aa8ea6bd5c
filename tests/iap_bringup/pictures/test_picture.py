# SPDX-License-Identifier: BSD-3-Clause
from types import SimpleNamespace

import numpy as np

from iap_bringup.pictures.contact_camera import (
    TO_SUN,
    Rod,
    _directions,
    contact_camera,
    free_camera,
)
from iap_bringup.pictures.picture import Viewpoint, camera_around, render_scene
from iap_bringup.pictures.render import _scene, with_arm
from iap_description.states import resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.scene_objects import SceneObject, standing
from iap_description.world.world import World
from iap_physics.engines.joints import joined_rows
from iap_simulation.scenario.resolving import resolved

SIZE = (192, 108)


def hovering(name, p=(0.0, 0.0, 1.0)):
    assembly = Assembly.of(load_platform(name))
    base = np.zeros(13)
    base[:3], base[6] = p, 1.0
    return assembly, joined_rows(assembly, base)


def colored(picture, color):
    """Pixels where one channel stands out."""
    others = [k for k in range(3) if k != color]
    rest = picture[..., others].astype(int).max(axis=-1)
    return np.count_nonzero(picture[..., color] > rest + 60)


def test_picture_shows_the_red_arms_and_the_paths(capfd):
    scene = [hovering("f450")]
    camera = camera_around(scene[0][1][:, :3], azimuth_deg=-30.0, elevation_deg=20.0, size=SIZE)
    picture = render_scene(scene, camera=camera, size=SIZE)
    assert picture.shape == (108, 192, 3) and picture.dtype == np.uint8
    assert colored(picture, 0) > 20
    t = np.linspace(0.0, 1.0, 30)
    paths = [np.stack([t - 0.5, 0.0 * t + y, 0.0 * t + 0.6], -1) for y in (-0.2, 0.2)]
    with_paths = render_scene(scene, camera=camera, size=SIZE, path_points=paths)
    assert colored(with_paths, 0) > colored(picture, 0) + 20
    assert capfd.readouterr().out == ""


def test_an_arm_is_seen_where_its_joints_have_it():
    """The red upper arm of the m100's, folded forward and down."""
    assembly, rows = hovering("m100_arm")
    camera = Viewpoint((0.0, -2.0, 0.75), (0.0, 0.0, 0.75), fov_deg=25.0)
    found = []
    for q in ([0.0, 0.0, 0.0], [0.0, 1.5, 0.0]):
        seen = with_arm(assembly, rows, np.array(q))
        picture = render_scene([seen], camera=camera, size=SIZE)
        red = picture[..., 0].astype(int) - picture[..., 1:].max(axis=-1) > 60
        found.append(np.argwhere(red).mean(axis=0))
    bare = render_scene([with_arm(assembly, rows, None)], camera=camera, size=SIZE)
    assert colored(bare, 0) < 5
    assert found[1][0] > found[0][0] + 3 and found[1][1] < found[0][1] - 3  # rows count downwards


def test_vehicles_cast_shadows_on_the_ground():
    camera = Viewpoint((0.0, -0.01, 6.0), (0.0, 0.0, 0.0), fov_deg=40.0)
    far_away = render_scene([hovering("three_star", (50.0, 0.0, 1.0))], camera=camera, size=SIZE)
    above = render_scene([hovering("three_star", (0.6, -0.6, 1.5))], camera=camera, size=SIZE)
    shadowed = np.abs(above.astype(float) - far_away).max(axis=-1) > 40
    assert 0.02 < shadowed.mean() < 0.4
    middle = np.argwhere(shadowed).mean(axis=0)
    assert abs(middle[1] - SIZE[0] / 2) < 40  # vehicle right of the middle, its shadow left


def test_camera_sees_every_point_it_was_asked_to():
    points = np.array([[0.0, 0.0, 1.0], [8.0, 1.0, 3.0], [-2.0, 5.0, 0.0]])
    camera = camera_around(points, azimuth_deg=70.0, elevation_deg=25.0)
    x, y, z = camera.view[:3, :3] @ points.T + camera.view[:3, 3:]
    up = np.tan(np.deg2rad(0.5 * camera.fov_deg))
    assert (z < 0.0).all()
    assert (np.abs(y / z) < up).all() and (np.abs(x / z) < up * 1280 / 720).all()
    east, north, above = np.subtract(camera.position, camera.target)
    seen_from = np.arctan2([north, above], [east, np.hypot(east, north)])
    np.testing.assert_allclose(np.rad2deg(seen_from), [70.0, 25.0])


RED = (0.9, 0.05, 0.05, 1.0)
SURFACE = {"friction": 0.4, "restitution": 0.0}
FUNNEL = {
    "type": "funnel",
    "position": (-1.0, 0.0, 1.0),
    "throat_radius": 0.045,
    "throat_length": 0.48,
    "mouth_radius": 0.14,
    "cone_length": 0.24,
}
BOX = {"type": "box", "position": (0.0, 0.0, 1.0), "size": (0.6, 0.6, 0.6)}
WALL = {"type": "wall", "width": 3.0, "height": 3.0}


def world_of(*objects):
    named = {f"object_{k}": {"surface": SURFACE, **tree} for k, tree in enumerate(objects)}
    return World.model_validate({"objects": named})


def at_rest(x, y, z):
    return resting_state(np.array([x, y, z]), np.array([0.0, 0.0, 0.0, 1.0]))


def rod_at(row, length=1.0):
    return Rod.of(row, (-length, 0.0, 0.0), (-1.0, 0.0, 0.0))


def test_objects_are_seen_in_their_colour_and_cast_shadows():
    scene = [hovering("f450", (5.5, 0.0, 1.0))]  # beside the picture
    camera = Viewpoint((0.0, -6.0, 4.0), (0.0, 0.0, 0.5))
    empty = render_scene(scene, camera=camera, size=SIZE).astype(float)
    objects = standing(world_of({**BOX, "color": RED}), 0.0)
    picture = render_scene(scene, camera=camera, size=SIZE, objects=objects)
    assert colored(picture, 0) > 200
    grey = np.ptp(picture.astype(int), axis=-1) < 25
    darker = (empty - picture).max(axis=-1) > 30
    assert np.count_nonzero(grey & darker) > 100


def test_what_is_made_of_pieces_is_seen_too():
    scene = [hovering("f450", (50.0, 0.0, 1.0))]
    camera = Viewpoint((-1.0, -3.0, 1.5), (-1.0, 0.0, 1.0))
    objects = standing(world_of({**FUNNEL, "color": RED}), 0.0)
    assert colored(render_scene(scene, camera=camera, size=SIZE, objects=objects), 0) > 200


def test_objects_are_drawn_where_they_are_at_the_time():
    motion = {"type": "velocity", "velocity": (0.5, 0.0, 0.0), "start": 1.0}
    world = world_of({**BOX, "motion": motion})
    places = [standing(world, t)[0].corners_W.mean(axis=0)[0] for t in (0.0, 3.0)]
    np.testing.assert_allclose(places, [0.0, 1.0], atol=1e-12)


def test_a_tube_that_is_opened_keeps_the_half_behind_its_axis():
    (tube,) = standing(world_of(FUNNEL), 0.0)
    half = tube.opened(np.array([0.3, -1.0, 0.0]))
    assert half.corners_W[:, 1].max() > 0.13 and half.corners_W[:, 1].min() > -0.03
    assert 0.4 < len(half.pieces) / len(tube.pieces) < 0.6


def test_a_rod_is_in_the_tube_that_is_around_it_and_in_no_wall():
    tube, wall = standing(world_of(FUNNEL, {**WALL, "position": (-1.2, 0.0, 1.0)}), 0.0)
    inside = rod_at(at_rest(-0.4, 0.0, 1.0))
    outside = rod_at(at_rest(0.6, 0.0, 1.0))
    assert inside.is_in(tube) and not outside.is_in(tube) and not inside.is_in(wall)


def test_a_box_hides_what_is_behind_it():
    (box,) = standing(world_of(BOX), 0.0)
    points = np.array([[0.0, 2.0, 1.0], [2.0, 2.0, 1.0], [0.0, -2.0, 1.0], [0.0, 0.0, 1.0]])
    hidden = box.hides(points, np.array([0.0, -4.0, 1.0]))
    np.testing.assert_array_equal(hidden, [True, False, False, True])


def test_the_contact_is_looked_at_from_the_side_and_past_what_stands_before_it():
    assembly, rows = hovering("three_star", (0.0, 0.0, 2.0))
    rod = rod_at(rows[0])
    free = contact_camera(assembly, rows, rod, [], SIZE)
    away = np.array(free.position) - rod.tip
    assert abs(away[0]) < 0.6 * np.linalg.norm(away)
    sunny = world_of({**WALL, "position": (0.0, -1.5, 2.0), "rpy_deg": (0.0, 0.0, 90.0)})
    assert free.position[1] < 0.0
    past = contact_camera(assembly, rows, rod, standing(sunny, 0.0), SIZE)
    assert past.position[1] > 0.0


def test_vehicles_without_a_tool_are_looked_at_past_what_stands_before_them():
    points = np.array([[0.0, 0.0, 1.0]])
    before = SceneObject(world_of(BOX).objects["object_0"].pieces(), at_rest(0.0, 0.0, 0.0))
    free = free_camera(points, [], SIZE)
    eye = np.array(free.position)
    before.row[:3] = points[0] + 0.5 * (eye - points[0])
    assert before.hides(points, eye).all()
    other = free_camera(points, [before], SIZE)
    assert not before.hides(points, np.array(other.position)).any()


def test_a_rod_in_a_funnel_is_seen_when_the_funnel_is_cut_open():
    yellow = {"type": "cylinder", "position": (-1.2, 0.0, 1.0), "rpy_deg": (0.0, 90.0, 0.0)}
    stick = {**yellow, "radius": 0.03, "length": 0.3, "color": RED}
    tube, inner = standing(world_of(FUNNEL, stick), 0.0)
    camera = Viewpoint((-1.2, -2.0, 1.2), (-1.2, 0.0, 1.0))
    towards = np.array(camera.position) - np.array(camera.target)
    scene = [hovering("f450", (50.0, 0.0, 1.0))]
    whole, opened = (
        render_scene(scene, camera=camera, size=SIZE, objects=[each, inner])
        for each in (tube, tube.opened(towards))
    )
    assert colored(whole, 0) == 0 and colored(opened, 0) > 50


def test_objects_stand_where_they_were_recorded_or_where_the_world_has_them():
    crate = {"type": "box", "size": [0.2, 0.2, 0.2], "position": [3.0, 0.0, 0.1], "mass": 1.0}
    crate["surface"] = {"friction": 0.5, "restitution": 0.0}
    scenario = resolved("hover", {"world.objects": {"crate": crate}}, {"duration": 1.0})[0]
    t, x = np.array([0.0, 0.5, 1.0]), np.zeros((3, 1, 13))
    x[:, 0, 6], x[:, 0, 0] = 1.0, [0.0, 1.0, 2.0]
    columns = SimpleNamespace(t=t, x=x, arm=None)
    moved = resting_state(np.array([[3.5, 0.2, 0.1]]), np.array([[0.0, 0.0, 0.0, 1.0]]))
    rows = SimpleNamespace(at=lambda now: moved + now * np.eye(1, 13))
    vehicles = [SimpleNamespace(columns=columns)]
    for objects, x_now in ((rows, 4.0), (None, 3.0)):
        run = SimpleNamespace(objects=objects, vehicles=vehicles)
        scene, placed = _scene(run, scenario, 1)
        assert [each.row[0] for each in placed] == [x_now]
        assert scene[0][1][0, 0] == 1.0


def test_a_contact_is_looked_at_from_both_sides_of_what_pushes_first_from_the_suns():
    sun = np.arctan2(TO_SUN[1], TO_SUN[0])
    for heading in (0.3, 1.9, -2.5):
        axis = np.array([np.cos(heading), np.sin(heading), 0.1])
        found = np.array(_directions(axis))
        behind = np.degrees(np.arctan2(-axis[1], -axis[0]))
        aside = np.round(found[:, 0] - behind, 6)
        assert sorted(aside) == sorted(-aside)
        first, *_ = np.radians(found[:, 0])
        mirrored = np.radians(behind - aside[0])
        assert np.cos(first - sun) >= np.cos(mirrored - sun)
        assert (found[:, 1] > 0.0).all()

# SPDX-License-Identifier: BSD-3-Clause
"""Rays against geometry and OpenGL, and records of the sensors that cast them."""

import sys

import numpy as np
import pytest
from depths_by_both import cast, rendered
from ray_scenes import depth_camera
from touching import world_of

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.scenes.library import scene_names
from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.joints import at_rest
from iap_physics.engines.pybullet.engine import PyBulletEngine
from iap_sensors.rays import embree_packets
from iap_sensors.rays import lidar_spec as lidar
from iap_sensors.rays.depth_camera_spec import PRESETS, DepthCameraSpec
from iap_sensors.rays.lidar_spec import LidarSpec
from iap_sensors.rays.patterns import pattern_of
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
LIDARS = {"dome", "os0_128", "os1_64", "os1_128", "os2_128", "vl53l5cx", "vlp16"}


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


@pytest.mark.parametrize(
    "name", sorted(set(scene_names()) - {"furnished_hall"})
)  # its pipes are round
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


@pytest.mark.parametrize("scene", ["textured_walls", "building_cluster"])
def test_depths_and_labels_are_those_of_opengl(scene):
    (seen, labels), (depth, segments) = rendered(scene), cast(scene)
    both = np.isfinite(seen) & np.isfinite(depth)
    assert both.mean() > 0.4
    assert (np.isfinite(seen) == np.isfinite(depth)).mean() > 0.995  # but for edges before the sky
    off = np.abs(depth[both] / seen[both] - 1.0)
    assert (off < 0.01).mean() >= 0.999
    assert np.median(off) < 1e-4
    assert (labels == segments)[both].mean() >= 0.998


@pytest.mark.parametrize("name", PRESETS.names())
def test_every_preset_is_complete_and_its_rays_are_of_unit_length(name):
    spec = validate(DepthCameraSpec, PRESETS.tree(name), source=name)
    pattern = pattern_of(spec)
    assert pattern.shape == (spec.height, spec.width)
    np.testing.assert_allclose(np.linalg.norm(pattern.bundle.ways_S, axis=1), 1.0, atol=1e-6)


def test_the_fields_common_sensors_are_there():
    assert {"d455", "oak_d"} <= set(PRESETS.names())
    assert set(lidar.PRESETS.names()) >= LIDARS
    for name in LIDARS:
        validate(LidarSpec, lidar.PRESETS.tree(name), source=name)


def test_a_d455_sees_87_by_58_degrees_whatever_its_size():
    for size in ({"width": 848, "height": 480}, {"width": 64, "height": 48}):
        spec = depth_camera(**size)
        angles = [
            np.rad2deg(2.0 * np.arctan(0.5 * n / f))
            for n, f in zip(size.values(), spec.focal, strict=True)
        ]
        np.testing.assert_allclose(angles, [87.0, 58.0])


def test_a_vl53l5cx_sees_45_degrees_and_63_along_the_diagonal():
    spec = validate(LidarSpec, lidar.PRESETS.tree("vl53l5cx"), source="test")
    zone = (spec.azimuth_deg[1] - spec.azimuth_deg[0]) / (spec.columns - 1)
    width = spec.azimuth_deg[1] - spec.azimuth_deg[0] + zone
    assert width == pytest.approx(45.0)
    assert np.hypot(width, width) == pytest.approx(63.6, abs=0.1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"range_min": 40.0}, "key 'range_min'"),
        ({"hfov_deg": 180.0}, "key 'hfov_deg'"),
        (
            {"baseline": 0.1, "projection": "equidistant", "outputs": ["segmentation"]},
            "key 'baseline'",
        ),
        ({"disparity_noise_deg": 0.1}, "key 'disparity_noise_deg'"),
        ({"projection": "equidistant"}, "key 'outputs'"),
        ({"outputs": ["depth", "depth"]}, "key 'outputs'"),
        ({"outputs": ["colour"]}, "key 'outputs"),
        ({"dropout": 1.5}, "key 'dropout'"),
        ({"range_max": float("nan")}, "key 'range_max'"),
        ({"width": 0}, "key 'width'"),
    ],
)
def test_an_impossible_camera_is_refused_by_key(changes, words):
    with pytest.raises(BadInput, match=words):
        depth_camera(**changes)


def test_rays_without_embree_are_one_line_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "embreex", None)
    monkeypatch.delitem(sys.modules, "embreex.rtcore_scene", raising=False)
    monkeypatch.setattr(embree_packets.scenes, "_module", None)
    embree_packets._library.cache_clear()
    with pytest.raises(
        BadInput, match=r"ranges need embreex.*, which is not installed: .* install "
    ):
        embree_packets.TriangleScene(np.zeros((1, 3, 3)))

# SPDX-License-Identifier: BSD-3-Clause
"""Images by rays: planes and boxes where geometry has them, labels and normals, shadows and errors as specified."""

import numpy as np
import pytest
from ray_scenes import LEVEL, NOTHING, box, depth_camera, look, rays_in
from touching import world_of

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.mounts import optical
from iap_description.states import resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body_parts import BODY_LABEL
from iap_description.vehicles.platform import load_platform
from iap_description.world.scene_objects import OBJECT_LABEL
from iap_sensors.rays import lidar_spec as lidar
from iap_sensors.rays.clouds import lengths
from iap_sensors.rays.images import KINDS, RaySensor
from iap_sensors.rays.lidar_spec import LidarSpec
from iap_sensors.rays.patterns import beams, pattern_of
from iap_sensors.rays.world_rays import Rays

WALL = box([5.5, 0.0, 2.0], [1.0, 40.0, 40.0])  # its front is at x = 5
TURNED = so3.quaternion_from_matrix(so3.matrix_from_euler(np.deg2rad([8.0, -12.0, 20.0])))


def lidar_spec(name, **changes):
    return validate(LidarSpec, {**lidar.PRESETS.tree(name), **changes}, source="test")


def test_a_wall_across_the_view_has_one_depth_and_ranges_that_grow_off_the_axis():
    spec = depth_camera()
    seen = look(spec, rays_in(ground=False, wall=WALL), ["depth", "range", "points"])
    np.testing.assert_allclose(seen["depth"], 5.0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(seen["points"], axis=-1), seen["range"], rtol=1e-6)
    (fx, _), (cx, _) = spec.focal, spec.center
    edge = 5.0 * np.sqrt(1.0 + (cx / fx) ** 2 + (spec.center[1] / spec.focal[1]) ** 2)
    assert seen["range"][0, 0] == pytest.approx(edge, rel=1e-6)
    assert fx == pytest.approx(32.0 / np.tan(np.deg2rad(43.5)))


def test_points_lie_on_the_ground_however_the_camera_is_turned_and_its_normal_is_upright():
    p = np.array([3.0, -2.0, 2.5])
    seen = look(depth_camera(), rays_in(), ["points", "normals", "depth"], p, TURNED)
    there = np.isfinite(seen["depth"])
    assert 0.2 < there.mean() < 0.9
    points_W = p + so3.rotate(optical(TURNED), seen["points"][there].astype(float))
    np.testing.assert_allclose(points_W[:, 2], 0.0, atol=2e-5)
    np.testing.assert_allclose(seen["normals"][there], [[0.0, 0.0, 1.0]] * there.sum(), atol=1e-6)
    assert np.isnan(seen["normals"][seen["points"][..., 2] != seen["points"][..., 2]]).mean() > 0.5


def test_a_fisheye_measures_along_rays_whose_angle_is_in_proportion_to_the_radius():
    spec = depth_camera(
        projection="equidistant",
        width=65,
        height=65,
        hfov_deg=180.0,
        vfov_deg=180.0,
        outputs=["segmentation"],
    )
    seen = look(spec, rays_in(ground=False, wall=WALL), ["range"])["range"]
    angle = np.deg2rad(180.0 / 65.0 * np.arange(33))
    expected = 5.0 / np.cos(angle)
    inside = expected < 20.0
    np.testing.assert_allclose(seen[32, 32:][inside], expected[inside], rtol=1e-5)
    np.testing.assert_allclose(seen[32:, 32][inside], expected[inside], rtol=1e-5)


def test_faces_and_labels_say_what_is_seen_and_labels_may_be_the_users():
    rays = rays_in(near=box([3.0, 0.0, 2.0], [1.0, 1.0, 1.0]), wall=WALL)
    outputs = ["segmentation", "labels", "faces", "depth"]
    seen = look(depth_camera(), rays, outputs)
    middle, edge, foot = (24, 32), (2, 2), (47, 32)
    assert [seen["segmentation"][at] for at in (middle, edge, foot)] == [
        OBJECT_LABEL,
        OBJECT_LABEL + 1,
        1,
    ]
    assert [seen["labels"][at] for at in (middle, edge, foot)] == [1, 2, 0]
    assert seen["depth"][middle] == pytest.approx(2.5, abs=1e-5)
    rays.labels[seen["faces"][middle]] = 77
    again = look(depth_camera(), rays, outputs)
    assert (again["labels"] == 77).any()
    assert set(np.unique(again["faces"][again["labels"] == 77])) == {seen["faces"][middle]}
    np.testing.assert_array_equal(again["segmentation"], seen["segmentation"])


def test_where_nothing_is_seen_there_is_no_number_and_no_label():
    seen = look(depth_camera(), rays_in(ground=False), sorted(KINDS))
    for name in ("depth", "range"):
        assert np.isposinf(seen[name]).all(), name  # out of range (REP 117)
    for name in ("points", "normals"):
        assert np.isnan(seen[name]).all(), name
    assert (seen["segmentation"] == 0).all()
    assert (seen["labels"] == -1).all()
    assert (seen["faces"] == -1).all()


def test_what_is_too_near_hides_what_is_behind_it():
    near = box([0.2, 0.0, 2.0], [0.1, 4.0, 4.0])
    seen = look(depth_camera(), rays_in(near=near, wall=WALL), ["depth", "points"])
    assert np.isneginf(seen["depth"]).all()  # too close (REP 117)
    assert np.isnan(seen["points"]).all()


def test_from_within_a_solid_its_inside_is_not_seen():
    around = box([0.0, 0.0, 2.0], [3.0, 3.0, 3.0])
    seen = look(depth_camera(), rays_in(ground=False, around=around, wall=WALL), ["depth"])
    np.testing.assert_allclose(seen["depth"], 5.0, atol=3e-5)


def test_what_moves_is_seen_where_it_is_as_if_it_stood_there():
    push = {"type": "velocity", "velocity": [0.0, 1.0, 0.0]}
    door = box([4.0, -1.0, 2.0], [0.5, 1.0, 1.0], rpy_deg=[10.0, 20.0, 30.0])
    moving = world_of(ground=True, door={**door, "motion": push})
    rays = Rays(moving, [])
    rays.follow(NOTHING, np.array([moving.objects["door"].row(1.5)]))
    stands = rays_in(door={**door, "position": [4.0, 0.5, 2.0]})
    outputs = ["depth", "normals", "segmentation"]
    one, other = (look(depth_camera(), each, outputs) for each in (rays, stands))
    assert (one["segmentation"] == OBJECT_LABEL).sum() > 50
    np.testing.assert_array_equal(one["segmentation"], other["segmentation"])
    np.testing.assert_allclose(one["depth"], other["depth"], atol=1e-5)
    np.testing.assert_allclose(one["normals"], other["normals"], atol=1e-5)


def test_vehicles_are_seen_but_for_the_body_that_carries_the_camera():
    assembly = Assembly.of(load_platform("three_star"))
    rays = Rays(world_of(ground=False), [assembly])
    x = np.array([resting_state(np.array([0.0, 0.0, 50.0]), LEVEL)] * len(assembly.bodies))
    x[2] = resting_state(np.array([2.0, 0.0, 2.0]), LEVEL)
    rays.follow(x, NOTHING)
    seen = look(depth_camera(), rays, ["segmentation", "depth"])
    assert set(np.unique(seen["segmentation"])) == {0, BODY_LABEL + 2}
    assert np.min(seen["depth"]) > 1.5
    assert not look(depth_camera(), rays, ["segmentation"], hidden=(2,))["segmentation"].any()
    assert rays.row(assembly.name, 2) == 2


def test_stereo_gives_nothing_where_the_right_imager_sees_nothing():
    """Left of a panel before a wall, over b f (1/near - 1/far) pixels; and at the left border, over b f / z."""
    spec = depth_camera(baseline=0.4, width=320, height=8, vfov_deg=4.0)
    f = spec.focal[0]
    panel = box([2.0, 0.0, 2.0], [1e-3, 1.0, 4.0])
    depth = look(spec, rays_in(ground=False, panel=panel, wall=WALL), ["depth"])["depth"][4]
    seen = np.isfinite(depth)
    assert np.isnan(depth[~seen]).all()  # there is something, which cannot be measured
    left = round(spec.center[0] - 0.5 * f / 2.0)  # the panel's left edge
    shadow = (~seen[left - 40 : left + 1]).sum()
    assert shadow == pytest.approx(0.4 * f * (1.0 / 2.0 - 1.0 / 5.0), abs=2.0)
    assert (~seen[:40]).sum() == pytest.approx(0.4 * f / 5.0, abs=2.0)
    right = round(spec.center[0] + 0.5 * f / 2.0)
    assert seen[right + 2 :].all()
    np.testing.assert_allclose(depth[seen & (depth > 3.0)], 5.0, atol=1e-5)


def test_the_error_of_stereo_grows_with_the_square_of_the_depth():
    """sigma_z = z^2 sigma_d / (f b), here of an angle."""
    angle = 0.05
    spec = depth_camera(baseline=0.05, disparity_noise_deg=angle, width=160, height=120)
    for z in (1.0, 5.0):
        wall = box([z + 0.5, 0.0, 2.0], [1.0, 60.0, 60.0])
        depth = look(spec, rays_in(ground=False, wall=wall), ["depth"])["depth"]
        expected = z * z * np.tan(np.deg2rad(angle)) / 0.05
        assert np.nanstd(depth) == pytest.approx(expected, rel=0.03)


def test_noise_dropouts_and_steps_are_those_of_the_record_and_the_same_for_the_same_key():
    rays = rays_in(ground=False, wall=WALL)
    spec = depth_camera(noise=0.05, dropout=0.2, resolution=0.01, width=160, height=120)
    one, other, third = (look(spec, rays, ["depth"], key=key)["depth"] for key in (5, 5, 6))
    np.testing.assert_array_equal(one, other)
    assert (one != third).mean() > 0.5
    assert np.isnan(one).mean() == pytest.approx(0.2, abs=0.01)
    assert np.nanstd(one) == pytest.approx(0.05, rel=0.03)
    assert np.nanmean(one) == pytest.approx(5.0, abs=2e-3)
    steps = one[np.isfinite(one)] / 0.01
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)


@pytest.mark.parametrize("limits", [(0.4, 5.05), (4.95, 20.0)])
def test_noise_does_not_measure_what_the_limits_exclude(limits):
    near, far = limits
    rays = rays_in(ground=False, wall=WALL)
    depth_spec = depth_camera(
        noise=0.05, range_min=near, range_max=far, dropout=0.0, width=160, height=120
    )
    depth = look(depth_spec, rays, ["depth"])["depth"]
    measured = depth[np.isfinite(depth)]
    assert near <= measured.min() and measured.max() <= far
    beyond = np.isneginf(depth) if near > 1.0 else np.isposinf(depth)
    assert beyond.sum() + measured.size == depth.size
    assert beyond.mean() == pytest.approx(0.159, abs=0.01)  # beyond one sigma


@pytest.mark.parametrize("name", ["vl53l5cx", "vlp16", "os0_128", "dome"])
def test_a_lidars_image_has_the_ranges_of_its_points(name):
    exact = {"noise": 0.0, "noise_share": 0.0, "resolution": 0.0}
    spec = lidar_spec(name, **exact)
    p, rays = np.array([0.0, 0.0, 1.2]), rays_in(wall=box([3.0, 0.5, 1.0], [1.0, 3.0, 5.0]))
    seen = look(spec, rays, ["range", "points"], p, TURNED)
    assert seen["range"].shape == (spec.channels, spec.columns)
    there = np.isfinite(seen["range"])
    assert there.sum() > 10
    np.testing.assert_allclose(lengths(seen["points"])[there], seen["range"][there], rtol=1e-6)
    assert np.isnan(lengths(seen["points"])[~there]).all()
    starts = p + spec.range_min * so3.rotate(TURNED, beams(spec)[0])
    share = rays.ray_cast(starts, p + spec.range_max * so3.rotate(TURNED, beams(spec)[0]))
    met = np.sort(spec.range_min + share[share < 1.0] * (spec.range_max - spec.range_min))
    assert abs(len(met) - there.sum()) <= 2  # rays that graze an edge
    if len(met) == there.sum():
        np.testing.assert_allclose(np.sort(seen["range"][there]), met, atol=1e-3)


def test_a_lidars_image_has_its_upper_channel_above_and_its_left_azimuth_on_the_left():
    spec = lidar_spec("vl53l5cx")
    pattern = pattern_of(spec)
    ways = pattern.bundle.ways_S.reshape(*pattern.shape, 3)
    elevation = np.rad2deg(np.arcsin(ways[..., 2]))
    azimuth = np.rad2deg(np.arctan2(ways[..., 1], ways[..., 0]))
    np.testing.assert_allclose(elevation[[0, -1], 3], [19.6875, -19.6875], atol=1e-4)
    np.testing.assert_allclose(azimuth[3, [0, -1]], [19.6875, -19.6875], atol=1e-4)


def test_an_output_that_there_is_not_is_refused_by_name():
    with pytest.raises(BadInput, match="no output 'colour'"):
        RaySensor(depth_camera(), ["colour"])
    with pytest.raises(BadInput, match="ask for 'range'"):
        RaySensor(lidar_spec("vlp16"), ["depth"])


def test_noise_is_the_sum_of_a_constant_and_of_what_grows_with_the_square():
    noise, angle, baseline = 0.02, 0.02, 0.05
    errors = {"noise": noise, "baseline": baseline, "disparity_noise_deg": angle}
    spec = depth_camera(**errors, width=160, height=120)
    for z in (1.0, 4.0):
        wall = box([z + 0.5, 0.0, 2.0], [1.0, 60.0, 60.0])
        depth = look(spec, rays_in(ground=False, wall=wall), ["depth"])["depth"]
        expected = noise + z * z * np.tan(np.deg2rad(angle)) / baseline
        assert np.nanstd(depth) == pytest.approx(expected, rel=0.03)
        assert np.nanmean(depth) == pytest.approx(z, abs=5e-3)


def test_a_normal_points_to_the_sensor_from_either_side_of_a_surface():
    roof = box([0.0, 0.0, 5.0], [40.0, 40.0, 0.5])
    up = so3.quaternion_exp(np.array([0.0, -np.pi / 3.0, 0.0]))
    seen = look(depth_camera(), rays_in(ground=False, roof=roof), ["normals"], q=up)
    there = np.isfinite(seen["normals"][..., 2])
    assert there.sum() > 500
    np.testing.assert_allclose(seen["normals"][there], [[0.0, 0.0, -1.0]] * there.sum(), atol=1e-6)


def test_a_lidar_of_one_ray_in_any_direction_has_no_opening_angle():
    for azimuth in np.linspace(-170.0, 170.0, 45):
        spec = lidar_spec(
            "vlp16",
            columns=1,
            channels=1,
            azimuth_deg=[azimuth, azimuth],
            elevation_deg=[17.0, 17.0],
        )
        pattern = pattern_of(spec)
        assert 0.0 <= pattern.half < 1e-7
        assert np.linalg.norm(pattern.axis_S) == pytest.approx(1.0)

# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the keys of depth cameras and lidars: what is just within is taken, what is just beyond is refused."""

import math

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_sensors.rays import lines
from iap_sensors.rays.depth_camera_spec import PRESETS as DEPTH_CAMERAS
from iap_sensors.rays.depth_camera_spec import DepthCameraSpec
from iap_sensors.rays.lidar_spec import PRESETS as LIDARS
from iap_sensors.rays.lidar_spec import LidarSpec
from iap_sensors.rays.noise import RangeErrors


def lidar(**changes):
    return validate(LidarSpec, {**LIDARS.tree("vlp16"), **changes}, source="test")


def camera(name="d455", **changes):
    return validate(DepthCameraSpec, {**DEPTH_CAMERAS.tree(name), **changes}, source="test")


@pytest.mark.parametrize(
    ("taken", "refused", "said"),
    [
        ({"elevation_deg": [-90.0, 90.0]}, {"elevation_deg": [-90.01, 0.0]}, "'elevation_deg'"),
        ({"elevation_deg": [5.0, 5.0]}, {"elevation_deg": [5.0, 4.9]}, "within -90 and 90"),
        ({"elevation_deg": [0.0, 90.0]}, {"elevation_deg": [0.0, 90.1]}, "'elevation_deg'"),
        ({"azimuth_deg": [-100.0, 260.0]}, {"azimuth_deg": [-100.0, 260.1]}, "at most 360"),
        ({"azimuth_deg": [7.0, 7.0]}, {"azimuth_deg": [7.0, 6.9]}, "'azimuth_deg'"),
        (
            {"range_min": 1.99, "range_max": 2.0},
            {"range_min": 2.0, "range_max": 2.0},
            r"'range_min': 2\.0 m is not below 2\.0 m",
        ),
    ],
)
def test_a_lidar_takes_what_is_within_its_limits(taken, refused, said):
    assert lidar(**taken).columns == lidar().columns
    with pytest.raises(BadInput, match=said):
        lidar(**refused)


@pytest.mark.parametrize(
    ("name", "taken", "refused", "said"),
    [
        ("d455", {"range_min": 5.99}, {"range_min": 6.0}, r"6\.0 m is not below 6\.0 m"),
        ("d455", {"hfov_deg": 179.9}, {"hfov_deg": 180.0}, "'hfov_deg': a pinhole sees less than"),
        ("d455", {"vfov_deg": 179.9}, {"vfov_deg": 180.0}, "'vfov_deg': .* less than 180 deg"),
        ("fisheye", {"hfov_deg": 360.0}, {"hfov_deg": 360.1}, "hfov_deg"),
        ("fisheye", {"baseline": 0.0}, {"baseline": 0.01}, "only pinholes measure by stereo"),
        (
            "d455",
            {"baseline": 0.0, "disparity_noise_deg": 0.0},
            {"baseline": 0.0, "disparity_noise_deg": 0.01},
            "no parallax without a baseline",
        ),
        ("fisheye", {}, {"outputs": ["depth"]}, "a fisheye measures along its rays"),
        (
            "d455",
            {"outputs": ["segmentation", "depth"]},
            {"outputs": ["depth", "depth"]},
            "'outputs': one is given twice",
        ),
    ],
)
def test_a_depth_camera_takes_what_is_within_its_limits(name, taken, refused, said):
    assert camera(name, **taken).width == camera(name).width
    with pytest.raises(BadInput, match=said):
        camera(name, **refused)


def test_lenses_are_told_in_the_words_of_camera_info():
    assert camera().lens == {"distortion_model": "plumb_bob", "D": (0.0,) * 5}
    assert camera("fisheye").lens == {"distortion_model": "equidistant", "D": (0.0,) * 4}
    assert camera().IS_CAMERA and not lidar().IS_CAMERA


def test_focal_lengths_and_the_view_are_those_of_the_fields_of_view():
    pinhole = camera(width=300, height=100, hfov_deg=90.0, vfov_deg=60.0)
    assert pinhole.focal == pytest.approx((150.0, 50.0 * math.sqrt(3.0)))
    assert pinhole.center == (149.5, 49.5)
    fisheye = camera("fisheye", width=300, height=100, hfov_deg=180.0, vfov_deg=90.0)
    assert fisheye.focal == pytest.approx((300.0 / math.pi, 200.0 / math.pi))


def test_errors_of_ranges_are_those_of_the_keys():
    keys = {"range_min": 0.5, "range_max": 9.0, "noise": 0.03, "dropout": 0.2, "resolution": 0.01}
    seen = RangeErrors.of(camera(**keys, baseline=0.1, disparity_noise_deg=0.5))
    square = math.tan(math.radians(0.5)) / 0.1
    assert seen == pytest.approx((0.5, 9.0, 0.03, 0.0, square, 0.2, 0.01))
    assert RangeErrors.of(camera("fisheye")).square == 0.0
    assert RangeErrors.of(lidar(**keys, noise_share=0.04)) == (
        0.5,
        9.0,
        0.03,
        0.04,
        0.0,
        0.2,
        0.01,
    )
    least = dict(LIDARS.tree("vlp16"))
    for key in ("noise_share", "resolution"):
        least.pop(key, None)
    bare = validate(LidarSpec, least, source="test")
    assert (bare.noise_share, bare.resolution) == (0.0, 0.0)


def test_a_ray_counts_as_near_up_to_the_farthest_corner_from_any_point_of_it():
    corners = np.array([[[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]])  # sqrt(2) away
    sheets = lines._Sheets(corners)
    starts, ways = np.zeros((2, 3)), np.tile([1.0, 0.0, 0.0], (2, 1))
    starts[1, 2] = -0.5
    assert sheets.is_near(starts, ways, np.array([2.4, 0.0, 0.0])).tolist() == [True, False]
    assert not sheets.is_near(starts, ways, np.array([2.45, 0.0, 0.0])).any()
    assert sheets.is_near(starts, ways, np.array([0.5, 1.4, 0.0])).tolist() == [True, False]

# SPDX-License-Identifier: BSD-3-Clause
"""Records of depth cameras: presets are complete, and what is unknown or impossible is refused by its key."""

import numpy as np
import pytest
from ray_scenes import depth_camera

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_sensors.rays import lidar_spec as lidar
from iap_sensors.rays.depth_camera_spec import PRESETS, DepthCameraSpec
from iap_sensors.rays.lidar_spec import LidarSpec
from iap_sensors.rays.patterns import pattern_of

LIDARS = {"dome", "os0_128", "os1_64", "os1_128", "os2_128", "vl53l5cx", "vlp16"}


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

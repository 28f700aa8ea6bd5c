# SPDX-License-Identifier: BSD-3-Clause
"""Lidars: beams where they belong, ranges of planes, and depth images by rays."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.sensors.readings import SensorSource
from iap_sensors.mounted.lidar import Lidar
from iap_sensors.rays.lidar_spec import PRESETS, LidarSpec
from iap_sensors.rays.patterns import beams

SOURCE = SensorSource("/iap/drone_1/lidar", "iap/drone_1_lidar")
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


class Ground:
    """Casts rays on the plane z = 0."""

    def ray_cast(self, starts_W, ends_W, *, world_only=False):
        assert not world_only
        with np.errstate(divide="ignore", invalid="ignore"):
            share = -starts_W[:, 2] / (ends_W[:, 2] - starts_W[:, 2])
        return np.where((share >= 0.0) & (share < 1.0), share, 1.0)


def spec(name="vlp16", **changes):
    return validate(LidarSpec, {**PRESETS.tree(name), **changes}, source="test")


def lidar(one, seed=1):
    return Lidar(SOURCE, one, stream(seed, "lidar"))


@pytest.mark.parametrize("name", PRESETS.names())
def test_every_preset_is_complete_and_its_beams_are_of_unit_length(name):
    directions, rings = beams(spec(name))
    one = spec(name)
    assert len(directions) == len(rings) == one.channels * one.columns
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0)


def test_channels_and_columns_are_where_they_belong():
    directions, rings = beams(spec(channels=3, columns=4))
    elevation = np.rad2deg(np.arcsin(directions[:, 2]))
    np.testing.assert_allclose(elevation[:3], [-15.0, 0.0, 15.0], atol=1e-9)
    np.testing.assert_array_equal(rings[:4], [0, 1, 2, 0])
    azimuth = np.rad2deg(np.arctan2(directions[1::3, 1], directions[1::3, 0]))
    np.testing.assert_allclose(np.abs(azimuth), [180.0, 90.0, 0.0, 90.0], atol=1e-9)


def test_the_ground_is_seen_where_it_is_however_the_sensor_is_turned():
    q_WS = so3.quaternion_from_matrix(so3.matrix_from_euler(np.deg2rad([10.0, -20.0, 50.0])))
    p_W = np.array([3.0, -2.0, 2.0])
    cloud = lidar(spec(noise=0.0, columns=90)).measure(0.5, p_W, q_WS, Ground())
    points_W = p_W + so3.rotate(q_WS, cloud.points_S.astype(float))
    assert cloud.t == 0.5
    assert len(points_W) > 300
    np.testing.assert_allclose(points_W[:, 2], 0.0, atol=1e-4)


def test_noise_is_along_the_beam_and_what_is_out_of_reach_is_not_seen():
    one = spec(noise=0.05)
    cloud = lidar(one).measure(0.0, np.array([0.0, 0.0, 5.0]), LEVEL, Ground())
    ranges = np.linalg.norm(cloud.points_S, axis=1)
    true = 5.0 / -np.sin(np.deg2rad(np.linspace(-15.0, 15.0, 16)[cloud.rings]))
    assert np.std(ranges - true) == pytest.approx(0.05, rel=0.05)
    assert cloud.rings.max() == 6  # -3 deg: 96 m; the beam above is 100 m long and ends before
    assert not len(lidar(one).measure(0.0, np.array([0.0, 0.0, 200.0]), LEVEL, Ground()).rings)


@pytest.mark.parametrize("limits", [(0.1, 4.0), (4.0, 100.0)])
def test_noise_does_not_measure_what_the_limits_exclude(limits):
    near, far = limits
    every = lidar(spec(noise=0.5)).measure(0.0, np.array([0.0, 0.0, 1.0]), LEVEL, Ground())
    one = spec(noise=0.5, range_min=near, range_max=far)
    cloud = lidar(one).measure(0.0, np.array([0.0, 0.0, 1.0]), LEVEL, Ground())
    ranges = np.linalg.norm(cloud.points_S, axis=1)
    assert near <= ranges.min() and ranges.max() <= far
    assert 0.05 * len(every.rings) < len(ranges) < 0.95 * len(every.rings)


def test_dropouts_take_their_share():
    full, thin = (
        len(lidar(spec(dropout=share)).measure(0.0, np.array([0, 0, 2.0]), LEVEL, Ground()).rings)
        for share in (0.0, 0.25)
    )
    assert thin / full == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"elevation_deg": [20.0, 10.0]}, "elevation_deg"),
        ({"azimuth_deg": [-200.0, 200.0]}, "azimuth_deg"),
        ({"range_min": 200.0}, "range_min"),
        ({"rate": -1.0}, "key 'rate'"),
        ({"channels": 0}, "key 'channels'"),
    ],
)
def test_an_impossible_lidar_is_refused_by_key(changes, words):
    with pytest.raises(BadInput, match=words):
        spec(**changes)

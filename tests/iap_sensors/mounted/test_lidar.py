# SPDX-License-Identifier: BSD-3-Clause
"""Lidars: beams where they belong, ranges of planes, and depth images by rays."""

import numpy as np
import pytest
from ray_scenes import rays_in

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import CloudReading, SensorSource
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_sensors.mounted.lidar import Lidars
from iap_sensors.rays.clouds import cloud_of, lengths, range_image
from iap_sensors.rays.lidar_spec import PRESETS, LidarSpec
from iap_sensors.rays.patterns import beams

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def spec(name="vlp16", **changes):
    return validate(LidarSpec, {**PRESETS.tree(name), **changes}, source="test")


def turn(one, p_W, q_WS=LEVEL, t=0.0, seed=1):
    """A turn of the lidar of an aircraft above the ground."""
    aircraft = Assembly.of(load_platform("f450"), "iap")
    sensors = Lidars(one, aircraft, seed=seed, control_hz=200.0)
    (cloud,) = sensors.measure(t, np.array([p_W]), q_WS[None], rays_in())
    return cloud


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
    cloud = turn(spec(noise=0.0, columns=90), p_W, q_WS, 0.5)
    points_W = p_W + so3.rotate(q_WS, cloud.points_S.astype(float))
    assert cloud.t == 0.5
    assert len(points_W) > 300
    np.testing.assert_allclose(points_W[:, 2], 0.0, atol=1e-4)


def test_noise_is_along_the_beam_and_what_is_out_of_reach_is_not_seen():
    one = spec(noise=0.05)
    cloud = turn(one, [0.0, 0.0, 5.0])
    ranges = np.linalg.norm(cloud.points_S, axis=1)
    true = 5.0 / -np.sin(np.deg2rad(np.linspace(-15.0, 15.0, 16)[cloud.rings]))
    assert np.std(ranges - true) == pytest.approx(0.05, rel=0.05)
    assert cloud.rings.max() == 6  # -3 deg: 96 m; the beam above is 100 m long and ends before
    assert not len(turn(one, [0.0, 0.0, 200.0]).rings)


def test_every_turn_and_every_seed_has_noise_of_its_own():
    one = spec(noise=0.05, columns=90)
    first, again = turn(one, [0.0, 0.0, 2.0]), turn(one, [0.0, 0.0, 2.0])
    np.testing.assert_array_equal(first.points_S, again.points_S)
    for other in (turn(one, [0.0, 0.0, 2.0], t=0.1), turn(one, [0.0, 0.0, 2.0], seed=2)):
        assert len(other.rings) == len(first.rings)
        assert not np.array_equal(other.points_S, first.points_S)


@pytest.mark.parametrize("limits", [(0.1, 4.0), (4.0, 100.0)])
def test_noise_does_not_measure_what_the_limits_exclude(limits):
    near, far = limits
    every = turn(spec(noise=0.5), [0.0, 0.0, 1.0])
    cloud = turn(spec(noise=0.5, range_min=near, range_max=far), [0.0, 0.0, 1.0])
    ranges = np.linalg.norm(cloud.points_S, axis=1)
    assert near <= ranges.min() + 1e-5 and ranges.max() <= far + 1e-5
    assert 0.05 * len(every.rings) < len(ranges) < 0.95 * len(every.rings)


def test_dropouts_take_their_share():
    full, thin = (len(turn(spec(dropout=share), [0.0, 0.0, 2.0]).rings) for share in (0.0, 0.25))
    assert thin / full == pytest.approx(0.75, abs=0.02)


AZIMUTHS = [(-180.0, 180.0), (0.0, 360.0), (-20.0, 30.0), (170.0, 250.0), (-179.0, 178.0)]


@pytest.mark.parametrize("azimuth", AZIMUTHS)
@pytest.mark.parametrize("columns", [1, 7, 360])
def test_a_cloud_becomes_the_image_that_it_was_made_of_bit_for_bit(azimuth, columns):
    """Points along all beams at drawn ranges, of which a third is missing; up to the zenith."""
    one = spec(channels=5, columns=columns, azimuth_deg=azimuth, elevation_deg=[-80.0, 90.0])
    rng = np.random.default_rng(columns)
    directions, _ = beams(one)
    ways = np.swapaxes(directions.reshape(columns, 5, 3), 0, 1)[::-1, ::-1].astype(np.float32)
    points = ways * rng.uniform(0.5, 90.0, (5, columns, 1)).astype(np.float32)
    points[rng.random((5, columns)) < 0.3] = np.nan
    source = SensorSource("/iap/lidar", "iap_lidar")
    cloud = CloudReading(source, 0.0, *cloud_of(points))
    assert len(cloud.rings) == np.isfinite(points[..., 0]).sum()
    found = range_image(one, cloud)
    np.testing.assert_array_equal(found, lengths(points))
    np.testing.assert_allclose(found, np.linalg.norm(points, axis=-1), rtol=1e-6)


def test_points_of_a_channel_that_is_not_there_are_refused():
    cloud = CloudReading(
        SensorSource("/iap/lidar", "f"),
        0.0,
        np.ones((1, 3), np.float32),
        np.array([16], np.uint16),
    )
    with pytest.raises(
        BadInput, match="^/iap/lidar: ring 16, but the lidar has channels 0 to 15$"
    ):
        range_image(spec(), cloud)


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

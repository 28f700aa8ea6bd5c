# SPDX-License-Identifier: BSD-3-Clause
"""Pictures that studies make and measure: spots, corners, light, and colours of numbers."""

import numpy as np
import pytest

from iap_bringup.experiments import (
    rays,
)
from iap_bringup.experiments.images import (
    dark_centroids,
    dark_spot,
    followed,
    lit_wall,
    spotted_wall,
)
from iap_bringup.experiments.photometry import _alike, mean_light, replaced
from iap_description.math import so3
from iap_description.scenes.lighting import Lighting
from iap_sensors.cameras.renderer import Frame


def quiet(_):
    """Tell nobody."""


def test_spots_of_a_wall_are_the_middles_of_its_tiles_and_are_found_where_they_are():
    wall, points = spotted_wall(3.0, so3.quaternion_exp(np.array([0.0, 0.0, 0.3])), tiles=4)
    assert points.shape == (16, 3)
    assert points.mean(axis=0) == pytest.approx([3.0, 0.0, 0.0], abs=1e-9)
    assert np.ptp(points[:, 2]) == pytest.approx(12.0)
    normal = so3.rotate(so3.quaternion_exp(np.array([0.0, 0.0, 0.3])), np.array([-1.0, 0.0, 0.0]))
    assert (points - [3.0, 0.0, 0.0]) @ normal == pytest.approx(np.zeros(16), abs=1e-9)
    scene = lit_wall(wall, dark_spot())
    assert scene.light.ambient == 1.0 and scene.light.strength == 0.0
    spot = dark_spot(64)[..., 0]
    assert spot[32, 32] < 20 and spot[0, 0] == 255
    image = np.full((60, 80), 255, np.uint8)
    for u, v in ((20, 30), (55, 40)):
        image[v - 1 : v + 2, u - 1 : u + 3] = 10  # a spot half a pixel to the right of its middle
    found = dark_centroids(image, np.array([[20.2, 29.7], [55.4, 40.1]]))
    np.testing.assert_allclose(found, [[20.5, 30.0], [55.5, 40.0]], atol=1e-6)


def test_corners_are_kept_as_long_as_they_are_in_the_image():
    rng = np.random.default_rng(0)
    canvas = np.full((200, 400), 90, np.uint8)
    for u, v in zip(rng.integers(10, 380, 60), rng.integers(10, 180, 60), strict=True):
        canvas[v : v + 9, u : u + 9] = rng.integers(0, 255)
    images = [canvas[:160, k : 200 + k].copy() for k in range(0, 12, 3)]
    still = followed([images[0], images[0]])
    assert still > 20
    assert 0.5 * still < followed(images) <= still
    assert followed([images[0], np.full_like(images[0], 90)]) == 0
    assert followed([np.full_like(images[0], 90), images[0]]) == 0


def test_pixels_are_alike_with_one_depth_and_one_label():
    depth = np.array([[1.0, 2.0, np.inf, np.inf]], np.float32)
    labels = np.array([[1, 2, 0, 0]], np.uint16)
    one = Frame(depth=depth, labels=labels)
    assert _alike(one, one) == 100.0
    near = Frame(depth=depth * np.float32(1.009), labels=labels)
    assert _alike(one, near) == 100.0
    assert _alike(one, Frame(depth=depth * np.float32(1.02), labels=labels)) == 50.0
    assert _alike(one, Frame(depth=depth, labels=np.array([[1, 1, 0, 0]], np.uint16))) == 75.0
    assert (
        _alike(one, Frame(depth=np.array([[1, 2, np.inf, 5.0]], np.float32), labels=labels))
        == 75.0
    )


def test_mean_light_is_the_luminance_of_what_is_no_sky():
    class Drawn:
        def load(self, scene, bodies):
            self.scene = scene

        def render(self, shots, poses):
            rgb = np.array([[[255, 255, 255], [100, 0, 0], [0, 200, 50]]], np.uint8)
            return [Frame(rgb=rgb, labels=np.array([[0, 3, 1]], np.uint16))]

    from iap_bringup.experiments.photometry import VIEWS

    found = mean_light(Drawn(), None, VIEWS[0])
    assert found == pytest.approx(0.5 * (21.26 + 0.7152 * 200 + 0.0722 * 50))
    assert replaced(Lighting(), 1234.0).exposed_for == 1234.0


def test_colours_of_depths_labels_normals_and_points_are_of_their_numbers():
    depths = rays.shaded(np.array([[0.0, 6.0, 12.0, 99.0, np.inf]]), 12.0)[0]
    assert depths[0].tolist() == [68, 1, 84] and depths[1].tolist() == [33, 145, 140]
    assert (
        depths[2].tolist() == depths[3].tolist() == [253, 231, 37]
        and depths[4].tolist() == [235] * 3
    )
    labels = rays.by_label(np.array([[-1, 0, 1, 1]]))[0]
    assert (
        labels[0].tolist() == [235] * 3
        and (labels[2] == labels[3]).all()
        and (labels[1] != labels[2]).any()
    )
    assert (labels[1:] >= 89).all()
    normals = rays.by_normal(np.array([[[1.0, 0.0, -1.0], [np.nan] * 3]]))[0]
    assert normals[0].tolist() == [255, 127, 0] and normals[1].tolist() == [235] * 3
    points = np.array(
        [[6.0, 0.0, 0.0], [6.0, 0.0, 6.0], [0.0, -6.0, 3.0], [13.0, 0.0, 1.0], [np.nan] * 3]
    )
    seen = rays.from_above(points)
    assert seen.shape == (320, 320, 3)
    coloured = {tuple(each) for each in np.argwhere((seen != 235).any(axis=2)).tolist()}
    assert coloured == {(80, 160), (160, 240)}  # ahead is up, right is right
    assert seen[80, 160].tolist() == [253, 231, 37] and seen[160, 240].tolist() == [33, 145, 140]
    framed = rays._framed(np.zeros((3, 5, 3), np.uint8))
    assert (
        framed.shape == (7, 9, 3)
        and framed[0, 0].tolist() == [255] * 3
        and framed[2, 2].tolist() == [0] * 3
    )

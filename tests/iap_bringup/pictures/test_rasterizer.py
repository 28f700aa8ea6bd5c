# SPDX-License-Identifier: BSD-3-Clause
"""Triangles are seen where they are, the nearest first, also those that reach behind the camera."""

import numpy as np
import pytest

from iap_bringup.pictures.picture_scene import (
    NONE,
    PaintedTriangles,
    PictureScene,
    _lit,
    rasterize,
)
from iap_description.geometry.shapes import Shape
from iap_description.states import resting_state

NEAR = 0.1


def drawn(corners, size=(9, 9), scale=8.0):
    """Depths, numbers and places of triangles (n, 3, 3) in camera axes."""
    depth, seen = np.full(size[::-1], np.inf), np.full(size[::-1], NONE)
    place = np.zeros((*size[::-1], 3))
    rasterize(np.array(corners, float), scale, NEAR, depth, seen, place)
    return depth, seen, place


def test_a_slanted_triangle_has_the_depth_of_its_plane():
    corners = np.array([[[-9.0, -9.0, -3.0], [9.0, -9.0, -3.0], [0.0, 9.0, -6.0]]])
    depth, seen, place = drawn(corners)
    y = (4.0 - np.arange(9)) / 8.0
    slope = 3.0 / 18.0  # z = -3 - slope (y + 9) with y = depth times that of the ray
    expected = (3.0 + slope * 9.0) / (1.0 - slope * y)
    assert (seen[1:8, 3:6] == 0).all()
    np.testing.assert_allclose(depth[:, 4], expected, rtol=1e-12)
    np.testing.assert_allclose(place[4, 4] @ corners[0], [0.0, 0.0, -4.5], atol=1e-12)


def test_the_nearest_triangle_is_seen_whatever_its_number():
    far = [[-9.0, -9.0, -4.0], [9.0, -9.0, -4.0], [0.0, 9.0, -4.0]]
    near = [[-1.0, -1.0, -2.0], [1.0, -1.0, -2.0], [0.0, 1.0, -2.0]]
    for order, number in (((far, near), 1), ((near, far), 0)):
        depth, seen, _ = drawn(order)
        assert seen[4, 4] == number and depth[4, 4] == pytest.approx(2.0)
        assert depth[1, 1] == pytest.approx(4.0)


def test_a_triangle_that_reaches_behind_the_camera_is_seen_in_front_of_it_alone():
    floor = [[-50.0, -1.0, 20.0], [50.0, -1.0, 20.0], [0.0, -1.0, -50.0]]
    depth, seen, _ = drawn([floor])
    assert (seen[:4] == NONE).all() and (seen[6:, 4] == 0).all()
    np.testing.assert_allclose(depth[6:, 4], 8.0 / (np.arange(6, 9) - 4.0))
    behind = [[-9.0, -9.0, 3.0], [9.0, -9.0, 3.0], [0.0, 9.0, 3.0]]
    assert (drawn([behind])[1] == NONE).all()


def test_a_surface_is_as_bright_as_lambert_has_it_and_the_ground_chequered():
    scene = PictureScene()
    box = Shape(shape="box", size=(0.2, 0.2, 0.2), color=(0.4, 0.4, 0.4, 1.0))
    scene.add_object([box], resting_state(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])))
    view = np.eye(4)
    view[2, 3] = -2.0  # from 2 m above, looking down
    slanted = 0.6 * np.array([0.0, 0.6, 0.8])
    colors, depth = scene.shoot(view, 40.0, (0.05, 200.0), (64, 64), slanted)
    np.testing.assert_allclose(colors[32, 32], 255.0 * 0.4 * (0.55 + 0.6 * 0.8))
    assert depth[32, 32] == pytest.approx(1.9) and np.isinf(depth[0, 0])
    scene.add_ground(np.zeros(3))
    colors, depth = scene.shoot(view, 40.0, (0.05, 200.0), (64, 64), 0.0 * slanted)
    assert depth[0, 0] == pytest.approx(2.0)
    corners = [colors[i, j, 0] / 255.0 / 0.55 for i, j in ((0, 0), (0, 63), (63, 0), (63, 63))]
    assert np.ptp(corners[::3]) == 0.0 and abs(corners[0] - corners[1]) == pytest.approx(0.11)


@pytest.mark.parametrize(
    ("side", "light", "share"),
    [(1.0, 1.0, 1.55), (-1.0, 1.0, 1.55), (1.0, -1.0, 0.55), (1.0, 0.2, 0.75)],
)
def test_a_surface_is_lit_on_the_side_that_is_looked_at_whichever_way_its_normal_points(
    side, light, share
):
    """A camera at the origin looks along -z at a triangle whose normal is along +z or -z."""
    corners = np.array([[[-1.0, -1.0, -2.0], [1.0, -1.0, -2.0], [0.0, 1.0, -2.0]]])
    normals = np.tile([0.0, 0.0, side], (1, 3, 1))
    painted = [PaintedTriangles(corners, normals, (0.2, 0.4, 0.6, 1.0))]
    place, ray = np.full((1, 3), 1 / 3), np.array([0.0, np.sqrt(1.0 - light**2), light])
    found = _lit(painted, np.zeros(1, int), place, corners, np.eye(4), ray)
    np.testing.assert_allclose(found[0], 255.0 * share * np.array([0.2, 0.4, 0.6]))

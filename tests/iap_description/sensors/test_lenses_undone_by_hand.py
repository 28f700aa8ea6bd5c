# SPDX-License-Identifier: BSD-3-Clause
"""Lenses are undone in a few steps of Newton's method, and only where a single point has that image."""

import numpy as np
import pytest

from iap_description.sensors import fisheye_models, lens
from iap_description.sensors.fisheye_models import (
    MAX_ANGLE,
    distort_double_sphere,
    distort_equidistant,
    undistort_double_sphere,
    undistort_equidistant,
)
from iap_description.sensors.lens import (
    _jacobian,
    _squared_folding_radius,
    distort_plumb_bob,
    undistort_plumb_bob,
)

BENT = np.array([-0.28, 0.07, 2e-3, -3e-3, -0.01])
FISHEYE = np.array([0.08, -0.02, 0.01, -0.003])
XY = np.array([[0.0, 0.0], [0.3, -0.2], [-0.5, 0.4], [0.05, 0.6], [1e-9, 0.0]])


@pytest.mark.parametrize("D", [BENT, [0.1, 0.2, -0.01, 0.02, 0.3], [0.0, 0.0, 0.0, 0.0, 0.4]])
def test_slopes_of_all_coefficients_are_differences(D):
    D, h = np.array(D), 1e-6
    a, b, c, d = _jacobian(XY, D)
    along_x, along_y = (
        (distort_plumb_bob(XY + step, D) - distort_plumb_bob(XY - step, D)) / (2.0 * h)
        for step in (np.array([h, 0.0]), np.array([0.0, h]))
    )
    np.testing.assert_allclose(np.stack([a, c], -1), along_x, atol=1e-8)
    np.testing.assert_allclose(np.stack([b, d], -1), along_y, atol=1e-8)


def test_plumb_bob_is_undone_in_a_few_steps(monkeypatch):
    monkeypatch.setattr(lens, "MAX_ITERATIONS", 6)
    image = distort_plumb_bob(XY, BENT)
    np.testing.assert_allclose(undistort_plumb_bob(image, BENT), XY, atol=1e-12)
    np.testing.assert_allclose(undistort_plumb_bob(image[1], BENT), XY[1], atol=1e-12)
    grid = image.reshape(5, 1, 2)
    np.testing.assert_allclose(undistort_plumb_bob(grid, BENT), XY.reshape(5, 1, 2), atol=1e-12)
    monkeypatch.setattr(lens, "MAX_ITERATIONS", 1)
    assert np.isnan(undistort_plumb_bob(image, BENT)[2]).all()


def test_a_lens_that_is_not_centred_is_undone_in_as_few_steps(monkeypatch):
    monkeypatch.setattr(lens, "MAX_ITERATIONS", 5)
    D = np.array([0.1, 0.05, 0.08, -0.06, 0.02])
    xy = np.array([[0.5, 0.5], [0.5, -0.5], [-0.6, 0.3]])
    np.testing.assert_allclose(undistort_plumb_bob(distort_plumb_bob(xy, D), D), xy, atol=1e-12)


def test_without_coefficients_points_are_copied():
    again = undistort_plumb_bob(XY, np.zeros(5))
    np.testing.assert_array_equal(again, XY)
    again[:] = 7.0
    assert XY[0, 0] == 0.0


def test_an_image_of_two_points_has_none_beyond_the_fold():
    D = np.array(
        [-1.0 / 3.0, 0.0, 0.0, 0.0, 0.0]
    )  # r - r^3 / 3 folds at r = 1, with its image at 2 / 3
    assert _squared_folding_radius(D) == pytest.approx(1.0)
    found = undistort_plumb_bob(np.array([[0.6, 0.0], [0.67, 0.0], [0.0, -0.665]]), D)
    assert np.isnan(found).all(axis=1).tolist() == [False, True, False]
    (r,) = (r.real for r in np.roots([-1.0 / 3.0, 0.0, 1.0, -0.6]) if 0.0 < r.real < 1.0)
    assert found[0] == pytest.approx([r, 0.0])
    beyond = distort_plumb_bob(
        np.array([1.5, 0.0]), D
    )  # 0.375, which a point before the fold has, too
    assert undistort_plumb_bob(beyond, D)[0] < 1.0
    assert np.isnan(undistort_plumb_bob(np.array([-1.2, 0.0]), D)).all()


@pytest.mark.parametrize(
    ("D", "square"),
    [
        ([0.1, 0.1, 0.5, 0.5, 0.1], np.inf),
        ([0.0, 0.0, 0.0, 0.0, -1.0 / 56.0], 2.0),
        ([0.0, -1.0 / 20.0, 0.0, 0.0, 0.0], 2.0),
        ([-1.0, 0.4, 0.0, 0.0, 0.0], 0.5),
        ([0.0, 0.0, 9.0, 9.0, 0.0], np.inf),
        ([-0.5, 0.4, 0.0, 0.0, 0.0], np.inf),
    ],
)
def test_a_lens_folds_where_its_radius_stops_growing(D, square):
    assert _squared_folding_radius(np.array(D)) == pytest.approx(square)


def test_a_fisheye_is_undone_in_a_few_steps_up_to_its_largest_angle(monkeypatch):
    monkeypatch.setattr(fisheye_models, "MAX_ITERATIONS", 5)
    image = distort_equidistant(XY, FISHEYE)
    np.testing.assert_allclose(undistort_equidistant(image, FISHEYE), XY, atol=1e-12)
    monkeypatch.setattr(fisheye_models, "MAX_ITERATIONS", 30)
    wide = np.deg2rad([60.0, 88.0, 88.9, 89.1, 91.0])
    along = np.array([0.6, -0.8])
    found = undistort_equidistant(wide[:, None] * along, np.zeros(4))
    np.testing.assert_allclose(found[:3], np.tan(wide[:3, None]) * along, rtol=1e-9)
    assert np.isnan(found[3:]).all() and np.rad2deg(MAX_ANGLE) == pytest.approx(89.0)
    assert undistort_equidistant(np.zeros(2), FISHEYE).tolist() == [0.0, 0.0]
    assert undistort_equidistant(np.array([1e-9, 0.0]), FISHEYE).tolist() == [1e-9, 0.0]
    assert distort_equidistant(np.array([1e-9, 0.0]), FISHEYE).tolist() == [1e-9, 0.0]
    assert undistort_equidistant(np.zeros((0, 2)), FISHEYE).shape == (0, 2)


def test_an_angle_is_bent_by_odd_powers():
    theta = 0.5
    powers = theta + 0.08 * theta**3 - 0.02 * theta**5 + 0.01 * theta**7 - 0.003 * theta**9
    assert fisheye_models._bent(np.array(theta), FISHEYE) == pytest.approx(powers, rel=1e-14)
    slope = 1.0 + 0.24 * theta**2 - 0.1 * theta**4 + 0.07 * theta**6 - 0.027 * theta**8
    assert fisheye_models._slope(np.array(theta), FISHEYE) == pytest.approx(slope, rel=1e-14)
    assert fisheye_models._slope(np.array(1.0), np.array([-1.0, 0.0, 0.0, 0.0])) == 1e-3
    image = distort_equidistant(np.tan(theta) * np.array([0.0, -1.0]), FISHEYE)
    np.testing.assert_allclose(image, [0.0, -powers], rtol=1e-14)


@pytest.mark.parametrize("D", [(-0.2, 0.55), (0.3, 0.8), (0.9, 0.2)])
def test_a_double_sphere_is_undone_as_far_as_is_asked_for(D):
    D = np.array(D)
    angles = np.deg2rad([0.0, 20.0, 55.0, 65.0])
    points = np.tan(angles)[:, None] * np.array([0.8, 0.6])
    image = distort_double_sphere(points, D)
    found = undistort_double_sphere(image, D, float(np.deg2rad(60.0)))
    np.testing.assert_allclose(found[:3], points[:3], atol=1e-12)
    assert np.isnan(found[3]).all()
    np.testing.assert_allclose(
        undistort_double_sphere(image, D, float(MAX_ANGLE))[3], points[3], rtol=1e-9
    )
    assert np.isnan(undistort_double_sphere(np.array([50.0, 0.0]), D, float(MAX_ANGLE))).all()

# SPDX-License-Identifier: BSD-3-Clause
"""Lens models against OpenCV's, their inverses, and the slopes that these go by."""

import cv2
import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.sensors import fisheye_models, lens
from iap_description.sensors.lens import (
    Lens,
    distort_equidistant,
    distort_plumb_bob,
    undistort_equidistant,
)

TUM_VI = np.array([0.0034823894, 0.0007150348, -0.0020532361, 0.0002029367])
STRONG = np.array([-0.05, 0.02, -0.01, 0.001])
BARREL = np.array([-0.283, 0.074, 0.0002, 0.00002, 0.0])
STEP = 1e-6
every_fisheye = pytest.mark.parametrize("D", [TUM_VI, STRONG, np.zeros(4)])


def rays(widest_deg: float, count: int = 400) -> np.ndarray:
    """Points (n, 2) of the plane z = 1, up to an angle off the view; the first on the axis."""
    rng = np.random.default_rng(4)
    theta, azimuth = np.deg2rad(widest_deg) * rng.random(count), 2.0 * np.pi * rng.random(count)
    theta[0] = 0.0
    return np.tan(theta)[:, None] * np.stack([np.cos(azimuth), np.sin(azimuth)], -1)


@every_fisheye
def test_a_fisheye_bends_as_opencvs(D: np.ndarray) -> None:
    xy = rays(85.0)
    points = np.column_stack([xy, np.ones(len(xy))])[:, None]
    expected, _ = cv2.fisheye.projectPoints(points, np.zeros(3), np.zeros(3), np.eye(3), D)
    np.testing.assert_allclose(distort_equidistant(xy, D), expected[:, 0], atol=1e-12)


@every_fisheye
def test_a_fisheye_is_undone_as_by_opencv(D: np.ndarray) -> None:
    xy = rays(80.0)
    bent = distort_equidistant(xy, D)
    found = undistort_equidistant(bent, D)
    np.testing.assert_allclose(found, xy, rtol=1e-9, atol=1e-12)
    exact = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-14)
    opencv = cv2.fisheye.undistortPoints(bent[:, None], np.eye(3), D, criteria=exact)
    np.testing.assert_allclose(found, opencv[:, 0], rtol=1e-6, atol=1e-9)


def test_what_a_fisheye_sees_beside_or_behind_it_has_no_point() -> None:
    beside = np.array([[np.deg2rad(95.0), 0.0], [0.0, np.deg2rad(89.5)], [np.deg2rad(60.0), 0.0]])
    found = np.isfinite(undistort_equidistant(beside, np.zeros(4)))
    assert found.tolist() == [[False, False], [False, False], [True, True]]


def test_a_fisheye_that_folds_is_undone_up_to_there() -> None:
    D = np.array([-0.3, 0.0, 0.0, 0.0])  # theta_d is greatest at sqrt(1 / 0.9) rad, 60 degrees
    found = undistort_equidistant(distort_equidistant(rays(58.0), D), D)
    np.testing.assert_allclose(
        found, rays(58.0), rtol=1e-6, atol=1e-12
    )  # not what is beyond the fold
    assert np.isnan(undistort_equidistant(np.array([0.75, 0.0]), D)).all()


@every_fisheye
def test_the_slope_of_a_fisheye_is_its_angles_difference(D: np.ndarray) -> None:
    theta = np.linspace(0.01, 1.4, 30)
    steps = fisheye_models._bent(theta + STEP, D) - fisheye_models._bent(theta - STEP, D)
    np.testing.assert_allclose(fisheye_models._slope(theta, D), steps / (2.0 * STEP), atol=1e-8)


def test_the_slopes_of_plumb_bob_are_its_differences() -> None:
    xy = rays(40.0)
    along_x, x_by_y, y_by_x, along_y = lens._jacobian(xy, BARREL)
    for axis, slopes in ((0, (along_x, y_by_x)), (1, (x_by_y, along_y))):
        step = STEP * np.eye(2)[axis]
        moved = distort_plumb_bob(xy + step, BARREL) - distort_plumb_bob(xy - step, BARREL)
        np.testing.assert_allclose(np.stack(slopes, -1), moved / (2.0 * STEP), atol=1e-8)


@pytest.mark.parametrize(
    ("model", "D", "said"),
    [
        ("omni", [0.0] * 4, "distortion model 'omni', but only plumb_bob, equidistant"),
        ("equidistant", [0.0] * 4 + [0.1], "equidistant needs 4 numbers in D"),
        ("rational_polynomial", [0.1] * 8, "distortion model 'rational_polynomial', but"),
        ("plumb_bob", [0.0] * 3, "plumb_bob needs 4 or 5 numbers in D"),
        ("equidistant", [0.0, 0.0, np.nan, 0.0], "equidistant needs 4 numbers in D"),
    ],
)
def test_other_lenses_are_refused(model: str, D: list[float], said: str) -> None:
    with pytest.raises(BadInput, match="^/left: ") as refused:
        Lens.of(model, D, source="/left")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "D", "model"),
    [
        ("radtan", [-0.3, 0.1, 0.0, 0.001], "plumb_bob"),
        ("rational_polynomial", [-0.3, 0.1, 0.0, 0.001, 0.02, 0.0, 0.0, 0.0], "plumb_bob"),
        ("equidistant", [0.01, 0.002, 0.0, 0.0, 0.0], "equidistant"),
        ("Kannala_Brandt", [0.01, 0.002, 0.0, 0.0], "equidistant"),
    ],
)
def test_one_lens_has_many_names_and_zeros_behind_it(
    name: str, D: list[float], model: str
) -> None:
    lens = Lens.of(name, D, source="/left")
    same = Lens.of(model, D[: len(lens.D)], source="/left")
    xy = rays(30.0)
    np.testing.assert_array_equal(lens.distort(xy), same.distort(xy))


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (
            "plumb_bob",
            "radtan RadialTangential brown Brown-Conrady OPENCV plumb-bob rational_polynomial",
        ),
        ("equidistant", "equi fisheye KannalaBrandt8 kannala_brandt kb4 OPENCV_FISHEYE"),
    ],
)
def test_names_of_one_lens_are_one(model: str, names: str) -> None:
    for name in names.split():
        assert Lens.of(name, TUM_VI, source="camera").model == model


def test_a_lens_without_coefficients_is_a_pinhole_and_others_are_refused() -> None:
    for name in ("none", "pinhole", "", "inverse_brown_conrady"):
        for zeros in ([], [0.0] * 4, [0.0] * 5):
            assert not Lens.of(name, zeros, source="camera").bends
        with pytest.raises(BadInput, match="only plumb_bob, equidistant, double_sphere are known"):
            Lens.of(name, TUM_VI, source="camera")
    for name, D in (("omni", [0.0] * 4), ("equidistant", [])):
        with pytest.raises(BadInput, match="camera: "):
            Lens.of(name, D, source="camera")


@pytest.mark.parametrize("D", [(-0.2, 0.59), (0.1, 0.4), (0.0, 0.5), (-0.15, 0.74)])
def test_a_double_sphere_is_undone(D: tuple[float, float]) -> None:
    xy, spheres = rays(85.0), Lens("double_sphere", np.array(D))
    np.testing.assert_allclose(spheres.undistort(spheres.distort(xy)), xy, rtol=1e-8, atol=1e-10)


def test_a_double_sphere_of_no_offsets_is_a_pinhole() -> None:
    xy = rays(80.0)
    np.testing.assert_allclose(Lens("double_sphere", np.zeros(2)).distort(xy), xy, rtol=1e-12)


def test_a_single_sphere_is_the_unified_model() -> None:
    """x / (alpha sqrt(x^2 + y^2 + z^2) + (1 - alpha) z), Geyer and Daniilidis 2000."""
    xy = rays(80.0)
    d = np.sqrt(np.sum(xy * xy, axis=-1, keepdims=True) + 1.0)
    found = Lens("double_sphere", np.array([0.0, 0.6])).distort(xy)
    np.testing.assert_allclose(found, xy / (0.6 * d + 0.4), rtol=1e-12)


def test_a_double_sphere_magnifies_on_its_axis() -> None:
    spheres = Lens("double_sphere", np.array([-0.2, 0.6]))
    near = spheres.distort(np.array([[1e-6, 0.0]]))
    assert near[0, 0] / 1e-6 == pytest.approx(spheres.magnification, rel=1e-9)
    assert spheres.magnification == pytest.approx(1.25)

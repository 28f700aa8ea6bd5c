# SPDX-License-Identifier: BSD-3-Clause
"""New corners: where gradients differ along both axes, and cells, of few numbers worked out by hand."""

import cv2
import numpy as np
import pytest

from iap_estimation.frontend import corners
from iap_estimation.frontend.spec import PRESETS, FrontendSpec

SPEC = FrontendSpec.model_validate(PRESETS.tree("default"))


def test_points_are_numbered_by_cells_and_among_equals():
    spec = SPEC.model_copy(update={"grid": (2, 4)})
    image = np.zeros((48, 64), np.uint8)
    points = np.array(
        [[0.0, 0.0], [15.9, 23.9], [16.0, 0.0], [63.9, 24.0], [70.0, 60.0], [-1.0, -1.0]]
    )
    assert corners._cells(points, image, spec).tolist() == [0, 0, 1, 7, 7, 0]
    assert corners._place_among_equals(np.array([5, 3, 5, 5, 3, 9])).tolist() == [0, 0, 1, 2, 1, 0]
    where = np.ones((48, 64), bool)
    rough = np.random.default_rng(1).integers(0, 255, (48, 64), dtype=np.uint8)
    assert len(corners.new_corners(rough, np.zeros((0, 2)), 5, spec, where)) > 0
    assert corners.new_corners(rough, points, 0, spec, where).shape == (0, 2)


def test_new_corners_keep_their_distance_from_tracks_and_from_the_edge():
    small = np.zeros((24, 32), np.uint8)
    spec = SPEC.model_copy(update={"border": 7, "spacing": 8.0})
    mask = corners._free(small, np.array([[32.0, 24.0]]), spec)
    assert mask.shape == (24, 32) and set(np.unique(mask)) == {0, 255}
    assert not mask[:4].any() and not mask[-4:].any() and not mask[:, :4].any()
    assert mask[4, 4] == 255 and mask[-5, -5] == 255
    assert mask[12, 12] == 0 and mask[12, 11] == 255 and mask[12, 20] == 0 and mask[16, 16] == 0
    assert mask[7, 16] == 255


def image_of(levels):
    return np.clip(np.round(levels), 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("wide", "high", "ratio"), [(2.0, 2.0, 1.0), (2.0, 4.0, 0.0625), (2.0, 40.0, 0.0)]
)
def test_eigenvalues_of_a_round_spot_are_equal_and_those_of_a_ridge_are_not(wide, high, ratio):
    """Beside the middle of a Gaussian spot squared gradients are as 1 / sigma^4."""
    v, u = np.mgrid[0:48, 0:64]
    spot = image_of(
        20.0 + 200.0 * np.exp(-0.5 * ((u - 30) / wide) ** 2 - 0.5 * ((v - 20) / high) ** 2)
    )
    got = corners.eigenvalue_ratios(spot, np.array([[30.0, 20.0]]))
    assert got == pytest.approx(ratio, abs=0.02)
    turned = corners.eigenvalue_ratios(np.ascontiguousarray(spot.T), np.array([[20.0, 30.0]]))
    assert turned == pytest.approx(got)


def test_eigenvalue_ratios_are_those_of_opencv():
    image = image_of(np.random.default_rng(3).uniform(0.0, 255.0, (48, 64)))
    points = np.random.default_rng(4).uniform(3.0, 44.0, (50, 2))
    u, v = points.astype(int).T
    values = cv2.cornerEigenValsAndVecs(image, 3, 3)[v, u, :2]
    assert corners.eigenvalue_ratios(image, points) == pytest.approx(
        values.min(axis=1) / values.max(axis=1), abs=1e-5
    )


def test_edges_and_flat_places_have_no_ratio():
    edge = image_of(np.tile(np.where(np.arange(64) < 32, 40.0, 200.0), (48, 1)))
    points = np.array([[31.0, 20.0], [10.0, 20.0], [0.0, 0.0], [63.0, 47.0]])
    assert corners.eigenvalue_ratios(edge, points).tolist() == [0.0, 0.0, 0.0, 0.0]
    assert corners.eigenvalue_ratios(edge, np.zeros((0, 2))).shape == (0,)


def test_new_corners_are_not_on_edges_where_a_ratio_is_asked_for():
    """A long edge with noise along it, and round spots away from it."""
    rng = np.random.default_rng(5)
    v, u = np.mgrid[0:240, 0:320]
    levels = 60.0 + 100.0 / (1.0 + np.exp(-(u - 0.3 * v - 60.0)))
    spots = rng.uniform([170.0, 30.0], [290.0, 210.0], (12, 2))
    for x, y in spots:
        levels += 60.0 * np.exp(-0.5 * ((u - x) ** 2 + (v - y) ** 2) / 9.0)
    image = image_of(levels + rng.normal(0.0, 6.0, levels.shape))
    where = np.ones(image.shape, bool)

    def on_the_edge(ratio):
        spec = SPEC.model_copy(
            update={"eigenvalue_ratio": ratio, "spacing": 10.0, "contrast": 2.0}
        )
        uv = corners.new_corners(image, np.zeros((0, 2)), 100, spec, where)
        near = np.abs(uv[:, 0] - 0.3 * uv[:, 1] - 60.0) < 8.0
        by_spots = np.linalg.norm(uv[:, None] - spots, axis=-1).min(axis=1) < 8.0
        return near.sum(), by_spots.sum()

    (many, spots_before), (few, spots_after) = on_the_edge(0.0), on_the_edge(0.05)
    assert many >= 5 and few <= many // 2
    assert spots_after >= 0.8 * spots_before >= 6

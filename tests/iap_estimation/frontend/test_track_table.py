# SPDX-License-Identifier: BSD-3-Clause
"""Tables of tracks: ages, depths that are remembered, order, and points that crowd."""

import numpy as np
import pytest

from iap_estimation.frontend.patches import Patches
from iap_estimation.frontend.track_table import TrackTable, apart


def patches(n):
    numbers = np.arange(n, dtype=float)
    return Patches(
        np.zeros((n, 5, 5), np.float32), np.zeros((n, 2, 5, 5), np.float32), np.zeros((n, 6, 6)),
        numbers, np.tile(np.eye(2), (n, 1, 1)),
    )  # fmt: skip


def table(first, n):
    points = np.arange(2.0 * n).reshape(n, 2) + first
    return TrackTable.fresh(first, points, 0.01 * points, patches(n))


def test_new_tracks_are_numbered_on_and_know_no_depth():
    fresh = table(7, 3)
    assert fresh.ids.tolist() == [7, 8, 9] and fresh.ages.tolist() == [0, 0, 0] and len(fresh) == 3
    assert np.isnan(fresh.right).all() and fresh.right.shape == (3, 2)
    assert np.isnan(fresh.inverse_depth).all()


def test_an_image_later_all_are_older_and_elsewhere():
    later = table(0, 3).updated(np.ones((3, 2)), np.zeros((3, 2)), patches(3))
    later = later.updated(2.0 * np.ones((3, 2)), np.zeros((3, 2)), patches(3))
    assert later.ages.tolist() == [2, 2, 2] and (later.points == 2.0).all()


def test_depths_are_remembered_and_places_in_the_right_image_are_not():
    first = table(0, 2).matched(np.array([[1.0, 2.0], [np.nan] * 2]), np.array([0.5, np.nan]))
    again = first.matched(np.full((2, 2), np.nan), np.array([np.nan, 0.25]))
    assert again.inverse_depth.tolist() == [0.5, 0.25] and np.isnan(again.right).all()
    assert np.isfinite(first.right[0]).all()
    alone = first.unmatched()
    assert np.isnan(alone.right).all() and alone.inverse_depth[0] == 0.5


def test_the_older_stand_first_and_some_are_kept_with_their_patches():
    both = table(0, 2).and_then(table(5, 3))
    assert both.ids.tolist() == [0, 1, 5, 6, 7]
    kept = both.kept(np.array([True, False, False, True, True]))
    assert kept.ids.tolist() == [0, 6, 7] and kept.patches.energy.tolist() == [0.0, 1.0, 2.0]
    np.testing.assert_array_equal(kept.points[1:], table(5, 3).points[1:])
    np.testing.assert_array_equal(kept.xy, 0.01 * kept.points)


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        ([[0, 0], [3, 4], [3, 4.1]], [True, True, False]),  # five apart is far enough
        ([[0, 0], [0, 4.9]], [True, False]),
        ([[0, 0], [4, 0], [8, 0]], [True, False, False]),  # of one that goes itself, too
        ([[0, 0], [0, 0]], [True, False]),
    ],
)
def test_a_point_keeps_its_distance_from_all_before_it(points, kept):
    assert apart(np.array(points, float), 5.0).tolist() == kept

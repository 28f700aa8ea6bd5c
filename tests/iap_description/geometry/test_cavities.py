# SPDX-License-Identifier: BSD-3-Clause
"""Cavities out of convex pieces: how wide they are inside, and where their pieces end outside."""

import numpy as np
import pytest

from iap_description.geometry.cavities import arc, pipe, rectangular, thick

GREY = (0.5, 0.5, 0.5, 1.0)
PROFILE = np.array([[0.0, 0.10], [0.3, 0.04], [0.5, 0.04]])


def corners(pieces):
    return [np.array(each.vertices) for each in pieces]


def volume(piece):
    a, b, c = (np.array(piece.vertices)[list(k)] for k in zip(*piece.faces, strict=True))
    return float(np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize("segments", [8, 12])
def test_inner_corners_are_on_the_profile_and_outer_ones_a_wall_farther(segments):
    pieces = pipe(PROFILE, segments, thick(0.02), GREY)
    assert len(pieces) == 2 * segments and {each.color for each in pieces} == {GREY}
    for vertices in corners(pieces):
        x, r = vertices[:, 0], np.hypot(vertices[:, 1], vertices[:, 2])
        inner = np.interp(x, *PROFILE.T)
        np.testing.assert_allclose(np.sort(r - inner), [0.0] * 4 + [0.02] * 4, atol=1e-12)
    ring = np.unique(np.round(np.vstack(corners(pieces))[:, 1:], 9), axis=0)
    angles = np.unique(np.round(np.arctan2(ring[:, 1], ring[:, 0]), 6))
    assert len(angles) == segments and np.abs(angles).min() == pytest.approx(
        np.pi / segments, abs=1e-6
    )


@pytest.mark.parametrize("segments", [5, 16])
def test_a_board_is_filled_up_to_its_rectangle(segments):
    straight = np.array([[0.0, 0.05], [0.2, 0.05]])
    pieces = pipe(straight, segments, rectangular(0.4, 0.3), GREY)
    hole = 0.5 * segments * 0.05**2 * np.sin(2.0 * np.pi / segments)
    assert all(volume(each) > 0.0 for each in pieces)
    assert sum(map(volume, pieces)) == pytest.approx(0.2 * (0.4 * 0.3 - hole))
    every = np.vstack(corners(pieces))
    np.testing.assert_allclose(np.abs(every).max(axis=0), [0.2, 0.2, 0.15])


def test_an_arc_begins_and_ends_at_its_angles():
    points = arc((1.0, 2.0), 0.5, 0.0, np.pi / 2, 2)
    expected = [[1.5, 2.0], [1.0 + np.sqrt(0.125), 2.0 + np.sqrt(0.125)], [1.0, 2.5]]
    np.testing.assert_allclose(points, expected, atol=1e-12)

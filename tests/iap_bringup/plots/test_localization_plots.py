# SPDX-License-Identifier: BSD-3-Clause
"""Figures of localised flights: outlines are hulls, and whatever there is of methods and bodies is drawn."""

import cv2
import numpy as np
import pytest

from iap_bringup.plots.localized_flights import (
    COLORS,
    BodyPath,
    Localized,
    colors_of,
    convex_hull,
    draw_localized,
    outlines,
)
from iap_description.scenes.library import scene_names
from iap_io.plots.plot_style import write_plot

BOX = (0.0, 0.1, 0.2, 0.3, 0.5)


def test_a_hull_is_what_encloses_its_points():
    rng = np.random.default_rng(1)
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    points = np.vstack([corners, rng.uniform((0.0, 0.0), (2.0, 1.0), (50, 2)), [[1.0, 0.0]]])
    hull = convex_hull(points)
    np.testing.assert_array_equal(hull, corners)


@pytest.mark.parametrize("scene", scene_names())
def test_outlines_are_of_what_stands_and_convex(scene):
    for outline in outlines(scene):
        sides = np.roll(outline, -1, axis=0) - outline
        turns = np.cross(
            np.pad(sides, ((0, 0), (0, 1))), np.pad(np.roll(sides, -1, axis=0), ((0, 0), (0, 1)))
        )
        assert len(outline) >= 3
        assert (turns[:, 2] > 0.0).all()


def test_methods_keep_their_colours_and_others_get_some():
    colors = colors_of(["joint", *(f"size_{n}" for n in range(9))])
    assert colors["joint"] == COLORS["joint"]
    assert len(colors) == 10


def test_figures_are_drawn_with_near_and_far_anchors_and_missing_bodies(tmp_path):
    t = np.arange(0.0, 10.0, 0.1)
    true = BodyPath(t, np.stack([3.0 * np.cos(t), 3.0 * np.sin(t), 2.0 + 0.1 * t], -1))
    anchors = np.array([[5.0, 2.0, 1.0], [40.0, -30.0, 3.0]])
    quartiles = {"vio": {"drone_1": BOX}, "joint": {"drone_1": BOX, "center": BOX}}
    estimates = {"joint": BodyPath(t, true.p + 0.05)}
    whole = Localized("(b)", "narrow_station", anchors, "center", true, estimates, quartiles)
    bare = Localized("(c)", "open_field", np.zeros((0, 3)), "drone_1", true, {}, {})
    path = write_plot(tmp_path / "fig.png", lambda figure: draw_localized(figure, [whole, bare]))
    image = cv2.imread(str(path))
    assert image.shape[1] == pytest.approx(1432, abs=2)
    purple = np.abs(image.astype(int) - (0x96, 0x3B, 0x7A)).max(axis=2) < 25
    assert purple.sum() > 300  # the joint's path, boxes and its line in the legend

# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of drawn obstacles by hand: sides, sizes, branches and tilts; and what stands flush with a box."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.geometry.shapes import Shape
from iap_description.states import resting_state
from iap_description.world.obstacles import objects_tree
from iap_description.world.scene_objects import SceneObject
from iap_description.world.world import World

AREA = [[-5.0, -4.0], [6.0, 7.0]]


def field(**keys):
    tree = {"area": AREA, "seed": 3, "count": 40, **keys}
    return validate(World, {"objects": objects_tree({"field": tree})}, source="test").objects[
        "field"
    ]


def size_of(piece):
    """Length along its axis, radius and direction of a prism's piece (n, 3, 3), whose ends are regular."""
    points = np.unique(piece.reshape(-1, 3).round(9), axis=0)
    middle = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - middle)
    across = points - middle - np.outer((points - middle) @ axes[0], axes[0])
    return (
        np.ptp((points - middle) @ axes[0]),
        np.linalg.norm(across, axis=1),
        axes[0],
        len(points),
    )


def test_rods_have_eight_sides_and_stand_on_the_plane_within_their_area():
    rods = field(type="rods", radius=[0.02, 0.05], length=[1.0, 3.0])
    lengths, radii = [], []
    for piece in rods.corners():
        assert len(piece) == 4 * 8 - 4
        length, radius, axis, count = size_of(piece)
        assert count == 16 and np.ptp(radius) < 1e-6 and abs(axis[2]) == pytest.approx(1.0)
        assert piece[..., 2].min() == pytest.approx(0.0, abs=1e-9)
        lengths.append(length)
        radii.append(radius.mean())
        x, y = piece.reshape(-1, 3).mean(axis=0)[:2]
        assert -5.0 < x < 6.0 and -4.0 < y < 7.0
    assert 1.0 < min(lengths) < 1.2 and 2.8 < max(lengths) < 3.0
    assert 0.02 < min(radii) < 0.024 and 0.046 < max(radii) < 0.05


def test_rods_in_the_air_have_their_heights_and_tilts():
    rods = field(
        type="rods", radius=[0.02, 0.02], length=[1.0, 1.0], heights=[2.0, 4.0], tilt_deg=30.0
    )
    found = [(size_of(piece)[2], piece.reshape(-1, 3)) for piece in rods.corners()]
    tilts = np.degrees([np.arccos(min(1.0, abs(axis[2]))) for axis, _ in found])
    middles = [0.5 * (points.min(axis=0) + points.max(axis=0))[2] for _, points in found]
    assert 25.0 < max(tilts) < 30.0 and min(tilts) < 5.0
    assert 2.0 < min(middles) < 2.3 and 3.7 < max(middles) < 4.0


def test_trees_have_trunks_of_eight_sides_and_branches_of_six_that_rise_by_35_degrees():
    keys = {"radius": [0.2, 0.2], "height": [5.0, 5.0], "reach": [1.3, 1.3]}
    trees = field(type="trees", branches=7, **keys).corners()
    trunks, branches = trees[:40], trees[40:]
    assert len(branches) == 7 * 40
    for piece in trunks:
        length, radius, _, count = size_of(piece)
        assert (length, radius.max(), count) == (pytest.approx(5.0), pytest.approx(0.2), 16)
        assert piece[..., 2].min() == pytest.approx(0.0, abs=1e-9)
    lengths, radii, begins = [], [], []
    for piece in branches:
        length, radius, axis, count = size_of(piece)
        assert count == 12 and abs(axis[2]) == pytest.approx(np.sin(np.radians(35.0)), abs=1e-6)
        lengths.append(length)
        radii.append(radius.mean())
        begins.append(piece.reshape(-1, 3)[:, 2].mean() - 0.5 * length * abs(axis[2]))
    longest = 1.5 / np.cos(np.radians(35.0))
    assert (
        0.5 * longest < min(lengths) < 0.53 * longest and 0.97 * longest < max(lengths) < longest
    )
    assert 0.04 < min(radii) < 0.042 and 0.078 < max(radii) < 0.08
    assert 1.4 < min(begins) < 1.7 and 4.8 < max(begins) < 5.1
    assert len(field(type="trees", branches=0, **keys).corners()) == 40


def test_boxes_have_their_sizes_and_stand_on_the_plane_or_in_the_air():
    sizes = [[0.5, 1.0, 2.0], [0.6, 1.2, 2.5]]
    for piece in field(type="boxes", size=sizes, yaw_deg=[0.0, 0.0]).corners():
        points = piece.reshape(-1, 3)
        extent = np.ptp(points, axis=0)
        assert (extent > sizes[0]).all() and (extent < sizes[1]).all() and len(piece) == 12
        assert points[:, 2].min() == pytest.approx(0.0, abs=1e-9)
    for piece in field(type="boxes", size=sizes, yaw_deg=[0.0, 0.0], heights=[7.0, 7.0]).corners():
        points = piece.reshape(-1, 3)
        assert points[:, 2].min() + points[:, 2].max() == pytest.approx(14.0)


def test_what_lies_behind_a_box_along_its_lower_face_is_hidden():
    cube = Shape(shape="box", size=(2.0, 2.0, 2.0), color=(0.1, 0.2, 0.3, 1.0))
    box = SceneObject(
        [cube], resting_state(np.array([5.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    )
    points = np.array([[10.0, -1.0, 0.0], [3.0, -1.0, 0.0]])
    assert box.hides(points, np.array([0.0, -1.0, 0.0])).tolist() == [True, False]
    assert box.hides(points + [0.0, -0.1, 0.0], np.array([0.0, -1.1, 0.0])).tolist() == [
        False,
        False,
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""Frames of /tf_static by hand, images with too few bytes, and what is none of a fleet or of a tracker."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.bag_messages import FixedFrames, grey
from iap_estimation.frontend.tracker import StereoTracker
from iap_estimation.virpo.drift.state import joints_of


def transform(parent: str, child: str, place=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0, 1.0)):
    p = SimpleNamespace(**dict(zip("xyz", place, strict=True)))
    q = SimpleNamespace(**dict(zip("xyzw", turn, strict=True)))
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=parent),
        child_frame_id=child,
        transform=SimpleNamespace(translation=p, rotation=q),
    )


def frames(*transforms):
    return FixedFrames("walk.bag", [SimpleNamespace(transforms=[each]) for each in transforms])


def test_places_go_up_to_a_common_root_and_down_again():
    quarter = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2.0]))
    made = frames(
        transform("base", "/cam", (1.0, 0.0, 0.0), quarter * 1.009),
        transform("base", "imu", (0.0, 2.0, 0.0)),
        transform("cam", "lens", (0.5, 0.0, 0.0)),
    )
    T = made.between("imu", "lens")
    np.testing.assert_allclose(T[:3, 3], (1.0, 0.5 - 2.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(T[:3, :3], so3.matrix_from_quaternion(quarter), atol=1e-12)
    np.testing.assert_allclose(made.between("/lens", "imu"), np.linalg.inv(T), atol=1e-12)
    np.testing.assert_allclose(made.between("cam", "cam"), np.eye(4), atol=1e-12)


def test_frames_that_nothing_joins_or_that_go_in_a_circle_are_refused():
    with pytest.raises(BadInput, match=r"does not say where frame 'b' is in 'a'; give --calib"):
        frames(transform("x", "a"), transform("y", "b")).between("a", "b")
    with pytest.raises(BadInput, match="^walk.bag: /tf_static has a circle through frame 'a'$"):
        frames(transform("b", "a"), transform("a", "b")).between("a", "b")


@pytest.mark.parametrize(
    ("place", "turn"),
    [
        ((0.0, np.nan, 0.0), (0.0, 0.0, 0.0, 1.0)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0105)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.9895)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, np.nan)),
    ],
)
def test_a_transform_has_a_place_and_a_turn(place, turn):
    with pytest.raises(BadInput, match="/tf_static has no place and turn for frame 'a'"):
        frames(transform("b", "a", place, turn))


def image(height=2, width=3, step=4, size=8):
    return SimpleNamespace(
        encoding="mono8",
        height=height,
        width=width,
        step=step,
        data=np.arange(size, dtype=np.uint8),
    )


def test_an_image_has_the_bytes_of_its_rows():
    np.testing.assert_array_equal(grey(image(), "walk.bag"), [[0, 1, 2], [4, 5, 6]])
    np.testing.assert_array_equal(grey(image(size=9), "walk.bag"), [[0, 1, 2], [4, 5, 6]])
    for odd, count in ((image(size=7), 7), (image(step=2), 8)):
        with pytest.raises(BadInput, match=f"^walk.bag: an image of 3x2 mono8 has {count} bytes$"):
            grey(odd, "walk.bag")


def test_a_tracker_has_nothing_to_draw_before_its_first_image():
    tracker = object.__new__(StereoTracker)
    tracker._image = None
    with pytest.raises(BadInput, match="^no image to draw tracks into: none was tracked yet$"):
        tracker.draw()


def test_a_fleet_that_nothing_joins_has_no_joints():
    fleet: Any = SimpleNamespace(d=None)
    with pytest.raises(ValueError, match="^nothing joins this fleet$"):
        joints_of(fleet)
    fleet.d = np.ones((2, 3))
    assert joints_of(fleet) is fleet.d

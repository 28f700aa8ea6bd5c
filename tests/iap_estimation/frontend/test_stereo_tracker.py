# SPDX-License-Identifier: BSD-3-Clause
"""The front end on a painted plane: tracks are where geometry puts them, and end where nothing is seen."""

import cv2
import numpy as np
import pytest
from painted_plane import (
    BASELINE,
    FOCAL,
    HEIGHT,
    LENS,
    Q_BC,
    STILL,
    WIDTH,
    homography,
    look,
    moved,
    painting,
    pair_of,
    pixels,
    tracker_of,
)

from iap_description.errors import BadInput
from iap_description.math import so3

DARK = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
RIGHT = np.array([BASELINE, 0.0, 0.0])


def turned(*phi):
    return so3.quaternion_exp(np.array(phi))


@pytest.fixture(scope="module")
def picture():
    return painting()


def approach(k):
    """A flight towards the plane and along it, with rotations: place and attitude at image k."""
    return np.array([0.02 * k, 0.01 * k, 0.02 * k]), turned(0.004 * k, -0.006 * k, 0.01 * k)


def test_tracks_are_where_the_motion_takes_them(picture):
    tracker, lean = tracker_of(), 0.3
    first, born, off = {}, {}, []
    for k in range(20):
        p, q = approach(k)
        H = homography(p, q, 2.0, lean)
        tracks = tracker.track(0.05 * k, look(picture, p, q, lean=lean))
        uv = pixels(tracks.views[:, :2])
        for track, place, painted in zip(tracks.ids, uv, moved(np.linalg.inv(H), uv), strict=True):
            born.setdefault(track, k)
            first.setdefault(track, painted)
            if born[track] < k:
                off.append(np.linalg.norm(moved(H, first[track][None])[0] - place))
    assert len(off) > 500
    assert np.sqrt(np.mean(np.square(off))) < 0.05
    assert np.mean(np.array(off) < 0.1) > 0.97


def test_tracks_do_not_drift(picture):
    tracker = tracker_of(outliers="off")
    sway = [0.3 * np.sin(0.1 * k) * np.array([1.0, 0.3, 0.8]) for k in range(64)]  # and back
    views = [tracker.track(0.05 * k, look(picture, p)) for k, p in enumerate(sway)]
    shared, one, other = np.intersect1d(views[0].ids, views[-1].ids, return_indices=True)
    shift = FOCAL * (views[0].views[one, :2] - views[-1].views[other, :2])
    H = homography(sway[-1], STILL, 2.0)
    there = moved(
        H @ np.linalg.inv(homography(sway[0], STILL, 2.0)), pixels(views[0].views[one, :2])
    )
    assert len(shared) > 20
    assert np.median(np.abs(there - pixels(views[-1].views[other, :2]))) < 0.05
    assert np.median(np.linalg.norm(shift, axis=-1)) < 1.5  # back where it began


@pytest.mark.parametrize("depth", [1.0, 2.0, 4.0])
def test_disparity_is_that_of_the_depth(picture, depth):
    left, right = look(picture, depth=depth), look(picture, RIGHT, depth=depth)
    tracks = tracker_of().track(0.0, left, right)
    assert tracks.has_right.sum() > 40
    views = tracks.views[tracks.has_right]
    disparity = FOCAL * (views[:, 0] - views[:, 2])
    assert np.median(np.abs(disparity - FOCAL * BASELINE / depth)) < 0.03
    assert np.mean(np.abs(disparity - FOCAL * BASELINE / depth) < 0.1) > 0.95
    assert np.median(np.abs(views[:, 1] - views[:, 3])) * FOCAL < 0.03


def test_right_camera_may_look_elsewhere(picture):
    """A pair that is not rectified: the right camera is rolled and toed in by degrees."""
    turn = turned(0.02, -0.03, 0.04)
    pair = pair_of(turn_right=turn)
    right = look(picture, RIGHT, turn)
    tracks = tracker_of(pair).track(0.0, look(picture), right)
    views = tracks.views[tracks.has_right]
    assert len(views) > 40
    depths = 1.0 / pair.inverse_depth(views[:, :2], views[:, 2:])
    assert np.median(np.abs(depths / 2.0 - 1.0)) < 0.01


def test_distorted_images_give_the_same_views(picture):
    """Tracks through a lens, at normalised coordinates that agree with the plane as the pinhole sees it."""
    pair = pair_of(LENS)
    tracks = tracker_of(pair).track(0.0, look(picture, D=LENS), look(picture, RIGHT, D=LENS))
    views = tracks.views[tracks.has_right]
    assert len(views) > 40
    off = FOCAL * (views[:, :2] - views[:, 2:]) - [FOCAL * BASELINE / 2.0, 0.0]
    assert np.median(np.abs(off)) < 0.04
    assert np.mean(np.linalg.norm(off, axis=-1) < 0.2) > 0.9


def test_ids_persist_and_are_never_used_again(picture):
    tracker, seen, last = tracker_of(), set(), set()
    for k in range(12):
        image = DARK if k == 6 else look(picture, (0.03 * k, 0.0, 0.0))
        ids = tracker.track(0.05 * k, image).ids
        assert len(set(ids.tolist())) == len(ids)
        new = set(ids.tolist()) - last
        assert not new & seen
        if k not in (0, 6, 7):
            assert len(new) < 0.4 * len(ids)
        seen |= new
        last = set(ids.tolist())


def test_corners_are_everywhere(picture):
    tracks = tracker_of().track(0.0, look(picture))
    uv = pixels(tracks.views[:, :2])
    quadrants = (uv[:, 0] > WIDTH / 2).astype(int) + 2 * (uv[:, 1] > HEIGHT / 2)
    assert np.bincount(quadrants, minlength=4).min() >= 10
    gaps = np.linalg.norm(uv[:, None] - uv, axis=-1) + 1e3 * np.eye(len(uv))
    assert gaps.min() > 13.0


def test_no_tracks_in_the_dark_and_fresh_ones_after_it(picture):
    rng = np.random.default_rng(1)
    tracker = tracker_of()
    lit = look(picture)
    before = set(tracker.track(0.0, lit, look(picture, RIGHT)).ids.tolist())
    for k in range(1, 41):  # 2 s, with the noise of a sensor
        dark = rng.integers(0, 4, (2, HEIGHT, WIDTH)).astype(np.uint8)
        assert len(tracker.track(0.05 * k, dark[0], dark[1]).ids) == 0
    after = tracker.track(2.05, lit, look(picture, RIGHT))
    assert len(after.ids) > 40
    assert after.has_right.mean() > 0.9
    assert not before & set(after.ids.tolist())


def test_dimmer_images_keep_their_tracks(picture):
    tracker, image = tracker_of(), look(picture)
    first = tracker.track(0.0, image)
    dimmer = (0.8 * look(picture, (0.01, 0.0, 0.0)) + 7.0).astype(np.uint8)
    kept, one, other = np.intersect1d(
        first.ids, tracker.track(0.05, dimmer).ids, return_indices=True
    )
    assert len(kept) > 0.8 * len(first.ids)


def test_what_moves_by_itself_is_refused(picture):
    """A picture that spins in front of the plane; without the check its tracks stay."""
    slid = {}
    for outliers in ("fundamental", "off"):
        tracker = tracker_of(outliers=outliers)
        for k in range(6):
            p, q = approach(k)
            image = look(picture, p, q, lean=0.3)
            other = look(painting(seed=5), q_WC=turned(0.0, 0.0, 0.04 * k))
            image[50:190, 90:230] = other[50:190, 90:230]
            tracks = tracker.track(0.05 * k, image)
            old = tracks.ids < 60  # of the first image
            u, v = pixels(tracks.views[old, :2]).T
        slid[outliers] = np.sum((u > 90) & (u < 230) & (v > 50) & (v < 190))
    assert slid["off"] >= 8
    assert slid["fundamental"] <= slid["off"] // 3


def test_rotation_known_from_gyroscopes_carries_tracks_over_a_fast_turn(picture):
    turn = turned(0.0, 0.45, 0.0)  # 26 degrees to the right, between two images
    kept = {}
    for known in (turn, None):
        tracker = tracker_of()
        first = tracker.track(0.0, look(picture))
        second = tracker.track(0.05, look(picture, q_WC=turn), turn=known)
        kept[known is None] = len(np.intersect1d(first.ids, second.ids))
    assert kept[False] >= 25
    assert kept[True] < 0.5 * kept[False]


def test_camera_turn_is_the_bodys_in_other_axes():
    about_up = turned(0.0, 0.0, 0.1)  # of the body, z up: about -y of the camera
    turn = pair_of().camera_turn(about_up)
    assert so3.quaternion_log(turn) == pytest.approx([0.0, -0.1, 0.0])
    assert so3.multiply(Q_BC, turn) == pytest.approx(so3.multiply(about_up, Q_BC))


def test_right_points_off_their_row_are_refused(picture):
    shifted = np.roll(look(picture, RIGHT), 2, axis=0)
    tracks = tracker_of().track(0.0, look(picture), shifted)
    assert tracks.has_right.sum() <= 0.05 * len(tracks.ids)
    assert np.isnan(tracks.views[~tracks.has_right, 2:]).all()


def test_without_a_right_image_there_are_left_views_only(picture):
    tracks = tracker_of().track(0.0, look(picture))
    assert len(tracks.ids) > 40
    assert not tracks.has_right.any()
    assert np.isfinite(tracks.views[:, :2]).all()


def test_swapped_images_are_refused(picture):
    tracker = tracker_of()
    with pytest.raises(BadInput, match="left and right images are swapped"):
        for k in range(8):
            tracker.track(0.05 * k, look(picture, RIGHT), look(picture))


def test_corners_may_be_as_far_apart_as_an_image_is_wide_and_no_further(picture):
    assert len(tracker_of(spacing=16384.0).track(0.0, look(picture)).ids) == 1
    with pytest.raises(BadInput, match="key 'spacing'"):
        tracker_of(spacing=1e12)


def test_time_goes_on(picture):
    tracker, image = tracker_of(), look(picture)
    tracker.track(1.0, image)
    for t in (1.0, 0.9, float("nan")):
        with pytest.raises(BadInput, match="images go back in time"):
            tracker.track(t, image)
    tracker.reset()
    assert len(tracker.track(0.5, image).ids) > 40


def test_images_must_fit_the_calibration(picture):
    image = look(picture)
    with pytest.raises(BadInput, match=r"left image has the shape \(239, 320\)"):
        tracker_of().track(0.0, image[1:])
    with pytest.raises(BadInput, match="right image is of float32"):
        tracker_of().track(0.0, image, image.astype(np.float32))


def test_same_images_give_the_same_tracks(picture):
    def fly():
        tracker = tracker_of()
        for k in range(5):
            p, q = approach(k)
            last = tracker.track(
                0.05 * k, look(picture, p, q), look(picture, p + so3.rotate(q, RIGHT), q)
            )
        return last

    one, other = fly(), fly()
    assert np.array_equal(one.ids, other.ids)
    assert np.array_equal(one.views, other.views, equal_nan=True)


def test_threads_of_opencv_are_left_as_they_were(picture):
    before = cv2.getNumThreads()
    cv2.setNumThreads(2)
    tracker_of().track(0.0, look(picture))
    assert cv2.getNumThreads() == 2
    cv2.setNumThreads(before)


def test_drawn_tracks_change_colour_with_age(picture):
    tracker, image = tracker_of(), look(picture)
    with pytest.raises(BadInput, match="no image"):
        tracker.draw()
    tracker.track(0.0, image, look(picture, RIGHT))
    new = tracker.draw().astype(int)
    for k in range(1, 42):
        tracker.track(0.05 * k, image, look(picture, RIGHT))
    old = tracker.draw().astype(int)
    assert new.shape == (HEIGHT, WIDTH, 3)
    assert np.sum(new[..., 2] - new[..., 0]) > 0  # blue
    assert np.sum(old[..., 0] - old[..., 2]) > 0  # red

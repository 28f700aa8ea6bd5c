# SPDX-License-Identifier: BSD-3-Clause
"""Patches and colours of tracks, of few numbers worked out by hand."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.frontend import matching, patches, tracker
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration, rigid
from iap_estimation.frontend.matching import FlowTracker, Matcher, ReferencePatches
from iap_estimation.frontend.patches import cut, find, weights_of
from iap_estimation.frontend.spec import PRESETS, FrontendSpec
from iap_estimation.frontend.track_table import TrackTable

TREE = PRESETS.tree("default")
SPEC = FrontendSpec.model_validate(TREE)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
K = [[100.0, 0.0, 32.0], [0.0, 120.0, 24.0], [0.0, 0.0, 1.0]]
CAMERA = CameraCalibration.of((64, 48), K, np.zeros(5), model="plumb_bob", source="x")
PAIR = StereoCalibration.of(CAMERA, CAMERA, [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]], [LEVEL, LEVEL])


def picture(rows=48, columns=64):
    """Smooth hills that differ along both axes."""
    v, u = np.mgrid[0:rows, 0:columns]
    levels = 120.0 + 50.0 * np.sin(0.31 * u + 0.1 * v) + 40.0 * np.cos(0.27 * v - 0.05 * u)
    return np.round(levels).astype(np.uint8)


def test_weights_are_a_bell_of_three_fifths_of_half_the_side():
    w = weights_of(5)
    assert w.shape == (5, 5) and w.sum() == pytest.approx(1.0)
    assert w[2, 4] / w[2, 2] == pytest.approx(np.exp(-0.5 / 0.6**2))
    assert w[0, 4] / w[2, 2] == pytest.approx(np.exp(-1.0 / 0.6**2))
    assert w[1, 2] / w[2, 2] == pytest.approx(np.exp(-0.5 * 0.5**2 / 0.6**2))


def test_a_patch_has_its_levels_less_their_mean_and_its_slopes():
    v, u = np.mgrid[0:20, 0:30]
    plane = (3 * u + 5 * v).astype(np.uint8)
    found = cut(plane, np.array([[10.0, 9.0], [1.0, 9.0]]), weights_of(5))
    x, y = np.meshgrid([-2, -1, 0, 1, 2], [-2, -1, 0, 1, 2])
    np.testing.assert_allclose(found.levels[0], 3 * x + 5 * y, atol=1e-4)
    np.testing.assert_allclose(found.gradients[0, 0], 3.0)
    np.testing.assert_allclose(found.gradients[0, 1], 5.0)
    variance = np.sum(weights_of(5) * x**2)
    assert found.energy[0] == pytest.approx((9.0 + 25.0) * variance, rel=1e-5)
    assert found.energy[1] == 0.0 and not found.levels[1].any(), "it leaves the image"
    np.testing.assert_array_equal(found.shapes, [np.eye(2)] * 2)
    np.testing.assert_array_equal(found.gains[1], np.eye(6))


@pytest.mark.parametrize(("gain", "offset"), [(1.0, 0.0), (0.5, 40.0)])
def test_a_patch_is_found_again_where_it_went_whatever_the_light(gain, offset):
    image, w = picture(), weights_of(15)
    made = cut(image, np.array([[30.0, 22.0], [25.0, 25.0]]), w)
    moved = np.roll(image, (2, -1), axis=(0, 1)) * gain + offset
    points, shapes = np.array([[29.6, 23.5], [24.0, 27.0]]), made.shapes.copy()
    alike = find(moved.astype(np.uint8), made, points, shapes, w)
    np.testing.assert_allclose(points, [[29.0, 24.0], [24.0, 27.0]], atol=0.05)
    np.testing.assert_allclose(shapes, [np.eye(2)] * 2, atol=0.02)
    assert (alike > 0.99).all() and (alike <= 1.0 + 1e-9).all()
    points[:] = [[3.0, 3.0], [62.0, 20.0]]
    assert find(image, made, points, shapes, w).tolist() == [0.0, 0.0]


def test_a_step_is_undone_in_the_axes_of_the_shape():
    move = patches._move.py_func
    point, shape = np.array([5.0, 6.0]), np.array([[2.0, 0.0], [0.0, 1.0]])
    far = move(np.array([0.0, 0.0, 0.0, 0.0, 0.3, -0.4]), point, shape, 7)
    np.testing.assert_allclose(point, [4.4, 6.4])
    assert far == pytest.approx(np.hypot(0.6, 0.4)) and shape.tolist() == [[2.0, 0.0], [0.0, 1.0]]
    step = np.array([0.7, 1.4, -0.7, 0.0, 0.0, 0.0])
    assert move(step, point, shape, 7) == 0.0
    inverse = np.linalg.inv(np.array([[1.1, 0.2], [-0.1, 1.0]]))
    np.testing.assert_allclose(shape, np.diag([2.0, 1.0]) @ inverse)
    shape = np.eye(2)
    move(np.array([-7.0, 0.0, 0.0, 0.0, 0.0, 0.0]), point, shape, 7)
    assert np.isfinite(shape).all() and shape[0, 0] == 4.0


def test_patches_are_kept_exchanged_and_joined():
    image = picture()
    made = cut(image, np.array([[20.0, 20.0], [30.0, 20.0], [40.0, 20.0]]), weights_of(5))
    some = made.kept(np.array([True, False, True]))
    np.testing.assert_array_equal(some.levels, made.levels[[0, 2]])
    np.testing.assert_array_equal(some.energy, made.energy[[0, 2]])
    other = made.with_others(np.array([0]), made.kept(np.array([False, True, False])))
    np.testing.assert_array_equal(other.levels, made.levels[[1, 1, 2]])
    np.testing.assert_array_equal(other.gains, made.gains[[1, 1, 2]])
    assert not np.array_equal(made.levels[0], made.levels[1])
    both = some.and_then(made)
    np.testing.assert_array_equal(both.gradients, made.gradients[[0, 2, 0, 1, 2]])
    np.testing.assert_array_equal(both.shapes, np.tile(np.eye(2), (5, 1, 1)))


@pytest.mark.parametrize(
    ("shape", "is_worn"),
    [
        (np.eye(2), False),
        (1.49 * np.eye(2), False),
        (1.51 * np.eye(2), True),
        (np.eye(2) / 1.49, False),
        (np.eye(2) / 1.51, True),
        (np.diag([1.99, 1.0]) / np.sqrt(2.0), False),
        (np.diag([1.0, 2.01]) / np.sqrt(2.0), True),
        (np.array([[1.0, 0.70], [0.0, 1.0]]), False),
        (np.array([[1.0, 0.72], [0.0, 1.0]]), True),
        (np.array([[1.0, 0.0], [-0.72, 1.0]]), True),
        (np.array([[0.0, -1.0], [1.0, 0.0]]), False),
        (np.diag([1.0, -1.0]), True),
    ],
)
def test_a_patch_is_worn_where_it_is_larger_smaller_or_leans(shape, is_worn):
    assert matching._worn(shape[None]).tolist() == [is_worn]


def test_a_track_turns_from_blue_over_green_to_red():
    assert tracker._colour(0.0) == (0, 0, 255)
    assert tracker._colour(0.5) == (128, 255, 128)
    assert tracker._colour(1.0) == (255, 0, 0)
    assert tracker._colour(0.75) == (191, 128, 64)
    assert tracker._place(np.array([1.5, 2.04])) == (24, 33)


def test_fewer_than_eight_points_move_as_one_and_of_more_the_odd_one_does_not():
    rng = np.random.default_rng(1)
    points = rng.uniform([-3.0, -3.0, 4.0], [3.0, 3.0, 12.0], (60, 3))
    later = points - [0.4, 0.1, 0.3]
    before, after = (100.0 * p[:, :2] / p[:, 2:] for p in (points, later))
    after[7] += [5.0, -6.0]
    assert tracker._move_as_one(before[:7], after[:7] + 50.0 * rng.normal(size=(7, 2)), 0.25).all()
    kept = tracker._move_as_one(before, after, 0.25)
    assert not kept[7] and kept.sum() >= 57


def test_the_first_guess_goes_with_the_turn_of_the_camera():
    made = tracker.StereoTracker(PAIR, SPEC)
    points = np.array([[32.0, 24.0], [42.0, 24.0]])
    made._table = TrackTable.fresh(
        0, points, CAMERA.normalized(points), cut(picture(), points, weights_of(15))
    )
    assert made._guess(None) is points
    turn = so3.quaternion_exp(np.array([0.0, 0.1, 0.0]))  # to the right: points go to the left
    found = made._guess(turn)
    np.testing.assert_allclose(found[0], [32.0 - 100.0 * np.tan(0.1), 24.0])
    behind = made._guess(so3.quaternion_exp(np.array([0.0, 3.0, 0.0])))
    np.testing.assert_array_equal(behind, points)


def test_points_are_followed_there_and_back():
    image = picture()
    moved = np.roll(image, (1, 2), axis=(0, 1))
    follow = FlowTracker(SPEC)
    points = np.array([[30.0, 24.0], [36.0, 20.0]])
    there, found = follow(image, moved, points, points)
    np.testing.assert_allclose(there, points + [2.0, 1.0], atol=0.1)
    assert found.all()
    none, which = follow(image, moved, np.zeros((0, 2)), np.zeros((0, 2)))
    assert none.shape == (0, 2) and which.shape == (0,)


def test_a_patch_is_held_or_anchored_anew_or_lost():
    image = picture()
    reference = ReferencePatches(SPEC)
    points = np.array([[30.0, 24.0], [36.0, 20.0]])
    made = reference.cast(image, points)
    here, kept, found = reference.hold((image, image), made, points, points + 0.3)
    assert found.all()
    np.testing.assert_allclose(here, points, atol=0.02)
    np.testing.assert_allclose(kept.levels, made.levels)
    far = points + [[3.0, 0.0], [0.0, 0.0]]
    assert reference.seek(image, made, far)[2].tolist() == [False, True], "a pixel is the limit"
    other = made.with_others(np.array([0]), reference.cast(image, points[1:]))
    here, kept, found = reference.hold((image, image), other, points, points)
    assert found.all()
    np.testing.assert_allclose(kept.levels, made.levels, atol=1e-5)
    noise = np.random.default_rng(0).integers(0, 255, image.shape).astype(np.uint8)
    assert not reference.hold(
        (noise, image), reference.cast(noise[::-1].copy(), points), points, points
    )[2].any()


def test_a_right_guess_is_at_the_depth_last_seen_or_at_the_middle_one():
    points = np.array([[32.0, 24.0], [42.0, 24.0], [22.0, 24.0]])
    table = TrackTable.fresh(
        0, points, CAMERA.normalized(points), cut(picture(), points, weights_of(15))
    )
    matcher = Matcher(PAIR, SPEC)
    np.testing.assert_allclose(matcher._guess(table), points)
    known = table.matched(points, np.array([0.5, np.nan, 0.1]))
    expected = points - np.outer(100.0 * 0.2 * np.array([0.5, 0.3, 0.1]), [1.0, 0.0])
    np.testing.assert_allclose(matcher._guess(known), expected)


@pytest.mark.parametrize(
    ("front", "behind", "is_refused"),
    [(38, 161, False), (40, 160, False), (39, 161, True), (30, 169, False)],
)
def test_images_are_swapped_where_four_fifths_of_two_hundred_points_are_behind(
    front, behind, is_refused
):
    depth = np.r_[
        np.full(front, 0.06), np.full(behind, -0.06), np.full(500, 0.04), np.full(9, -0.04)
    ]
    matcher = Matcher(PAIR, SPEC)  # a disparity of a pixel is 0.05 1/m
    if is_refused:
        with pytest.raises(BadInput, match="swapped: 161 of 200 matched points would be behind"):
            matcher._count(depth)
    else:
        matcher._count(depth)


def test_a_camera_sees_as_a_pinhole_does():
    np.testing.assert_allclose(CAMERA.normalized([42.0, 36.0]), [[0.1, 0.1]])
    np.testing.assert_allclose(CAMERA.project(np.array([[0.2, 0.2, 2.0]])), [[42.0, 36.0]])
    assert CAMERA.normalized(np.zeros((0, 2))).shape == (0, 2)
    assert CAMERA.project(np.zeros((0, 3))).shape == (0, 2)
    assert CAMERA.followed.shape == (48, 64) and CAMERA.followed.all()
    np.testing.assert_allclose(PAIR.p_RL_R, [-0.2, 0.0, 0.0])
    left = np.array([[0.1, 0.1], [0.0, 0.0]])
    expected = PAIR.expected_right(left, np.array([0.5, 0.0]))
    np.testing.assert_allclose(expected, [[32.0, 36.0], [32.0, 24.0]])
    right = np.array([[0.0, 0.1], [-0.04, 0.01]])
    np.testing.assert_allclose(PAIR.inverse_depth(left, right), [0.5, 0.2], rtol=1e-3)
    np.testing.assert_allclose(PAIR.epipolar_distance(left, right), [0.0, 1.2], atol=1e-12)


def test_a_fisheye_is_followed_within_sixty_degrees():
    matrix = [[100.0, 0.0, 200.0], [0.0, 100.0, 150.0], [0.0, 0.0, 1.0]]
    wide = CameraCalibration.of((400, 300), matrix, np.zeros(4), model="equidistant", source="x")
    edge = 100.0 * np.deg2rad(60.0)
    found = wide.normalized([[200.0 + edge - 0.5, 150.0], [200.0 + edge + 0.5, 150.0]])
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
    assert wide.followed[150, 200] and wide.followed[150, 304] and not wide.followed[150, 306]
    np.testing.assert_allclose(
        wide.project(np.array([[1.0, 0.0, 1.0]])), [[200.0 + 25.0 * np.pi, 150.0]]
    )


def test_a_place_of_sixteen_numbers_is_a_rigid_motion():
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = (
        so3.matrix_from_quaternion(so3.quaternion_exp(np.array([0.0, 0.0, 0.5]))),
        [1, 2, 3],
    )
    p, q = rigid(T.ravel(), "x")
    assert p.tolist() == [1, 2, 3]
    np.testing.assert_allclose(so3.quaternion_log(q), [0.0, 0.0, 0.5])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"window": 14}, "an odd number is needed"),
        ({"patch": 16}, "an odd number is needed"),
        ({"border": 7}, "key 'border': a patch of 15 pixels needs more of it"),
    ],
)
def test_settings_of_a_front_end_have_middles_and_room(changes, words):
    assert FrontendSpec.model_validate({**TREE, "border": 8}).border == 8
    with pytest.raises(ValueError, match=words):
        FrontendSpec.model_validate({**TREE, **changes})

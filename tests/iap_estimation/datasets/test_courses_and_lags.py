# SPDX-License-Identifier: BSD-3-Clause
"""A method on its way through the data, lags of a truth, rays of corners and windows of places, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.datasets import (
    data_sample,
    localization,
    range_motion,
    stereo_scale,
    stream_checks,
)
from iap_estimation.datasets.data_sample import DataSample, followed, sample_of
from iap_estimation.datasets.image_rotation import RayPairs
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import CENTRE_NAME, Estimate, ImuSample, LeftOut, Ranges
from iap_estimation.virpo.window.failure_checks import Fault
from iap_estimation.virpo.window.window import EstimateLost

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def told(t, p=(0.0, 0.0, 0.0)):
    zero = np.zeros(3)
    return Estimate(t, np.array(p), LEVEL, zero, zero, zero, np.eye(15))


class _Stub:
    """A localizer that has an estimate of its only aircraft after every sample."""

    def __init__(self):
        self.now, self.faults, self.left_out = [], [], []

    def imu(self, who, sample):
        if sample.t > 8.0:
            raise EstimateLost("the end")
        self.now = [told(sample.t, (np.nan if sample.t > 5.0 else 0.0, 0.0, 0.0))]
        return sample.t != 3.0

    def estimates(self):
        return self.now

    def centre(self):
        return told(self.now[0].t)


def course():
    fleet = SimpleNamespace(aircraft=[SimpleNamespace(name="one")])
    return localization._Course(_Stub(), fleet)


def sample(t):
    return ImuSample(t, np.zeros(3), np.zeros(3))


def test_a_course_keeps_new_estimates_and_counts_what_is_timed():
    made = course()
    for t, is_timed in ((1.0, False), (2.0, True), (2.0, True), (3.0, True), (4.0, True)):
        made.take_measurement(0, sample(t), is_timed=is_timed)
    assert made.keyframes == 3 and made.seconds > 0.0 and made.failure is None
    assert [one.t for one in made.estimates["one"]] == [1.0, 2.0, 4.0]
    result = made.result("nothing")
    assert result.outcome == "completed" and result.keyframes == 3
    assert result.trajectories["one"].t.tolist() == [1.0, 2.0, 4.0]
    assert sorted(result.trajectories) == [CENTRE_NAME, "one"] and result.left_out == ()


def test_restarts_and_anchors_left_out_are_in_order_of_time():
    made = course()
    made.take_measurement(0, sample(1.0), is_timed=False)
    assert made.seconds == 0.0 and made.keyframes == 0
    made.localizer.faults = [Fault(3.0, "late"), Fault(2.0, "early")]
    made.localizer.left_out = [LeftOut(2.0, 0, 7), LeftOut(1.0, 0, 8)]
    result = made.result("nothing")
    assert result.outcome == "restarted 2 times: at 2.00 s: early"
    assert result.left_out == ((1.0, "one", 8), (2.0, "one", 7))
    made.localizer.faults = [Fault(3.0, "late")]
    assert made.result("nothing").outcome == "restarted once: at 3.00 s: late"


@pytest.mark.parametrize(
    ("times", "failure"),
    [
        ((1.0, 9.0, 9.5), "failed: at 9.00 s: the end"),
        ((1.0, 6.0), "failed: at 6.00 s: the estimate of one is not a number"),
        ((), "failed: nothing came"),
    ],
)
def test_a_course_that_ends_says_when_and_why(times, failure):
    made = course()
    for t in times:
        made.take_measurement(0, sample(t), is_timed=True)
    result = made.result("nothing came")
    assert result.outcome == failure and result.trajectories == {} and result.keyframes == 0


# lags


def test_a_correlation_is_of_what_was_later_and_none_of_hardly_any_turns():
    t = 0.02 * np.arange(300)
    gyro = 1.0 + np.sin(2.0 * t) + 0.5 * np.sin(5.3 * t)
    late = np.r_[np.full(7, np.nan), gyro[:-7]]
    assert stream_checks._correlation(gyro, late, 7) == pytest.approx(1.0)
    assert stream_checks._correlation(late, gyro, -7) == pytest.approx(1.0)
    assert stream_checks._correlation(gyro, late, 0) < 0.99
    assert stream_checks._correlation(gyro, -3.0 * gyro, 0) == pytest.approx(-1.0)
    small = 0.049 * np.sqrt(2.0) * np.sin(2.0 * np.pi * np.arange(300) / 100.0)
    assert stream_checks._correlation(gyro, small, 0) == 0.0
    assert stream_checks._correlation(1.06 * small, gyro, 0) != 0.0
    few = np.where(np.arange(300) < 99, gyro, np.nan)
    assert stream_checks._correlation(few, gyro, 0) == 0.0
    assert stream_checks._correlation(
        np.where(np.arange(300) < 100, gyro, np.nan), gyro, 0
    ) == pytest.approx(1.0)


# rays


K = [[200.0, 0.0, 80.0], [0.0, 200.0, 60.0], [0.0, 0.0, 1.0]]
CAMERA = CameraCalibration.of((160, 120), K, np.zeros(5), model="plumb_bob", source="x")
QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
PAIR = StereoCalibration.of(CAMERA, CAMERA, [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], [LEVEL, LEVEL])


def picture(shift=0):
    rng = np.random.default_rng(1)
    coarse = rng.integers(0, 255, (15, 24)).astype(np.uint8)
    return np.ascontiguousarray(
        np.kron(coarse, np.ones((8, 8), np.uint8))[:, 16 - shift : 176 - shift]
    )


def test_corners_are_followed_and_have_directions_in_the_bodys_axes():
    before, after = followed(picture(), picture(2))
    assert len(before) > 20
    np.testing.assert_allclose(np.median(after - before, axis=0), [2.0, 0.0], atol=0.05)
    assert followed(np.zeros((120, 160), np.uint8), picture()).shape == (2, 0, 2)
    pixels = np.array([[[80.0, 60.0], [280.0, 60.0]], [[80.0, 260.0], [80.0, 60.0]]])
    rays, good = data_sample._rays(CAMERA, QUARTER, pixels)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(
        rays, [[[0, 0, 1], [0, half, half]], [[-half, 0, half], [0, 0, 1]]], atol=1e-9
    )
    assert good.tolist() == [True, True]


def test_a_pair_of_images_says_how_near_its_corners_are():
    pixels = followed(picture(), picture())[0]
    # A disparity of 4 px at a focal length of 200 px and 0.1 m is a depth of 5 m.
    found = data_sample._nearness(PAIR, picture(), picture(-4), pixels)
    xy = (pixels - [80.0, 60.0]) / 200.0
    expected = 0.2 / np.sqrt(1.0 + np.sum(xy**2, axis=1))
    known = np.isfinite(found)
    assert known.sum() > 15
    np.testing.assert_allclose(np.median(found[known] / expected[known]), 1.0, atol=0.02)
    assert np.isnan(data_sample._nearness(PAIR, picture(), picture(-2), pixels)).all(), (
        "too little"
    )
    assert np.isnan(data_sample._nearness(PAIR, picture(), picture(4), pixels)).all(), "behind"


def test_a_sample_is_of_the_first_aircraft_and_its_beginning():
    one = SimpleNamespace(calibration=PAIR, cameras=PAIR)
    events = [
        (0, sample(0.0)), (1, sample(0.1)), (0, Images(0.2, picture(), picture(-4))), (0, Images(0.3, picture(), None)),
        (0, Images(0.4, picture(1), picture(-3))),
        (0, Ranges(0.5, np.arange(1), np.zeros((1, 3)), np.ones(1), np.ones(1))),
        (0, Images(0.6, np.zeros((10, 10), np.uint8), None)), (0, sample(20.0)), (0, sample(20.1)),
    ]  # fmt: skip
    data = SimpleNamespace(aircraft=[one], has_cameras=True, events=lambda: iter(events))
    found = sample_of(data)
    assert [each.t for each in found.samples] == [0.0, 20.0] and len(found.rounds) == 1
    assert found.image_times == [0.2, 0.3, 0.4, 0.6] and found.repeated == 1
    assert [each.t for each in found.pairs] == [(0.2, 0.3), (0.3, 0.4)]
    assert len(found.pairs[0].nearness) == found.pairs[0].rays.shape[1] and not len(
        found.pairs[1].nearness
    )
    assert found.turns_can_be_seen and not DataSample(data).turns_can_be_seen
    data.has_cameras = False
    assert [each.t for each in sample_of(data).samples] == [0.0, 20.0, 20.1]


def test_velocities_by_images_are_without_the_turn_of_the_lever_arm():
    rng = np.random.default_rng(2)
    points, way = (
        rng.uniform([-2.0, -2.0, 3.0], [2.0, 2.0, 9.0], (30, 3)),
        np.array([0.2, -0.1, 0.05]),
    )
    rays = np.stack([x / np.linalg.norm(x, axis=1, keepdims=True) for x in (points, points - way)])
    pair = RayPairs((0.0, 0.5), rays, 1.0 / np.linalg.norm(points, axis=1))
    few = pair._replace(nearness=np.where(np.arange(30) < 11, pair.nearness, np.nan))
    cameras = SimpleNamespace(p_BC_B=np.array([[0.3, 0.0, 0.0]]))
    data = SimpleNamespace(aircraft=[SimpleNamespace(cameras=cameras)])
    still = [sample(t) for t in (-0.1, 0.2, 0.6)]
    found = stereo_scale._ways(DataSample(data, still, pairs=[pair, few]))
    np.testing.assert_allclose(found.t, [[0.0, 0.5]])
    np.testing.assert_allclose(found.v_B, [way / 0.5])
    none = stereo_scale._ways(DataSample(data, still, pairs=[few]))
    assert none.t.shape == (0, 2) and none.v_B.shape == (0, 3)


# places


def test_places_beside_their_neighbours_are_left_out():
    anchors = np.array(
        [[0.0, 0.0, 0.0], [8.0, 0.0, 3.0], [8.0, 6.0, 0.5], [0.0, 6.0, 2.5], [4.0, 3.0, 4.0]]
    )
    rounds, noise = [], 0.05 * np.random.default_rng(0).normal(size=(9, 3))
    for k in range(9):
        p = np.array([2.0, 2.5 + 3.0 * (k == 4), 1.0]) + noise[k]
        rounds.append(
            Ranges(
                0.1 * k,
                np.arange(5),
                anchors,
                np.linalg.norm(anchors - p, axis=1),
                np.full(5, 0.1),
            )
        )
    kept, places = range_motion._near_others(rounds)
    assert [each.t for each in kept] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8])
    np.testing.assert_allclose(places, np.delete([2.0, 2.5, 1.0] + noise, 4, axis=0), atol=1e-4)


def window(H, turn):
    """Places that a map H and a heading would bring to where the motion is felt."""
    rng = np.random.default_rng(6)
    t = np.linspace(-0.5, 0.5, 40)
    felt = np.stack(
        [np.sin(7.0 * t), np.cos(5.0 * t), 0.4 * np.sin(9.0 * t)], axis=1
    ) + 0.001 * rng.normal(size=(40, 3))
    unknown = np.concatenate([*range_motion.powers_of_time(t, 3), np.zeros((40, 3, 6))], axis=2)
    places = felt @ so3.exp(np.array([0.0, 0.0, turn])) @ H
    return range_motion.RangeWindow(places, felt, unknown, np.full(3, 0.1))


@pytest.mark.parametrize("turn", [0.0, 1.3])
def test_the_right_map_leaves_nothing_at_some_heading(turn):
    names = list(range_motion.MAPS)
    for name in names[1:5]:
        made = window(range_motion.MAPS[name], turn)
        left = {other: range_motion._left(made, H) for other, H in range_motion.MAPS.items()}
        assert (
            min(left, key=left.get) == name and left[name] < 1.0 < 5.0 < sorted(left.values())[1]
        )

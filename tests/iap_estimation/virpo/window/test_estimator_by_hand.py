# SPDX-License-Identifier: BSD-3-Clause
"""An estimator of aircraft that stand or drift evenly: when it has estimates, of what time, and when it begins anew."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_fleet import fleet_of

from iap_description.math import so3
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import ImuSample, Ranges, Tilt, Tracks
from iap_estimation.virpo.spec import load_spec
from iap_estimation.virpo.window.buffers import RangeBuffer
from iap_estimation.virpo.window.estimator import Estimator

SPEC = load_spec()
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
UP = np.array([0.0, 0.0, 9.81])
SEEING = fleet_of(1)
BLIND = Fleet((replace(SEEING.aircraft[0], rig=None),), gravity=9.81)


def state(v=(0.0, 0.0, 0.0), p=(1.0, 2.0, 3.0)):
    return np.r_[p, LEVEL, v, np.zeros(6)]


def nothing(t):
    return Tracks(t, np.zeros(0, int), np.zeros((0, 4)), np.zeros(0, bool))


def estimator(v=(0.0, 0.0, 0.0), fleet=BLIND, begin=0.0, **changes):
    made = SPEC.model_copy(update=changes)
    return Estimator(fleet, made, lambda a, t: state(v) if t >= begin - 1e-9 else None)


def fly(made, begin, end, w=(0.0, 0.0, 0.0), f=UP, see=nothing, every=10):
    """Samples of 100 Hz up to an end, and images every some of them; how often there was something new."""
    new = 0
    for k in range(round(100 * begin), round(100 * end) + 1):
        t = k / 100
        if see is not None and k % every == 0:
            new += made.tracks(0, see(t))
        new += made.imu(0, ImuSample(t, np.array(w), np.array(f)))
    return new


def test_nothing_is_estimated_before_a_first_state_is_known():
    made = estimator(begin=0.3)
    assert fly(made, 0.0, 0.29) == 0 and not made.is_running
    assert made.estimates() == [] and made.centre() is None
    assert made.propagated(0) is None and made.shared(0) is None
    assert fly(made, 0.3, 0.35) == 1 and made.t == 0.3 and made.is_running
    (one,) = made.estimates()
    np.testing.assert_allclose(one.p_WB_W, [1.0, 2.0, 3.0])
    assert one.t == 0.3 and np.isfinite(one.covariance).all() and made.estimators == [made]


@pytest.mark.parametrize(("every", "new"), [(10, 11), (5, 11), (20, 6)])
def test_keyframes_come_with_images_but_no_faster_than_their_rate(every, new):
    made = estimator()
    assert fly(made, 0.0, 1.0, every=every) == new and made.t == 1.0


def test_images_that_are_not_newer_are_late():
    made = estimator()
    fly(made, 0.0, 0.5)
    assert (
        not made.tracks(0, nothing(0.5)) and not made.tracks(0, nothing(0.5009)) and made.late == 2
    )
    made.tracks(0, nothing(0.6))
    assert made.late == 2


def test_the_newest_state_moves_on_with_its_samples():
    made = estimator((1.0, 0.0, -0.5))
    fly(made, 0.0, 0.55, w=(0.0, 0.0, 0.2))
    one = made.propagated(0)
    assert one.t == 0.55 and made.t == 0.5
    np.testing.assert_allclose(one.p_WB_W, [1.55, 2.0, 3.0 - 0.275], atol=5e-3)
    np.testing.assert_allclose(so3.quaternion_log(one.q_WB), [0.0, 0.0, 0.11], atol=2e-3)
    np.testing.assert_allclose(one.w_B, [0.0, 0.0, 0.2], atol=1e-3)
    assert np.isnan(one.covariance).all()
    shown = made.shared(4)
    assert (shown.t, shown.aircraft) == (0.55, 4)
    np.testing.assert_array_equal(shown.p_WB_W, one.p_WB_W)
    np.testing.assert_array_equal(shown.v_WB_W, one.v_WB_W)
    kept = made.estimates()
    kept.clear()
    assert len(made.estimates()) == 1


def test_a_gap_in_the_samples_is_bridged_by_the_velocity_and_begins_anew():
    made = estimator((1.0, 0.0, 0.0))
    fly(made, 0.0, 0.5)
    before = made.estimates()[0].covariance[0, 0]
    fly(made, 1.2, 1.3)
    (fault,) = made.faults
    assert fault.reason == "a gap in the inertial samples" and fault.t == pytest.approx(1.2)
    np.testing.assert_allclose(made.estimates()[0].p_WB_W, [2.3, 2.0, 3.0], atol=0.02)
    assert made.estimates()[0].covariance[0, 0] > 0.5 > before
    short = estimator((1.0, 0.0, 0.0))
    fly(short, 0.0, 0.5)
    fly(short, 0.9, 1.3)
    assert short.faults == []


def test_a_speed_that_no_aircraft_has_is_a_fault():
    made = estimator((30.5, 0.0, 0.0))
    fly(made, 0.0, 0.3)
    assert made.faults[0].reason == "drone_1: speed of 30.5" and made.faults[0].t == 0.1
    slower = estimator((29.5, 0.0, 0.0))
    fly(slower, 0.0, 0.3)
    assert slower.faults == []


def wall(t, shift=0.0):
    """Thirty points at two metres in both cameras [px / focal length]."""
    views = np.zeros((30, 4))
    views[:, 0] = views[:, 2] = np.linspace(-0.5, 0.5, 30) + shift
    views[:, 1] = views[:, 3] = 0.3 * np.cos(np.arange(30.0))
    views[:, 2] -= 0.06
    return Tracks(t, np.arange(30), views, np.ones(30, bool))


@pytest.mark.parametrize(
    ("w", "f", "is_still"),
    [
        ((0.0, 0.0, 0.0), (0.0, 0.0, 9.81), True),
        ((0.018, 0.0, 0.0), (0.0, 0.0, 9.81), True),
        ((0.0, 0.0, 0.025), (0.0, 0.0, 9.81), False),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 9.94), True),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 10.0), False),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 9.62), False),
    ],
)
def test_an_aircraft_stands_still_where_it_sees_and_feels_so(w, f, is_still):
    made = estimator(fleet=SEEING)
    fly(made, 0.0, 0.11, w, f, see=wall)
    assert made.is_still(0) is is_still
    moving = estimator(fleet=SEEING)
    fly(moving, 0.0, 0.11, see=lambda t: wall(t, 5.0 * t / 320.0))
    assert not moving.is_still(0), "half a pixel is more than three tenths"
    blind = estimator()
    fly(blind, 0.0, 0.11)
    assert not blind.is_still(0)


ANCHORS = np.array([[8.0, 6.0, 0.5], [-8.0, 6.0, 5.0], [-8.0, -6.0, 0.5], [8.0, -6.0, 5.0]])


def stand_among(made, ways, *, seconds, every, deviation):
    """Let an aircraft stand, with ranges (4,) to the anchors in every so many samples, and images without a track."""
    for k in range(round(100 * seconds)):
        t = k / 100
        if k % every == 1:
            made.ranges(0, Ranges(t, np.arange(4), ANCHORS, ways, np.full(4, deviation)))
        if k % 10 == 0:
            made.tracks(0, nothing(t))
        made.imu(0, ImuSample(t, np.zeros(3), UP))


def test_ranges_pull_where_they_meet_and_one_behind_a_wall_is_left_out():
    made = estimator()
    ways = np.linalg.norm(ANCHORS - [1.0, 2.0, 3.0], axis=1)
    ways[2] += 1.0
    stand_among(made, ways, seconds=4, every=2, deviation=0.3)
    assert [(one.aircraft, one.anchor) for one in made.left_out] == [(0, 2)] and made.refused == [
        {2}
    ]
    np.testing.assert_allclose(made.estimates()[0].p_WB_W, [1.0, 2.0, 3.0], atol=0.05)


def test_a_start_that_is_off_is_pulled_to_where_ranges_meet():
    ways = np.linalg.norm(ANCHORS - [1.5, 1.8, 3.0], axis=1)
    made = Estimator(BLIND, SPEC, lambda a, t: state(), deviations=SPEC.restart)
    stand_among(made, ways, seconds=1.5, every=5, deviation=0.05)
    (one,) = made.estimates()
    np.testing.assert_allclose(one.p_WB_W, [1.5, 1.8, 3.0], atol=0.05)
    assert np.sqrt(one.covariance[0, 0]) < 0.05 and 0.0 < made.window.chi_square < 1.0
    assert made.faults == [] and made.left_out == []


def test_rounds_that_come_after_their_interval_are_left_out():
    buffer = RangeBuffer(None)
    one = Ranges(0.5, np.zeros(1, int), np.zeros((1, 3)), np.ones(1), np.ones(1))
    assert len(buffer.take(0.0, 1.0)) == 0
    buffer.add(one)
    buffer.add(replace(one, t=1.5))
    assert buffer.take(0.0, 2.0)[:, 0].tolist() == [1.5]


# one window of joined aircraft


def joined():
    fleet = fleet_of(2)
    places = fleet.d + [1.0, 2.0, 3.0]
    return Estimator(fleet, SPEC, lambda a, t: state(p=places[a]), joined=True)


def test_a_centre_is_in_the_middle_of_its_joints():
    made = joined()
    lean = np.array([0.01, -0.02, 0.03])
    for k in range(60):
        t = k / 100
        if k % 10 == 0:
            for a in range(2):
                made.tracks(a, nothing(t))
        made.tilt(Tilt(t, LEVEL, lean, UP))
        for a in range(2):
            made.imu(a, ImuSample(t, np.zeros(3), UP))
    centre = made.centre()
    assert centre.t == made.t == 0.5
    np.testing.assert_allclose(centre.p_WB_W, [1.0, 2.0, 3.0], atol=5e-3)
    np.testing.assert_allclose(centre.v_WB_W, 0.0, atol=2e-2)
    np.testing.assert_allclose(centre.w_B + centre.gyro_bias, lean)
    for known in (slice(0, 9), slice(9, 12)):
        assert (np.linalg.eigvalsh(centre.covariance[known, known]) > 0.0).all()
    assert np.isnan(centre.covariance[12:]).all()
    assert np.isnan(centre.accel_bias).all()


def test_without_the_centres_attitude_no_window_of_joined_aircraft_begins():
    made = joined()
    for k in range(30):
        for a in range(2):
            if k % 10 == 0:
                made.tracks(a, nothing(k / 100))
            made.imu(a, ImuSample(k / 100, np.zeros(3), UP))
    assert not made.is_running

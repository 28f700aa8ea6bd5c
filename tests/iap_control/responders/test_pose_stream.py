# SPDX-License-Identifier: BSD-3-Clause
"""A stream of poses that pauses, comes in bursts, without stamps, or returns: a reference that a vehicle can follow."""

import numpy as np
import pytest

from iap_control.responders.inputs import SimpleInputs
from iap_control.responders.pose_follower import Offset
from iap_control.responders.pose_stream import InputLimits, PoseStream
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_V, REF_W

DT, HZ = 0.005, 40.0
HERE = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *np.zeros(6)])
SPEED, YAW_RATE = 0.8, 0.5


def pose_at(t):
    """A straight line with a turn about the vertical."""
    return np.array([SPEED * t, 0.0, 1.0, *so3.quaternion_exp(np.array([0.0, 0.0, YAW_RATE * t]))])


def followed(received, duration, stamped=True, noise=0.0):
    """Reference rows under poses stamped at 40 Hz, each received at a time or never (nan), with white noise [m]."""
    inputs, rows, i = SimpleInputs(3, InputLimits()), [], 0
    order = [k for k in range(len(received)) if not np.isnan(received[k])]
    off = np.zeros((len(received), 7))
    off[:, :3] = noise * np.random.default_rng(0).standard_normal((len(received), 3))
    for step in range(round(duration / DT)):
        t = step * DT
        while i < len(order) and received[order[i]] <= t + 1e-9:
            pose = pose_at(order[i] / HZ) + off[order[i]]
            inputs.take_pose(t, 1e9 + order[i] / HZ if stamped else 0.0, pose)
            i += 1
        rows.append(inputs.row(t, HERE).copy())
    return np.array(rows)


def stamps(duration):
    return np.arange(0.0, duration, 1.0 / HZ)


def with_gap(duration, begin, length):
    t = stamps(duration)
    t[(t > begin) & (t < begin + length)] = np.nan
    return t


def in_bursts(duration, each):
    return np.ceil(stamps(duration) / each + 1e-9) * each


@pytest.mark.parametrize("length", [0.06, 0.2, 0.45, 1.0, 2.0])
def test_across_a_gap_accelerations_stay_within_the_limits(length):
    rows = followed(with_gap(12.0, 5.0, length), 12.0)[round(4.5 / DT) :]
    assert np.linalg.norm(rows[:, REF_A], axis=1).max() < 2.0 * 1.6  # return and brake at once
    assert np.linalg.norm(rows[:, REF_ALPHA], axis=1).max() < 3.0 * 1.6
    for rate, acceleration, limit in ((REF_V, REF_A, 2.0), (REF_W, REF_ALPHA, 3.0)):
        change = np.diff(rows[:, rate], axis=0)
        assert np.linalg.norm(change, axis=1).max() < 1.7 * limit * DT  # no step
        np.testing.assert_allclose(change / DT, rows[1:, acceleration], atol=0.1 * limit)
    np.testing.assert_allclose(np.diff(rows[:, REF_P], axis=0) / DT, rows[1:, REF_V], atol=0.02)


@pytest.mark.parametrize(("each", "stamped"), [(0.1, True), (0.3, True), (0.1, False)])
def test_bursts_are_one_steady_motion(each, stamped):
    rows = followed(in_bursts(8.0, each), 8.0, stamped=stamped)[round(6.0 / DT) :]
    np.testing.assert_allclose(rows[:, REF_V][:, 0], SPEED, atol=0.08)
    np.testing.assert_allclose(rows[:, REF_W][:, 2], YAW_RATE, atol=0.05)


def test_late_poses_count_by_their_stamps():
    """Delays of up to 0.1 s move a reference of 0.8 m/s by a centimetre, not by 8 cm."""
    late = np.random.default_rng(3).uniform(0.0, 0.1, round(8.0 * HZ))
    received = np.maximum.accumulate(stamps(8.0) + late)
    rows = followed(received, 8.0)[round(5.0 / DT) :]
    lag = SPEED * np.arange(round(5.0 / DT), round(8.0 / DT)) * DT - rows[:, 0]
    assert np.ptp(lag) < 0.015 and lag.max() < SPEED * 0.1


@pytest.mark.parametrize("stamped", [True, False])
def test_noise_of_a_millimetre_moves_the_reference_by_millimetres(stamped):
    rows = followed(stamps(12.0), 12.0, stamped, noise=1e-3)[round(4.0 / DT) :]
    ahead = SPEED * np.arange(round(4.0 / DT), round(12.0 / DT)) * DT
    error = rows[:, :3] - np.column_stack([ahead, 0.0 * ahead, 0.0 * ahead + 1.0])
    assert np.linalg.norm(error, axis=1).mean() < 0.01
    assert np.sqrt((rows[:, REF_A] ** 2).sum(axis=1).mean()) < 0.2  # m/s^2


def test_a_stream_that_returns_is_caught_up_with():
    rows = followed(with_gap(14.0, 5.0, 1.0), 14.0)
    np.testing.assert_allclose(rows[-1, REF_P], [SPEED * 13.995, 0.0, 1.0], atol=2e-3)


@pytest.mark.parametrize("speed", [0.05, 0.5, 1.0])
def test_an_offset_fades_out_within_the_limit_and_does_not_swing(speed):
    offset, a = Offset(), []
    offset.take(np.zeros(3), np.array([speed, 0.0, 0.0]), np.zeros(3))
    for _ in range(2000):
        offset.advance(DT, 2.0)
        a.append(offset.a[0])
        assert offset.e[0] >= 0.0
    assert np.abs(a).max() < 2.0 and np.abs(np.diff(a)).max() / DT < 2.0 / 0.4
    assert not offset.e.any() and not offset.rate.any()


def moved(distance):
    return np.array([distance, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])


def stream_of(*poses):
    """A stream that took poses (time, stamp, distance)."""
    stream = PoseStream(0.5)
    for t, stamp, distance in poses:
        stream.take(t, stamp, moved(distance))
    return stream


def test_a_pose_further_than_twenty_centimetres_from_where_the_stream_was_going_begins_it_anew():
    for distance, is_new in ((0.39, False), (0.41, True)):  # it was going to 0.2 m
        stream = stream_of((0.0, 1.0, 0.0), (0.1, 1.1, 0.1))
        assert stream.take(0.2, 1.2, moved(distance)) == is_new


def test_velocities_are_low_passed_by_a_twentieth_of_a_second_and_accelerations_by_twice_that():
    stream = stream_of((0.0, 1.0, 0.0), (0.05, 1.05, 0.0), (0.1, 1.1, 0.05))  # 0, then 1 m/s
    assert stream.track.linear.v[0] == pytest.approx(0.5)
    a = 0.05 / (0.1 + 0.05) * 0.5 / 0.05
    assert stream.track.linear.a[0] == pytest.approx(a)
    assert stream.own[0] == pytest.approx(0.05 / 1.05 * a)  # by a second


def test_a_pose_is_overdue_after_two_of_the_longest_intervals_and_a_bit():
    stream = stream_of((0.0, 1.0, 0.0), (0.1, 1.1, 0.1))
    assert stream.track.end == pytest.approx(0.1 + 2.2 * 0.1)
    row = np.zeros(22)
    stream.track.fill(row, 5.0)
    assert row[0] == pytest.approx(0.1 + 1.0 * (2.2 * 0.1 + 0.1))  # carried on for 0.1 s more


def test_a_pose_that_comes_late_is_followed_by_another_after_when_it_came_or_the_time_out():
    late = stream_of((0.0, 1.0, 0.0), (0.1, 1.1, 0.1), (0.25, 1.2, 0.2))
    assert late.track.end == pytest.approx(0.25 + 2.2 * 0.15)
    slow = stream_of((0.0, 1.0, 0.0), (0.4, 1.4, 0.1))
    assert slow.track.end == pytest.approx(0.4 + 0.5)


def test_how_far_the_second_pose_is_tells_nothing_yet():
    stream = stream_of((0.0, 1.0, 0.0))
    assert not stream.take(0.1, 1.1, moved(5.0))
    assert stream.track.linear.v[0] == pytest.approx(50.0)


def test_without_stamps_poses_are_smoothed_by_four_times_what_they_come_late():
    stream = stream_of((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.2, 0.0, 0.0), (0.4, 0.0, 0.0))
    late = 0.2 - (0.1 + 0.1 + 0.2) / 3.0
    assert stream.track.smoothing == pytest.approx(0.05 + 4.0 * late)


def test_a_small_offset_fades_out_at_eight_radians_per_second_and_a_large_one_by_its_jerk():
    small, large, dt = Offset(), Offset(), 1e-6
    small.take(np.array([1e-3, 0.0, 0.0]), np.zeros(3), np.zeros(3))
    small.advance(dt, 1e3)
    assert small.a[0] == pytest.approx(-(8.0**3) * 1e-3 * dt, rel=1e-3)
    large.take(np.array([0.1, 0.0, 0.0]), np.zeros(3), np.zeros(3))
    large.advance(dt, 2.0)
    assert large.a[0] == pytest.approx(-2.0 / 0.4 * dt, rel=1e-3)


def test_an_offset_of_ten_micrometres_is_gone():
    for size, remains in ((0.95e-5, False), (1.05e-5, True)):
        offset = Offset()
        offset.take(np.array([size, 0.0, 0.0]), np.zeros(3), np.zeros(3))
        offset.advance(DT, 2.0)
        assert offset.e.any() == remains

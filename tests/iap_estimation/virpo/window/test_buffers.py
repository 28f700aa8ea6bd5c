# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that wait for a keyframe: which of them an interval takes, and which are left."""

import numpy as np
import pytest
from synthetic_fleet import TABLE_VI, fleet_of

from iap_estimation.virpo.messages import ImuSample, Ranges, SharedOdometry, Tilt, Tracks
from iap_estimation.virpo.spec import load_spec
from iap_estimation.virpo.window.buffers import (
    MAX_TILTS,
    MeetingBuffer,
    RangeBuffer,
    SampleBuffer,
    TiltBuffer,
)
from iap_estimation.virpo.window.measurement_queue import MeasurementQueue

ONE, LEVEL = np.ones(3), np.array([0.0, 0.0, 0.0, 1.0])
STATE = np.concatenate([np.zeros(3), LEVEL, np.zeros(3), [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


def sample(t: float, w: float = 0.0, f: float = 0.0) -> ImuSample:
    return ImuSample(t, w * ONE, f * ONE)


def round_of(t: float, count: int = 2) -> Ranges:
    rows = np.arange(count)
    p_W = t + np.arange(3.0 * count).reshape(-1, 3)
    return Ranges(t, rows + 4, p_W, 10.0 + t + rows, 0.1 * (rows + 1))


def tilt(t: float) -> Tilt:
    return Tilt(t, LEVEL, np.full(3, t), np.full(3, 2.0 * t))


def tracks(t: float) -> Tracks:
    return Tracks(t, np.arange(3), np.zeros((3, 4)), np.ones(3, dtype=bool))


def test_samples_reach_from_the_stamp_before_to_their_own_and_are_cut_at_the_keyframe() -> None:
    buffer = SampleBuffer()
    for t, w, f in (
        (1.0, 9.0, 9.0),
        (1.01, 1.0, 4.0),
        (1.02, 2.0, 5.0),
        (1.015, 7.0, 7.0),
        (1.02, 7.0, 7.0),
    ):
        buffer.add(sample(t, w, f))
    assert buffer.t == 1.02
    rows = buffer.take(1.014)
    np.testing.assert_allclose(rows[:, 0], [0.01, 0.004])
    np.testing.assert_allclose(rows[:, 1:], [[1.0] * 3 + [4.0] * 3, [2.0] * 3 + [5.0] * 3])
    np.testing.assert_allclose(buffer.waiting(), [[0.006, *[2.0] * 3, *[5.0] * 3]])
    np.testing.assert_allclose(buffer.take(9.0)[:, 0], [0.006])
    assert buffer.take(9.0).shape == (0, 7)


@pytest.mark.parametrize(("length", "pieces"), [(0.02, 1), (0.021, 2), (0.04, 2), (0.05, 3)])
def test_a_long_sample_is_cut_into_equal_pieces_of_at_most_20_ms(
    length: float, pieces: int
) -> None:
    buffer = SampleBuffer()
    buffer.add(sample(2.0))
    buffer.add(sample(2.0 + length, 1.0, 2.0))
    assert buffer.end_of_gap(0.9 * length) == (pytest.approx(2.0 + length) if pieces > 1 else None)
    assert buffer.end_of_gap(1.1 * length) is None
    rows = buffer.waiting()
    np.testing.assert_allclose(rows, [[length / pieces, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]] * pieces)
    assert buffer.take(2.0 + length)[:, 0].sum() == pytest.approx(length)
    assert buffer.end_of_gap(0.0) is None


def test_a_gap_of_years_takes_no_more_pieces_than_one_of_a_minute_and_a_half() -> None:
    buffer = SampleBuffer()
    buffer.add(sample(0.0))
    buffer.add(sample(1.4e9))
    assert len(buffer.waiting()) == 5000
    assert buffer.end_of_gap(1.0) == 1.4e9
    assert buffer.take(1.4e9)[:, 0].sum() == pytest.approx(1.4e9)


def test_after_a_skip_a_sample_only_marks_the_begin_of_the_next() -> None:
    buffer = SampleBuffer()
    for t in (0.0, 0.01, 0.05):
        buffer.add(sample(t))
    buffer.skip(0.1)
    assert (buffer.t, len(buffer.waiting()), buffer.end_of_gap(0.0)) == (0.1, 0, None)
    for t in (0.09, 0.11, 0.12):
        buffer.add(sample(t, t))
    np.testing.assert_allclose(buffer.waiting()[:, :2], [[0.01, 0.12]])
    buffer.skip(0.05)
    assert buffer.t == 0.12


def test_the_nearest_attitude_within_20_ms_holds_at_a_keyframe() -> None:
    buffer = TiltBuffer()
    assert buffer.at(0.0) is None and buffer.t == -np.inf
    for t in (0.0, 0.2, 0.1):  # one comes late
        buffer.add(tilt(t))
    assert buffer.t == 0.2
    times = {
        -0.021: None,
        -0.019: 0.0,
        0.019: 0.0,
        0.021: None,
        0.081: 0.1,
        0.119: 0.1,
        0.219: 0.2,
        0.221: None,
    }
    assert {t: getattr(buffer.at(t), "t", None) for t in times} == times
    np.testing.assert_allclose(buffer.take(0.2), [[0.2, *[0.2] * 3, *[0.4] * 3]])  # however long


def test_attitudes_are_forgotten_a_thousand_at_a_time() -> None:
    buffer = TiltBuffer()
    for k in range(2 * MAX_TILTS):
        buffer.add(tilt(float(k)))
    assert buffer.at(0.0) is not None
    buffer.add(tilt(2.0 * MAX_TILTS))
    assert [buffer.at(float(k)) is None for k in (0, MAX_TILTS - 1, MAX_TILTS)] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("deviation", [None, 0.7])
def test_an_interval_takes_the_ranges_in_it_and_leaves_the_later_ones(
    deviation: float | None,
) -> None:
    buffer = RangeBuffer(deviation)
    for t in (2.0, 1.2, 1.0, 1.5, 3.0):
        buffer.add(round_of(t))
    buffer.add(round_of(1.3, count=0))
    rows = buffer.take(1.0, 2.0)  # 1.0 belongs to the interval before
    np.testing.assert_allclose(rows[:, 0], [0.2, 0.2, 0.5, 0.5, 1.0, 1.0])
    np.testing.assert_allclose(rows[:2, 1:4], 1.2 + np.arange(6.0).reshape(2, 3))
    np.testing.assert_allclose(rows[:2, 4], [11.2, 12.2])
    np.testing.assert_allclose(rows[:2, 5], [0.1, 0.2] if deviation is None else 0.7)
    assert rows[:2, 6].tolist() == [4, 5]
    buffer.add(round_of(2.0))  # too late
    np.testing.assert_allclose(buffer.take(2.0, 4.0)[:, 0], [1.0, 1.0])
    assert buffer.take(4.0, 9.0).shape == (0, 7)


def test_what_neighbours_show_waits_for_its_interval() -> None:
    buffer = MeetingBuffer(np.zeros((3, 3)), aircraft=1)

    def shared(t: float, aircraft: int) -> SharedOdometry:
        return SharedOdometry(t, aircraft, (10.0 + aircraft) * ONE, LEVEL, ONE, ONE)

    for t, aircraft in ((0.1, 0), (0.2, 0), (0.2, 2), (0.3, 2), (0.4, 0)):
        buffer.add(shared(t, aircraft))
    tilts = TiltBuffer()
    rows = buffer.take(0.1, 0.3, tilts)
    np.testing.assert_allclose(rows[:, 0], [0.1, 0.2])
    alone = MeetingBuffer(np.zeros((3, 3)), aircraft=1)
    alone.add(shared(0.2, 0))
    both, one = rows[0], alone.take(0.1, 0.3, tilts)[0]
    assert one.shape == both.shape and not np.array_equal(one, both, equal_nan=True)
    buffer.add(shared(0.3, 0))  # its interval has closed
    np.testing.assert_allclose(buffer.take(0.3, 1.0, tilts)[:, 0], [0.1])


# the queue of all of them

SPEC = load_spec()


def queue_of(needs_tilts: bool = True) -> MeasurementQueue:
    fleet = fleet_of(2, TABLE_VI)
    return MeasurementQueue(fleet, SPEC, MeetingBuffer(fleet.d, 0), needs_tilts=needs_tilts)


def reach(queue: MeasurementQueue, t: float) -> None:
    """Bring all inertial units to a time."""
    for buffer in queue.samples:
        buffer.add(sample(t))
    queue.tilts.add(tilt(t))


def test_an_image_is_due_once_all_units_have_reached_it_and_all_cameras_see_it() -> None:
    queue = queue_of()
    reach(queue, 0.99)
    queue.tracks(0, tracks(1.0))
    assert queue.due(0.9) is None
    reach(queue, 1.0)
    assert queue.due(0.9) is None  # the other camera's image may still come
    queue.tracks(1, tracks(1.0005))  # within a millisecond: of the same time
    assert queue.due(0.9) == 1.0
    assert set(queue.tracks_at(1.0)) == {0, 1} and not queue.tracks_at(1.0)


def test_a_camera_that_is_late_is_waited_for_as_long_as_is_set() -> None:
    queue = queue_of()
    queue.tracks(0, tracks(1.0))
    reach(queue, 1.0 + 0.99 * SPEC.patience)
    assert queue.due(0.9) is None
    reach(queue, 1.0 + 1.01 * SPEC.patience)
    assert queue.due(0.9) == 1.0
    queue.tracks(1, tracks(1.1))  # images two milliseconds apart are of two times
    assert set(queue.tracks_at(1.0)) == {0}


def test_without_images_keyframes_come_at_a_rate_and_none_comes_first() -> None:
    queue = queue_of()
    reach(queue, 5.0)
    assert queue.due(-np.inf) is None
    period = 1.0 / SPEC.rate
    assert queue.due(5.0 - period - 0.9 * SPEC.patience) is None
    last = 5.0 - period - 1.1 * SPEC.patience
    assert queue.due(last) == pytest.approx(last + period)


def test_who_always_comes_late_is_waited_for_longer_but_not_without_end() -> None:
    queue = queue_of()
    reach(queue, 2.0)
    lag = SPEC.patience
    queue.came_late(tracks(2.0 - lag))
    queue.tracks(0, tracks(2.0))
    for factor, due in ((1.19, None), (1.21, 2.0)):
        reach(queue, 2.0 + factor * lag)
        assert queue.due(1.9) == due
    queue.came_late(tracks(-1e3))
    queue.tracks(0, tracks(3.0))
    queue.tracks_at(2.0)
    for factor, due in ((0.99, None), (1.01, 3.0)):
        reach(queue, 3.0 + factor * SPEC.most_patience)
        assert queue.due(2.9) == due


def test_an_aircraft_whose_samples_do_not_come_hangs_still() -> None:
    queue = queue_of()
    for t in np.arange(0.0, 0.205, 0.01):
        queue.samples[0].add(sample(float(t), 1.0, 2.0))
    queue.samples[1].add(sample(0.0))
    interval = queue.interval(0.0, 0.2, np.tile(STATE, (2, 1)))
    assert interval.silent == {1}
    np.testing.assert_allclose([rows[:, 0].sum() for rows in interval.samples], 0.2)
    still = interval.samples[1]
    assert len(still) == 1 + int(0.2 / 0.005)
    np.testing.assert_allclose(still[:, 1:4], np.tile(STATE[10:13], (len(still), 1)))
    np.testing.assert_allclose(still[0, 4:], STATE[13:16] + [0.0, 0.0, 9.81])
    assert queue.samples[1].t == 0.2


@pytest.mark.parametrize(("missing", "is_silent"), [(0.019, False), (0.021, True)])
def test_a_brief_time_without_samples_is_covered_by_the_first_one(
    missing: float, is_silent: bool
) -> None:
    queue = queue_of()
    for buffer in queue.samples:
        for t in np.arange(missing, 0.2 + 1e-6, (0.2 - missing) / 20.0):
            buffer.add(sample(float(t), 1.0))
    interval = queue.interval(0.0, 0.2, np.tile(STATE, (2, 1)))
    assert interval.silent == ({0, 1} if is_silent else set())
    assert interval.samples[0][:, 0].sum() == pytest.approx(0.2)
    assert (interval.samples[0][0, 1] == 1.0) != is_silent


def test_intervals_are_joined_with_the_times_of_the_later_one_behind_the_earlier() -> None:
    queue = queue_of()
    for t in np.arange(0.0, 0.405, 0.01):
        reach(queue, round(float(t), 3))
    for t in (0.1, 0.3):
        queue.ranges(0, round_of(t))
    x = np.tile(STATE, (2, 1))
    both = queue.interval(0.0, 0.2, x).joined(queue.interval(0.2, 0.4, x))
    assert both.span == pytest.approx(0.4)
    np.testing.assert_allclose(both.ranges[0][:, 0], [0.1, 0.1, 0.3, 0.3])
    assert (len(both.ranges[1]), both.turns.shape, both.tilt.shape) == (0, (40, 4), (1, 4))
    fewer = both.without([{5}, set()])
    assert fewer.ranges[0][:, 6].tolist() == [4, 4]
    kept = both.keeping(0, np.array([True, False, False, True]))
    np.testing.assert_allclose(kept.ranges[0][:, 0], [0.1, 0.3])


def test_ranges_that_are_skipped_do_not_count() -> None:
    queue = queue_of()
    for t in (0.1, 0.3):
        queue.ranges(1, round_of(t))
    queue.skip_ranges(0.2)
    interval = queue.interval(0.0, 0.4, np.tile(STATE, (2, 1)))
    np.testing.assert_allclose(interval.ranges[1][:, 0], [0.3, 0.3])

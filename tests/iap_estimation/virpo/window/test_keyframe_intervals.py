# SPDX-License-Identifier: BSD-3-Clause
"""Measurements between keyframes: joined with those that follow, and without what is refused."""

import numpy as np

from iap_estimation.virpo.window.interval import Interval


def interval(lengths, times, anchors, silent=(), tilt=0.0):
    """Of two aircraft, of which the first has ranges to anchors at times."""
    samples = np.zeros((len(lengths), 7))
    samples[:, 0] = lengths
    ranges = np.zeros((len(times), 7))
    ranges[:, 0], ranges[:, 6] = times, anchors
    meetings = np.zeros((1, 3))
    meetings[:, 0] = times[-1]
    tilts = np.array([[tilt, 0.0, 0.0, 1.0]])
    return Interval(
        (samples, samples),
        frozenset(silent),
        (ranges, ranges[:1]),
        samples[:, :4],
        tilts,
        meetings,
    )


def test_a_length_is_the_sum_of_its_samples():
    assert interval([0.1, 0.2], [0.1], [0]).span == 0.30000000000000004


def test_what_follows_comes_later_by_the_length_and_has_the_last_tilt():
    first, later = (
        interval([0.1, 0.2], [0.1, 0.3], [1, 2], {0}, 0.5),
        interval([0.4], [0.2], [3], {1}, 0.7),
    )
    joined = first.joined(later)
    assert np.isclose(joined.span, 0.7) and joined.silent == {0, 1}
    np.testing.assert_allclose(joined.ranges[0][:, 0], [0.1, 0.3, 0.5])
    np.testing.assert_array_equal(joined.ranges[0][:, 6], [1, 2, 3])
    np.testing.assert_allclose(joined.meetings[:, 0], [0.3, 0.5])
    assert len(joined.turns) == 3 and joined.tilt[0, 0] == 0.7
    np.testing.assert_allclose(later.ranges[0][:, 0], 0.2)  # which stays


def test_ranges_to_refused_anchors_are_left_out_of_each_aircraft_by_itself():
    made = interval([0.1], [0.1, 0.2, 0.3], [5, 6, 5])
    kept = made.without([{5}, set()])
    np.testing.assert_array_equal(kept.ranges[0][:, 6], [6])
    np.testing.assert_array_equal(kept.ranges[1][:, 6], [5])
    assert len(made.without([set(), {5, 6}]).ranges[1]) == 0
    some = made.keeping(0, np.array([True, False, True]))
    np.testing.assert_allclose(some.ranges[0][:, 0], [0.1, 0.3])
    assert len(some.ranges[1]) == 1

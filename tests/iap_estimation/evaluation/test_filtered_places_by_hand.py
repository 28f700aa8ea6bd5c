# SPDX-License-Identifier: BSD-3-Clause
"""Places by ranges alone and by inertial samples alone, and Allan deviation, of few numbers worked out by hand."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.evaluation.allan import allan_deviation, densities, octaves
from iap_estimation.evaluation.constant_velocity import constant_velocity
from iap_estimation.evaluation.dead_reckoning import reckon, reckon_instants
from iap_estimation.virpo.messages import Ranges

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def _round(t, anchors, ranges, sigma=0.5):
    n = len(ranges)
    return Ranges(t, np.arange(n), np.array(anchors), np.array(ranges), np.full(n, sigma))


def test_a_tag_is_filtered_as_by_hand():
    west, north = [0.0, 5.0, -1.0], [2.8, 1.0, -1.0]
    t, p = constant_velocity(
        [
            _round(1.0, [west, north], [3.0, 5.0]),
            _round(1.5, [west], [np.hypot(3.8, 0.8)]),
            _round(3.5, [west], [1000.0]),  # does not count
        ],
        np.array([2.0, 5.0, -1.0]),
    )
    assert t.tolist() == [1.0, 1.5, 3.5]
    # A variance of 1 with a range's of 0.25 is a gain of 0.8, and leaves 0.2.
    np.testing.assert_allclose(p[0], [2.8, 5.8, -1.0])
    P_pp = 0.2 + 0.25 + 0.5**3 / 3.0
    P_pv = 0.5 + 0.5**2 / 2.0
    h = np.array([2.8, 0.8]) / np.hypot(2.8, 0.8)
    off = np.hypot(3.8, 0.8) - np.hypot(2.8, 0.8)
    np.testing.assert_allclose(p[1, :2], [2.8, 5.8] + P_pp * h * off / (P_pp + 0.25))
    v = P_pv * h * off / (P_pp + 0.25)
    np.testing.assert_allclose(p[2, :2], p[1, :2] + 2.0 * v)
    np.testing.assert_allclose(p[:, 2], -1.0)


@pytest.mark.parametrize(
    ("excess", "moves"), [(4.46, True), (4.48, False), (-4.46, True), (-4.48, False)]
)
def test_a_range_beyond_four_deviations_does_not_count(excess, moves):
    # The variance of the place is 1, of the range 0.25: four deviations are 4.472 m.
    _, p = constant_velocity(
        [_round(0.0, [[0.0, 0.0, 0.0]], [10.0 + excess])], np.array([10.0, 0.0, 0.0])
    )
    assert p[0, 0] == pytest.approx(10.0 + 0.8 * excess * moves)


def test_no_rounds_are_no_places_and_an_anchor_at_the_tag_moves_nothing():
    t, p = constant_velocity([], np.zeros(3))
    assert t.shape == (0,) and p.shape == (0, 3)
    _, p = constant_velocity([_round(0.0, [[1.0, 2.0, 3.0]], [0.1])], np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(p, [[1.0, 2.0, 3.0]])


def _start(units):
    p = np.array([[1.0, 2.0, 3.0]] * units)
    return p, np.tile(LEVEL, (units, 1)), np.array([[4.0, 0.0, -2.0]] * units)


def test_means_of_intervals_are_felt_in_the_middle_of_the_turn():
    w = np.array([[[0.0, 0.0, np.pi]] * 2, [[0.0, 0.0, 0.0]] * 2])  # a quarter turn in the first
    f = np.array([[[np.sqrt(2.0), 0.0, 10.0]] * 2, [[2.0, 0.0, 10.0]] * 2])
    p, q, v = reckon(_start(2), w, f, dt=0.5, gravity=10.0)
    np.testing.assert_allclose(q, [[0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]] * 2)
    np.testing.assert_allclose(v, [[4.5, 1.5, -2.0]] * 2)
    first = np.array([1.0 + 2.0 + 0.125, 2.0 + 0.125, 2.0])
    np.testing.assert_allclose(p, [first + [2.25, 0.25 + 0.25, -1.0]] * 2)


def test_instants_are_joined_by_the_trapezoidal_rule():
    w = np.array([[[0.0, 0.0, 0.0]], [[0.0, 0.0, 2.0 * np.pi]], [[0.0, 0.0, -2.0 * np.pi]]])
    f = np.array([[[2.0, 0.0, 9.0]], [[4.0, 0.0, 9.0]], [[6.0, 0.0, 9.0]]])
    p, q, v = reckon_instants(_start(1), w, f, dt=0.5, gravity=9.0)
    np.testing.assert_allclose(q, [[0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]], atol=1e-12)
    # Accelerations are (1, 2, 0), the mean of 2 forwards and 4 to the left, and then (0, 5, 0).
    np.testing.assert_allclose(v, [[4.5, 1.0 + 2.5, -2.0]])
    first = np.array([1.0 + 2.0 + 0.125, 2.0 + 0.25, 2.0])
    np.testing.assert_allclose(p, [first + [2.25, 0.5 + 0.625, -1.0]])


@pytest.mark.parametrize("dt", [1.0, 2.0])
def test_deviations_of_five_samples_are_those_by_hand(dt):
    samples = np.array([1.0, 2.0, 4.0, 1.0, 3.0])[:, None] * [1.0, 10.0] + 7.0
    found = allan_deviation(samples, dt, np.array([1, 2]))
    # Differences of neighbours are 1, 2, -3, 2; of means of two, 1 and -1.
    np.testing.assert_allclose(found, [[1.5, 15.0], [np.sqrt(0.5), np.sqrt(50.0)]])


def test_a_log_has_two_clusters_and_one_sample_at_least():
    assert allan_deviation(np.arange(5.0), 1.0, np.array([2])).shape == (1,)
    with pytest.raises(BadInput, match="Allan deviation: 4 samples are less than two clusters"):
        allan_deviation(np.arange(4.0), 1.0, np.array([2]))


def test_the_longest_cluster_is_a_fiftieth_of_the_log():
    assert [octaves(count).tolist() for count in (3, 99)] == [[1], [1]]
    assert [octaves(count).tolist() for count in (100, 199)] == [[1, 2], [1, 2]]
    assert octaves(200).tolist() == [1, 2, 4]


def test_noise_that_falls_faster_than_white_has_no_walk():
    white = np.random.default_rng(3).standard_normal((2001, 2))
    found = densities(np.diff(white, axis=0), 0.01)
    assert found.walk == 0.0 and 0.0 < found.noise < 0.2


@pytest.mark.parametrize("count", [100, 1000])
def test_densities_explain_the_variances_by_their_relative_errors(count):
    rng = np.random.default_rng(5)
    log = rng.standard_normal((count, 2)) + 0.9 * np.cumsum(
        rng.standard_normal((count, 2)), axis=0
    )
    clusters, found = octaves(count), densities(log, 0.1)
    tau = 0.1 * clusters
    variance = np.mean(allan_deviation(log, 0.1, clusters) ** 2, axis=1)
    left = found.noise**2 / tau + found.walk**2 * tau / 3.0 - variance
    weighted = left / (clusters * variance**2)  # by the number of independent clusters
    assert found.noise > 0.0 and found.walk > 0.0
    np.testing.assert_allclose([np.sum(weighted / tau), np.sum(weighted * tau)], 0.0, atol=1e-12)
    if len(clusters) == 2:
        np.testing.assert_allclose(left, 0.0, atol=1e-12)

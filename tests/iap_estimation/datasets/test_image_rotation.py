# SPDX-License-Identifier: BSD-3-Clause
"""Turns of images beside those of a gyroscope: angles that the way between images leaves out, and delays."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.datasets.image_rotation import (
    BLOCKS,
    FARTHEST,
    STEP,
    Corners,
    GyroTurns,
    Misfits,
    RayPairs,
    _largest_kept,
    image_delay,
    misfits,
)

T = np.linspace(0.0, 20.0, 2001)


def turning(axis=(0.0, 0.0, 1.0)):
    """Samples of turns about one axis by an angle sin(2 t), each from the time before to its own [rad/s]."""
    rates = np.diff(np.sin(2.0 * T), prepend=0.0) / (T[1] - T[0])
    return GyroTurns(T, np.outer(rates, axis))


@pytest.mark.parametrize(
    ("begin", "end"), [(0.0, 20.0), (1.234, 1.236), (19.995, 20.0), (20.0, 3.0), (5.0, 5.0)]
)
def test_a_turn_between_two_times_is_the_integral_of_the_rates(begin, end):
    q = turning().between(np.array([begin]), np.array([end]))
    expected = [0.0, 0.0, np.sin(2.0 * end) - np.sin(2.0 * begin)]
    np.testing.assert_allclose(so3.quaternion_log(q)[0], expected, atol=6e-5)


def test_each_rate_holds_from_the_time_before_and_the_ends_go_on():
    t, rates = np.array([0.0, 1.0, 2.0, 3.0]), np.array([9.0, 0.1, 0.2, 0.4])
    turns = GyroTurns(t, np.outer(rates, [1.0, 0.0, 0.0]))
    at = np.array([-1.0, 0.5, 1.0, 1.5, 2.5, 3.0, 3.5])
    angles = so3.quaternion_log(turns.between(np.zeros(7), at))[:, 0]
    np.testing.assert_allclose(angles, [-0.1, 0.05, 0.1, 0.2, 0.5, 0.7, 0.9], atol=1e-12)


def pairs_of(turns, count=80, *, late=0.0, corners=30):
    """Pairs of images of still points from a body that turns and moves on, stamped some time too late."""
    rng, found = np.random.default_rng(3), []
    for begin in np.linspace(1.0, 18.0, count):
        end = begin + 0.1
        points = rng.uniform([-3.0, -3.0, 2.0], [3.0, 3.0, 6.0], (corners, 3))
        q = turns.between(np.array([begin]), np.array([end]))[0]
        seen = so3.rotate(so3.conjugate(q), points - rng.normal(size=3))
        rays = np.stack([points, seen])
        rays /= np.linalg.norm(rays, axis=2, keepdims=True)
        found.append(RayPairs((begin + late, end + late), rays))
    return found


def test_still_points_fit_the_right_turn_whatever_the_way_and_no_other():
    turns = turning((0.0, 0.6, 0.8))
    corners = Corners.of(pairs_of(turns))
    assert misfits(corners, turns, 0.0).max() < 1e-15
    assert np.median(misfits(corners, turns, 0.1)) > 1e-5


def test_corners_that_were_lost_are_left_out():
    turns = turning()
    pairs = pairs_of(turns)
    for each in pairs:
        x, y, _ = each.rays[0, 0]
        each.rays[1, 0] = np.array([-y, x, 0.0]) / np.hypot(x, y)  # one in thirty, far off
    few = pairs[0]._replace(rays=pairs[0].rays[:, 2:14])
    corners = Corners.of([few, *pairs[1:]])
    assert np.isnan(corners.rays[:, 0, 12:]).all() and misfits(corners, turns, 0.0).max() < 1e-15


@pytest.mark.parametrize("late", [-0.07, 0.0, 0.033])
def test_the_delay_of_stamps_is_found_with_its_deviation(late):
    turns = turning((0.0, 0.6, 0.8))
    pairs = pairs_of(turns, late=late)
    fits = Misfits.of(Corners.of(pairs), turns)
    delay = image_delay(fits)
    assert delay is not None and delay.value == pytest.approx(late, abs=2e-3)
    assert 0.0 <= delay.deviation < 2e-3
    assert fits.delays[[0, -1]] == pytest.approx([-FARTHEST, FARTHEST])
    moved = Misfits.of(Corners.of([each.earlier(late) for each in pairs]), turns)
    assert image_delay(moved).value == pytest.approx(0.0, abs=1e-3)
    assert moved.least < 1e-6


def bowls(least, count=100, *, blocks=BLOCKS):
    """Curves over delays with their least at one; flat but in the first blocks."""
    delays = np.arange(-FARTHEST, FARTHEST + 0.5 * STEP, STEP)
    curves = np.repeat(1e-6 + (delays - least)[:, None] ** 2, count, axis=1)
    curves[:, blocks * count // BLOCKS :] = 1.0
    return Misfits(delays, curves)


@pytest.mark.parametrize(
    ("fits", "is_known"),
    [
        (bowls(0.05), True),
        (bowls(0.05, 39), False),  # too few pairs
        (bowls(0.05, 40), True),
        (bowls(0.05, blocks=3), True),
        (bowls(0.05, blocks=2), False),  # the others do not turn
        (bowls(FARTHEST), False),  # beyond what is tried
        (bowls(-FARTHEST), False),
    ],
)
def test_a_delay_is_known_where_enough_turns_tell_it(fits, is_known):
    delay = image_delay(fits)
    assert (delay is not None) == is_known
    if delay is not None:
        assert delay.value == pytest.approx(0.05, abs=1e-9)


def test_the_angle_at_the_best_delay_is_in_rad():
    assert bowls(0.04).least == pytest.approx(1e-3, rel=1e-6)


@pytest.mark.parametrize(("known", "last"), [(1, 0), (2, 0), (11, 9), (30, 26)])
def test_a_tenth_of_the_numbers_is_left_out(known, last):
    sizes = np.full((1, 30), np.nan)
    sizes[0, :known] = np.arange(known)[::-1]
    assert _largest_kept(sizes)[0] == last

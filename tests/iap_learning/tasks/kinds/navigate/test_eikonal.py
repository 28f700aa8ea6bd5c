# SPDX-License-Identifier: BSD-3-Clause
"""Least times on a grid: those of straight lines, of media in layers, and around what is nearly impassable."""

import numpy as np

from iap_learning.tasks.kinds.navigate.eikonal import least_times


def nodes(shape, spacing):
    axes = [spacing * np.arange(count) for count in shape]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1)


def test_in_an_even_medium_time_is_distance_over_speed():
    """First order: the error falls with the spacing, and times are never too short."""
    worst = []
    for count in (11, 41):
        spacing = 2.0 / (count - 1)
        shape, goal = (count, count, count), (count // 2,) * 3
        times = least_times(np.full(shape, 2.0), spacing, goal)
        away = np.linalg.norm(nodes(shape, spacing) - 1.0, axis=-1) / 2.0
        assert (times - away).min() > -1e-9
        worst.append((times - away).max() / away.max())
    assert worst[0] < 0.2
    assert worst[1] < 0.07
    assert worst[1] < 0.5 * worst[0]


def test_times_through_layers_add_up():
    """Across layers of two speeds the time is the sum of those in each."""
    speeds = np.ones((21, 1, 1))
    speeds[11:] = 0.5
    times = least_times(speeds, 0.1, (0, 0, 0))
    np.testing.assert_allclose(times[:11, 0, 0], 0.1 * np.arange(11), atol=1e-12)
    np.testing.assert_allclose(times[20, 0, 0], 1.0 + 10 * 0.2, atol=1e-12)


def test_the_quickest_way_leads_around_a_wall():
    """Behind a wall with one end open the time is that of the bent line around its end."""
    speeds = np.ones((81, 81, 1))
    speeds[40, :61] = 1e-3
    times = least_times(speeds, 0.05, (0, 20, 0))
    bent = 2.0 * np.hypot(2.0, 2.0)  # from (4, 1) around (2, 3) to (0, 1)
    assert bent < times[80, 20, 0] < 1.05 * bent

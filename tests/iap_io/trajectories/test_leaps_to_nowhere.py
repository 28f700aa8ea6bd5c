# SPDX-License-Identifier: BSD-3-Clause
"""Samples that leap away from a body and back, told from a body that goes on."""

import numpy as np
import pytest

from iap_io.trajectories.column_names import column_of
from iap_io.trajectories.gaps import MAX_SPEED, MIN_LEAP, _is_away


def path(*x):
    return np.stack([np.array(x), np.zeros(len(x)), np.zeros(len(x))], -1)


@pytest.mark.parametrize(
    ("share", "is_away"), [(2.0, True), (1.1, True), (0.9, False), (0.1, False)]
)
def test_the_way_past_a_leap_is_one_that_can_be_flown(share, is_away):
    p = path(0.0, 0.1, 90.0, 90.0, 0.3, 0.4)
    t = np.arange(6.0) * share * 0.2 / MAX_SPEED / 3.0
    assert _is_away(p, t, 2, 4) == is_away


def test_a_leap_is_far_and_comes_back():
    t = np.arange(6.0)
    assert not _is_away(path(0.0, 0.1, 0.2, 0.2, 0.3, 0.4), t, 2, 4)
    assert not _is_away(path(0.0, 0.1, 50.0, 50.0, 90.0, 90.1), t, 2, 4)
    assert not _is_away(path(0.1, 90.0, 90.0, 0.3, 0.4, 0.5), t, 1, 3)
    least = 1.01 * MIN_LEAP
    assert _is_away(path(0.0, 0.0, least, least, 0.0, 0.0), t, 2, 4)
    assert not _is_away(path(0.0, 0.0, 0.98 * least, 0.98 * least, 0.0, 0.0), t, 2, 4)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("qx", "qx"),
        ("qr", "qw"),
        ("qs", "qw"),
        ("qi", "qx"),
        ("qk", "qz"),
        ("q[0]", "qw"),
        ("q[3]", "qz"),
        ("pose.orientation.w", "qw"),
        ("pose.orientation.y", "qy"),
        ("position.z", "z"),
        ("px", "x"),
        ("position[2]", "z"),
    ],
)
def test_a_name_is_that_of_a_place_or_of_a_quaternion(name, role):
    assert column_of(name).role == role

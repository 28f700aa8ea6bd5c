# SPDX-License-Identifier: BSD-3-Clause
"""Large corrections of an estimate reach the controller smoothly, small ones at once, and all of them in the end."""

import numpy as np
import pytest

from iap_description.states import P, V
from iap_estimation.navigation.jump_blend import FADING, MIN_BLENDED_JUMP, JumpBlend

DT, SPEED = 0.005, np.array([1.0, -0.5, 0.2])


def flown(jump, at=0.5, duration=5.0):
    """Times, places as estimated, and rows as blended, of a straight flight whose estimate jumps once."""
    blend, ts = JumpBlend(), np.arange(0.0, duration, DT)
    places, rows = [], []
    for t in ts:
        row = np.zeros(13)
        row[P], row[V] = SPEED * t + (t >= at) * np.array([jump, 0.0, 0.0]), SPEED
        places.append(row[P].copy())
        blend(t, row)
        rows.append(row)
    return ts, np.array(places), np.array(rows)


def test_a_large_correction_makes_no_jump_and_is_there_in_the_end():
    t, places, rows = flown(0.07)
    steps = np.diff(rows[:, P], axis=0) - DT * SPEED
    assert np.abs(steps).max() <= 0.07 * DT / FADING + 1e-9
    assert np.abs(rows[-1, P] - places[-1]).max() < 1e-4
    later = t >= 0.5 + FADING
    assert np.linalg.norm(rows[later][0, P] - places[later][0]) == pytest.approx(
        0.07 / np.e, rel=0.03
    )


def test_a_small_correction_passes_as_it_is():
    _, places, rows = flown(0.9 * MIN_BLENDED_JUMP)
    np.testing.assert_array_equal(rows[:, P], places)
    np.testing.assert_array_equal(rows[:, V], np.tile(SPEED, (len(rows), 1)))


def test_the_same_time_gives_the_same_state_again():
    blend = JumpBlend()
    first, second, again = np.zeros((3, 13))
    blend(0.0, first)
    second[0] = again[0] = 0.5
    blend(DT, second)
    blend(DT, again)
    np.testing.assert_array_equal(second, again)
    assert second[0] == pytest.approx(0.0)

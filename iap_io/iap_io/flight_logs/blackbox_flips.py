# SPDX-License-Identifier: BSD-3-Clause
"""Flipped bits in a blackbox, whose frames have no check sum.

Frames P are changes of those before. A bit that flips in one of them, or in a frame I, puts a field off from there to
the next frame I, which has whole numbers: it leaps away at some frame, and back at a frame I by as much. Where a number
is guessed by the mean of the last two, two thirds of the leap stay. A flip of less than the field's own noise harms
nothing.
"""

from collections.abc import Mapping

import numpy as np

from iap_description.arrays import Array, Booleans, Integers

LEAP = 10.0  # usual changes from frame to frame, beyond which one is a leap
MIN_LEAP = 16.0  # smallest leap, in steps of a field
RATIOS = (0.6, 1.8)  # of a leap away to that back
CALM = 0.6  # greatest change in between, over the leap


def without_flips(columns: Mapping[str, Array], every: int) -> Booleans:
    """Mask (K,) of the frames that are not between a leap away and one back at a frame I.

    Args:
        columns: numbers (K,) by field, the iterations first.
        every: iterations from one frame I to the next.
    """
    iterations, *fields = columns.values()
    sound = np.ones(len(iterations), np.bool_)
    whole = np.flatnonzero(iterations % every == 0)
    for values in fields[1:]:  # behind the time, which has its own bounds
        for begin, end in _flips(values, whole):
            sound[begin:end] = False
    return sound


def _flips(values: Array, whole: Integers) -> list[tuple[int, int]]:
    """First frame of each leap away, and the frame I at which it leaps back."""
    changes = np.diff(values)
    if len(changes) == 0:
        return []
    least = max(MIN_LEAP, LEAP * float(np.median(np.abs(changes))))
    pairs = []
    for start, end in zip(whole[:-1], whole[1:], strict=True):
        back = changes[end - 1]
        if abs(back) < least:
            continue
        within = changes[max(start - 1, 0) : end - 1]
        away = int(np.argmax(np.abs(within)))
        leap, rest = float(within[away]), np.delete(within, away)
        is_calm = np.abs(rest).max(initial=0.0) < CALM * abs(leap)
        if is_calm and RATIOS[0] < -leap / back < RATIOS[1]:
            pairs.append((max(start - 1, 0) + away + 1, int(end)))
    return pairs

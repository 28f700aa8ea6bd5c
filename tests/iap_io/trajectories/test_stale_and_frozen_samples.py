# SPDX-License-Identifier: BSD-3-Clause
"""Stale samples and frozen ends at their bounds, by hand."""

import numpy as np
import pytest
from made_up_samples import east, stamps_of, yawed

from iap_io.trajectories import gaps

T = 0.02 * np.arange(100)


def held(count: int, start: int = 40, speed: float = 1.0) -> np.ndarray:
    """Places of a body whose sample is repeated so many times, and which is where it should be behind that."""
    x = speed * T
    x[start : start + count + 1] = x[start]
    return x


@pytest.mark.parametrize(("count", "left_out"), [(1, 1), (3, 3), (4, 0)])
def test_a_few_samples_at_the_place_of_the_one_before_are_left_out(
    count: int, left_out: int
) -> None:
    samples, stamps = gaps.without_repeats(east(held(count)), stamps_of(7.0 + T))
    assert len(stamps) == len(samples.p) == 100 - left_out
    if left_out:
        what = "1 sample" if left_out == 1 else f"{left_out} samples"
        said = f"{what} at the very place of the one before, while it moves: left out"
        assert samples.about.notes == (said,)
        assert (np.diff(samples.p[:, 0]) > 0.0).all()
        assert stamps[40] == round(7.8e9) and stamps[41] == round((7.82 + 0.02 * count) * 1e9)


def test_samples_at_an_end_or_of_a_body_at_rest_are_what_they_say() -> None:
    for x in (held(1, start=0), np.r_[T[:99], T[98]], np.zeros(100)):
        samples, stamps = east(x), stamps_of(T)
        assert gaps.without_repeats(samples, stamps) == (samples, stamps)


@pytest.mark.parametrize(("speed", "is_stale"), [(0.045, False), (0.055, True)])
def test_a_body_moves_from_a_speed_on(speed: float, is_stale: bool) -> None:
    x = held(1, speed=speed)
    left, _ = gaps.without_repeats(east(x), stamps_of(T))
    assert bool(left.about.notes) == is_stale


def frozen(seconds: float, speed: float) -> tuple:
    count = round(seconds / 0.02) + 1
    x = np.r_[np.zeros(count), speed * 0.02 * np.arange(1, 101)]
    turn = np.r_[np.zeros(count), np.arange(1.0, 101.0)]
    return east(x, yawed(turn)), stamps_of(0.02 * np.arange(len(x)))


@pytest.mark.parametrize(
    ("seconds", "speed", "is_frozen"),
    [
        (0.52, 3.0, True),
        (0.48, 3.0, False),
        (1.0, 0.42, True),
        (1.0, 0.38, False),
    ],
)
def test_an_end_is_frozen_that_is_long_and_beside_which_it_is_fast(
    seconds: float, speed: float, is_frozen: bool
) -> None:
    samples, stamps = frozen(seconds, speed)
    left, _ = gaps.without_frozen_ends(samples, stamps)
    assert bool(left.about.notes) == is_frozen

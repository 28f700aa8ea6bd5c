# SPDX-License-Identifier: BSD-3-Clause
"""A clock alone that steps back, is set ahead, or whose messages come in bursts, by hand."""

import numpy as np
import pytest
from made_up_samples import east, stamps_of

from iap_description.errors import BadInput
from iap_io.trajectories import lone_clocks

T = 0.02 * np.arange(80)


def ahead(hole: float, *, at: int = 40, way: float = 0.02) -> tuple:
    """A body at 1 m/s whose clock is ahead by a hole from a sample on, over which it moves by a way."""
    t, x = T.copy(), T.copy()
    t[at:] += hole - 0.02
    x[at:] += way - 0.02
    return east(x), stamps_of(7.0 + t)


def test_a_clock_that_is_set_ahead_while_the_body_goes_on_is_refused_with_its_place() -> None:
    with pytest.raises(BadInput) as error:
        lone_clocks.check_ahead(*ahead(0.5))
    assert str(error.value).endswith(
        ": the stamps jump ahead by 0.500 s at t = 0.780 s, while it moves on by 0.020 m: was the clock set? --to 0.780"
        " ends before, --from 1.280 begins after"
    )


@pytest.mark.parametrize(
    ("keys", "is_refused"),
    [
        ({"hole": 0.5, "way": 0.5}, False),  # a hole in which it has moved
        ({"hole": 0.5, "way": 0.039}, True),
        ({"hole": 0.5, "way": 0.041}, False),  # two usual steps
        ({"hole": 0.5, "at": 5}, False),
        ({"hole": 0.5, "at": 6}, True),
        ({"hole": 0.5, "at": 75}, False),
        ({"hole": 0.5, "at": 74}, True),
        ({"hole": 0.02}, False),
    ],
)
def test_a_hole_is_a_clock_set_ahead_where_the_way_is_missing(
    keys: dict, is_refused: bool
) -> None:
    if not is_refused:
        lone_clocks.check_ahead(*ahead(**keys))
        return
    with pytest.raises(BadInput, match="was the clock set"):
        lone_clocks.check_ahead(*ahead(**keys))


def test_too_few_samples_tell_nothing_of_a_clock_set_ahead() -> None:
    t = T[:20] + np.where(np.arange(20) >= 10, 0.48, 0.0)
    lone_clocks.check_ahead(east(T[:20]), stamps_of(t))
    t = T[:21] + np.where(np.arange(21) >= 10, 0.48, 0.0)
    with pytest.raises(BadInput, match="jump ahead by 0.500 s at t = 0.180 s"):
        lone_clocks.check_ahead(east(T[:21]), stamps_of(t))


def test_a_clock_that_steps_back_and_stays_there_is_refused_and_both_clocks_tell_more() -> None:
    t = T - np.where(np.arange(80) >= 40, 0.6, 0.0)
    samples, stamps = east(T), stamps_of(3.0 + t)
    with pytest.raises(
        BadInput,
        match=r": the stamps step back by 0\.580 s at t = 0\.780 s and stay there; --to 0\.780 ends before$",
    ):
        lone_clocks.check_order(samples, stamps)
    lone_clocks.check_order(east(T), stamps_of(T))
    late = np.r_[0:40, 41:45, 40, 45:80]  # a message that comes late
    lone_clocks.check_order(east(T[late]), stamps_of(T[late]))


def bursts(count: int, size: int, within: float) -> np.ndarray:
    """Times of as many bursts of messages, a burst each 0.1 s."""
    return (0.1 * np.arange(count)[:, None] + within * np.arange(size)).ravel()


def test_messages_in_bursts_are_spread_evenly_from_burst_to_burst() -> None:
    t = bursts(10, 5, 1e-4)
    samples, even = lone_clocks.evened(east(0.02 * np.arange(50)), stamps_of(5.0 + t))
    assert samples.about.notes == (
        "messages come in bursts 0.100 s apart: their times of reception were spread evenly",
    )
    assert np.diff(even) == pytest.approx(0.02e9, abs=2.0)
    assert even[4] == pytest.approx(5.0004e9, abs=2.0)  # the last of a burst has come in time


@pytest.mark.parametrize(
    ("t", "step"),
    [
        (bursts(10, 5, 5e-3), 1.0),  # 20 % of the time lies within bursts
        (bursts(20, 2, 1e-4), 1.0),  # of two messages
        (bursts(4, 5, 1e-4), 1.0),  # 20 samples
        (bursts(10, 5, 1e-4), 0.1),  # it moves between bursts alone
    ],
)
def test_other_times_of_reception_are_left_as_they_are(t: np.ndarray, step: float) -> None:
    moves = np.where(np.arange(len(t)) % 5 == 0, 1.0, step) if step < 1.0 else np.ones(len(t))
    samples, stamps = east(0.02 * np.cumsum(moves)), stamps_of(5.0 + t)
    left, same = lone_clocks.evened(samples, stamps)
    assert left is samples and same is stamps

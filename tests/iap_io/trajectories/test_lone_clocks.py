# SPDX-License-Identifier: BSD-3-Clause
"""Faults of one clock that no second one shows: set ahead, and bursts of messages."""

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, NS, samples_of, stamps_of

from iap_description.errors import BadInput
from iap_io.trajectories import clocks

LONG = 100.0 + 0.02 * np.arange(300)


@pytest.mark.parametrize(
    ("ahead", "speed", "refused"),
    [(0.3, 1.0, True), (0.3, 0.05, False), (0.08, 1.0, True), (0.03, 1.0, False)],
)
def test_a_lone_clock_that_is_set_ahead_while_the_body_moves_on_is_refused(
    ahead: float, speed: float, refused: bool
) -> None:
    """By 0.3 s at 1 m/s, 0.3 m are missing; a hover says nothing, and two periods are as of any sender."""
    samples = samples_of(
        np.outer(speed * LONG, [0.6, 0.8, 0.0]),
        header_ns=stamps_of(LONG + np.where(LONG > 102.1, ahead, 0.0)),
    )
    if refused:
        with pytest.raises(BadInput, match=r"jump ahead by 0.(3|1).. s at t = 2.*--to .* --from"):
            clocks.timed(samples, NOTHING_SAID)
    else:
        assert clocks.timed(samples, NOTHING_SAID)[0].about.notes == ()


def test_a_lone_clock_that_is_set_back_by_two_periods_is_refused_and_a_late_message_sorted() -> (
    None
):
    """Behind the step back, clock and body go on; behind a late message, the clock steps ahead."""
    p = np.outer(LONG, [0.6, 0.8, 0.0])
    set_back = samples_of(p, header_ns=stamps_of(LONG - np.where(LONG > 102.1, 0.05, 0.0)))
    with pytest.raises(BadInput, match="the stamps step back by 0.030 s at t = 2.100 s and stay"):
        clocks.timed(set_back, NOTHING_SAID)
    order = np.arange(len(LONG))
    order[[104, 105, 106]] = 105, 106, 104
    late = samples_of(p[order], header_ns=stamps_of(LONG[order]))
    timed, _ = clocks.timed(late, NOTHING_SAID)
    np.testing.assert_array_equal(timed.p, p)


def test_samples_that_are_lost_on_the_way_are_no_step_of_the_clock() -> None:
    kept = (LONG < 102.1) | (LONG > 102.4)
    samples = samples_of(np.outer(LONG, [0.6, 0.8, 0.0]), header_ns=stamps_of(LONG)).at(kept)
    assert len(clocks.timed(samples, NOTHING_SAID)[1]) == kept.sum()


def test_times_of_reception_in_bursts_are_spread_evenly() -> None:
    """Ten messages at a time, every 0.2 s, of a sender of 50 Hz: each was sent by up to 0.18 s before."""
    bursts = np.ceil(LONG / 0.2 - 1e-9) * 0.2 + 1e-6 * np.arange(len(LONG))
    samples = samples_of(np.outer(LONG, [0.6, 0.8, 0.0]), bag_ns=stamps_of(bursts))
    timed, stamps = clocks.timed(samples, NOTHING_SAID)
    assert "come in bursts 0.200 s apart" in timed.about.notes[0]
    np.testing.assert_allclose((stamps - stamps[0]) * 1e-9, LONG - LONG[0], atol=2e-3)


def test_set_points_that_are_sent_several_times_are_no_bursts() -> None:
    at = np.ceil(LONG / 0.2 - 1e-9) * 0.2
    bursts = at + 1e-6 * np.arange(len(LONG))
    samples = samples_of(np.outer(at, [0.6, 0.8, 0.0]), bag_ns=stamps_of(bursts))
    timed, _ = clocks.timed(samples, NOTHING_SAID)
    assert not any("bursts" in note for note in timed.about.notes)


@pytest.mark.parametrize("period", [0.1, 0.12, 0.17])
def test_bursts_are_no_drift_of_sound_header_stamps(period: float) -> None:
    bursts = np.ceil(LONG / period) * period + 1e-6 * np.arange(len(LONG))
    p = np.outer(LONG, [0.6, 0.8, 0.0])
    samples = samples_of(p, header_ns=stamps_of(LONG), bag_ns=stamps_of(bursts))
    timed, stamps = clocks.timed(samples, NOTHING_SAID)
    assert timed.about.notes == ()
    np.testing.assert_array_equal(stamps, stamps_of(LONG))


def set_back(by: float, at: float) -> tuple[np.ndarray, np.ndarray]:
    """Places on a way of 1 m/s, and the times of both clocks, which are set back at one time."""
    p = np.stack([LONG, 0.3 * np.sin(LONG), 1.5 + 0.0 * LONG], axis=1)
    return p, stamps_of(np.where(at < LONG, LONG - by, LONG))


@pytest.mark.parametrize(("by", "at"), [(0.2, 103.0), (1.0, 102.0), (1.51, 104.0), (2.5, 102.0)])
def test_both_clocks_set_back_weave_two_runs_into_one(by: float, at: float) -> None:
    """A bag sorts its messages by its clock; what it has twice is named, and the cause."""
    p, stamps = set_back(by, at)
    stamps = stamps + 7_000_000 * (at < LONG)  # of no equal stamps
    order = np.argsort(stamps, kind="stable")
    samples = samples_of(p[order], header_ns=stamps[order] - NS // 500, bag_ns=stamps[order])
    with pytest.raises(BadInput, match=r"two runs are woven .*: was the clock set back\? --to"):
        clocks.timed(samples, NOTHING_SAID)


def test_a_clock_set_back_by_more_than_the_recording_is_asked_about_at_the_gap() -> None:
    p, stamps = set_back(3600.0, 103.0)
    order = np.argsort(stamps, kind="stable")
    samples = samples_of(p[order], header_ns=stamps[order], bag_ns=stamps[order] + NS // 500)
    timed, _ = clocks.timed(samples, NOTHING_SAID)
    assert "was the clock set back by 3599.98 s?" in timed.about.notes[-1]


def test_two_bodies_are_no_clock_that_was_set_back() -> None:
    p = np.outer(LONG, [1.0, 0.0, 0.0])
    both = np.sort(np.r_[stamps_of(LONG), stamps_of(LONG + 0.007)])
    woven = np.repeat(p, 2, axis=0) + np.tile([[0.0] * 3, [0.0, 1.0, 0.0]], (len(p), 1))
    clocks.timed(samples_of(woven, header_ns=both), NOTHING_SAID)


def test_set_points_that_step_to_and_fro_are_no_clock_that_was_set_back() -> None:
    p = np.stack([np.floor(LONG) % 2, 0.0 * LONG, 0.0 * LONG], axis=1)
    clocks.timed(samples_of(p, header_ns=stamps_of(LONG)), NOTHING_SAID)


@pytest.mark.parametrize("step", [-0.12, -0.06, 0.06])
def test_a_step_of_header_stamps_is_taken_out_where_messages_overtake_each_other(
    step: float,
) -> None:
    """The receiver's jitter of a period hides the step from single delays, not from their medians."""
    t = 100.0 + 0.01 * np.arange(600)
    received = t + 0.004 * np.random.default_rng(3).exponential(size=len(t))
    order = np.argsort(received)
    p = np.outer(t, [0.6, 0.8, 0.0])
    header = t + np.where(t > 103.0, step, 0.0)
    samples = samples_of(
        p[order], header_ns=stamps_of(header[order]), bag_ns=stamps_of(received[order])
    )
    timed, stamps = clocks.timed(samples, NOTHING_SAID)
    assert timed.about.clock == "header"
    assert "header stamps jump" in timed.about.notes[0] and "taken out" in timed.about.notes[0]
    np.testing.assert_allclose(timed.p, np.outer(t, [0.6, 0.8, 0.0]))
    np.testing.assert_allclose((stamps - stamps[0]) * 1e-9, t - t[0], atol=0.004)


def test_a_receivers_clock_that_is_set_back_gives_way_to_sound_header_stamps() -> None:
    """By three periods at 1 m/s, of which the way there and back says which clock has stepped."""
    p = np.outer(LONG, [0.6, 0.8, 0.0])
    received = LONG - np.where(LONG > 102.11, 0.05, 0.0)
    order = np.argsort(received, kind="stable")
    samples = samples_of(
        p[order], header_ns=stamps_of(LONG[order]), bag_ns=stamps_of(received[order])
    )
    timed, stamps = clocks.timed(samples, NOTHING_SAID)
    np.testing.assert_allclose((stamps - stamps[0]) * 1e-9, LONG - LONG[0], atol=1e-6)
    np.testing.assert_array_equal(timed.p, p)

# SPDX-License-Identifier: BSD-3-Clause
"""Faults of one clock that no second one shows: set ahead, and bursts of messages."""

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, samples_of, stamps_of

from iap_description.errors import BadInput
from iap_io.trajectories import clocks

LONG = 100.0 + 0.02 * np.arange(300)


@pytest.mark.parametrize(
    ("ahead", "speed", "refused"), [(0.3, 1.0, True), (0.3, 0.1, False), (0.08, 1.0, False)]
)
def test_a_lone_clock_that_is_set_ahead_while_the_body_moves_on_is_refused(
    ahead: float, speed: float, refused: bool
) -> None:
    """By 0.3 s at 1 m/s, 0.3 m are missing; a hover says nothing, and a few samples can be lost."""
    samples = samples_of(
        np.outer(speed * LONG, [0.6, 0.8, 0.0]),
        header_ns=stamps_of(LONG + np.where(LONG > 102.1, ahead, 0.0)),
    )
    if refused:
        with pytest.raises(BadInput, match=r"jump ahead by 0.3.. s at t = 2.*--to .* --from"):
            clocks.timed(samples, NOTHING_SAID)
    else:
        assert clocks.timed(samples, NOTHING_SAID)[0].about.notes == ()


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

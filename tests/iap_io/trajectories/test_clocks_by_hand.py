# SPDX-License-Identifier: BSD-3-Clause
"""Clocks, holds and still parts of made-up samples by numbers that are worked out by hand."""

import numpy as np
import pytest
from made_up_samples import NS, T, east, samples_of, stamps_of, yawed

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories import clocks, gaps, still_channels

DT = 0.02


@pytest.mark.parametrize(("fast", "slow"), [(1.0, None), (1.3, 1.3)])
def test_rates_of_clocks_are_those_of_their_ends(fast, slow):
    bag = stamps_of(5.0 + np.arange(100) * DT)
    header = stamps_of(5.0 + fast * np.arange(100) * DT)
    assert clocks._rate(header, bag) == pytest.approx(fast)
    assert (
        clocks._rate(header[:20], bag[:20]) is not None
        and clocks._rate(header[:19], bag[:19]) is None
    )
    assert clocks._rate(np.full(30, 7), bag[:30]) is None
    fault = clocks._fault_of_rate(header * 100, bag)
    assert fault == f"header stamps run {100 * fast:.3g} times as fast as the times of reception"
    assert clocks._fault_of_rate(header, bag) is None


def test_a_bag_that_was_written_at_once_is_no_clock():
    header = stamps_of(np.arange(100) * DT)
    assert clocks._fault_of_rate(header, stamps_of(np.arange(100) * 1e-5)) is None
    assert (
        clocks._fault_of_rate(stamps_of(np.arange(100) * 3.0), stamps_of(np.arange(100) * 1e-5))
        is not None
    )


def test_a_step_of_a_clock_is_found_at_its_sample_though_the_clock_drifts():
    count, steps = 120, np.zeros(120)
    steps[70:] = 0.25
    header = DT * np.arange(count) + steps
    drift = 0.001 * np.arange(count)
    for delay in (-steps, drift - steps):
        assert clocks._header_step(delay, np.diff(header)) == (70, pytest.approx(0.25, rel=1e-6))
    assert clocks._header_step(drift, np.diff(DT * np.arange(count))) is None
    late = np.where(np.arange(count) == 50, 0.4, 0.0)  # a late message
    assert clocks._header_step(late, np.diff(DT * np.arange(count))) is None
    short = np.where(np.arange(40) >= 20, 0.25, 0.0)
    assert clocks._header_step(-short, np.diff(DT * np.arange(40) + short)) == (
        20,
        pytest.approx(0.25),
    )


def test_a_step_of_a_clock_has_words():
    bag = stamps_of(2.0 + DT * np.arange(100))
    assert (
        clocks._step_text(bag, 50, 0.25)
        == "header stamps jump ahead by 0.250 s at t = 1.000 s and stay there"
    )
    assert (
        clocks._step_text(bag, 50, -0.25)
        == "header stamps jump back by 0.250 s at t = 1.000 s and stay there"
    )


def test_the_deviation_of_a_median_falls_with_the_root_of_the_number():
    x = np.tile([-1.0, 0.0, 1.0, 0.5, -0.5], 20)
    assert clocks._deviation_of_median(x) == pytest.approx(1.2533 * 1.4826 * 0.5 / 10.0)


@pytest.mark.parametrize(("rate", "way"), [(1.01, "fast"), (0.99, "slow")])
def test_a_drift_says_its_share_and_its_way(rate, way):
    bag = stamps_of(100.0 + DT * np.arange(500))
    header = stamps_of(100.0 + rate * DT * np.arange(500))
    samples, stamps = clocks._without_drift(
        samples_of(np.zeros((500, 3)), header_ns=header, bag_ns=bag), header, bag
    )
    share = 100.0 * abs(rate - 1.0)
    assert samples.about.notes == (
        f"header stamps run {share:.2g} % {way} against the times of reception; they were brought to the receiver's"
        " rate",
    )
    np.testing.assert_allclose(stamps, bag, atol=1e5)
    faster = stamps_of(100.0 + 1.5 * DT * np.arange(500))
    samples, stamps = clocks._without_drift(
        samples_of(np.zeros((500, 3)), header_ns=faster, bag_ns=bag), faster, bag
    )
    assert samples.about.notes[0].startswith(
        "header stamps run at 1.5 of the times of reception: a simulation's"
    )
    assert stamps is faster


@pytest.mark.parametrize(
    ("header", "bag", "reason"),
    [
        ([0, 1, 2], [5, 6, 7], None),
        ([-1, 1, 2], [5, 6, 7], "header stamps are not set"),
        ([1, 0, 2], [5, 6, 7], "header stamps are not set"),
        ([4, 4, 4], [5, 6, 7], "header stamps are all the same"),
    ],
)
def test_stamps_that_are_not_set_are_no_clock(header, bag, reason):
    samples = east([0.0, 1.0, 2.0])
    assert clocks._fault(samples, np.array(header), np.array(bag)) == reason


def test_stamps_stand_still_while_the_body_moves():
    bag = stamps_of(DT * np.arange(50))
    header = bag.copy()
    header[20:31] = header[20]
    moving, resting = east(0.01 * np.arange(50)), east(np.zeros(50))
    assert clocks._stands_still(moving, header, bag) == pytest.approx(0.2)
    assert (
        clocks._fault(moving, header, bag)
        == "header stamps stand still for up to 0.20 s while the body moves"
    )
    assert clocks._stands_still(resting, header, bag) == 0.0
    header = bag.copy()
    header[21] = header[20]  # for a period alone
    assert clocks._stands_still(moving, header, bag) == 0.0


def test_a_simulation_that_was_reset_covers_its_time_twice():
    once = stamps_of(DT * np.arange(100))
    assert clocks._is_set_back(np.concatenate([once, once]))
    assert clocks._is_set_back(np.concatenate([once, once[:60]]))
    assert not clocks._is_set_back(
        np.concatenate([once[:50], once[60:], once[50:60]])
    )  # a part that came late
    assert not clocks._is_set_back(once) and not clocks._is_set_back(np.tile(once[:20], 12))
    assert clocks._is_set_back(np.tile(once[:20], 11))


MOVING = 0.5 * T


def test_a_tracker_that_holds_its_last_pose_is_left_out_or_refused():
    x = MOVING.copy()
    x[50:90] = x[50]
    left, stamps = gaps.without_holds(east(x), stamps_of(T), 1.0)
    assert len(stamps) == len(left.p) == len(T) - 39 and stamps[51] == round(1.8 * NS)
    said = "0.80 s from t = 1.000 s at one place, and a leap of 0.40 m from there"
    assert left.about.notes == (f"{said}: a tracker that holds its last pose; left out",)
    with pytest.raises(
        BadInput,
        match=rf"{said}, as of a tracker .*: --bridge 0.8 crosses it .*, --to 1.000 or --from",
    ):
        gaps.without_holds(east(x), stamps_of(T), 0.79)
    assert gaps.without_holds(east(MOVING), stamps_of(T), 1.0)[0].about.notes == ()
    short = MOVING.copy()
    short[50:54] = short[50]
    assert len(gaps.without_holds(east(short), stamps_of(T), 1.0)[1]) == len(T)


def test_zeros_where_nothing_was_seen_are_held_too():
    x = 2.0 + MOVING
    x[50:90] = 0.0
    left, stamps = gaps.without_holds(east(x), stamps_of(T), 1.0)
    assert len(stamps) == len(T) - 40 and left.p[:, 0].min() == 2.0


@pytest.mark.parametrize(("end", "word"), [(False, "first"), (True, "last")])
def test_a_tracker_that_stands_still_at_an_end_is_left_out(end, word):
    x = np.r_[np.zeros(50), 3.0 * DT * np.arange(1, 101)]
    t = np.arange(150) * DT
    q = yawed(np.r_[np.zeros(50), np.arange(1.0, 101.0)])
    samples = east(x[::-1], q[::-1]) if end else east(x, q)
    left, stamps = gaps.without_frozen_ends(samples, stamps_of(t + 7.0))
    goes = "stops" if end else "goes on"
    assert left.about.notes == (
        f"the {word} 0.98 s lie at one place, where it {goes} at 3.00 m/s: a tracker or estimate that stood still;"
        " left out",
    )
    assert len(stamps) == len(left.p) == 101
    slow = east(np.r_[np.zeros(50), 0.3 * DT * np.arange(1, 101)], q)
    assert len(gaps.without_frozen_ends(slow, stamps_of(t))[1]) == 150  # it can have stopped
    assert gaps.without_frozen_ends(east(np.zeros(150)), stamps_of(t))[0].about.notes == ()


@pytest.mark.parametrize("digit", [1e-2, 1e-3, 1e-4, 1e-5])
def test_the_last_digit_of_numbers_and_of_attitudes(digit):
    rng = np.random.default_rng(1)
    p = np.round(rng.normal(size=(50, 3)) / digit) * digit
    assert still_channels._digit(p) == digit
    q = np.round(so3.normalized(rng.normal(size=(50, 4))) / digit) * digit
    assert still_channels._digit_of_attitudes(so3.normalized(q)) == digit
    assert still_channels._digit(rng.normal(size=(50, 3))) == 1e-6


def test_noise_grows_with_the_order_of_differences_and_motion_shrinks():
    rng = np.random.default_rng(2)
    t = np.arange(200) * DT
    noise = 0.01 * rng.normal(size=(200, 3))
    smooth = np.stack([np.sin(t), np.cos(t), t], axis=1)
    assert still_channels._is_noisy(noise, 1e-4) and still_channels._is_noisy(smooth + noise, 1e-4)
    assert not still_channels._is_noisy(smooth, 1e-6)
    assert not still_channels._is_noisy(noise, 0.05)  # it is rounding


def test_two_ways_in_turns_are_apart_by_their_distance():
    t = np.arange(100) * DT
    p = np.stack([np.sin(t), np.cos(t), t], axis=1)
    p[1::2, 1] += 0.03
    assert still_channels.woven_by(p) == pytest.approx(0.03, rel=1e-3)
    p[1::2, 1] -= 0.0285
    assert still_channels.woven_by(p) == 0.0 and still_channels.woven_by(p[:13]) == 0.0


def test_a_part_that_stands_still_is_said_with_its_times():
    t = np.arange(100) * DT
    part = still_channels.PosePart("y", np.full((100, 1), 1.25))
    assert still_channels._text(part, t, [(20, 60), (70, 80)]) == (
        "its y stands still at 1.250 m from t = 0.400 to 1.200 s, and 1 times more, at once or without its noise:"
        " unless it is a set-point, a tracker or estimate lost it; --to 0.400 or --from 1.200 cuts it off"
    )
    heading = still_channels.PosePart("heading", np.zeros((100, 1)))
    assert still_channels._text(heading, t, [(0, 60)]).endswith(
        "lost it; --from 1.200 cuts it off"
    )
    assert "stands still from t = 0.800 to 1.980 s, at once" in still_channels._text(
        heading, t, [(40, 99)]
    )

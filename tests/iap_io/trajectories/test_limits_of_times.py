# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the times of a recording, each met from both sides: gaps, units and clocks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, NS, T, samples_of, stamps_of

from iap_description.errors import BadInput
from iap_io.trajectories import clocks, gaps, time_units
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.samples import Samples


def east(t: np.ndarray, speed: float) -> Samples:
    return samples_of(np.outer(speed * t, [1.0, 0.0, 0.0]))


def test_the_times_that_are_asked_for_are_those_from_the_first_sample() -> None:
    samples, stamps = gaps.cut(east(T, 1.0), stamps_of(T + 7.0), PoseReading(begin=1.0, end=2.0))
    assert (stamps[0], stamps[-1]) == (8 * NS, 9 * NS)
    np.testing.assert_allclose([samples.p[0, 0], samples.p[-1, 0]], [1.0, 2.0])
    assert "from 1 to 2 s of 3.980 s" in samples.about.notes[0]
    early = gaps.cut(east(T, 1.0), stamps_of(T), PoseReading(end=1.0))[0]
    assert len(early.p) == 51 and "from 0 to 1 s" in early.about.notes[0]
    assert gaps.cut(samples, stamps, NOTHING_SAID)[0] is samples
    two = gaps.cut(east(T, 1.0), stamps_of(T), PoseReading(begin=3.96))[0]
    assert len(two.p) == 2
    with pytest.raises(BadInput, match="1 samples from 3.97 to inf s"):
        gaps.cut(east(T, 1.0), stamps_of(T), PoseReading(begin=3.97))


@pytest.mark.parametrize(("count", "gap", "out"), [(21, 1.1, 1), (20, 1.1, 0), (21, 0.9, 0)])
def test_a_lone_sample_at_an_end_is_left_out_beside_twenty_others(
    count: int, gap: float, out: int
) -> None:
    t = 0.1 * np.arange(count)
    for lone, name in (
        (t + np.where(np.arange(count) > 0, gap, 0.0), "first"),
        (t + np.where(np.arange(count) > count - 2, gap, 0.0), "last"),
    ):
        samples, stamps = gaps.without_lone_ends(east(lone, 1.0), stamps_of(lone), NOTHING_SAID)
        assert (len(stamps), len(samples.p)) == (count - out, count - out)
        assert [f"the {name} sample was left out" in note for note in samples.about.notes] == [
            True
        ] * out
    assert (stamps[0] == 0) and (out == 0 or stamps[-1] < stamps_of(lone)[-1])


@pytest.mark.parametrize(
    ("gap", "text"), [(0.49, ""), (0.51, "0.51 s after t = 1.000 s"), (0.99, "interpolated there")]
)
def test_a_gap_up_to_a_second_is_crossed_and_said_from_half_a_second_on(
    gap: float, text: str
) -> None:
    t = np.array([0.0, 0.5, 1.0, 1.0 + gap, 1.2 + gap])
    if not text:
        t = np.array([0.0, 0.4, 0.8, 0.8 + gap])
    notes = gaps.check_gaps("x", t, 1.0)
    assert len(notes) == bool(text) and text in "".join(notes)


def test_a_longer_gap_is_refused_with_the_bridge_that_crosses_it() -> None:
    t = np.array([0.0, 1.0, 2.02, 2.5])
    with pytest.raises(BadInput, match=r"--bridge 1.1 crosses .* --to 1.000 or --from 2.020"):
        gaps.check_gaps("x", t, 1.0)
    assert gaps.check_gaps("x", t, 1.1)


@pytest.mark.parametrize(
    ("repeats", "speed", "out"), [(3, 1.0, 3), (4, 1.0, 0), (3, 0.049, 0), (3, 0.051, 3)]
)
def test_up_to_three_stale_samples_are_left_out_while_a_body_moves(
    repeats: int, speed: float, out: int
) -> None:
    x = speed * T
    x[100 : 101 + repeats] = x[100]
    samples = samples_of(np.stack([x, 0.0 * x, 0.0 * x], axis=1))
    left, stamps = gaps.without_repeats(samples, stamps_of(T))
    assert (left is samples) == (out == 0)
    assert len(T) - len(stamps) == len(T) - len(left.p) == out
    gone = sorted(set(stamps_of(T).tolist()) - set(stamps.tolist()))
    assert gone == stamps_of(T)[101 : 101 + out].tolist()


@pytest.mark.parametrize(
    ("text", "usual", "stamp"),
    [
        ("1700000000.123456789", "s", 1_700_000_000_123_456_789),
        ("1700000000123.5", "s", 1_700_000_000_123_500_000),
        ("1700000000123456", "ns", 1_700_000_000_123_456_000),
        ("1700000000123456789", "s", 1_700_000_000_123_456_789),
        ("640000000", "ms", 640_000_000 * NS),  # 1990
        ("620000000", "ms", 620_000_000 * 10**6),
        ("4.09e9", "ms", 4_090_000_000 * NS),  # 2099
        ("4.11e9", "ms", 4_110_000_000 * 10**6),
        ("12.25", "s", 12_250_000_000),
    ],
)
def test_a_time_has_its_unit_by_its_size_since_1970(text: str, usual: Any, stamp: int) -> None:
    times = [(1, text)]
    assert time_units.stamps_of("x", times, usual, NOTHING_SAID)[0].tolist() == [stamp]


@pytest.mark.parametrize(
    ("period", "usual", "unit"),
    [
        (0.01, "s", "s"),
        (10.0, "s", "ms"),  # 0.1 Hz in seconds would be too slow
        (1.9, "s", "s"),
        (2.1, "s", "ms"),
        (10_000.0, "s", "us"),
        (1e7, "s", "ns"),
        (210.0, "ms", "ms"),
        (190.0, "us", "ms"),
        (210.0, "us", "us"),
    ],
)
def test_other_times_have_the_unit_that_gives_a_rate_of_poses(
    period: float, usual: Any, unit: str
) -> None:
    times = [(k, repr(period * k)) for k in range(9)]
    stamps, notes = time_units.stamps_of("x", times, usual, NOTHING_SAID)
    assert stamps[-1] == round(8 * period * time_units.NANOSECONDS[unit])  # type: ignore[index]
    assert [f"times taken as {unit}" in note for note in notes] == [True] * (unit != usual)


def test_a_unit_that_is_said_counts_and_times_that_are_no_stamps_are_refused() -> None:
    reading = PoseReading(time_unit="ms")
    assert time_units.stamps_of("x", [(1, "5"), (2, "7")], "s", reading)[0].tolist() == [
        5_000_000,
        7_000_000,
    ]
    for text in ("-1e-9", "nan", "9.3e9"):
        with pytest.raises(BadInput, match=f"line 4: time is {text}, not a stamp in s"):
            time_units.stamps_of("x", [(3, "1.0"), (4, text)], "s", PoseReading(time_unit="s"))


def both_clocks(header: np.ndarray, bag: np.ndarray) -> Samples:
    return samples_of(
        np.zeros((len(header), 3)), header_ns=stamps_of(header), bag_ns=stamps_of(bag)
    )


LONG = 100.0 + 0.02 * np.arange(300)


@pytest.mark.parametrize(
    ("step", "sample", "clock"),
    [(0.009, 150, "header"), (0.011, 150, "bag"), (0.3, 4, "header"), (0.3, 5, "bag")],
)
def test_a_step_of_the_headers_clock_that_stays_makes_the_times_of_reception_count(
    step: float, sample: int, clock: str
) -> None:
    """From 10 ms on, with five samples before it."""
    header = LONG + np.where(np.arange(300) < sample, 0.0, step)
    timed, stamps = clocks.timed(both_clocks(header, LONG + 0.005), NOTHING_SAID)
    assert timed.about.clock == clock and (timed.header_ns is None) == (clock == "bag")
    np.testing.assert_array_equal(stamps, stamps_of(header if clock == "header" else LONG + 0.005))
    text = f"jump ahead by {step:.3f} s at t = {0.02 * sample:.3f} s"
    assert text in timed.about.notes[0] if clock == "bag" else timed.about.notes == ()


@pytest.mark.parametrize(
    ("rate", "mended"), [(1.002, False), (1.004, True), (1.019, True), (1.021, False)]
)
def test_a_drift_of_up_to_two_in_a_hundred_is_taken_out(rate: float, mended: bool) -> None:
    """From 20 ms in a recording of 6 s on; beyond, a simulation runs at another rate."""
    header = 100.0 + rate * (LONG - 100.0)
    _, stamps = clocks.timed(both_clocks(header, LONG + 0.005), NOTHING_SAID)
    np.testing.assert_allclose(
        (stamps - stamps[0]) / NS, (LONG if mended else header) - 100.0, atol=1e-6
    )


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (0.0 * LONG, "not set"),
        (0.0 * LONG + 5.0, "all the same"),
        (51.0 * (LONG - 99.0), "51 times as fast"),
        (0.019 * LONG, "0.019 times as fast"),
        (49.0 * (LONG - 99.0), None),
        (0.021 * LONG, None),
    ],
)
def test_headers_that_are_no_times_do_not_count(header: np.ndarray, reason: str | None) -> None:
    timed, _ = clocks.timed(both_clocks(header, LONG), NOTHING_SAID)
    assert timed.about.clock == ("header" if reason is None else "bag")
    assert reason is None or reason in timed.about.notes[0]


@pytest.mark.parametrize(("late", "refused"), [(4, False), (5, True)])
def test_a_lone_clock_that_steps_back_for_five_samples_is_refused(
    late: int, refused: bool
) -> None:
    header = LONG.copy()
    header[200 : 200 + late] -= 0.5
    header[200 + late :] += 0.5
    lone = samples_of(np.zeros((300, 3)), header_ns=stamps_of(header))
    if not refused:
        timed, stamps = clocks.timed(lone, NOTHING_SAID)
        assert (np.diff(stamps) > 0).all() and "out of order" in timed.about.notes[0]
        return
    with pytest.raises(BadInput, match=r"step back by 0.480 s at t = 3.980 s .* --to 3.980"):
        clocks.timed(lone, NOTHING_SAID)


def test_the_clock_that_is_asked_for_counts_though_the_other_is_sound() -> None:
    both = both_clocks(LONG, LONG + 0.005)
    for clock, expected in (("bag", LONG + 0.005), ("header", LONG)):
        timed, stamps = clocks.timed(both, PoseReading(clock=clock))  # type: ignore[arg-type]
        assert timed.about.clock == clock and (timed.header_ns is None) == (clock == "bag")
        np.testing.assert_array_equal(stamps, stamps_of(expected))
        assert timed.about.notes == ()
    lone = samples_of(np.zeros((300, 3)), bag_ns=stamps_of(LONG))
    with pytest.raises(BadInput, match="no headers"):
        clocks.timed(lone, PoseReading(clock="header"))
    assert clocks.timed(lone, NOTHING_SAID)[0].about.clock == "bag"


@pytest.mark.parametrize(
    ("apart", "count", "refused"),
    [(0.09, 59, False), (0.09, 60, True), (0.019, 60, False), (0.11, 6, False), (0.11, 7, True)],
)
def test_samples_of_one_stamp_at_two_places_are_two_bodies(
    apart: float, count: int, refused: bool
) -> None:
    """More than one in fifty further apart than 0.1 m, or one in five further than 0.02 m, all over the recording."""
    p, stamps = np.zeros((300, 3)), LONG.copy()
    at = np.linspace(10, 290, count).astype(int)
    stamps[at], p[at, 1] = stamps[at - 1], apart
    samples = samples_of(p, header_ns=stamps_of(stamps))
    if refused:
        with pytest.raises(
            BadInput, match=f"{count} samples lie up to {apart:.3g} m .* two bodies"
        ):
            clocks.timed(samples, NOTHING_SAID)
    else:
        timed, _ = clocks.timed(samples, NOTHING_SAID)
        assert (
            len(timed.p) == 300 - count and f"{count} samples of a stamp" in timed.about.notes[0]
        )


def test_the_usual_delay_of_reception_is_its_median() -> None:
    delays = np.full(300, 0.03)
    delays[:20] = 1.0
    assert clocks.delay_of(both_clocks(LONG, LONG + delays)) == pytest.approx(30_000_000, abs=2)
    assert clocks.delay_of(samples_of(np.zeros((3, 3)), bag_ns=stamps_of(LONG[:3]))) is None


def test_header_stamps_that_are_set_back_by_an_hour_give_way_and_say_so() -> None:
    header = np.where(LONG > 102.1, LONG + 3500.0, LONG + 7100.0)
    timed, stamps = clocks.timed(both_clocks(header, LONG + 0.005), NOTHING_SAID)
    assert timed.about.clock == "bag"
    assert "header stamps jump back by 3600.000 s" in timed.about.notes[0]
    np.testing.assert_allclose((stamps - stamps[0]) * 1e-9, LONG - LONG[0], atol=1e-6)


def test_times_of_reception_that_are_set_back_by_an_hour_give_way_to_header_stamps() -> None:
    """A bag is in the order of its times of reception: the second half of the flight comes first."""
    received = np.where(LONG > 102.1, LONG + 3500.0, LONG + 7100.0)
    order = np.argsort(received)
    samples = both_clocks(LONG[order], received[order])
    timed, stamps = clocks.timed(replace(samples, p=samples.p[order]), NOTHING_SAID)
    assert timed.about.clock == "header"
    assert "times of reception" in timed.about.notes[0]
    np.testing.assert_allclose((stamps - stamps[0]) * 1e-9, LONG - LONG[0], atol=1e-6)

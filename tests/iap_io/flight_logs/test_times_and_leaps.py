# SPDX-License-Identifier: BSD-3-Clause
"""Times in the air, gaps, rates and leaps of a flight log, each at the edge of its limit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import flights_in, longest_flight, why_never
from iap_io.flight_logs.log_tables import usable_times
from iap_io.flight_logs.plausibility import plausible

T = np.arange(0.0, 12.0, 0.1)


def log_of(**signals: tuple[np.ndarray, np.ndarray]) -> FlightLog:
    """A log of signals (times, values); blanks of names are underscores."""
    made = {
        name: Signal(t, values.reshape(len(t), -1), name, "")
        for name, (t, values) in signals.items()
    }
    return FlightLog(Path("log.ulg"), "ULog", "PX4", made)


def landed_but(*spans: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The land detector's samples, at whose edges a flight begins and ends."""
    times = [0.0, *np.ravel(spans), 12.0]
    values = [1.0, *[0.0, 1.0] * len(spans), 1.0]
    return np.array(times), np.array(values)


@pytest.mark.parametrize(("lasts", "count"), [(1.9, 0), (2.0, 1), (2.1, 1)])
def test_a_flight_lasts_two_seconds_or_more(lasts: float, count: int) -> None:
    assert len(flights_in(log_of(landed=landed_but((4.0, 4.0 + lasts))))) == count


def test_a_flight_is_in_the_air_and_armed_and_the_longest_one_counts() -> None:
    log = log_of(
        landed=landed_but((1.0, 3.5), (5.0, 8.0), (9.0, 11.5)),
        armed=(np.array([0.0, 8.5, 8.6, 12.0]), np.array([1.0, 1.0, 0.0, 0.0])),
    )
    assert [(each.begin, each.end) for each in flights_in(log)] == [(1.0, 3.5), (5.0, 8.0)]
    longest = longest_flight(log)
    assert longest is not None and longest.duration == 3.0


def test_a_flight_goes_on_to_the_end_of_the_log() -> None:
    t = np.array([0.0, 2.0, 3.0])
    log = log_of(landed=(t, np.array([1.0, 0.0, 0.0])), position=(T, np.zeros((len(T), 3))))
    assert [(each.begin, each.end) for each in flights_in(log)] == [(2.0, pytest.approx(11.9))]


@pytest.mark.parametrize(
    ("name", "low", "high", "columns"), [("position", 0.29, 0.31, 3), ("motors", 0.14, 0.16, 4)]
)
def test_without_a_land_detector_heights_and_then_motors_tell_a_flight(
    name: str, low: float, high: float, columns: int
) -> None:
    """0.3 m above the lowest place, or 0.15 of full command, from the first to the last time above it."""
    rows = np.zeros((len(T), columns))
    rows[40:80, -1 if columns == 3 else slice(None)] = low
    assert longest_flight(log_of(**{name: (T, rows)})) is None
    rows[40:80] *= high / low
    rows[55:60] = 0.0  # it touches the ground meanwhile
    flight = longest_flight(log_of(**{name: (T, rows)}))
    assert flight is not None
    np.testing.assert_allclose([flight.begin, flight.end], [4.0, 8.0])


def test_a_log_without_any_of_them_has_no_flight() -> None:
    assert flights_in(log_of(voltage=(T, np.full(len(T), 12.0)))) == []


def test_a_gap_is_longer_than_five_usual_periods() -> None:
    t = np.cumsum([0.0, *[0.1] * 20, 0.49, *[0.1] * 5, 0.51, *[0.1] * 5])
    signal = Signal(t, np.zeros((len(t), 1)), "", "")
    assert signal.gaps == 1
    assert signal.rate == pytest.approx(10.0)
    assert signal.largest_gap == pytest.approx(0.51)
    part = signal.between(float(t[3]), float(t[7]))
    assert len(part.t) == len(part.values) == 5
    assert (part.t[0], part.t[-1]) == (t[3], t[7])


def flight_with_a_leap(leap: float, missing: int = 0) -> FlightLog:
    """East at 2 m/s, faster and faster, with a leap to the north after 6 s and samples missing before it."""
    x = 2.0 * T + 0.25 * T**2
    p = np.stack([x, np.where(T > 6.0, leap, 0.0), np.ones(len(T))], axis=1)
    v = np.stack([2.0 + 0.5 * T, 0.0 * T, 0.0 * T], axis=1)
    keep = (T <= 6.0) | (np.arange(len(T)) > 60 + missing)
    return plausible(log_of(position=(T[keep], p[keep]), velocity=(T, v)))


@pytest.mark.parametrize(
    ("leap", "missing", "stays"),
    [(0.95, 0, True), (1.05, 0, False), (1.05, 4, True), (1.05, 3, False)],
)
def test_a_leap_beyond_a_metre_within_half_a_second_is_taken_out(
    leap: float, missing: int, stays: bool
) -> None:
    log = flight_with_a_leap(leap, missing)
    mended = log.signals[names.POSITION].values
    assert mended[-1, 1] == pytest.approx(leap if stays else 0.0, abs=1e-9)
    np.testing.assert_allclose(
        mended[:, 0], 2.0 * (t := log.signals[names.POSITION].t) + 0.25 * t**2
    )
    assert bool(log.notes) != stays
    assert (
        stays or f"1 leaps that the velocity denies, the largest of {leap:.2f} m" in log.notes[0]
    )


def test_positions_and_velocities_of_a_lost_estimator_are_left_out_together() -> None:
    p, v = np.cumsum(0.05 * np.ones((len(T), 3)), axis=0), np.zeros((len(T), 3))
    for speed, kept in ((99.0, True), (101.0, False)):
        v[50] = [speed, 0.0, 0.0]
        log = plausible(log_of(position=(T, p), velocity=(T, v)))
        assert ({names.POSITION, names.VELOCITY} <= set(log.signals)) == kept
        assert kept or f"{speed:.0f} m/s" in log.missing[names.POSITION]
    v[50] = 0.0
    p[:, 2], p[:, :2] = np.arange(len(T)), 3.0  # a height alone is no position
    log = plausible(log_of(position=(T, p), velocity=(T, v)))
    assert not log.signals and set(log.missing) == {names.POSITION, names.VELOCITY}


def test_two_volts_are_no_battery() -> None:
    for volts, kept in ((1.9, False), (2.1, True)):
        both = {name: (T, np.full(len(T), volts)) for name in ("voltage", "current")}
        log = plausible(log_of(**both))
        assert (names.VOLTAGE in log.signals, names.CURRENT in log.signals) == (kept, kept)


@pytest.mark.parametrize("rows", [1, 5])
def test_rows_that_leap_away_and_back_are_left_out_and_move_nothing(rows: int) -> None:
    """Also where the next sound row comes late, as behind bytes that were lost."""
    p = np.stack([2.0 * T, 0.0 * T, 1.0 + 0.0 * T], axis=1)
    p[60 : 60 + rows] = 0.0
    v = np.tile([2.0, 0.0, 0.0], (len(T), 1))
    keep = (np.arange(len(T)) < 60 + rows) | (np.arange(len(T)) > 66 + rows)
    log = plausible(log_of(position=(T[keep], p[keep]), velocity=(T, v)))
    position = log.signals[names.POSITION]
    np.testing.assert_allclose(position.values[:, 0], 2.0 * position.t, atol=1e-9)
    assert f"{rows} rows that leap away and back" in log.notes[0]


def test_a_position_that_leaps_over_and_over_is_none() -> None:
    p = np.stack([2000.0 * T, 0.0 * T, 1.0 + 0.0 * T], axis=1)  # in mm
    v = np.tile([2.0, 0.0, 0.0], (len(T), 1))
    log = plausible(log_of(position=(T, p), velocity=(T, v)))
    assert names.POSITION not in log.signals
    assert "leaps from its velocity in 119 of 119 rows" in log.missing[names.POSITION]


@pytest.mark.parametrize(
    ("signals", "words"),
    [
        ({"landed": landed_but((4.0, 5.5))}, "at most 1.5 s at a time, and a flight has 2 s"),
        (
            {"landed": landed_but((1.0, 9.0)), "armed": (T, 0.0 * T)},
            "it is not armed",
        ),
        ({"landed": landed_but()}, "landed says landed throughout"),
        (
            {"position": (T, np.outer(T / T[-1], [5.0, 0.0, 0.2]))},
            "its height changes by 0.20 m, 0.3 m is off the ground",
        ),
        (
            {"motors": (T, np.full((len(T), 4), 0.1))},
            "its motors come to 0.10 of their range, up to 0.15 is idle",
        ),
        ({"voltage": (T, T)}, "it has neither a land detector nor positions nor motors"),
    ],
)
def test_a_log_without_a_flight_says_by_which_signal(signals: Any, words: str) -> None:  # noqa: ANN401
    log = log_of(**signals)
    assert flights_in(log) == [] and why_never(log) == words


def test_of_a_clock_that_is_set_back_the_longest_part_counts() -> None:
    """By 2 s after 8 s: what comes after would stand among what was before."""
    t = np.where(T < 8.0, T, T - 2.0)
    keep, notes = usable_times(t, "ATT")
    np.testing.assert_array_equal(keep, T < 8.0)
    assert notes == [
        "ATT: its clock is set back by 1.900 s at 7.900 s: 40 rows of the shorter part left out"
    ]


def test_a_clock_that_starts_anew_before_the_flight_keeps_the_flight() -> None:
    t = np.where(T < 3.0, T + 50.0, T)
    keep, _ = usable_times(t, "ATT")
    np.testing.assert_array_equal(keep, T >= 3.0)


def test_rows_that_come_late_are_no_clock_that_is_set_back() -> None:
    t = T.copy()
    t[[20, 50, 51, 52, 53]] -= 0.75
    keep, notes = usable_times(t, "ATT")
    assert keep.sum() == len(T) - 5
    assert notes == ["ATT: 5 rows not after the row before left out"]


def test_a_lone_row_far_ahead_is_no_clock_that_is_set_back() -> None:
    """A flipped bit in its time: all others are in order."""
    t = T.copy()
    t[40] += 5.0
    keep, notes = usable_times(t, "ATT")
    np.testing.assert_array_equal(np.flatnonzero(~keep), [40])
    assert notes == ["ATT: 1 rows ahead of those behind left out"]


@pytest.mark.parametrize(("place", "stamp"), [(0, np.nan), (7, -1e300), (119, 4.2e9)])
def test_a_stamp_that_is_no_time_is_left_out_and_counted(place: int, stamp: float) -> None:
    t = T.copy()
    t[place] = stamp
    keep, notes = usable_times(t, "ATT")
    np.testing.assert_array_equal(np.flatnonzero(~keep), [place])
    assert notes == ["ATT: 1 time stamps that are no times left out"]


def test_of_stamps_that_are_no_times_at_all_none_is_left() -> None:
    keep, notes = usable_times(np.full(4, 1e20), "ATT")
    assert not keep.any() and notes == ["ATT: 4 time stamps that are no times left out"]

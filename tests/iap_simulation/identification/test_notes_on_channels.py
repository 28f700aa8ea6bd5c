# SPDX-License-Identifier: BSD-3-Clause
"""Notes on channels that are held, saturated, late or in other units, with the limits from which they are made."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_simulation.identification import channels, following, log_columns
from iap_simulation.identification.channel_samples import (
    doubled,
    end_in_words,
    fresh_of_held,
    held_at_leaps,
    saturated,
)
from iap_simulation.identification.least_squares import Fit

# samples


def test_a_leap_is_held_at_the_sample_before_until_the_channel_is_near_it_again() -> None:
    v = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 6.0], [3.5, 9.0], [2.0, 6.5]])
    held, leaps = held_at_leaps(v, 1.5)
    assert held.tolist() == [[0.0, 5.0], [1.0, 5.0], [1.0, 6.0], [1.0, 6.0], [2.0, 6.5]]
    assert leaps.astype(int).tolist() == [[0, 0], [0, 0], [1, 0], [1, 1], [0, 0]]
    assert v[2, 0] == 4.0
    assert not held_at_leaps(np.array([[0.0], [1.5]]), 1.5)[1].any()


def held(lengths: list[int], first: int = 3) -> np.ndarray:
    """A channel that holds each number for so many samples, from some first number on."""
    return np.repeat(np.arange(len(lengths)) + float(first), lengths)


def test_a_held_channel_is_fresh_where_its_number_is_new() -> None:
    fresh = fresh_of_held(held([3] * 30))
    assert fresh is not None
    assert np.flatnonzero(fresh).tolist() == list(range(0, 90, 3))
    rest = fresh_of_held(held([3] * 15 + [400] + [3] * 15))  # the vehicle stood still
    assert rest is not None and rest.sum() == 31
    assert fresh_of_held(held([9, *[2] * 20, 9])) is not None  # both ends may be cut
    assert fresh_of_held(held([9, *[2] * 19, 9])) is None  # of runs between them 20 at least


@pytest.mark.parametrize(
    ("lengths", "is_held"),
    [
        ([1] * 40, False),
        ([2] * 40, True),
        ([4, 5, 3, 4] * 10, True),
        ([4, 4, 4, 9, 9] * 10, False),  # three of five are alike
        ([4, 4, 4, 9] * 10, True),  # three of four
        (([5] * 10 + [2]) * 4, False),  # one of eleven is shorter
        (([5] * 24 + [2]) * 3, True),
    ],
)
def test_a_channel_is_held_whose_runs_are_alike_and_hardly_ever_shorter(
    lengths: list[int], is_held: bool
) -> None:
    assert (fresh_of_held(held(lengths)) is not None) == is_held


def test_rows_are_doubled_in_short_runs_alone() -> None:
    rows = np.column_stack([[1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3], [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]])
    same = doubled(rows.astype(float))
    assert np.flatnonzero(same).tolist() == [1, 3, 4, 5]
    assert np.flatnonzero(doubled(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 3.0]]))).tolist() == [2]


def test_a_channel_is_saturated_that_is_often_at_an_end_other_than_zero() -> None:
    x = np.concatenate([np.linspace(-1.0, 0.9, 100), np.full(6, 1.0)])
    assert np.flatnonzero(saturated(x)).tolist() == list(range(100, 106))
    assert np.flatnonzero(saturated(-x)).tolist() == list(range(100, 106))
    assert not saturated(x[:-1]).any()  # five times are as often as others may be
    assert not saturated(x[1:] if len(np.unique(x[2:])) >= 100 else x[2:]).any()  # few numbers
    assert not saturated(np.abs(x) - 1.0).any()  # it rests
    long = np.concatenate([np.linspace(0.0, 0.9, 990), np.full(20, 1.0)])
    assert not saturated(long).any()  # of the samples less than a fiftieth
    assert saturated(np.append(long, [1.0] * 2)).sum() == 22
    ends = np.array([True, False, False, False])
    words = end_in_words(np.array([-1.23456]), ends)
    assert words == "stops at 1.23 in 25% of its samples: saturated, left out"


# gains and delays


def noted(gains: dict[str, float], *, in_units: bool = False) -> list[str]:
    flown: Any = SimpleNamespace(source="a.csv", in_units=in_units)
    return following._odd_gains(flown, gains)


def test_gains_around_one_are_not_noted_and_others_with_their_unit() -> None:
    assert noted({"u_l": 0.56, "u_m": 1.79, "w": 1.0}) == noted({}) == []
    assert noted({"u_l": 0.345, "w": 1.81}) == [
        "u_l is 0.345 times its command: are both in one unit?",
        "w is 1.81 times its command: are both in one unit?",
    ]
    assert noted({"w": 1.81}, in_units=True) == []
    said = "u_l is 3.6 times its command: is u_l in km/h? 'u_l [km/h]' in the header takes it so"
    assert noted({"u_l": 3.6}) == noted({"u_l": 3.6}, in_units=True) == [said]
    assert noted({"u_l": 1.0 / 3.2808}) == [
        "u_l is 0.305 times its command: is u_l_ref in ft/s? 'u_l_ref [ft/s]' in the header takes it so"
    ]
    assert noted({"u_n": 3.6 * 1.09})[0].endswith("are both in one unit?")


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ({"u_l": 3.6, "u_m": 3.7}, r"u_l is 3.6 times .*'u_l \[m/s\]' as it stands$"),
        ({"w": 57.3}, r"w is 57.3 times .* is w in deg/s\? .*, 'w \[rad/s\]' as it stands$"),
        ({"u_l": 9.1}, r"u_l is 9.1 times its command: is u_l in dm/s\?"),
        ({"u_l": 0.109}, r"u_l is 0.109 times its command: is u_l_ref in dm/s\?"),
    ],
)
def test_gains_of_another_unit_are_refused(gains: dict[str, float], said: str) -> None:
    with pytest.raises(BadInput, match=rf"^a\.csv: channel {said}"):
        noted(gains)
    noted(gains, in_units=True)  # the file has said what it is in


def test_gains_that_differ_or_are_of_one_channel_are_noted_alone() -> None:
    assert len(noted({"u_l": 3.6, "u_m": 1.0})) == len(noted({"u_l": 8.9})) == 1
    assert len(noted({"u_l": 3.6, "u_m": 4.9})) == 2


@pytest.mark.parametrize(
    ("gain", "is_speed", "unit"),
    [(2.05, True, "kn"), (2.6, True, "mph"), (3.4, True, "ft/s"), (3.5, True, "km/h"), (40.0, True, "cm/s"),
     (23.0, False, "rpm"), (24.0, False, "deg/s"), (31.0, True, "dm/s"), (32.0, True, "cm/s")],
)  # fmt: skip
def test_a_gain_is_closest_to_a_unit_by_its_ratio(gain: float, is_speed: bool, unit: str) -> None:
    size, found = following._ratio(gain, is_speed=is_speed)
    metre, turn = log_columns.SPEEDS, log_columns.RATES
    assert found == unit
    assert size == pytest.approx(1.0 / (metre[unit] if is_speed else turn[unit]))


def test_delays_are_noted_of_all_channels_or_of_one_beside_its_like() -> None:
    odd = following._odd_delays
    assert odd({}, 0.02) == odd({"u_l": 0.8, "w": 2.0}, 0.02) == odd({"u_n": 0.1}, 0.02) == []
    (all_late,) = odd({"u_l": 0.81, "w": 2.0}, 0.02)
    assert all_late.startswith(
        "every velocity follows its command 0.81 s late or more, as no loop"
    )
    (left,) = odd({"u_l": 0.2, "u_m": 0.34}, 0.02)
    assert left.startswith(
        "u_m follows its command 0.14 s later than u_l: if the vehicle is alike"
    )
    (ahead,) = odd({"u_l": 0.34, "u_m": 0.2, "u_n": 0.0}, 0.02)
    assert ahead.startswith("u_l follows its command 0.14 s later than u_m")
    assert odd({"u_l": 0.2, "u_m": 0.299}, 0.02) == []
    assert odd({"u_l": 0.2, "u_m": 0.34}, 0.05) == []  # three samples
    assert odd({"u_l": 0.2, "u_m": 0.36}, 0.05) != []


# shifts and leads

T = 0.05 * np.arange(400)
MOVES = np.repeat(np.random.default_rng(8).uniform(-1.0, 1.0, 40), 10)


@pytest.mark.parametrize(
    ("samples", "shift"), [(0, 0.0), (3, 0.0), (4, 0.2), (-4, -0.2), (9, 0.45)]
)
def test_a_velocity_is_shifted_by_more_than_three_samples(samples: int, shift: float) -> None:
    assert following.shift_of(T, MOVES, np.roll(MOVES, samples)) == pytest.approx(shift)


def test_a_shift_that_is_not_clear_is_none() -> None:
    noise = np.random.default_rng(9).normal(size=400)
    late = np.roll(MOVES, 6)
    assert following.shift_of(T, MOVES, late + 0.05 * noise) == pytest.approx(0.3)
    assert following.shift_of(T, MOVES, late + 0.6 * noise) == 0.0
    assert following.shift_of(T[:98], MOVES[:98], late[:98]) == 0.0  # less than five seconds
    assert (
        following.shift_of(T, MOVES, 0.0 * late) == following.shift_of(T, 0.0 * MOVES, late) == 0
    )


def test_the_share_of_a_turned_motion_that_follows_is_all_of_it() -> None:
    rng = np.random.default_rng(2)
    U = rng.normal(size=500) + 1j * rng.normal(size=500)
    U[-5:] = 0.0
    V = np.exp(0.4j) * np.r_[np.zeros(5), U[:-5]]
    assert following._followed_share(U, V, 5) == pytest.approx(1.0)
    assert following._followed_share(U, V, 4) < 0.05
    assert following._followed_share(0.0 * U, V, 5) == 0.0


@pytest.mark.parametrize(
    ("length", "said"),
    [(4.99, False), (5.0, True)],
)
def test_following_is_looked_for_in_five_seconds_and_more(
    length: float, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_followed", lambda log: ("looked",))
    flown: Any = SimpleNamespace(t=np.array([0.0, length]), source="a")
    assert following.check_following(flown) == (("looked",) if said else ())


@pytest.mark.parametrize(
    ("before", "behind", "is_refused"),
    [
        ([0.1] * 9 + [0.97], 0.2, False),  # one sample before it
        ([0.1] * 4 + [0.97, *[0.1] * 5], 0.2, True),
        ([0.1] * 4 + [0.97, *[0.1] * 5], 0.96, False),
        ([0.1] * 4 + [0.97, *[0.1] * 5], 0.9, True),
        ([0.1] * 4 + [0.6, *[0.1] * 5], 0.2, False),
    ],
)
def test_a_lead_is_refused_that_correlates_clearly_better(
    before: list[float], behind: float, is_refused: bool
) -> None:
    flown: Any = SimpleNamespace(t=T, source="a.csv")
    if not is_refused:
        following._check_lead(flown, 1, np.array([behind]), np.array(before))
        return
    with pytest.raises(BadInput, match=r"^a\.csv: channel u_m moves 0.30 s before its command: "):
        following._check_lead(flown, 1, np.array([behind]), np.array(before))


# fits


def settings(**bounds: tuple[float, float]) -> Any:
    usual = {"gain": (-3.0, 5.0), "frequency": (0.1, 20.0), "damping": (0.1, 6.0)}
    return SimpleNamespace(**{**usual, "delay": (0.0, 1.0), **bounds})


def test_bounds_are_those_of_gain_frequency_damping_and_delay() -> None:
    low, high = channels.bounds_of(settings())
    assert low.tolist() == [-3.0, 0.1, 0.1, 0.0] and high.tolist() == [5.0, 20.0, 6.0, 1.0]


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        ((-2.993, 1.0, 1.0, 0.0), ["gain is at its lower bound, -3"]),
        ((-2.991, 1.0, 1.0, 0.5), []),
        ((4.993, 19.99, 1.0, 0.9995), ["gain is at its upper bound, 5",
          "frequency is at its upper bound, 20", "delay is at its upper bound, 1"]),
        ((1.0, 1.0, 0.1, 0.9985), ["damping is at its lower bound, 0.1"]),
    ],
)  # fmt: skip
def test_parameters_within_a_thousandth_of_a_bound_are_named(
    values: tuple, notes: list[str]
) -> None:
    fit = Fit(np.array(values), np.ones(4), 0.1, 1)
    assert list(channels.bound_notes(fit, settings())) == notes


def test_a_delay_at_a_bound_that_is_not_zero_is_named() -> None:
    fit = Fit(np.array([1.0, 1.0, 1.0, 0.2]), np.ones(4), 0.1, 1)
    notes = channels.bound_notes(fit, settings(delay=(0.2, 1.0)))
    assert notes == ("delay is at its lower bound, 0.2",)


@pytest.mark.parametrize(("cost", "percent"), [(8.9, None), (9.0, 19), (9.5, 10), (11.0, 0)])
def test_a_command_that_explains_less_than_a_fifth_excites_poorly(
    cost: float, percent: int | None
) -> None:
    v = np.ones((101, 2))
    v[0], v[50:] = 99.0, -1.0
    sound = np.ones((101, 2), bool)
    fit = Fit(np.array([1.0, 1.0, 1.0, 0.0]), np.full(4, 0.5), cost, 1)
    flown: Any = SimpleNamespace(v=v, sound=sound)
    text = f"poorly excited, the command explains {percent} % of the motion's power"
    assert channels.poor_excitation(fit, [flown], 1) == (() if percent is None else (text,))


def test_errors_of_a_channel_count_where_it_is_sound_and_power_is_their_mean_over_logs() -> None:
    def flown(v: float, faulty: bool) -> Any:
        sound = np.ones((60, 7), bool)
        sound[30:, 2] = not faulty
        speeds = np.full((60, 7), v)
        speeds[30:, 2] = 9.0 if faulty else v
        return SimpleNamespace(
            t=0.1 * np.arange(60), command=np.zeros((60, 7)), v=speeds, sound=sound
        )

    still = np.array([1.0, 1.0, 1.0, 0.0])
    logs = [flown(0.0, True), flown(0.0, False)]
    assert channels._power(still, logs, 2) == 0.0
    assert (
        channels._errors(still, logs[0], 2).shape == (59,)
        and not channels._errors(still, logs[0], 2).any()
    )
    logs[1].v[0, 2] = 0.0
    logs[1].v[1:, 2] = 2.0
    assert channels._power(still, logs, 2) == pytest.approx(0.5 * 4.0 * 59 / 60)
    np.testing.assert_allclose(channels._errors(still, logs[1], 2), -2.0)

# SPDX-License-Identifier: BSD-3-Clause
"""Steps, spikes, gaps and clocks of made-up samples by numbers that are worked out by hand."""

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, east, stamps_of, yawed

from iap_description.errors import BadInput
from iap_io.trajectories import leaps
from iap_io.trajectories.pose_reading import PoseReading

DT = 0.02


@pytest.mark.parametrize(
    ("distance", "turn", "dt", "excess"),
    [(0.4, 0.0, 0.01, 1.0), (0.8, 0.0, 0.01, 2.0), (0.0, 50.0, 0.01, 1.0), (0.2, 50.0, 0.01, 1.0),
     (2.65, 0.0, 0.1, 1.0)],
)  # fmt: skip
def test_a_step_is_measured_by_what_is_within_reach(distance, turn, dt, excess):
    """0.15 m and 25 m/s, 30 deg and 2000 deg/s."""
    samples = east([0.0, distance], yawed([0.0, turn]))
    assert leaps._excess(samples, np.array([0.0, dt])) == pytest.approx([excess])


def test_of_stamps_that_come_close_the_longer_interval_beside_counts():
    t = np.array([0.0, 0.1, 0.101, 0.2])
    found = leaps._excess(east([0.0, 0.0, 2.65, 2.65]), t)
    assert found == pytest.approx([0.0, 1.0, 0.0])


@pytest.mark.parametrize(("off", "is_spike"), [(0.069, False), (0.071, True)])
def test_a_spike_is_off_the_line_by_five_centimetres_and_an_acceleration(off, is_spike):
    """0.05 m and 100 m/s^2 dt^2 / 2 of 20 ms."""
    x = 1.0 * np.arange(20) * DT
    x[7] += off
    spikes = leaps._spikes(east(x), np.arange(20) * DT)
    assert np.flatnonzero(spikes).tolist() == ([7] if is_spike else [])


@pytest.mark.parametrize(("off", "is_spike"), [(31.0, False), (32.0, True)])
def test_a_turn_is_a_spike_beyond_twenty_degrees_and_an_acceleration(off, is_spike):
    """20 deg and 1000 rad/s^2 dt^2 / 2: 0.549 rad."""
    turns = np.zeros(20)
    turns[12] = off
    spikes = leaps._spikes(east(np.zeros(20), yawed(turns)), np.arange(20) * DT)
    assert np.flatnonzero(spikes).tolist() == ([12] if is_spike else [])


def test_a_spike_stands_out_from_both_neighbours_and_times_may_be_uneven():
    t = np.cumsum(np.where(np.arange(20) % 2, 0.01, 0.03))
    assert not leaps._spikes(east(2.0 * t), t).any()
    x = np.zeros(20)
    x[[7, 8]] = 0.3  # two of them are a step away and back
    assert not leaps._spikes(east(x), np.arange(20) * DT).any()
    assert not leaps._spikes(east([0.0, 0.0, 9.0, 0.0, 0.0]), np.arange(5) * DT).any()


def test_off_the_line_and_off_the_pace():
    t = np.array([0.0, 1.0, 4.0, 5.0])
    p = np.stack([np.array([0.0, 2.0, 4.0, 5.0]), np.zeros(4), np.zeros(4)], axis=1)
    assert leaps._off_line(p, t) == pytest.approx([1.0, 0.25])
    assert leaps._off_pace(p, np.diff(t)) == pytest.approx([4.0 / 3.0, 1.0, 1.0 / 3.0])


def test_between_attitudes_are_shares_of_the_way():
    found = leaps._between(yawed([0.0, 10.0]), yawed([90.0, 50.0]), np.array([[0.5], [0.25]]))
    np.testing.assert_allclose(found, yawed([45.0, 20.0]), atol=1e-12)
    assert np.degrees(leaps.angle(yawed([10.0]), -yawed([50.0]))) == pytest.approx([40.0])


def woven(count, apart):
    """As many bodies in turns, `apart` m from each other."""
    x = 0.001 * np.arange(60.0) + apart * (np.arange(60) % count)
    return east(x)


@pytest.mark.parametrize(
    ("count", "apart", "bodies"),
    [(2, 0.05, 2), (3, 0.05, 3), (4, 0.05, 4), (2, 0.006, None), (5, 0.05, None)],
)
def test_two_to_four_bodies_in_one_are_told_by_their_number(count, apart, bodies):
    if bodies is None:
        leaps._check_woven(woven(count, apart))
        return
    with pytest.raises(
        BadInput, match=rf"it goes to and fro by 0\.\d\d\d m, as {bodies} bodies in one: --body"
    ):
        leaps._check_woven(woven(count, apart))


def test_a_step_as_of_set_points_is_noted_with_its_place_and_size():
    t = np.arange(40) * DT
    x = np.where(np.arange(40) > 20, 0.06, 0.0)
    (note,) = leaps._with_doubts(east(x), t, 0.0).about.notes
    assert note == (
        "1 step as of set-points, by up to 0.06 m within 0.020 s at t = 0.400 s: if it is another body or place, --from"
        " and --to cut it out"
    )
    for size, is_noted in ((0.0225, False), (0.0235, True)):  # 15 mm, and 40 m/s^2 dt^2 / 2
        notes = leaps._with_doubts(
            east(np.where(np.arange(40) > 20, size, 0.0)), t, 0.0
        ).about.notes
        assert bool(notes) == is_noted
    shaken = leaps._with_doubts(east(x), t, 0.021).about.notes
    assert shaken == (
        "the samples shake by 0.02 m from one to the next: noise, or two bodies in one",
    )
    assert leaps._with_doubts(east(0.0 * x), t, 0.02).about.notes == ()


def test_a_turn_at_once_is_noted_with_its_place_and_size():
    t = np.arange(40) * DT
    (note,) = leaps._with_doubtful_turns(
        east(0.0 * t, yawed(np.where(np.arange(40) > 10, 25.0, 0.0))), t
    ).about.notes
    assert note.startswith(
        "1 turn at once, by up to 25 deg within 0.020 s at t = 0.200 s: if its attitude was lost"
    )
    for size, is_noted in ((6.3, False), (6.6, True)):  # 3 deg, and 300 rad/s^2 dt^2 / 2
        samples = east(0.0 * t, yawed(np.where(np.arange(40) > 10, size, 0.0)))
        assert bool(leaps._with_doubtful_turns(samples, t).about.notes) == is_noted
    even = east(0.0 * t, yawed(8.0 * np.arange(40)))
    assert leaps._with_doubtful_turns(even, t).about.notes == ()


def test_what_leaps_is_said_with_its_largest_step_and_the_notes_before():
    samples = east([0.0, 0.1, 3.1, 3.2], yawed([0.0, 0.0, 40.0, 40.0])).noted("cut")
    text = leaps._refusal(samples, np.array([0.0, 0.02, 0.04, 0.06]), "2 of 4 samples leap")
    assert text == (
        "table.csv: 2 of 4 samples leap, by 3 m and 40 deg within 0.020 s at t = 0.020 s: --from and --to cut it out,"
        " --max-speed V follows set-points at V m/s; two bodies are told apart by --body, --frame and --topic, another"
        " unit by --scale (noted before: cut)"
    )


def test_set_points_are_followed_at_a_speed():
    t = np.array([0.0, 0.5, 1.0, 2.0, 3.0])
    found = leaps._followed(east([0.0, 3.0, 3.0, 3.0, 3.0]), t, 2.0)
    assert found.p[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 3.0]
    assert found.about.notes == ("set-points are followed at up to 2 m/s, up to 2.00 m behind",)


def test_leaps_that_stay_are_refused_or_noted():
    x = np.where(np.arange(60) > 30, 5.0, 0.0)
    stamps = stamps_of(np.arange(60) * DT)
    with pytest.raises(
        BadInput,
        match="the samples leap, in 1 step, by 5 m and 0 deg within 0.020 s at t = 0.600 s",
    ):
        leaps.without_leaps(east(x), stamps, NOTHING_SAID, follows=True)
    left, _ = leaps.without_leaps(east(x), stamps, NOTHING_SAID, follows=False)
    assert left.about.notes == ("the samples leap, in 1 step, the first at t = 0.600 s",)
    slow, _ = leaps.without_leaps(east(x), stamps, PoseReading(max_speed=100.0), follows=True)
    assert "followed at up to 100 m/s" in slow.about.notes[0]

# SPDX-License-Identifier: BSD-3-Clause
"""Logs of an identification: units and steps of time, parts between gaps, choices of files, sizes of channels."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.batch import tracking
from iap_simulation.identification import identifying
from iap_simulation.identification.choosing import choose_paths, sections
from iap_simulation.identification.log import Log, _channels, _signal, check_sizes, without_spikes
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.rotorcraft import _thrust_inputs
from iap_simulation.identification.time_base import gap_of, time_base
from iap_simulation.sweeps.study import Axis

T = np.arange(100.0)


@pytest.mark.parametrize(
    ("period", "seconds", "note"),
    [
        (0.02, 0.02, None),
        (0.5, 0.5, None),
        (20.0, 0.02, "t is taken as ms: a period of 20 s would be no log of a flight"),
        (20e3, 0.02, "t is taken as us"),
        (20e6, 0.02, "t is taken as ns"),
        (0.6, 0.6e-3 * 1e3, None),  # of no unit: it stays as it is
        (1.5, 1.5e-3, "t is taken as ms"),
    ],
)
def test_times_are_in_the_unit_that_makes_them_a_log(period, seconds, note):
    t, kept, notes = time_base("log", 7.0 + period * T)
    np.testing.assert_allclose(t, seconds * T, atol=1e-6)
    assert kept.all() and len(notes) == (note is not None)
    assert note is None or notes[0].startswith(note)


@pytest.mark.parametrize(
    ("t", "said"),
    [
        (5e-4 * T, "log: t has a period of 0.0005, which is none of a log in s, ms, us or ns"),
        (T, "log: its times 0, 1, 2 ... count samples: write t in seconds"),
        (1.0 + T, "its times 1, 2, 3 ... count samples"),
        (0.02 * (T // 2), "t does not increase: 50 of 100 samples repeat a time; is it rounded"),
    ],
)
def test_times_that_are_no_clock_s_are_refused(t, said):
    with pytest.raises(BadInput, match=said):
        time_base("log", t)


@pytest.mark.parametrize("t", [2.0 + T, T[:19]])
def test_whole_seconds_from_another_one_on_or_few_of_them_are_no_counts(t):
    found, _, _ = time_base("log", t)
    assert len(found) == len(t)


def test_a_few_repeated_times_are_left_out_and_counted():
    t = 0.02 * np.arange(100.0)
    t[[10, 50]] = t[[9, 49]]
    found, kept, notes = time_base("log", t)
    assert np.flatnonzero(~kept).tolist() == [10, 50] and len(found) == 98
    assert "2 samples that repeat a time were left out" in notes


@pytest.mark.parametrize(("period", "gap"), [(0.02, 0.25), (0.0625, 0.25), (0.1, 0.4)])
def test_a_gap_is_four_periods_and_a_quarter_of_a_second_long(period, gap):
    assert gap_of(period * T) == pytest.approx(gap)


def log_at(t, v=None, channels=CHANNELS[:4]):
    v = np.ones((len(t), 7)) if v is None else v
    return Log(
        "a", "a.csv", t, 0.5 * v, v, np.zeros((len(t), 3)), channels, np.ones(v.shape, bool)
    )


def gaps_behind(*seconds):
    """A log at 50 Hz of parts of so many seconds, half a second apart."""
    parts, start = [], 0.0
    for each in seconds:
        parts.append(start + 0.02 * np.arange(round(each * 50) + 1))
        start = parts[-1][-1] + 0.5
    return log_at(np.concatenate(parts))


def test_a_log_is_cut_at_its_gaps_and_two_seconds_behind_them_do_not_count():
    whole = gaps_behind(6.0, 3.9, 4.1)
    first, last = sections(whole)
    assert (first.name, last.name) == ("a_from_0s", "a_from_10.9s")
    assert first.sound.all() and last.sound[:, 0].sum() == np.sum(last.t >= 2.0)
    assert last.t[0] == 0.0 and last.t[-1] == pytest.approx(4.1)
    (note,) = first.notes
    assert note == (
        "2 gaps of up to 0.5 s, the first at t = 6 s: cut into 2 parts; 2 s behind each gap do not count"
    )
    whole_one = gaps_behind(5.0)
    assert sections(whole_one) == (whole_one,)


def test_gaps_that_leave_nothing_are_refused():
    with pytest.raises(BadInput, match="a.csv: 9 gaps leave no part of 4 s"):
        sections(gaps_behind(*[0.1] * 10))


def test_a_lost_sample_is_noted_and_held():
    t = np.delete(0.02 * np.arange(300.0), [100, 101])
    (log,) = sections(log_at(t))
    assert log.notes == ("1 drop-out of up to 0.06 s, through which commands are held",)


def test_logs_are_chosen_by_their_names_or_paths():
    logs = ["runs/a.csv", "runs/b.csv", "old/b.csv", "c.csv"]
    assert choose_paths(logs, [], []) == ([Path("runs/a.csv")], [*map(Path, logs[1:])])
    assert choose_paths(logs, ["c"], []) == ([Path("c.csv")], [*map(Path, logs[:3])])
    assert choose_paths(logs, ["a.csv"], ["old/b.csv"]) == (
        [Path("runs/a.csv")],
        [Path("old/b.csv")],
    )
    with pytest.raises(BadInput, match="'b' names 2 logs: give a path"):
        choose_paths(logs, ["b"], [])
    with pytest.raises(BadInput, match="no log to fit: name one, or a run folder"):
        choose_paths([], [], [])


@pytest.mark.parametrize(
    ("channel", "value", "said"),
    [
        ("u_l", 49.0, None),
        ("u_l", 5000.0, "channel u_l comes to 5e.03, in "),
        ("w", 500.0, "channel w comes to 500, in "),
    ],
)
def test_velocities_that_no_vehicle_has_are_refused_with_the_settings_of_units(
    channel, value, said
):
    v = np.zeros((50, 7))
    v[:, CHANNELS.index(channel)] = value
    if said is None:
        check_sizes("log", (channel,), v, v)
    else:
        with pytest.raises(BadInput, match=f"log: {said}.*--set .* takes it so"):
            check_sizes("log", (channel,), v, v)


def test_channels_are_those_of_a_vehicle_or_of_one_with_an_arm_and_all_of_them():
    base = {name: T for c in CHANNELS[:4] for name in (c, f"{c}_ref")} | {"t": T}
    assert _channels("log", base) == CHANNELS[:4]
    with pytest.raises(BadInput, match="log: missing channel w_ref, w$"):
        _channels("log", {k: v for k, v in base.items() if not k.startswith("w")})
    with pytest.raises(BadInput, match="missing channel q1_p_ref, q2_p_ref, q3_p_ref, q1_p"):
        _channels("log", {**base, "q1": T})


@pytest.mark.parametrize(
    ("value", "is_sound"), [(MAX_SI_NUMBER, True), (2 * MAX_SI_NUMBER, False), (np.nan, False)]
)
def test_a_channel_has_a_number_for_each_time(value, is_sound):
    signal = {"u_l": np.where(T == 7, value, 0.0)}
    if is_sound:
        assert len(_signal("log", signal, "u_l", 100)) == 100
    else:
        with pytest.raises(
            BadInput, match=r"log: channel u_l is .* in sample 7: leave such rows out \(1"
        ):
            _signal("log", signal, "u_l", 100)
    with pytest.raises(BadInput, match="log: channel u_l has 100 samples, t has 99"):
        _signal("log", {"u_l": T}, "u_l", 99)


def test_spikes_are_held_at_the_sample_before_and_do_not_count():
    v = np.zeros((6, 7))
    v[2, 1], v[4, 1] = 5.0, 0.9
    log = without_spikes(log_at(0.1 * np.arange(6.0), v), 1.0)
    assert log.v[:, 1].tolist() == [0.0, 0.0, 0.0, 0.0, 0.9, 0.0]
    assert np.argwhere(~log.sound).tolist() == [[2, 1]]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("wind.speed=1,2,1", "--vary wind.speed=1,2,1: a value comes twice"),
        ("seed=1,2", "--vary seed: the option --seeds says"),
        ("wind.speed=1:2", "how many values"),
        ("wind.speed=", "KEY=FROM:TO:COUNT or KEY=VALUE"),
    ],
)
def test_values_that_vary_are_a_range_or_a_list_without_repetition(typed, said):
    with pytest.raises(BadInput, match=said):
        Axis.of(typed)
    assert Axis.of("wind.speed=0:2:3").values == (0.0, 1.0, 2.0)
    assert Axis.of("a=1,2.5,x").values == (1, 2.5, "x")


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ([0, 1], r"which has shape \(2,\); \(3,\) is expected"),
        ([0.0, 1.0, 1.0], "whole numbers are expected"),
        ([0, 1, 2], "which goes from 0 to 2, and there are 2 actions from 0 on"),
        ([-1, 0, 0], "which goes from -1 to 0"),
    ],
)
def test_mixed_actions_say_of_each_world_which_one_it_takes(which, said):
    actions = ("a", "b")
    with pytest.raises(BadInput, match=f"mixed actions: {said}"):
        tracking.MixedActions(actions, np.array(which)).checked(3)
    assert tracking.MixedActions(actions, np.array([0, 1, 1])).checked(3).tolist() == [0, 1, 1]


def test_mixed_actions_have_their_old_name_with_a_warning():
    with pytest.warns(DeprecationWarning, match="Mixed is MixedActions now"):
        assert tracking.Mixed is tracking.MixedActions
    with pytest.raises(AttributeError, match="has no attribute 'Mixedd'"):
        _ = tracking.Mixedd


def test_torques_are_those_asked_for_before_motors_and_thrust_needs_both():
    both = SimpleNamespace(
        name="log", torque=np.ones((4, 3)), motors=np.zeros((4, 8)), thrust=np.arange(4.0)
    )
    assert FlightTable.input.fget(both) is both.torque
    assert _thrust_inputs(both).tolist() == [[0.0], [1.0], [2.0], [3.0]]
    alone = SimpleNamespace(
        name="log", torque=None, motors=np.zeros((4, 8)), thrust=np.arange(4.0)
    )
    assert FlightTable.input.fget(alone) is alone.motors and _thrust_inputs(alone) is alone.motors
    none = SimpleNamespace(name="log", torque=None, motors=None, thrust=None)
    with pytest.raises(BadInput, match="log: no motors and no torque set-points"):
        FlightTable.input.fget(none)
    with pytest.raises(BadInput, match="log: no motors and no thrust set-point"):
        _thrust_inputs(none)


def test_a_channel_that_moves_without_a_command_is_noted_and_none_is_refused():
    v = np.zeros((60, 7))
    v[:, 0], v[:, 3] = 0.06 * (-1.0) ** np.arange(60), 0.04 * (-1.0) ** np.arange(60)
    log = log_at(0.02 * np.arange(60.0), v)
    log.command[:] = 0.25
    notes = identifying._not_commanded([log])
    assert notes == {
        "u_l": [
            "not fitted: u_l_ref is 0.25 in every sample, while u_l moves with a deviation of 0.06"
        ]
    }
    log.command[3, 0] = 0.3
    assert identifying._not_commanded([log]) == {}
    with pytest.raises(BadInput, match="a.csv: no channel is commanded"):
        identifying._second_order(SimpleNamespace(fit=[log]), {})
    assert identifying._interval(1.5, np.inf) == (1.5, None) and identifying._interval(
        1.5, 0.2
    ) == (1.5, 0.2)

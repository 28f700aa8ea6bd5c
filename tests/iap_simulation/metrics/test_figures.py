# SPDX-License-Identifier: BSD-3-Clause
"""Sums of errors, thrusts, statistics of sweeps, endings and time bases of logs, from numbers worked out by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import Mode
from iap_description.vehicles.faults import BatteryFault, RotorFault
from iap_io.runs.run_meta import COMPLETED
from iap_physics.engines.engine import DIVERGED, INVALID_COMMAND, RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_simulation.arm.arm_monitor import ArmMonitor, _gripper_report, sizes
from iap_simulation.identification.time_base import time_base
from iap_simulation.metrics import errors
from iap_simulation.metrics.errors import ErrorSums, Mean
from iap_simulation.sweeps.statistics import wilson_interval
from iap_simulation.sweeps.study import Axis, Study, _range
from iap_simulation.sweeps.sweep_table import (
    alike_for_all_seeds,
    figure_of,
    grouped,
    quartiles,
    success,
    summarised,
    value_text,
)
from iap_simulation.vehicles.endings import failure_of, is_far

# errors


def test_a_window_holds_both_of_its_ends() -> None:
    t = np.array([0.999, 1.0, 1.5, 2.0, 2.001])
    assert errors.inside(t, (1.0, 2.0)).tolist() == [False, True, True, True, False]


def test_sums_of_errors_are_root_mean_squares_and_largest_values() -> None:
    sums = ErrorSums(2)
    assert np.isnan([*sums.rmse, *sums.maximum, sums.rmse_of_vectors]).all()
    sums.add(np.zeros((0, 2)))
    sums.add(np.array([[3.0, -4.0], [0.0, 0.0]]))
    sums.add(np.array([[-6.0, 2.0], [1.0, 2.0]]))
    assert sums.count == 4
    np.testing.assert_allclose(
        sums.rmse, np.sqrt([(9.0 + 36.0 + 1.0) / 4.0, (16.0 + 4.0 + 4.0) / 4.0])
    )
    np.testing.assert_allclose(sums.maximum, [6.0, 4.0])
    assert sums.rmse_of_vectors == pytest.approx(math.sqrt((25.0 + 40.0 + 5.0) / 4.0))


def test_a_mean_is_of_all_numbers_and_none_of_none() -> None:
    mean = Mean()
    assert mean.value is None
    mean.add(np.array([1.0, 2.0]))
    mean.add(np.array([True, False]))
    assert mean.value == 1.0


def vehicle(**keys: Any) -> Any:
    limit = {"thrust_coefficient": 2e-6, "rpm": (1000.0, 5000.0), "thrust": (1.0, 20.0)}
    values = {
        "limits": [
            SimpleNamespace(**limit),
            SimpleNamespace(**{**limit, "thrust_coefficient": 1e-6}),
        ]
    }
    return SimpleNamespace(**{**values, "thrust_factors": None, "faults": (), **keys})


def columns(**keys: Any) -> Any:
    values = {
        "t": np.array([0.0, 1.0, 2.0]), "rpm": np.full((3, 2, 4), 2000.0),
        "mode": np.full(3, Mode.ATTITUDE_THRUST), "aircraft": np.full((3, 2, 5), 8.0),
    }  # fmt: skip
    return SimpleNamespace(**{**values, **keys})


def test_thrusts_are_squares_of_speeds_less_what_faults_take_from_their_time_on() -> None:
    np.testing.assert_allclose(errors.thrusts(vehicle(), columns()), [[32.0, 16.0]] * 3)
    weaker = vehicle(thrust_factors=(0.5, 2.0))
    np.testing.assert_allclose(errors.thrusts(weaker, columns()), [[16.0, 32.0]] * 3)
    faults = (
        RotorFault(at=1.0, aircraft=2, rotor=3, thrust=0.25),
        BatteryFault(at=0.0, aircraft=1, battery=0.5),
    )
    np.testing.assert_allclose(
        errors.thrusts(vehicle(faults=faults), columns()),
        [[32.0, 16.0], [32.0, 13.0], [32.0, 13.0]],
    )


@pytest.mark.parametrize(
    ("rpm", "thrust", "mode", "expected"),
    [
        (2000.0, 8.0, Mode.ATTITUDE_THRUST, False),
        (5000.0, 8.0, Mode.ATTITUDE_THRUST, True),
        (1000.0, 8.0, Mode.RPM, True),
        (5000.0, 8.0, Mode.VELOCITY, False),
        (4999.0, 20.0, Mode.RATE_THRUST, True),
        (1001.0, 1.0, Mode.ATTITUDE_THRUST, True),
        (4999.0, 20.0, Mode.RPM, False),  # thrusts are not commanded
        (1001.0, 19.9, Mode.RATE_THRUST, False),
    ],
)
def test_a_tick_is_saturated_where_one_rotor_or_thrust_is_at_a_limit(
    rpm: float, thrust: float, mode: Mode, expected: bool
) -> None:
    c = columns(mode=np.full(3, mode))
    c.rpm[1, 1, 2], c.aircraft[1, 0, 0] = rpm, thrust
    assert errors.saturated(vehicle(), c).tolist() == [False, expected, False]


def test_a_track_counts_within_the_flight() -> None:
    x = np.zeros((3, 1, 13))
    x[:, 0, 0], x[:, 0, 6] = [0.0, 1.0, 2.0], 1.0
    track = SimpleNamespace(
        t=np.array([-1.0, 0.0, 0.5, 2.0, 3.0]), poses=np.arange(35.0).reshape(5, 7)
    )
    t, poses, flown = errors.against(SimpleNamespace(columns=columns(x=x)), track)  # type: ignore[arg-type]
    assert t.tolist() == [0.0, 0.5, 2.0]
    np.testing.assert_array_equal(poses, track.poses[1:4])
    np.testing.assert_allclose(flown[:, 0], [0.0, 0.5, 2.0])
    nothing = errors.against(SimpleNamespace(columns=columns(t=np.zeros(0))), track)  # type: ignore[arg-type]
    assert [each.shape for each in nothing] == [(0,), (0, 7), (0, 7)]


# arms


def test_lengths_of_errors_of_an_arm() -> None:
    assert sizes([]) == (None, None)
    assert sizes([np.array([3.0, 4.0, 0.0]), np.zeros(3)]) == pytest.approx((math.sqrt(12.5), 5.0))


@pytest.mark.parametrize(
    ("taken", "lost", "report", "words"),
    [
        (False, False, (False, False, None), "no object was picked"),
        (True, True, (False, True, None), "the object was lost"),
        (True, False, (True, False, 0.05), "picked, and placed 50.0 mm off its target"),
    ],
)
def test_a_gripper_says_what_became_of_its_object(
    taken: bool, lost: bool, report: tuple, words: str
) -> None:
    row = np.array([1.0, 2.03, 3.04, *[9.0] * 10])
    gripper = SimpleNamespace(
        taken=taken, lost=lost, object_row=row, spec=SimpleNamespace(target=[1.0, 2.0, 3.0])
    )
    said = _gripper_report(SimpleNamespace(part=lambda kind: gripper))  # type: ignore[arg-type]
    assert tuple(said.values()) == pytest.approx(report) and list(said) == [
        "picked",
        "lost",
        "place_error_m",
    ]
    monitor = ArmMonitor(0, None, (0.0, 1.0))  # type: ignore[arg-type]
    assert monitor.success == ""
    monitor._gripper = said
    assert monitor.success == words
    assert _gripper_report(SimpleNamespace(part=lambda kind: None)) == {}  # type: ignore[arg-type]


# endings


def test_ten_metres_along_an_axis_are_too_far() -> None:
    reference = np.array([1.0, 2.0, 3.0])
    for axis in range(3):
        for sign in (1.0, -1.0):
            off = sign * np.eye(3)[axis]
            assert is_far(reference + 10.01 * off, reference)
            assert not is_far(reference + 9.99 * off, reference)
    assert not is_far(reference + [9.0, 9.0, 9.0], reference)


def test_a_worlds_status_says_how_its_flight_failed_and_when() -> None:
    assert failure_of(RUNNING, "iap", 10, 0.01) is None
    for status, outcome, t, words in (
        (DIVERGED, "diverged", 0.11, "not finite"),  # the step that it did not survive
        (INVALID_COMMAND, "invalid_command", 0.10, "command is not finite"),
        (UPSIDE_DOWN, "crashed", 0.10, "iap"),
        (TOO_FAR, "diverged", 0.10, "more than 10 m"),
    ):
        failure = failure_of(status, "iap", 10, 0.01)
        assert failure is not None
        assert (failure.outcome, failure.t) == (outcome, pytest.approx(t)) and words in str(
            failure
        )


# sweeps


def rows(*values: float | None, outcome: str = COMPLETED) -> list[dict[str, Any]]:
    return [
        {
            "k": 1,
            "seed": i,
            "outcome": COMPLETED if value is not None else outcome,
            "arm": {"position_rmse_m": value},
        }
        for i, value in enumerate(values)
    ]


def test_wilsons_interval_is_that_of_the_book() -> None:
    """Newcombe (Statistics in Medicine 17, 1998): 81 of 263 give 0.2553 to 0.3662."""
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson_interval(0, 20)[0] == 0.0 and wilson_interval(20, 20)[1] == 1.0
    assert wilson_interval(0, 20)[1] == pytest.approx(0.1611, abs=1e-4)


def test_quartiles_are_of_completed_runs_by_a_dotted_key() -> None:
    group = [*rows(1.0, 2.0, 3.0, 4.0, 5.0), *rows(None, outcome="crashed")]
    assert quartiles(group, "arm.position_rmse_m") == (2.0, 3.0, 4.0)
    assert quartiles(group, "arm.other") is None
    assert figure_of({"a": {"b": 3}}, "a.b") == 3 and figure_of({"a": 3}, "a.b") is None
    share, low, high = success(group)
    assert share == pytest.approx(5.0 / 6.0) and (low, high) == wilson_interval(5, 6)
    assert success(rows(None, None, outcome="crashed"))[0] == 0.0


def test_a_table_has_a_line_for_each_combination_with_lengths_in_mm() -> None:
    axes = [Axis("k", (1, 2))]
    others = [{**row, "k": 2} for row in rows(None, outcome="crashed")]
    lines = summarised(axes, [*others, *rows(0.001, 0.002, 0.003)])
    assert [line["k"] for line in lines] == ["2", "1"]
    assert lines[1]["runs"] == "3" and lines[1]["arm.position_rmse, mm"] == "2 (1.5 to 2.5)"
    assert lines[1]["completed, %"].startswith("100.0 (") and lines[0]["completed, %"].startswith(
        "0.0 (0.0 to "
    )
    assert set(grouped(axes, [*others, *rows(0.1)])) == {(0,), (1,)}


def test_combinations_are_counted_whose_seeds_change_nothing() -> None:
    axes = [Axis("k", (1,))]
    assert alike_for_all_seeds(axes, rows(1.0, 1.0)) == 1
    assert alike_for_all_seeds(axes, rows(1.0, 2.0)) == alike_for_all_seeds(axes, rows(1.0)) == 0


def test_long_values_are_cut() -> None:
    assert (value_text(0.25), value_text("a" * 24), value_text("a" * 25)) == (
        "0.25",
        "a" * 24,
        "a" * 23 + "…",
    )


def test_ranges_and_numbers_of_runs_have_their_limits() -> None:
    assert _range("k=1:2:3", "1", "2", "3") == [1.0, 1.5, 2.0]
    assert _range("k=2:2:1", "2", "2", "1") == [2.0]
    for count, reason in (
        ("1", "at least two values"),
        ("0", "at least two values"),
        ("100001", "more than 100000"),
    ):
        with pytest.raises(BadInput, match=reason):
            _range("k=1:2", "1", "2", count)
    assert len(_range("k=1:2", "1", "2", "100000")) == 100_000
    wide = Axis("k", tuple(range(100_000)))
    assert Study("hover", axes=(wide,), seeds=100).runs == 10_000_000
    with pytest.raises(BadInput, match="10100000 runs are more than 10000000"):
        Study("hover", axes=(wide,), seeds=101)
    with pytest.raises(BadInput, match="200000 combinations are more than 100000"):
        Study("hover", axes=(wide, Axis("j", (1, 2))))
    with pytest.raises(BadInput, match="--vary k: comes twice"):
        Study("hover", axes=(Axis("k", (1,)), Axis("j", (1,)), Axis("k", (2,))))
    for records, option in ((False, "--seeds 0"), (True, "--count 0")):
        with pytest.raises(BadInput, match=option):
            Study("hover", seeds=0, records=records)


# time bases of logs


@pytest.mark.parametrize(
    ("period", "seconds"),
    [
        (0.01, 0.01), (0.5, 0.5), (0.9, 0.9), (20.0, 0.02), (600.0, 600.0),
        (1.1, 1.1e-3), (499.0, 0.499), (20_000.0, 0.02), (1e6, 1e-3), (2e7, 0.02),
    ],
)  # fmt: skip
def test_times_of_a_log_have_the_unit_of_a_period_between_1_and_500_ms(
    period: float, seconds: float
) -> None:
    t, fresh, notes = time_base("log", 7.0 + period * np.arange(20.0))
    np.testing.assert_allclose(t, seconds * np.arange(20.0), rtol=1e-6)
    assert fresh.all() and len(notes) == (period != seconds)


def test_samples_that_repeat_a_time_are_left_out_up_to_a_fifth() -> None:
    t = np.repeat(0.01 * np.arange(8.0), [1, 1, 2, 1, 1, 2, 1, 1])
    kept, fresh, notes = time_base("log", t)
    np.testing.assert_allclose(kept, 0.01 * np.arange(8.0))
    assert fresh.sum() == 8 and "2 samples that repeat a time" in notes[0]
    with pytest.raises(BadInput, match="3 of 11 samples repeat a time"):
        time_base("log", np.append(t, t[-1]))


def test_behind_a_step_back_time_goes_on_after_a_gap() -> None:
    t = 0.02 * np.arange(40.0)
    t[20:] -= 0.3
    kept, _, notes = time_base("log", t)
    np.testing.assert_allclose(np.diff(kept)[:19], 0.02)
    np.testing.assert_allclose(np.diff(kept)[20:], 0.02)
    assert (
        np.diff(kept)[19] == pytest.approx(2.0 * 0.25) and "back by 0.28 s at 0.38 s" in notes[0]
    )
    slow = 0.1 * np.arange(40.0)
    slow[20:] -= 0.3
    assert np.diff(time_base("log", slow)[0])[19] == pytest.approx(2.0 * 0.4)  # four periods
    lone = 0.02 * np.arange(40.0)
    lone[20] -= 0.3
    with pytest.raises(BadInput, match="t does not increase from sample to sample at t = 0.38 s"):
        time_base("log", lone)

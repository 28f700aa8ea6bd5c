# SPDX-License-Identifier: BSD-3-Clause
"""Evaluations, localizations, platforms and tables of any numbers on the terminal."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from terminal_text import text_of

from iap_bringup.terminal.evaluation import histogram, show, success_text
from iap_bringup.terminal.localization import covariance_hints, show_localization
from iap_bringup.terminal.log_inspection import show as show_inspection
from iap_bringup.terminal.next_step import show_next
from iap_bringup.terminal.platform_sheet import show_platform
from iap_bringup.terminal.progress import TimeLeft
from iap_bringup.terminal.tables import number_text, show_columns, show_rows
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.inspection import Inspection
from iap_learning.evaluation.results import Results


def episodes():
    """Results of four episodes."""
    measures = {
        "time": np.array([2.0, 3.0, 9.0, 4.0]),
        "force_peak": np.array([10.0, 20.0, np.nan, 30.0]),
    }
    return Results(
        np.arange(7, 11),
        np.array([True, True, False, True]),
        ["docked"] * 2 + ["missed", "docked"],
        measures,
    )


def test_an_evaluation_shows_shares_means_a_histogram_and_first_failures():
    assert success_text(episodes()).startswith("75.0 % (") and success_text(episodes()).endswith(
        "3 of 4"
    )
    recordings = {"missed": SimpleNamespace(engine="mujoco", outcome="missed", folder=None)}
    said = text_of(show, "hold", episodes(), recordings)
    assert (
        "time of successes" in said and "3.9" in said and "largest force" in said and "20" in said
    )
    assert "episodes by time of successes:" in said
    line = next(each for each in said.splitlines() if "missed" in each)
    assert "│ 1 " in line and "│ 9 " in line and "mujoco: missed, no record" in line
    assert "-" in next(
        each for each in text_of(show, "hold", episodes(), {}).splitlines() if "missed" in each
    )
    lines = histogram(np.array([0.0, 1.0, 1.0, 12.0]), "s")
    assert (
        len(lines) == 12 and lines[0].startswith("  0.00 to  1.00 s ") and lines[0].endswith(" 1")
    )
    assert lines[1].count("#") == 40 and lines[0].count("#") == 20 and lines[5].count("#") == 0
    assert histogram(np.ones(3), "s") == [] and histogram(np.zeros(0), "s") == []


def test_a_localization_shows_errors_baselines_and_speed():
    record = {
        "ate_rmse_m": 0.0125,
        "ate_horizontal_rmse_m": 0.01,
        "still_rmse_m": 1.5,
        "drift_percent": 0.25,
    }
    metrics = {
        "estimation": {"drone_1": {"vio": {**record, "outcome": "completed"}}}, "begins_at_truth": True,
        "methods": {"vio": {"outcome": "completed", "keyframe_ms": 4.25, "real_time_factor": 3.0},
                    "uwb": {"outcome": "lost", "keyframe_ms": None, "real_time_factor": None}},
        "frontend": {"pairs": 20, "pair_ms": 5.5, "tracks": 99.6, "preset": "euroc", "reason": "wide"},
        "duration_s": 12.0, "notes": ["a [note]"],
    }  # fmt: skip
    said = text_of(show_localization, SimpleNamespace(metrics=metrics), Path("o"))
    row, still = (
        next(line for line in said.splitlines() if word in line) for word in (" vio ", "(still)")
    )
    assert "12.5" in row and "10.0" in row and "0.250" in row and "1500" in still
    assert (
        "vio: completed; 4.2 ms a keyframe, 3.0 x real time" in said or "4.3 ms a keyframe" in said
    )
    assert "uwb: lost\n" in said and "(constant v)" not in said and "a [note]" in said
    assert (
        "12.0 s of data, 20 stereo pairs, 5.5 ms and 100 tracks each" in said
        and "front end euroc: wide" in said
    )
    metrics["frontend"]["pairs"] = 0
    assert "stereo pairs" not in text_of(
        show_localization, SimpleNamespace(metrics=metrics), Path("o")
    )
    for nees, count in ((0.2, 0), (0.19, 1), (5.0, 0), (5.1, 1)):
        assert len(list(covariance_hints({"a": {"vio": {"nees_position": nees}}}))) == count


def test_tables_have_what_each_column_has():
    said = text_of(show_columns, "title", {"a": {"x": 1.25, "y": 2.0}, "b": {"y": 3.0}})
    rows = {
        line.split("│")[1].strip(): [each.strip() for each in line.split("│")[2:4]]
        for line in said.splitlines()
        if "│" in line
    }
    assert rows == {"x": ["1.25", ""], "y": ["2", "3"]}
    chosen = text_of(
        show_rows, "title", {"r": {"a_m": 0.5, "b": [0.25, None], "c": 9.0}}, ("b", "a_m")
    )
    assert "a mm" in chosen and "500" in chosen and "0.250 -" in chosen and "9.00" not in chosen
    assert chosen.index("b") < chosen.index("a mm")
    assert number_text([1.0, None, True], 1) == "1.0 - yes" and number_text(False, 0) == "no"


def test_the_time_left_is_that_of_what_is_left_at_the_mean_pace():
    task = SimpleNamespace(total=40.0, completed=10.0, elapsed=20.0)
    assert TimeLeft().render(task).plain == "0:01:00 left"
    for changes in ({"total": None}, {"completed": 0.0}, {"elapsed": None}):
        assert TimeLeft().render(SimpleNamespace(**{**vars(task), **changes})).plain == ""
    assert (
        TimeLeft().render(SimpleNamespace(total=10.0, completed=12.0, elapsed=5.0)).plain
        == "0:00:00 left"
    )


def test_the_sheet_of_a_platform_names_its_mass_thrust_joints_and_directions():
    said = " ".join(
        text_of(lambda console: show_platform("three_star", console), width=160).split()
    )
    assert "mass " in said and "3 aircraft" in said and "rank of the wrench map 6 of 6" in said
    assert said.count("spherical") == 3 and "any way" in said
    line = " ".join(text_of(lambda console: show_platform("two_line", console), width=160).split())
    assert (
        "rank of the wrench map 5 of 6" in line and "; " in line.split("follows references in ")[1]
    )
    assert "; " not in said.split("follows references in ")[1]


def test_signals_of_a_flight_log_fit_a_terminal_of_80_columns(tmp_path):
    path, source = tmp_path / "log.ulg", "vehicle_local_position_setpoint.vx,vy,vz"
    path.write_bytes(b"0")
    t = np.arange(0.0, 3.0, 0.1)
    voltage = Signal(t, np.linspace(16.0, 12.0, len(t))[:, None], source, "V")
    landed = Signal(t[[0, -1]], np.zeros((2, 1)), "", "")
    log = FlightLog(path, "ULog", "PX4", {names.VOLTAGE: voltage, names.LANDED: landed})
    lines = text_of(show_inspection, Inspection.of(log), width=80).splitlines()
    table = lines[3 : next(i for i, line in enumerate(lines) if "consistency" in line)]
    assert max(map(len, table)) <= 80
    begin, end = table[1].index("source"), table[1].index("Hz") - 4
    assert "".join(line[begin:end].strip() for line in table[2:]) == source


def test_the_next_command_begins_as_this_one_was_typed(monkeypatch):
    monkeypatch.delenv("IAP_PROGRAM", raising=False)
    assert (
        text_of(show_next, "look at it", "view", "runs/a b") == "look at it: iap view 'runs/a b'\n"
    )
    monkeypatch.setenv("IAP_PROGRAM", "./iap")  # by ./iap of a checkout
    assert text_of(show_next, "look at it", "view", "runs/a") == "look at it: ./iap view runs/a\n"

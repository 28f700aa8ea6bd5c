# SPDX-License-Identifier: BSD-3-Clause
"""Reports on the terminal show metrics in the unit of their titles, and leave out what there is not."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from terminal_text import text_of

from iap_bringup.terminal import flight as report
from iap_bringup.terminal.flight import _contact_table, _duration_text, _size, _sizes, error_table
from iap_bringup.terminal.part_texts import TEXTS, landing_text
from iap_io.runs.fault_meta import Notice

ERRORS = {
    "position_rmse_m": 0.0123,
    "position_max_m": [0.02, 0.03, 0.0400001],
    "attitude_rmse_deg": [0.5, None, 1.25],
    "attitude_max_deg": [1.5, None, 2.25],
    "thrust_max_n": 20.25,
    "axis_rmse_deg": None,
    "actual_position_rmse_m": None,
    "actual_attitude_rmse_deg": None,
}


def cells(table):
    """Rows of a table as text."""
    return [
        tuple(row) for row in zip(*(list(column.cells) for column in table.columns), strict=True)
    ]


def test_errors_of_a_vehicle_are_millimetres_and_degrees_by_axis():
    assert cells(error_table({"iap": ERRORS})) == [
        ("position, mm", "12.3", "x 20.0\ny 30.0\nz 40.0"),
        ("attitude, deg", "roll 0.500\nyaw 1.25", "roll 1.50\nyaw 2.25"),
        ("thrust of an aircraft, N", "", "20.2"),
    ]
    more = {
        **ERRORS,
        "axis_rmse_deg": 0.25,
        "actual_position_rmse_m": 0.004,
        "actual_attitude_rmse_deg": [1.0, 2.0, 3.0],
        "contact_force_rmse_n": [0.1, 0.2, 0.3],
        "contact_torque_rmse_nm": [0.4, 0.5, 0.6],
        "estimation": {"drone_1": {"vio": {"ate_rmse_m": 0.05, "ate_max_m": 0.125}}},
    }
    rows = {title: rest for title, *rest in cells(error_table({"iap": more}))}
    assert rows["direction of the line, deg"] == ["0.250", ""]
    assert rows["against the recorded flight, mm"] == ["4.00", ""]
    assert rows["against the recorded flight, deg"] == ["roll 1.00\npitch 2.00\nyaw 3.00", ""]
    assert rows["contact force against the measured, N"] == ["x 0.100\ny 0.200\nz 0.300", ""]
    assert rows["contact torque against the measured, N m"] == ["x 0.400\ny 0.500\nz 0.600", ""]
    assert rows["vio's estimate of drone_1, mm"] == ["50.0", "125"]
    held = {**ERRORS, "held_position_rmse_m": 0.001, "held_attitude_rmse_deg": None}
    assert cells(error_table({"iap": held}))[0] == (
        "position of axes without force, mm",
        "1.00",
        "",
    )
    assert len(cells(error_table({"iap": held}))) == 2


def test_several_vehicles_have_a_row_each_and_a_column_for_each_error():
    table = error_table({"a": ERRORS, "b": {**ERRORS, "axis_rmse_deg": 0.5}})
    assert [column.header for column in table.columns] == [
        "RMSE, largest thrust",
        "position, mm",
        "attitude, deg",
        "thrust of an aircraft, N",
        "direction of the line, deg",
    ]
    (a, b) = cells(table)
    assert (
        a == ("a", "12.3", "roll 0.500\nyaw 1.25", "20.2", "") and b[0] == "b" and b[-1] == "0.500"
    )


def test_long_words_of_several_vehicles_table_stay_whole_on_a_narrow_terminal():
    estimate = {"base_link": {"capture_inertial": {"ate_rmse_m": 0.001, "ate_max_m": 0.002}}}
    table = error_table(dict.fromkeys("ab", {**ERRORS, "estimation": estimate}))
    said = text_of(Console.print, table, width=80)
    assert "capture_inertial's" in said and all(line[-1] in "┓┃┩│┘" for line in said.splitlines())


@pytest.mark.parametrize(
    ("value", "factor", "text"),
    [
        (None, 1.0, ""),
        (0.0, 1.0, "< 0.001"),
        (0.00099, 1.0, "< 0.001"),
        (0.001, 1.0, "0.001"),
        (0.0999, 1.0, "0.100"),
        (0.1, 1.0, "0.100"),
        (1.5, 1.0, "1.50"),
        (99.96, 1.0, "100."),
        (100.0, 1.0, "100"),
        (0.1234, 1e3, "123"),
    ],
)
def test_a_size_has_three_digits(value, factor, text):
    assert _size(value, factor) == text


def test_sizes_of_axes_are_named_and_all_but_zero_is_said_once():
    assert _sizes([1.0, None, 3.0], "x y z") == "x 1.00\nz 3.00"
    assert _sizes([1e-5, 2e-5, 0.0], "x y z") == "< 0.001"
    assert _sizes([1e-5, 2e-5, 1e-3], "x y z").startswith("x < 0.001")
    assert _sizes([1e-5, 2e-5, 0.0], "x y z", 1e3) == "x 0.010\ny 0.020\nz < 0.001"
    assert _sizes(None, "x y z") == ""


def test_contact_has_its_five_first_figures_beside_other_flights():
    metrics = {
        "force_rmse_n": [0.1, None, 0.3],
        "force_steady_n": 5.0,
        "force_max_n": 6.25,
        "approach_speed_max_mps": None,
        "tip_path_rmse_m": 0.0125,
        "depth_m": 0.5,
        "settled_pitch_deg": 12.0,
    }
    table = _contact_table(metrics, {"stiff": {"force_max_n": 9.5}})
    assert [column.header for column in table.columns] == ["contact", "this flight", "stiff"]
    assert cells(table) == [
        ("force RMSE x y z, N", "0.100 - 0.300", "-"),
        ("steady force, N", "5.00", "-"),
        ("largest force (filtered), N", "6.25", "9.50"),
        ("tip off its path across the force, RMS, mm", "12.50", "-"),
        ("depth of the tool's tip in the bore, m", "0.500", "-"),
    ]


def test_the_duration_tells_pace_step_and_window(monkeypatch):
    monkeypatch.setattr(report.NOTICE, "elapsed", 0.0)
    metrics = {
        "window_s": [1.0, 9.5],
        "real_time_factor": 2.5,
        "control_step_us": 123.4,
        "duration_s": 10.0,
        "wall_s": 4.0,
    }
    said = _duration_text({**metrics, "compiled_fraction": 0.975})
    assert said == (
        "10.0 s flown in 4.0 s (2.5 x real time), control step 123 us, 98 % of the control periods compiled,"
        " errors over 1.0 to 9.5 s"
    )
    assert "compiled" not in _duration_text(metrics)
    short = _duration_text({**metrics, "window_s": [10.0, 3.0]})
    assert short.endswith(" no errors, which count from 10.0 s on")


def test_an_end_effector_is_beside_published_flights_and_cut_commands_are_reported():
    arm = {
        "position_rmse_xyz_m": [0.01, 0.02, 0.03],
        "position_rmse_m": 0.0374,
        "position_max_m": 0.1,
        "published_rmse_m": [0.04, None],
        "clipped_commands": {"q1": 3, "q2": 0},
    }
    said = text_of(report.show_end_effector, arm, {"rigid": {"arm": {}}})
    lines = {line.split("│")[1].strip(): line for line in said.splitlines() if "│" in line}
    assert [each.strip() for each in lines["this flight"].split("│")[2:7]] == [
        "10.0",
        "20.0",
        "30.0",
        "37.4",
        "100.0",
    ]
    assert [each.strip() for each in lines["rigid"].split("│")[2:7]] == ["-"] * 5
    assert "40.0" in lines["recorded flight 1"] and "-" in lines["recorded flight 2"]
    assert "q1: 3 commands were beyond" in said and "q2" not in said


def result(metrics, followers=("iap",)):
    """A result with some metrics."""
    plain = {
        "window_s": [0.0, 1.0],
        "real_time_factor": 1.0,
        "control_step_us": 1.0,
        "duration_s": 1.0,
        "wall_s": 1.0,
    }
    return SimpleNamespace(
        metrics={**plain, **metrics},
        summary="completed",
        followers=followers,
        folder=Path("runs/x 1"),
    )


def test_a_report_has_the_tables_of_what_was_flown():
    plain = text_of(report.show, result(ERRORS))
    assert plain.startswith("completed\n") and "position, mm" in plain and "contact" not in plain
    assert "look at it: iap view 'runs/x 1'" in plain
    assert "position, mm" not in text_of(report.show, result(ERRORS, ()))
    touching = {**ERRORS, "force_max_n": 3.0}
    assert "largest force" in text_of(report.show, result(touching))
    by_policy = {**touching, "policy": "x"}
    assert "largest force" in text_of(report.show, result(by_policy))  # that nothing else judges
    judged = {**by_policy, "task": {"success": True}}
    assert "largest force" not in text_of(report.show, result(judged))
    several = result({"vehicles": {"a": touching, "b": ERRORS, "c": ERRORS}}, ("a", "b"))
    said = text_of(report.show, several)
    assert (
        "│ a " in said
        and "│ b " in said
        and "│ c " not in said
        and said.count("largest force") == 1
    )
    arm = {
        "joint_range_rad": 1.0,
        "position_rmse_m": 0.01,
        "published_rmse_m": [],
        "clipped_commands": {},
    }
    path = text_of(report.show, result({**ERRORS, "arm": arm}))
    assert "end effector, RMSE in mm" in path and "position, mm" not in path


def test_parts_of_a_flight_are_lines():
    landing = {"touch_speed_mps": 0.1, "force_n": 88.4, "cut_height_m": 0.012, "stands": True}
    off = {**landing, "cut_height_m": None, "stands": False}
    assert landing_text(
        {"vehicles": {"a": landing, "b": off, "c": {**landing, "cut_height_m": -0.01}}}
    ).splitlines() == [
        "a touched the ground at 0.10 m/s, largest force of 5 ms 88 N, rotors ended 12 mm above the ground; it stands",
        "b touched the ground at 0.10 m/s, largest force of 5 ms 88 N, rotors still turning at the end;"
        " it does not stand",
        "c touched the ground at 0.10 m/s, largest force of 5 ms 88 N, rotors ended 0 mm above the ground; it stands",
    ]
    assert (
        TEXTS["images"]({"images": 20, "images_per_s": 12.6})
        == "20 images, 13 in a second of rendering"
    )
    hits = {"collisions": [{"t_s": 1.23456, "vehicles": ["a", "b"]}]}
    assert TEXTS["collisions"](hits) == "collision at 1.235 s: a and b"


def test_sentences_are_plain_and_neither_folded_nor_read_as_markup():
    """Numbers have no colours of their own, names may have brackets, and paths can be copied."""
    console = Console(
        file=io.StringIO(), width=24, force_terminal=True, color_system="standard", markup=False
    )
    long = result({**ERRORS, "images": 20, "images_per_s": 12.6}, ())
    long.folder = Path("runs/[bold]a/" + 9 * "12_")
    long.summary = "completed [red]at 12.5 s by iap, and stands"
    report.show(console, long)
    report.show_notice(
        console, Notice(1.0, "[i] rotor 3 of drone_1 stops at 7.5 s", is_warning=True)
    )
    report.show_notice(
        console, Notice(1.0, "[i] rotor 3 of drone_1 is whole at 9 s", is_warning=False)
    )
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "\x1b[1mcompleted [red]at 12.5 s by iap, and stands\x1b[0m"
    assert f"run folder: {long.folder}" in lines
    assert "\x1b[1;33mwarning: [i] rotor 3 of drone_1 stops at 7.5 s\x1b[0m" in lines
    assert lines[-1] == "[i] rotor 3 of drone_1 is whole at 9 s"
    for words in ("20 images,", "13 in a", "1.0 s flown in", "errors over 0.0 to"):
        assert words in "\n".join(lines)

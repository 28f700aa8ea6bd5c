# SPDX-License-Identifier: BSD-3-Clause
"""Tables and lines on a terminal, to the letter."""

import io
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from terminal_text import text_of

from iap_bringup.terminal import evaluation, horizons, log_inspection, platform_sheet, tables
from iap_bringup.terminal import flight as report
from iap_bringup.terminal.localization import show_localization
from iap_bringup.terminal.next_step import show_next
from iap_bringup.terminal.part_texts import modules_text, show_end_effector
from iap_description.errors import BadInput
from iap_learning.evaluation.results import Results
from iap_simulation.identification.rotorcraft.prediction import Horizon

BOLD = re.compile(r"\x1b\[(1|3|0)m")  # or italic, and their end
LONG = "word " * 12 + "[id] 7"


def colored_lines(show_it, *content, width=50):
    """Lines on a terminal of many colours, without what makes letters bold."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system="standard", markup=False
    )
    show_it(console, *content)
    return [line.rstrip() for line in BOLD.sub("", console.file.getvalue()).splitlines()]


def plain_lines(show_it, *content, width=120):
    """Lines on a pipe."""
    return [line.rstrip() for line in text_of(show_it, *content, width=width).splitlines()]


def test_an_evaluation_begins_with_its_title_and_its_numbers_have_no_colours():
    times = {"time": np.array([2.0, 3.0])}
    results = Results(np.arange(2), np.array([True, True]), ["docked"] * 2, times)
    lines = colored_lines(evaluation.show, "hold 12 s", results, {}, width=80)
    assert lines[0] == "hold 12 s: success 100.0 % (34.2 to 100.0), 2 of 2"
    assert lines[4] == "│ time of successes, s │ 2.5  │ 2.95 │"
    assert lines[6:8] == ["episodes by time of successes:", "  2.00 to  2.08 s " + 40 * "#" + " 1"]
    assert lines[-1] == "  2.92 to  3.00 s " + 40 * "#" + " 1"


def localized(*, begins_true):
    """Metrics of one method that has gone through data."""
    record = {
        "ate_rmse_m": 0.0125, "ate_aligned_rmse_m": 0.0025, "still_rmse_m": 1.5, "constant_velocity_rmse_m": 0.75,
        "nees_position": 9.0,
    }  # fmt: skip
    return SimpleNamespace(
        metrics={
            "estimation": {"drone_1": {"vio": record}}, "begins_at_truth": begins_true,
            "methods": {LONG: {"outcome": "completed", "keyframe_ms": 4.24, "real_time_factor": 3.04}},
            "frontend": {"pairs": 20, "pair_ms": 5.54, "tracks": 99.6, "preset": "euroc", "reason": LONG},
            "duration_s": 12.04, "notes": [LONG],
        }
    )  # fmt: skip


def test_a_localization_has_its_baselines_in_the_column_that_means_anything():
    whole = plain_lines(show_localization, localized(begins_true=True), Path("o"), width=78)
    assert whole[:8] == [
        "",
        " body     method        ATE mm  across  up  aligned  drift %  att. deg  NEES",
        " " + 75 * "─",
        " drone_1  vio             12.5       -   -        -        -         -  9.00",
        " drone_1  (still)         1500       -   -        -        -         -     -",
        " drone_1  (constant v)     750       -   -        -        -         -     -",
        "",
        "RMSE of positions in mm: whole (ATE), across, up, and after the best shift and turn (aligned);",
    ]
    assert whole[9:] == [
        "drone_1, vio: errors are 3.00 times what its covariances say: noise densities, calibration or clocks are off,"
        " or the path is short",
        f"{LONG}: completed; 4.2 ms a keyframe, 3.0 x real time",
        "12.0 s of data, 20 stereo pairs, 5.5 ms and 100 tracks each",
        f"front end euroc: {LONG}",
        LONG,
        "folder: o",
    ]
    aligned = plain_lines(show_localization, localized(begins_true=False), Path("o"), width=78)
    assert aligned[4:6] == [
        " drone_1  (still)            -       -   -     1500        -         -     -",
        " drone_1  (constant v)       -       -   -      750        -         -     -",
    ]


def test_the_words_on_a_localization_have_no_colours_and_its_table_folds_names():
    narrow = localized(begins_true=True)
    narrow.metrics["estimation"] = {"a_drone_of_a_long_name": {"vio": {"nees_position": 0.01}}}
    lines = colored_lines(show_localization, narrow, Path("o"), width=80)
    legend = next(i for i, line in enumerate(lines) if line.startswith("RMSE of positions"))
    assert lines[legend + 1].endswith("1 where that is honest")
    assert lines[legend + 2] == (
        "a_drone_of_a_long_name, vio: errors are 0.100 times what its covariances say:"
        " noise densities are too large, or the path is short"
    )
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in lines)
    honest = localized(begins_true=True)
    honest.metrics["estimation"]["drone_1"]["vio"]["nees_position"] = 5.0
    assert not any("errors are" in line for line in plain_lines(show_localization, honest, Path()))


def test_a_log_is_shown_without_colours_and_lines_around_its_table_do_not_fold():
    rows = [("rate 1", "topic.x[0]", "250", "8", "1 to 2"), ("rate 2", "y" * 30, "9", "10", "")]
    content = SimpleNamespace(
        heading=lambda: [LONG], rows=lambda: rows, conclusions=lambda: [f"1: {LONG}"]
    )
    assert colored_lines(log_inspection.show, content, width=50) == [
        LONG,
        "                             rate  gap",
        "signal  source                 Hz   ms  in the air",
        "rate 1  topic.x[0]            250    8  1 to 2",
        "rate 2  yyyyyyyyyyyyyyyyyyy     9   10",
        "        yyyyyyyyyyy",
        f"1: {LONG}",
    ]


def test_the_next_command_is_one_line_as_it_is_typed(monkeypatch):
    monkeypatch.setenv("IAP_PROGRAM", "iap")
    command = f"look at [b] 1: iap view '{LONG}'"
    assert colored_lines(show_next, "look at [b] 1", "view", LONG) == [command]


MIXED = """\
three_star_mixed  One aircraft on a spherical joint and two on hinges, fully actuated.
mass 5.9 kg, 3 aircraft, thrust 108 N of 57.9 N of weight
joint    type       axes in P       thrust, N  travel  thrust turns
joint_1  spherical                  0.5 to 36  any     any way
joint_2  revolute   (-0.5 0.87 0)   0.5 to 36  any     across its hinge
joint_3  revolute   (-0.5 -0.87 0)  0.5 to 36  any     across its hinge
rank of the wrench map 6 of 6, law full_actuation
singular values of forces and of torques per longest lever: 1.73, 1.71, 1.62, 1.31, 1.18, 1.13
follows references in x, y, z, roll, pitch, yaw
"""
MORPHING = """\
morphing  Quadrotor with four arms on elastic hinges, 1.5 kg.
mass 1.54 kg, 4 aircraft, thrust 36 N of 15.1 N of weight
joint    type      axes in P        thrust, N  travel  thrust turns
joint_1  revolute  (0.71 0.71 0)    0.13 to 9  60 deg  with the platform
joint_2  revolute  (-0.71 -0.71 0)  0.13 to 9  60 deg  with the platform
joint_3  revolute  (-0.71 0.71 0)   0.13 to 9  60 deg  with the platform
joint_4  revolute  (0.71 -0.71 0)   0.13 to 9  60 deg  with the platform
rank of the wrench map 4 of 6, law position_yaw
singular values of forces and of torques per longest lever: 2.00, 1.41, 1.41, 0.14
follows references in x, y, z, yaw; roll and pitch turn to push
"""


@pytest.mark.parametrize(("name", "text"), [("three_star_mixed", MIXED), ("morphing", MORPHING)])
def test_the_sheet_of_a_platform_has_the_thrust_of_each_joint_and_what_is_controlled(name, text):
    lines = plain_lines(lambda console: platform_sheet.show_platform(name, console))
    assert lines == text.splitlines()


def test_the_sheet_of_a_platform_that_no_law_flies_ends_with_the_reason(monkeypatch):
    def refuse(*_, **__):
        raise BadInput("no law for 3 of them")

    monkeypatch.setattr(platform_sheet, "platform_model", refuse)
    lines = colored_lines(lambda console: platform_sheet.show_platform("morphing", console))
    assert lines[-1] == "not flown: no law for 3 of them" and "rank" not in " ".join(lines)


def test_predictions_have_a_row_for_each_time_and_a_dash_for_what_a_log_has_not():
    nothing = (float("nan"), float("nan"))
    rows = [
        Horizon(0.5, 7, (1.0, 2.0, 3.25), (0.1, 0.2), nothing),
        Horizon(2.0, 3, (4.0, 5.0, 6.0), nothing, (7.0, 8.0)),
    ]
    attitude = {"model": 1.0, "stays": 2.0, "rate_held": 3.25}
    short, long = map(horizons.horizon_metrics, rows)
    assert short == {
        "seconds": 0.5, "windows": 7, "attitude_deg": attitude, "velocity_mps": {"model": 0.1, "stays": 0.2},
    }  # fmt: skip
    assert long["position_m"] == {"model": 7.0, "constant_velocity": 8.0}
    assert "velocity_mps" not in long and long["windows"] == 3
    lines = plain_lines(lambda console: console.print(horizons.horizon_table("open loop", rows)))
    assert lines[0].strip() == "open loop" and lines[2:4] == [
        "┃ after ┃ attitude ┃       ┃ rate ┃ velocity ┃       ┃ position ┃ velocity ┃",
        "┃ (s)   ┃    (deg) ┃ stays ┃ held ┃    (m/s) ┃ stays ┃      (m) ┃     held ┃",
    ]
    assert lines[5:7] == [
        "│ 0.5   │        1 │     2 │ 3.25 │      0.1 │   0.2 │        - │        - │",
        "│ 2     │        4 │     5 │    6 │        - │     - │        7 │        8 │",
    ]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (
            50,
            [
                "│ name name name name name name name     │   604 │",
                "│ name name                              │       │",
                "│ b                                      │     - │",
                "│ name name name name name name  │    0.250 2.00 │",
                "│ name name name                 │          30.0 │",
                "│ b                              │               │",
            ],
        ),
        (
            64,  # 34 are left for names beside the least widths of 8 and 18, and the frame
            [
                "│ name name name name name name name │      604 │   0.250 2.00 │",
                "│ name name                          │          │         30.0 │",
                "│ b                                  │        - │              │",
            ],
        ),
        (
            80,
            [
                "│ name name name name name name name name name  │      604 │ 0.250 2.00 30.0 │",
                "│ b                                             │        - │                 │",
            ],
        ),
    ],
)
def test_long_names_fold_once_the_columns_need_their_room(width, expected):
    rows = {"name " * 9: {"depth_m": 0.60412, "a_list": [0.25, 2.0, 30.0]}, "b": {"depth_m": None}}
    lines = plain_lines(tables.show_rows, "title", rows, width=width)
    assert [line for line in lines if line.startswith("│")] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.001, "0.00100"), (0.00104, "0.00104"), (0.00099, "0.00099"), (99_999.0, "99999"), (1e5, "1e+05"),
        (104_000.0, "1.04e+05"), (100.4, "100"), (105.0, "105"), (99.4, "99.4"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_powers_of_ten_are_written_below_a_thousandth_and_from_a_hundred_thousand_on(value, text):
    assert tables.three_digits(value) == text


@pytest.mark.parametrize(("kind", "engine"), [("bodies", ", engine mujoco"), ("rigid", "")])
def test_the_line_above_a_flight_names_its_engine_where_it_has_one(kind, engine):
    vehicle = SimpleNamespace(
        platform=SimpleNamespace(name="star"), control=SimpleNamespace(preset="soft")
    )
    scenario = SimpleNamespace(
        scenario="hover", vehicles=[vehicle, vehicle], seed=7,
        plant=SimpleNamespace(type=kind), engine=SimpleNamespace(name="mujoco"),
    )  # fmt: skip
    said = f"[bold]hover[/]: star (soft gains), star (soft gains), 2.5 s, seed 7{engine}"
    assert report.flight_text(scenario, 2.54) == said


def test_a_report_says_the_words_on_a_compilation_that_were_held_back(monkeypatch):
    told = []
    monkeypatch.setattr(
        report, "NOTICE", SimpleNamespace(tell=lambda: told.append(1), elapsed=0.0)
    )
    flown = {
        "window_s": [0.0, 1.0], "real_time_factor": 1.0, "control_step_us": 1.0, "duration_s": 1.0, "wall_s": 1.0,
    }  # fmt: skip
    run = SimpleNamespace(metrics=flown, summary="", followers=(), folder=Path("o"))
    text_of(report.show, run)
    assert told == [1]


def test_columns_of_errors_keep_a_word_only_where_it_is_long():
    words = {
        "capture_inertial": 16,
        "fifteen_letters": 15,
        "fourteen_letter": 15,
        "three words": None,
    }
    found = {word: report._column(word).width for word in words}
    assert found == words and report._column(14 * "x").width is None
    assert report._size(0.105) == "0.105" and report._size(0.0994) == "0.099"


def test_modules_have_a_largest_wrench_only_where_force_and_torque_are_known():
    nothing = {"joints": {}, "lost": []}
    for force, torque in ((None, 1.0), (1.0, None)):
        assert modules_text({**nothing, "joint_force_n": force, "joint_torque_nm": torque}) == ""


def test_an_end_effector_without_a_path_has_a_dash_for_each_axis():
    arm = {"published_rmse_m": [0.04], "clipped_commands": {}}
    lines = plain_lines(show_end_effector, arm, {})
    assert lines[3:5] == [
        "│ this flight              │ - │ - │ - │ -        │ -       │",
        "│ recorded flight 1        │   │   │   │ 40.0     │         │",
    ]

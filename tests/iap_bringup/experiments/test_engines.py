# SPDX-License-Identifier: BSD-3-Clause
"""The study of both engines compares figures by their bars, and knows every scenario that is listed."""

import json
from math import inf

import pytest
from rich.console import Console

from iap_bringup.experiments import engines as study
from iap_bringup.experiments.engine_bars import BARS, QUICK
from iap_bringup.experiments.engine_figures import compared, value
from iap_bringup.experiments.table import run_experiment
from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import SCENARIOS

DONE = "completed"


def of(bar, first, second, *, outcomes=(DONE, DONE)):
    """A comparison of one figure."""
    rows = [
        {"outcome": outcome, "position_rmse_m": each}
        for outcome, each in zip(outcomes, (first, second), strict=True)
    ]
    return compared("hover", {"position_rmse_m": bar}, *rows)


def test_every_listed_scenario_has_its_bars_and_nothing_else_has():
    assert set(BARS) == {*SCENARIOS.names()} - {"arm_path"}  # whose plant has no engine
    assert set(QUICK) <= set(BARS)


def test_every_scenario_is_flown_in_both_engines():
    flown = study.flights()
    assert len(flown) == 2 * len(BARS)
    assert {flight.seconds for flight in flown} == {None}
    assert {flight.engine for flight in flown} == {"pybullet", "mujoco"}


def test_quick_flies_the_first_seconds_and_short_contacts_whole():
    flown = {flight.scenario: flight.seconds for flight in study.flights(quick=True)}
    assert flown == QUICK
    assert flown["hover"] == 6.0 and flown["wall_push"] is None


def test_a_flight_has_its_engine_and_sees_only_where_it_must():
    trees = [study.EngineFlight(name, "mujoco", 2.0).chunk.tree for name in ("hover", "navigate")]
    assert [tree["engine"]["name"] for tree in trees] == ["mujoco"] * 2
    assert [tree["duration"] for tree in trees] == [2.0] * 2
    blind, seeing = ([name for name, on in tree["sensors"].items() if on] for tree in trees)
    assert not blind and "depth_camera" in seeing


def test_every_flight_has_the_sensors_that_it_is_flown_by():
    """Modules fly by motion capture, and without it nothing would be flown."""
    trees = {each.scenario: each.chunk.tree for each in study.flights(engines=("mujoco",))}
    assert set(trees) == set(BARS)
    assert trees["module_hover"]["vehicles"][0]["sensors"]["motion_capture"]


@pytest.mark.parametrize(
    ("chosen", "quick", "said"),
    [
        (("hovver",), False, "unknown scenario 'hovver'"),
        (("arm_path",), False, "'arm_path' flies a plant identified from logs"),
        (("peg_in_hole",), True, "--quick flies arm_hover_swing"),
    ],
)
def test_what_is_not_flown_is_refused(chosen, quick, said):
    with pytest.raises(BadInput, match=said):
        study.flights(chosen, quick=quick)


def test_other_experiments_refuse_scenarios():
    with pytest.raises(BadInput, match="--scenarios is for engines"):
        run_experiment("free_flight", scenarios=("hover",))


@pytest.mark.parametrize(
    ("bar", "first", "second", "passes"),
    [
        (0.01, 0.009, 0.0099, True),
        (0.01, 0.009, 0.011, False),
        (0.01, 0.011, 0.009, False),
        ((0.4, 0.6), 0.5, 0.6, True),
        ((0.4, 0.6), 0.3, 0.5, False),
        ((0.5, inf), 0.6, 9.0, True),
        (None, 0.01, 0.011, True),
        (None, 0.01, 0.0113, False),
        (None, 0.01, 0.001, True),
        (None, 0.0, 0.00005, True),
        (0.01, None, None, False),
        (0.01, 0.001, None, False),
    ],
)
def test_figures_keep_to_their_bars(bar, first, second, passes):
    assert of(bar, first, second).passes is passes


def test_outcomes_must_be_the_same_whatever_they_are():
    assert of(0.01, 0.001, 0.001, outcomes=("not_docked", "not_docked")).passes
    other = of(0.01, 0.001, 0.001, outcomes=(DONE, "crashed"))
    assert not other.passes
    assert other.outcome == "completed / crashed"


@pytest.mark.parametrize(
    ("bar", "outcome", "number", "passes"),
    [
        (0.01, DONE, 0.009, True),
        (0.01, DONE, 0.011, False),
        (0.01, "crashed", 0.009, False),
        (None, DONE, 7.0, True),
        (None, DONE, float("nan"), False),
        (None, DONE, None, False),
    ],
)
def test_an_engine_alone_completes_its_flights_within_the_bars(bar, outcome, number, passes):
    row = {"outcome": outcome, "position_rmse_m": number}
    comparison = compared("hover", {"position_rmse_m": bar}, row)
    assert comparison.passes is passes
    with (console := Console(width=120)).capture() as shown:
        console.print(study.table([comparison], ["mujoco"]))
    assert "mujoco" in shown.get() and "pybullet" not in shown.get()


def test_scenarios_are_flown_in_the_engine_that_is_installed(monkeypatch, capsys):
    monkeypatch.setattr(study, "is_installed", lambda name: name == "mujoco")
    row = {"outcome": DONE, "position_rmse_m": 1e-4, "attitude_rmse_deg": 0.0}
    monkeypatch.setattr(study, "fly_all", lambda work: [("hover mujoco", row)] * len(work))
    study.compare_engines(Console(), scenarios=["hover"], json=True)
    assert json.loads(capsys.readouterr().out)["hover"]["figures"]["position_rmse_m"] == {
        "mujoco": 1e-4
    }
    monkeypatch.setattr(study, "is_installed", lambda name: False)
    with pytest.raises(BadInput, match="neither engine is installed: .* install "):
        study.compare_engines(Console())


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("force_rmse_n", 0.3),
        ("vehicles.*.position_rmse_m", 0.02),
        ("modules.rmse.*.xyz", 3.0),
        ("modules.rmse.*.rpy", 6.0),
        ("modules.joints.*.force_n", None),
        ("settled_pitch_deg", None),
        ("docking.force_peak_n", None),
    ],
)
def test_a_figure_is_the_largest_of_what_its_key_names(key, found):
    metrics = {
        "force_rmse_n": [0.1, -0.3, None],
        "settled_pitch_deg": None,
        "vehicles": {"red": {"position_rmse_m": 0.01}, "blue": {"position_rmse_m": 0.02}},
        "modules": {"rmse": {"m1": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, "joints": {}},
    }
    assert value(metrics, key) == found


def test_the_table_has_a_row_for_each_scenario_and_the_last_line_counts():
    rows = [of(0.01, 0.001, 0.002), of((0.0004, inf), 0.0005, 0.0003), of(None, 0.001, None)]
    with (console := Console(width=120)).capture() as shown:
        console.print(study.table(rows))
    text = shown.get()
    assert text.count("position rmse, mm") == 3
    for part in ("<= 10", ">= 0.4", "<= 1.2"):
        assert part in text
    assert study.summary(rows) == "1 of 3 within their bars"


def test_a_figure_stands_beside_its_numbers_on_a_narrow_terminal():
    with (console := Console(width=80)).capture() as shown:
        console.print(study.table([of((0.0114, 0.0126), 0.0115, 0.0116)]))
    (line,) = (each for each in shown.get().splitlines() if "position rmse, mm" in each)
    assert "11.5" in line and "11.4 to 12.6" in line and line.endswith("│")


@pytest.mark.slow
def test_a_second_of_hover_is_the_same_in_both_engines():
    pytest.importorskip("mujoco")
    pytest.importorskip("pybullet")
    wanted = [study.EngineFlight("hover", engine, 1.0) for engine in study.ENGINES]
    (comparison,) = [study.comparison("hover", dict(study.fly_all(wanted)))]
    assert comparison.passes
    assert all(None not in figure.numbers for figure in comparison.figures)

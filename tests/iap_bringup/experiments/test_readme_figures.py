# SPDX-License-Identifier: BSD-3-Clause
"""Figures of README and docs/results are those of their commands; longer flights are for ``iap experiment readme``."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from iap_bringup.experiments import readme_figures as module
from iap_bringup.experiments.page_tables import PageTables, Placeholder, filled, load_figures
from iap_bringup.experiments.readme_figures import DATA, fly, readme_figures
from iap_description.errors import BadInput

ROOT = Path(__file__).parents[3]
FIGURES = readme_figures(ROOT / DATA)
QUICK = ("three_star_spiral --gains paper", "two_line_circle", "three_square_ramps")  # seconds
PAGE = "Before\n\n<!-- table errors: made -->\n| old |\n\nbehind"
TEMPLATE = """
commands: {flight: run hover}
tables:
  errors: |
    | {flight} | {flight.position_rmse_m:1 mm}, {flight.rpy:2g deg} | {flight.drift:1e} | {flight.none:1} |
"""
MEASURED = {
    "run hover": {"position_rmse_m": 0.00123, "rpy": [0.123, 4.0], "drift": 2e-4, "none": None}
}


@pytest.fixture(name="tables")
def tables_of_one_page(tmp_path):
    """Templates of a folder with one page."""
    (tmp_path / "page.yaml").write_text(TEMPLATE, encoding="utf-8")
    return PageTables.load(tmp_path)


def test_flights_of_free_flight_and_of_contact_are_compared():
    compared = {figure.command for figure in FIGURES}
    assert {"three_star_spiral", "figure_eight_windy", "two_platforms"} <= compared
    assert {"wall_push", "slide_along_wall", "socket_push", "peg_in_hole", "arm_path"} <= compared
    assert len(FIGURES) >= 35


@pytest.mark.slow
@pytest.mark.parametrize("command", QUICK)
def test_figures_are_those_of_their_commands(command):
    metrics = fly(command)
    for figure in (each for each in FIGURES if each.command == command):
        assert figure.is_met(metrics), (figure, figure.value(metrics))


def test_a_figure_is_a_number_several_a_word_or_none():
    millimetres = Placeholder("run hover", "error", 1, "f", "mm")
    assert millimetres.text(0.00123) == "1.2 mm"
    assert millimetres.text([0.001, None, 0.002]) == "1.0, -, 2.0 mm"
    assert millimetres.text(1e-6) == "below 0.1 mm"
    assert (millimetres.text("diverged"), millimetres.text(None)) == ("diverged", "-")
    assert Placeholder("run hover", "drift", 1, "e", "").text(1.23e-7) == "1.2e-7"


def test_a_figure_that_differs_in_its_last_digit_by_two_is_noticed():
    rmse = next(f for f in FIGURES if (f.command, f.key) == ("figure_eight", "position_rmse_m"))
    metres = float(rmse.text) / 1e3
    assert rmse.is_met({"position_rmse_m": metres})
    assert not rmse.is_met({"position_rmse_m": metres + 0.0002})


def test_the_comparison_is_one_line_of_json_and_differences_end_it(monkeypatch, capsys):
    kept = next(f for f in FIGURES if (f.command, f.key) == ("figure_eight", "position_rmse_m"))
    offered = [(kept, 1.0, True), (kept._replace(key="other"), float("nan"), False)]
    monkeypatch.setattr(module, "measured", lambda *_: iter(offered))
    with pytest.raises(BadInput, match="1 figures differ: figure_eight: other"):
        module.compare_readme(Console(quiet=True), as_json=True)
    said = json.loads(capsys.readouterr().out)
    assert said["differing"] == 1
    assert [(row["key"], row["here"], row["is_met"]) for row in said["figures"]] == [
        ("position_rmse_m", 1.0, True),
        ("other", None, False),
    ]


def test_the_comparison_names_a_flight_once_and_counts_its_figures(monkeypatch):
    kept = next(f for f in FIGURES if (f.command, f.key) == ("figure_eight", "position_rmse_m"))
    offered = [(kept, 1.0, True), (kept._replace(key="other"), 2.0, True)]
    monkeypatch.setattr(module, "measured", lambda *_: iter(offered))
    console = Console(file=io.StringIO(), width=80)
    module.compare_readme(console)
    text = console.file.getvalue()
    assert text.count("figure_eight") == 1
    assert text.endswith("2 of 2 figures as on the pages\n")


def test_a_table_of_a_page_is_made_of_the_figures(tables):
    made = filled(PAGE, tables, MEASURED)
    row = "| `./iap run hover` | 1.2 mm, 0.12, 4 deg | 2.0e-4 | - |\n"
    assert made == PAGE.replace("| old |\n", row)
    assert filled(made, tables, MEASURED) == made


def test_a_figure_that_was_not_measured_names_the_command_that_measures_it(tables):
    with pytest.raises(BadInput, match=r"\./iap docs --figures 'run hover'"):
        filled(PAGE, tables, {})


def test_a_page_with_an_unknown_table_is_refused(tables):
    with pytest.raises(BadInput, match="unknown table 'other'"):
        filled(PAGE.replace("errors", "other"), tables, MEASURED)


ROWS = """
commands: {hover: run hover, land: run land}
names: {%s: [hover, land]}
tables:
  errors: |
    | flight |
    @flights | `$`, {$}: {$.drift:1e} |
    | end |
"""


def test_a_row_of_a_list_stands_once_for_each_of_its_words(tmp_path):
    (tmp_path / "page.yaml").write_text(ROWS % "flights", encoding="utf-8")
    tables = PageTables.load(tmp_path)
    made = tables.table("errors", {"run hover": {"drift": 2e-4}, "run land": {"drift": 3e-4}})
    assert made.splitlines() == [
        "| flight |",
        "| `hover`, `./iap run hover`: 2.0e-4 |",
        "| `land`, `./iap run land`: 3.0e-4 |",
        "| end |",
    ]
    assert tables.paths() == {"run hover": ["drift"], "run land": ["drift"]}


def test_a_row_of_an_unknown_list_is_refused(tmp_path):
    (tmp_path / "page.yaml").write_text(ROWS % "others", encoding="utf-8")
    with pytest.raises(BadInput, match=r"page.yaml: .*'@flights'"):
        PageTables.load(tmp_path)


def test_figures_are_kept_with_the_version_that_measured_them():
    kept = json.loads((ROOT / DATA / "figures.json").read_text(encoding="utf-8"))
    assert all(entry["version"] for entry in kept.values())
    paths = PageTables.load(ROOT / DATA).paths()
    assert {command: set(each) for command, each in load_figures(ROOT / DATA).items()} == {
        command: set(each) for command, each in paths.items()
    }

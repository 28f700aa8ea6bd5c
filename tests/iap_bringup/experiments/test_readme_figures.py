# SPDX-License-Identifier: BSD-3-Clause
"""Figures of README and docs/results are those of their commands; longer flights are for ``iap experiment readme``."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from iap_bringup.experiments import readme_figures as module
from iap_bringup.experiments.readme_figures import ROW, fly, pages_with_figures, readme_figures
from iap_description.errors import BadInput

ROOT = Path(__file__).parents[3]
FIGURES = readme_figures(pages_with_figures(ROOT))
QUICK = ("three_star_spiral --gains paper", "two_line_circle", "three_square_ramps")  # seconds


def test_flights_of_free_flight_and_of_contact_are_compared():
    compared = {figure.command for figure in FIGURES}
    tracking = (ROOT / "docs/results/tracking.md").read_text(encoding="utf-8")
    assert {command for command, *_ in ROW.findall(tracking)} <= compared
    assert {"wall_push", "slide_along_wall", "socket_push", "peg_in_hole", "arm_path"} <= compared
    assert len(FIGURES) >= 35


@pytest.mark.slow
@pytest.mark.parametrize("command", QUICK)
def test_figures_are_those_of_their_commands(command):
    metrics = fly(command)
    for figure in (each for each in FIGURES if each.command == command):
        assert figure.is_met(metrics), (figure, figure.value(metrics))


def test_a_figure_that_differs_in_its_last_digit_by_two_is_noticed():
    rmse = next(f for f in FIGURES if (f.command, f.key) == ("figure_eight", "position_rmse_m"))
    metres = float(rmse.text) / 1e3
    assert rmse.is_met({"position_rmse_m": metres})
    assert not rmse.is_met({"position_rmse_m": metres + 0.0002})


def test_the_comparison_is_one_line_of_json_and_differences_end_it(monkeypatch, capsys):
    kept = next(f for f in FIGURES if (f.command, f.key) == ("figure_eight", "position_rmse_m"))
    offered = [(kept, 1.0, True), (kept._replace(key="other"), float("nan"), False)]
    monkeypatch.setattr(module, "measured", lambda _: iter(offered))
    with pytest.raises(BadInput, match="1 figures differ: figure_eight: other"):
        module.compare_readme(Console(quiet=True), as_json=True)
    said = json.loads(capsys.readouterr().out)
    assert said["differing"] == 1
    assert [(row["key"], row["here"], row["is_met"]) for row in said["figures"]] == [
        ("position_rmse_m", 1.0, True),
        ("other", None, False),
    ]

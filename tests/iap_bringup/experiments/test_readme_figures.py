# SPDX-License-Identifier: BSD-3-Clause
"""Figures of README and docs/results are those of their commands; longer flights are for ``iap experiment readme``."""

from pathlib import Path

import pytest

from iap_bringup.experiments.readme_figures import ROW, fly, pages_with_figures, readme_figures

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

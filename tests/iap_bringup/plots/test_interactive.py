# SPDX-License-Identifier: BSD-3-Clause
"""Plots as pages: they hold the numbers of the run, and ask nothing of a network."""

import json
import re

import numpy as np
import pytest

from iap_bringup.cli.main import main
from iap_bringup.plots.recorded_run import RecordedRun

MB = 1e6


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages") / "run"
    arguments = ["--engine", "closed_form", "--duration", "2", "--no-plot", "--no-view"]
    assert main(["run", "figure_eight", *arguments, "--out", str(folder)]) == 0
    return folder


def test_a_page_holds_the_errors_of_the_run_under_their_labels(run):
    assert main(["plot", str(run), "errors", "--html"]) == 0
    page = (run / "plots" / "errors.html").read_text()
    panels = json.loads(re.search(r"panels:(\[.*\])\};", page).group(1))
    labels = [panel["label"] for panel in panels]
    assert labels[:2] == ["x error [mm]", "roll error [deg]"]
    (series,) = panels[0]["series"]
    error = RecordedRun(run).flights[""].error
    assert np.array(series["t"], float) == pytest.approx(error.t, abs=1e-4)
    values = np.array(series["values"], float)
    assert values == pytest.approx(1e3 * error.position[:, 0], rel=1e-5, abs=1e-5)
    assert len(page) < MB
    assert not re.search(r'(src|href)="?https?://', page)


def test_all_plots_over_time_are_written_and_one_without_series_is_refused(run, capsys):
    assert main(["plot", str(run), "--html"]) == 0
    pages = {each.stem for each in (run / "plots").glob("*.html")}
    assert {"overview", "errors", "pose", "thrusts"} <= pages
    assert "path3d" not in pages
    assert main(["plot", str(run), "path3d", "--html"]) == 2
    assert "no series over time" in capsys.readouterr().err

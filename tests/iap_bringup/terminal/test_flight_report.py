# SPDX-License-Identifier: BSD-3-Clause
"""The report at the end of a flight: the outcome first, then the errors that were to be small."""

import io

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.cli.main import main
from iap_bringup.plots.sweep import draw_sweep
from iap_bringup.terminal.flight import show
from iap_description.errors import BadInput
from iap_description.process.compiling import NOTICE
from iap_simulation import Simulation, record


def report(result) -> str:
    """The text of a flight's report."""
    text = io.StringIO()
    show(Console(file=text, width=160), result)
    return text.getvalue()


def test_a_flight_through_obstacles_says_that_it_has_arrived_and_no_error_of_its_line(tmp_path):
    result = record("navigate", folder=tmp_path / "run")
    text = report(result)
    assert text.startswith(f"arrived after {result.metrics['task']['time_s']:.2f} s")
    assert "position" not in text


def test_a_crash_is_the_first_thing_that_is_said(tmp_path):
    loss = [{"motors": "off", "aircraft": 1, "at": 0.2}]
    result = record("hover", platform="f450", folder=tmp_path / "run", settings={"faults": loss})
    assert report(result).startswith("crashed at t = ")


def test_errors_are_millimetres_and_speed_is_said_where_nothing_was_compiled(
    tmp_path, monkeypatch
):
    result = record("figure_eight", folder=tmp_path / "run", duration=6.0)
    millimetres = 1e3 * result.metrics["position_rmse_m"]
    assert result.summary == "completed"
    assert f"{millimetres:#.3g}" in report(result)
    monkeypatch.setattr(NOTICE, "elapsed", 44.3)  # of a first flight after an installation
    assert "compiled for 44 s, which the next flight saves," in report(result)
    monkeypatch.setattr(NOTICE, "elapsed", 0.0)
    assert "x real time), control step " in report(result)


def test_a_sweep_that_varies_nothing_leaves_no_empty_folder_of_plots(tmp_path):
    assert draw_sweep(tmp_path, [], []) == []
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", [[1, 2, 3], {"iap": 3.0}, "hover"])
def test_what_is_no_command_is_refused_in_one_line(what):
    with Simulation.of("hover") as simulation:
        with pytest.raises(BadInput, match=r"^step: .*Command is expected"):
            simulation.step(what)
        assert np.isfinite(simulation.step()).all()


def test_a_tree_in_place_of_a_platforms_name_is_refused_in_one_line():
    with pytest.raises(BadInput, match=r"^options: key 'platform': .*string") as caught:
        Simulation.of("hover", platform={"name": "mine"})
    assert "\n" not in str(caught.value)


def test_an_agent_of_ones_own_flies_from_the_command_line(tmp_path, monkeypatch):
    text = """
class Idle:
    def __init__(self, scenario, vehicles):
        pass

    def command(self, k, plant, references):
        return {}
"""
    (tmp_path / "idle_agent.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    typed = ["run", "hover", "--set", "policy=idle_agent:Idle", "--duration", "0.1", "--no-plot"]
    assert main([*typed, "--out", str(tmp_path / "run")]) == 0

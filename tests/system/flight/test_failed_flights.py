# SPDX-License-Identifier: BSD-3-Clause
"""Flights that end badly: an exit code, a word in metrics.json, and what was flown is kept."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

from iap_bringup.cli import report
from iap_bringup.cli.main import main
from iap_control.controller import PlatformController
from iap_description.states import Command
from iap_io.runs.run_folder import load_run
from iap_simulation import run

FAST = ["--no-plot", "--set", "engine.name=closed_form"]


def test_commands_that_are_not_numbers_end_the_flight_with_a_word_for_it(
    tmp_path, capsys, monkeypatch
):
    """Exit code 1, an outcome in metrics.json, and what was flown is kept up to that command."""
    fine, steps = PlatformController.__call__, []

    def broken(self, *arguments):
        steps.append(1)
        command = fine(self, *arguments)
        if len(steps) > 100:
            command.thrust[:] = np.nan
        return command

    monkeypatch.setattr(PlatformController, "__call__", broken)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 1
    complaint = capsys.readouterr().err
    assert "invalid_command" in complaint and complaint.count("\n") == 1
    assert (
        json.loads((out / "metrics.json").read_text(encoding="utf-8"))["outcome"]
        == "invalid_command"
    )
    t = load_run(out).vehicles[0].columns.t
    assert t[-1] == pytest.approx(0.5)


def test_a_flight_that_fails_in_its_first_step_still_ends_in_order(tmp_path, capsys, monkeypatch):
    def broken(self, *_):
        command = Command.zeros(self.model.count)
        command.thrust[:] = np.inf
        return command

    monkeypatch.setattr(PlatformController, "__call__", broken)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 1
    assert "invalid_command" in capsys.readouterr().err
    assert (
        json.loads((out / "metrics.json").read_text(encoding="utf-8"))["outcome"]
        == "invalid_command"
    )


def test_a_crash_is_a_failed_flight_with_its_reason(tmp_path, capsys):
    """A platform three times as heavy as its model sinks to the ground."""
    out = tmp_path / "run"
    sets = ["--set", "model_error.mass=3.0", "--duration", "6"]
    assert main(["run", "hover", "--no-plot", "--out", str(out), *sets]) == 1
    complaint = capsys.readouterr().err
    assert "crashed" in complaint and "ground" in complaint
    assert json.loads((out / "metrics.json").read_text(encoding="utf-8"))["outcome"] == "crashed"


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_an_interrupt_keeps_what_was_flown_readable(tmp_path, capsys, monkeypatch, seconds):
    @contextmanager
    def interrupted(*_):
        def progress(t):
            if t > seconds:
                raise KeyboardInterrupt

        yield progress

    monkeypatch.setattr(report, "time_bar", interrupted)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 130
    complaint = capsys.readouterr().err
    assert "interrupted" in complaint and complaint.count("\n") == 1
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["outcome"] == "interrupted"
    t = load_run(out).vehicles[0].columns.t
    assert t[-1] == pytest.approx(seconds, abs=0.3)
    assert np.isfinite(load_run(out).vehicles[0].columns.x).all()


def test_an_interrupt_before_the_flight_exits_with_130(capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run.Flight, "of", stop)
    assert main(["run", "hover", *FAST]) == 130
    assert capsys.readouterr().err.count("\n") == 1

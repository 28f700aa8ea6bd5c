# SPDX-License-Identifier: BSD-3-Clause
"""Flights that end badly: an exit code, a word in metrics.json, and what was flown is kept."""

import json
import os
import resource
import signal
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from iap_bringup.cli import flight as flight_command
from iap_bringup.cli.main import main
from iap_control.controllers.controller import PlatformController
from iap_description.states import Command
from iap_io.runs.run_folder import load_run
from iap_simulation.runs import run

FAST = ["--no-plot", "--no-view", "--set", "engine.name=closed_form"]


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
    assert main(["run", "hover", "--no-plot", "--no-view", "--out", str(out)]) == 1
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
    assert main(["run", "hover", "--no-plot", "--no-view", "--out", str(out)]) == 1
    assert "invalid_command" in capsys.readouterr().err
    assert (
        json.loads((out / "metrics.json").read_text(encoding="utf-8"))["outcome"]
        == "invalid_command"
    )


def test_a_crash_is_a_failed_flight_with_its_reason(tmp_path, capsys):
    """A platform three times as heavy as its model sinks to the ground."""
    out = tmp_path / "run"
    sets = ["--set", "model_error.mass=3.0", "--duration", "6"]
    assert main(["run", "hover", "--no-plot", "--no-view", "--out", str(out), *sets]) == 1
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

    monkeypatch.setattr(flight_command, "time_bar", interrupted)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 130
    complaint = capsys.readouterr().err
    assert "interrupted" in complaint and complaint.count("\n") == 1
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["outcome"] == "interrupted"
    t = load_run(out).vehicles[0].columns.t
    assert t[-1] == pytest.approx(seconds, abs=0.3)
    assert np.isfinite(load_run(out).vehicles[0].columns.x).all()


def interrupted_with(number, at, monkeypatch, tmp_path, capsys):
    """Exit code and complaint of a flight whose process gets a signal when it calls `at`, a method of Simulation."""
    real = getattr(run.Simulation, at)

    def killed(*arguments, **options):
        os.kill(os.getpid(), number)
        return real(*arguments, **options)

    monkeypatch.setattr(run.Simulation, at, killed)
    code = main(["run", "hover", "--out", str(tmp_path / "run"), *FAST])
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    return code, complaint


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_before_the_first_step_waits_for_it(
    tmp_path, capsys, monkeypatch, number, code, word
):
    found, complaint = interrupted_with(number, "fly", monkeypatch, tmp_path, capsys)
    assert found == code
    assert complaint == f"iap: {word} at t = 0.000 s; what was flown is kept\n"
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["outcome"] == "interrupted"
    assert len(load_run(tmp_path / "run").vehicles[0].columns.t) == 1


def test_a_signal_while_the_engine_is_made_leaves_nothing(tmp_path, capsys, monkeypatch):
    found, complaint = interrupted_with(signal.SIGTERM, "_load", monkeypatch, tmp_path, capsys)
    assert (found, complaint) == (143, "iap: terminated\n")
    assert not (tmp_path / "run").exists()


def test_a_signal_that_some_callback_swallows_is_answered_later(tmp_path, capsys, monkeypatch):
    real = run.Simulation.__enter__

    def swallowing(self):
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        return real(self)

    monkeypatch.setattr(run.Simulation, "__enter__", swallowing)
    out = tmp_path / "run"
    assert main(["run", "hover", "--out", str(out), *FAST]) == 130
    assert capsys.readouterr().err.startswith("iap: interrupted at t = 0.000 s")


def test_a_signal_while_it_is_judged_keeps_the_recording(tmp_path, capsys, monkeypatch):
    def stopped(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(run, "score_recording", stopped)
    out = tmp_path / "run"
    assert main(["run", "hover", "--duration", "0.5", "--out", str(out), *FAST]) == 130
    assert capsys.readouterr().err == f"iap: interrupted; what was flown is in {out}\n"
    assert len(load_run(out).vehicles[0].columns.t) == 101


def test_a_signal_in_a_flight_that_is_compared_ends_them_all(tmp_path, capsys, monkeypatch):
    flown, fly = [], run.Simulation.fly

    def stopped(self, progress):
        flown.append(self)
        if len(flown) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        fly(self, progress)

    monkeypatch.setattr(run.Simulation, "fly", stopped)
    compare = "compare={light: [platform.center.mass=1.0], heavy: [platform.center.mass=1.5]}"
    given = ["--duration", "0.5", "--out", str(tmp_path / "run"), *FAST, "--set", compare]
    assert main(["run", "hover", *given]) == 130
    assert capsys.readouterr().err.startswith("iap: compare.light: interrupted at t = 0.000 s")
    assert len(flown) == 2


def test_a_disk_that_is_full_at_once_is_reported_and_leaves_nothing(tmp_path, capsys):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    out = tmp_path / "run"
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
        code = main(["run", "hover", "--duration", "1", "--out", str(out), *FAST])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == 1
    complaint = capsys.readouterr().err
    text = "recording stopped, File too large; nothing could be recorded"
    assert complaint == f"iap: {out / 'bag'}: {text}\n"
    assert not out.exists()


def test_an_interrupt_before_the_flight_exits_with_130(capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run.Flight, "of", stop)
    assert main(["run", "hover", *FAST]) == 130
    assert capsys.readouterr().err.count("\n") == 1

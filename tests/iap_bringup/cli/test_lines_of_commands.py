# SPDX-License-Identifier: BSD-3-Clause
"""Ends, lines and files of commands, to the letter."""

import argparse
import io
import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.cli import (
    cluster,
    evaluate,
    flight,
    fuzz,
    identify,
    images,
    inspect,
)
from iap_bringup.cli import main as program
from iap_description.errors import BadInput, RenamedKey


def test_an_interrupted_flight_keeps_what_was_flown_and_a_failed_one_ends_by_one(
    monkeypatch, capsys
):
    monkeypatch.setattr(flight.interrupts, "exit_code", lambda: 130)
    made = dict(metrics={"outcome": "completed"}, failure="interrupted")
    assert flight._exit_code(SimpleNamespace(interrupted=True, **made)) == 130
    assert flight._exit_code(SimpleNamespace(interrupted=False, **made)) == 0
    for failure, words in ((None, "crashed"), ("too slow", "too slow")):
        lost = SimpleNamespace(interrupted=False, metrics={"outcome": "crashed"}, failure=failure)
        assert flight._exit_code(lost) == 1
        assert capsys.readouterr().err.splitlines()[-1] == f"iap: {words}"


def test_an_interrupted_flight_says_so(monkeypatch, capsys):
    monkeypatch.setattr(flight.interrupts, "exit_code", lambda: 130)
    flight._exit_code(SimpleNamespace(interrupted=True, failure="interrupted", metrics={}))
    assert capsys.readouterr().err == "iap: interrupted; what was flown is kept\n"


@pytest.mark.parametrize("count", [1, 2])
def test_logs_are_shown_and_those_of_a_run_are_a_list_of_json(
    count, monkeypatch, capsys, tmp_path
):
    shown, logs = [], [SimpleNamespace(metrics={"log": k}) for k in range(count)]
    monkeypatch.setattr(inspect, "is_run", lambda path: count > 1)
    monkeypatch.setattr(inspect, "read_run", lambda path: logs)
    monkeypatch.setattr(inspect, "open_any", lambda path: logs[0])
    monkeypatch.setattr(inspect, "Inspection", SimpleNamespace(of=lambda log, trials: log))
    monkeypatch.setattr(inspect, "trials_of", lambda log: {})
    monkeypatch.setattr(inspect, "show", lambda console, log: shown.append((console.stderr, log)))
    for as_json in (True, False):
        shown.clear()
        assert inspect.inspect(argparse.Namespace(log=tmp_path, json=as_json)) == 0
        assert shown == [(as_json, log) for log in logs]
        said = capsys.readouterr().out
        assert (
            (json.loads(said) == ([{"log": 0}, {"log": 1}] if count > 1 else {"log": 0}))
            if as_json
            else not said
        )


def test_plots_are_listed_with_what_they_need_or_whether_a_run_has_them(monkeypatch, tmp_path):
    need = SimpleNamespace(what="an arm", of=lambda run: run.arms)
    monkeypatch.setattr(
        images, "PLOTS", [SimpleNamespace(name="arm", text="It moves", needs=need)]
    )
    monkeypatch.setattr(
        images, "RecordedRun", lambda folder: SimpleNamespace(arms=folder.name == "with")
    )

    def lines(folder):
        console = Console(file=io.StringIO(), width=80)
        images._list_plots(console, folder)
        return [line.rstrip() for line in console.file.getvalue().splitlines()]

    assert lines(None) == ["plot  shows     needs", "arm   It moves  an arm"]
    assert lines(tmp_path / "with") == ["plot  shows     this run", "arm   It moves  yes"]
    assert lines(tmp_path / "no")[1] == "arm   It moves  no: has not an arm"


def test_a_fit_is_shown_with_its_notes_and_what_to_fly(monkeypatch, capsys, tmp_path):
    log = SimpleNamespace(name="log_1", notes=["[short] 2 s"])
    settings = SimpleNamespace(clock=None, units=None)
    for name, result in (
        ("load_settings", settings), ("split", SimpleNamespace(fit=[log], held_out=[])), ("identified", "model"),
        ("validation", {"rms": 1.0}), ("_write", None), ("work_bar", nullcontext()),
        ("new_folder", nullcontext(tmp_path)),
    ):  # fmt: skip
        monkeypatch.setattr(identify, name, lambda *_, result=result, **__: result)
    shown = []
    monkeypatch.setattr(identify, "show", lambda console, metrics: shown.append(metrics))
    monkeypatch.setenv("IAP_PROGRAM", "iap")
    options = argparse.Namespace(
        logs=[], fit=[], validate=[], force=False, model="dynamic", error=None, assignments=[], out=None, no_plot=True,
        json=False,
    )  # fmt: skip
    plant = tmp_path / identify.PLANT
    lines = [
        "log_1: [short] 2 s", f"plant: {plant}", f"fly it: iap run arm_path --set plant.file={plant}",
    ]  # fmt: skip
    assert identify.identify_velocities(options) == 0 and shown == [{"rms": 1.0}]
    assert capsys.readouterr().out.splitlines() == lines
    options.json = True
    assert identify.identify_velocities(options) == 0
    said = capsys.readouterr()
    assert said.out == '{"rms": 1.0}\n' and said.err.splitlines() == lines


def test_an_evaluation_is_two_files_and_its_arguments_find_it_again(tmp_path):
    results = SimpleNamespace(rows=[{"seed": 5, "success": True}, {"seed": 6, "success": False}])
    evaluate._write(tmp_path, {"a": {"b": 1}}, results)
    assert (tmp_path / "evaluation.json").read_text() == '{\n  "a": {\n    "b": 1\n  }\n}\n'
    assert (tmp_path / "episodes.csv").read_bytes() == b"seed,success\r\n5,True\r\n6,False\r\n"
    with pytest.raises(ValueError, match="not JSON compliant|Out of range"):
        evaluate._write(tmp_path, {"a": np.nan}, results)
    options = argparse.Namespace(policy="x/p.npz", task="hold", preset=None, assignments=["a=1"])
    assert evaluate._arguments(options) == {
        "name": str(Path("x/p.npz").absolute()), "task": "hold", "preset": None, "settings": {"a": 1},
    }  # fmt: skip
    options.policy = "script"
    assert evaluate._arguments(options)["name"] == "script"


def test_every_module_of_commands_is_imported_ahead(monkeypatch):
    loaded = []
    monkeypatch.setattr(
        fuzz,
        "command_parser",
        lambda words: SimpleNamespace(
            get_default=lambda key: SimpleNamespace(load=lambda: loaded.append((key, *words)))
        ),
    )
    fuzz._import_commands()
    assert ("run", "dataset") in loaded and ("run", "dataset", "--policy") in loaded
    assert {each[1] for each in loaded} == set(fuzz.VERBS) and len(loaded) == len(fuzz.VERBS) + 1


def test_old_names_of_keys_are_said_once_at_the_end_of_a_command(capsys):
    program._show_warning("a is b now", RenamedKey, "f", 1)
    program._show_warning("a is b now", RenamedKey, "f", 1)
    program._show_warning("other", UserWarning, "f", 1)
    assert "UserWarning: other" in capsys.readouterr().err
    assert program._say("done", code=7) == 7
    assert capsys.readouterr().err == "iap: done; a is b now\n"
    program._say("again", code=0)
    assert capsys.readouterr().err == "iap: again\n"
    program._show_warning("c is d now", RenamedKey, "f", 1)
    program._say_renamed()
    program._say_renamed()
    assert capsys.readouterr().err == "iap: c is d now\n"


def test_an_output_that_was_closed_is_replaced_by_none(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    program._replace_closed_streams()
    assert sys.stderr.name == os.devnull and sys.stdout is not None
    sys.stderr.close()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(28, "No space left on device"), 1, "a file of this run or in "),
        (OSError(28, "No space left on device", "/x/y"), 1, "/x/y: No space left on device"),
        (PermissionError(13, "Permission denied", "/x"), 2, "/x: Permission denied"),
        (OSError(24, "Too many open files"), 1, "a limit of the system: Too many open files"),
        (MemoryError(), 1, "this needs more memory than there is"),
        (BadInput("wrong"), 2, "wrong"),
    ],
)
def test_faults_of_the_system_are_one_line(error, code, said, capsys):
    def fail(_):
        raise error

    assert program._run(argparse.Namespace(run=fail, json=False)) == code
    assert capsys.readouterr().err.startswith(f"iap: {said}")


@pytest.mark.parametrize("error", [ValueError("of ours"), OSError(5555, "strange")])
def test_faults_of_the_suite_keep_their_traceback(error):
    def fail(_):
        raise error

    with pytest.raises(type(error)):
        program._run(argparse.Namespace(run=fail, json=False))


def test_a_head_of_a_cluster_makes_its_token_before_it_starts(monkeypatch):
    done = []
    monkeypatch.setattr(cluster, "imported_ray", lambda: None)
    monkeypatch.setattr(
        cluster,
        "subprocess",
        SimpleNamespace(run=lambda words, **how: done.append((words[-2:], how))),
    )
    monkeypatch.setattr(cluster, "_stay", lambda words: done.append(words) or 5)
    assert cluster.cluster(argparse.Namespace(head=None, port=7)) == 5
    assert done[0] == (["get-auth-token", "--generate"], {"check": True, "capture_output": True})
    assert done[1][-3:] == ["--head", "--port=7", "--include-dashboard=false"]

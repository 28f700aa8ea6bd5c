# SPDX-License-Identifier: BSD-3-Clause
"""Progress and end of a training, and files beside benchmarks and kernels."""

import argparse
import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from iap_bringup.cli import replay, studies, train, warm_up
from iap_description.errors import BadInput


def experiment(*, offline=True, dagger=False, online=True):
    """An experiment of stages."""
    method = SimpleNamespace(updates=100)
    return SimpleNamespace(
        name="hold", seed=3, offline=SimpleNamespace(method="bc", bc=method) if offline else None,
        dagger=SimpleNamespace(all_updates=30) if dagger else None,
        online=SimpleNamespace(steps=400) if online else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stages", "totals"),
    [
        ((True, False, True), {"offline": 100, "online": 400}), ((False, False, True), {"online": 400}),
        ((True, False, False), {"offline": 100}), ((False, True, True), {"dagger": 30, "online": 400}),
    ],
)  # fmt: skip
def test_totals_are_of_the_stages_that_there_are(stages, totals):
    offline, dagger, online = stages
    assert train._totals(experiment(offline=offline, dagger=dagger, online=online)) == totals


def test_the_text_above_a_training_stays_from_its_first_row_on_and_stages_appear_in_turn():
    console = Console(file=io.StringIO(), width=140, force_terminal=True, color_system=None)
    key = next(iter(train.SHOWN))
    with train._bar(console, experiment(), "above it") as watch:
        before = console.file.getvalue()
        watch({"stage": "offline", "steps": 50, key: 0.25})
        watch({"stage": "online", "steps": 300})
    said = console.file.getvalue()
    assert "above it" not in before and said.count("above it\n") == 1
    last = [" ".join(line.split()) for line in said.splitlines() if "line " in line][-2:]
    shown = train.SHOWN[key].format(0.25)
    assert "offline" in last[0] and "online" in last[1]
    assert shown in last[0] and shown in last[1]  # a row without a figure leaves it as it was


@pytest.mark.parametrize("has_checkpoint", [True, False])
def test_an_interrupted_training_says_how_it_goes_on_from_its_checkpoint(
    has_checkpoint, monkeypatch, tmp_path
):
    from contextlib import nullcontext

    checks, rows = [], []
    deferral = SimpleNamespace(check=lambda: checks.append(1))
    monkeypatch.setattr(train, "Deferral", lambda: nullcontext(deferral))
    monkeypatch.setattr(train, "_bar", lambda *_: nullcontext(rows.append))
    monkeypatch.setenv("IAP_PROGRAM", "iap")
    if has_checkpoint:
        (tmp_path / train.CHECKPOINT).touch()

    def work(watch):
        watch({"steps": 1})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stop:
        train._watched(Console(), experiment(), tmp_path, work)
    words = f"iap train --resume {tmp_path} goes on from the last checkpoint"
    assert stop.value.args == ((words,) if has_checkpoint else ())
    assert checks == [1] and rows == [{"steps": 1}]


def test_a_training_ends_with_its_best_policy_and_what_judges_it(monkeypatch):
    monkeypatch.setenv("IAP_PROGRAM", "iap")
    console = Console(file=io.StringIO(), width=40)
    best = SimpleNamespace(success=0.975, returns=1.234, steps=99)
    train._show(console, SimpleNamespace(best=best, folder=Path("t")))
    assert " ".join(console.file.getvalue().split()) == (
        "best policy: 97.5% of episodes without exploration, return 1.23, after 99 steps"
        " policy: t/policy.npz judge it: iap evaluate t/policy.npz"
    )
    console = Console(file=io.StringIO(), width=40)
    train._show(console, SimpleNamespace(best=None, folder=Path("t")))
    assert console.file.getvalue().startswith("policy: ")


def test_benchmarks_are_those_of_a_checkout(monkeypatch, tmp_path):
    assert studies._benchmarks().name == "benchmarks"
    monkeypatch.setattr(studies, "__file__", str(tmp_path / "a" / "b.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"^bench: no benchmarks here; run it from a checkout$"):
        studies._benchmarks()
    (tmp_path / "benchmarks").mkdir()
    assert studies._benchmarks() == tmp_path / "benchmarks"


@pytest.mark.parametrize("processors", [2, 1000])
@pytest.mark.parametrize("words", [[], ["--all"]])
def test_kernels_are_compiled_by_as_many_processes_as_there_are_processors(
    words, processors, monkeypatch
):
    made = []

    class Pool:
        def __init__(self, count, context):
            made.append(count)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def map(self, work, shares):
            made.append(tuple(shares))
            return ()

    def affinity(pid):
        assert pid == 0
        return range(processors)

    monkeypatch.setattr(warm_up, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(warm_up.os, "sched_getaffinity", affinity)
    warm_up.main(words)
    assert made == [
        min(warm_up.MAX_PROCESSES, processors), warm_up.SHARES if words else warm_up.FIRST,
    ]  # fmt: skip


@pytest.mark.parametrize(("has_steps", "no_plot", "plots"), [
    (True, False, ["open_loop.png", "step_response.png"]), (False, False, ["open_loop.png"]), (True, True, []),
])  # fmt: skip
@pytest.mark.parametrize("as_json", [True, False])
def test_a_replay_in_open_loop_is_kept_drawn_and_shown(
    has_steps, no_plot, plots, as_json, monkeypatch, tmp_path, capsys
):
    from contextlib import nullcontext

    made = SimpleNamespace(steps={"roll": 1} if has_steps else {})
    log, drawn = SimpleNamespace(path=Path("log_1.ulg")), []
    for name, result in (
        ("_horizons", (1.0,)), ("_scenario", "scenario"), ("read_single", log), ("work_bar", nullcontext()),
        ("replay_open_loop", made), ("_metrics", {"platform": "f450"}), ("new_folder", nullcontext(tmp_path)),
        ("write_metrics", None),
    ):  # fmt: skip
        monkeypatch.setattr(replay, name, lambda *_, result=result: result)
    monkeypatch.setattr(replay, "Flight", SimpleNamespace(of=lambda _: SimpleNamespace(spec=1)))
    monkeypatch.setattr(replay, "write_plot", lambda path, draw: drawn.append(path.name))
    shown = []
    monkeypatch.setattr(replay, "_show", lambda console, replay, title: shown.append(title))
    options = argparse.Namespace(
        json=as_json, recording="log_1.ulg", what="motors", out=None, no_plot=no_plot
    )
    assert replay._replay_open_loop(options) == 0
    said = capsys.readouterr()
    assert drawn == plots and shown == ["motors of log_1.ulg on f450, RMS error"]
    folder = f"run folder: {tmp_path}\n"
    assert (said.out, said.err) == (
        ('{"platform": "f450"}\n', folder) if as_json else (folder, "")
    )

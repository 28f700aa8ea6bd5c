# SPDX-License-Identifier: BSD-3-Clause
"""Effects of commands on made-up flights, fits and episodes, and files that they leave alone."""

import argparse
import os
import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import pytest
from rich.console import Console

from iap_bringup.cli import (
    episode_dataset,
    evaluate,
    flight,
    identify,
    identify_rotorcraft,
    listing,
    machine,
    warm_up,
)
from iap_bringup.cli import main as program
from iap_description.errors import BadInput, IapError


def modules(monkeypatch, **content):
    """Modules that are slow to import, by their dotted names with __ for a dot."""
    for name, attributes in content.items():
        made = ModuleType(name)
        vars(made).update(attributes)
        monkeypatch.setitem(sys.modules, name.replace("__", "."), made)


@pytest.mark.parametrize(("plots", "page"), [(True, True), (True, False), (False, True)])
def test_a_flight_is_drawn_as_plots_and_a_page_where_they_are_asked_for(
    plots, page, monkeypatch, tmp_path
):
    done = []
    modules(
        monkeypatch,
        iap_bringup__plots__recorded_run={"RecordedRun": lambda folder: "run"},
        iap_bringup__plots__table={"write_plots": lambda run, report: done.append(("plots", run))},
        iap_bringup__viewing__page={
            "PAGE": "view.html", "write_page": lambda source, out: done.append((source, out)),
        },
        iap_bringup__viewing__source={"RunSource": lambda run: f"source of {run}"},
    )  # fmt: skip
    said = []
    flight._draw(tmp_path, said.append, plots=plots, page=page)
    assert done == [
        *[("plots", "run")] * plots, *[("source of run", tmp_path / "view.html")] * page,
    ]  # fmt: skip
    assert said == ["the page for browsers"] * page


def test_a_flight_that_cannot_be_drawn_is_kept(monkeypatch, tmp_path):
    def refuse(run, report):
        raise BadInput("no state")

    modules(
        monkeypatch,
        iap_bringup__plots__recorded_run={"RecordedRun": lambda folder: "run"},
        iap_bringup__plots__table={"write_plots": refuse},
    )
    with pytest.raises(IapError, match=rf"^no state; the run without its plots is in {tmp_path}$"):
        flight._draw(tmp_path, print, plots=True, page=False)


def test_the_first_docking_is_drawn_with_the_depth_of_its_latch(monkeypatch, tmp_path):
    drawn, asked = [], []
    scenario = SimpleNamespace(
        docking=SimpleNamespace(latch="l"), latches={"l": SimpleNamespace(depth=0.25)}
    )
    simulation = SimpleNamespace(scenario=scenario)
    monkeypatch.setattr(evaluate, "recording_engine", lambda task, engine: "mujoco")
    monkeypatch.setattr(
        evaluate, "simulation_of", lambda *what: asked.append(what) or nullcontext(simulation)
    )
    monkeypatch.setattr(
        evaluate, "figures",
        SimpleNamespace(approach_rows=lambda s: "rows", draw_approach=lambda *w: drawn.append(w)),
    )  # fmt: skip
    subject = SimpleNamespace(task="task", flyer=SimpleNamespace(name="script"))
    evaluate._draw(argparse.Namespace(engine="batched", seed=7), subject, tmp_path)
    assert drawn == [(tmp_path / evaluate.APPROACH, {"script, mujoco, seed 7": "rows"}, 0.25)]
    assert asked == [("task", subject.flyer, "mujoco", 7)]


@pytest.mark.parametrize("plots", [True, False])
def test_a_fit_is_kept_as_plant_metrics_and_plots_of_what_was_held_out(
    plots, monkeypatch, tmp_path
):
    drawn = []
    monkeypatch.setattr(identify, "write_plot", lambda path, draw: drawn.append(path.name))
    plant = SimpleNamespace(model_dump=lambda mode: {"b": 1, "a": [1, 2]})
    model = SimpleNamespace(plant=plant, predictors={})
    logs = SimpleNamespace(held_out=[SimpleNamespace(name="log_2"), SimpleNamespace(name="log_3")])
    identify._write(tmp_path, logs, model, {"rms": 1.0}, plots=plots)
    assert (tmp_path / identify.PLANT).read_text() == "b: 1\na: [1, 2]\n"
    assert (tmp_path / "metrics.json").is_file()
    assert drawn == (["log_2.png", "log_3.png"] if plots else [])


def test_aircraft_of_a_platform_are_identified_shown_and_kept(monkeypatch, tmp_path, capsys):
    logs = [SimpleNamespace(path=tmp_path / "run", vehicle=f"drone_{k}") for k in (1, 2)]
    model = SimpleNamespace(parameters={}, refusals={"yaw": "too little"})
    settings = SimpleNamespace(rotorcraft=SimpleNamespace(start="f450", mass=None, arm=None))
    for name, result in (
        ("load_settings", settings), ("work_bar", nullcontext()), ("identify_fleet", model),
        ("fleet_files", {"a.yaml": "x: 1\n"}), ("new_folder", nullcontext(tmp_path)), ("_show_parameters", None),
    ):  # fmt: skip
        monkeypatch.setattr(identify_rotorcraft, name, lambda *_, result=result: result)
    for as_json in (False, True):
        options = argparse.Namespace(json=as_json, assignments=[], out=None)
        assert identify_rotorcraft.identify_platform(options, logs) == 0
        said = capsys.readouterr()
        line = f"platform: {tmp_path / identify_rotorcraft.PLATFORM}\n"
        assert (said.err if as_json else said.out) == line
        assert ('"aircraft": ["drone_1", "drone_2"]' in said.out) is as_json
    assert (tmp_path / "a.yaml").read_text() == "x: 1\n" and (tmp_path / "metrics.json").is_file()


def test_a_platform_that_is_asked_for_is_shown_in_place_of_the_lists(monkeypatch, capsys):
    modules(
        monkeypatch,
        iap_bringup__terminal__platform_sheet={
            "show_platform": lambda name, console: console.print(f"sheet of {name}")
        },
    )
    options = argparse.Namespace(platform="f450", kinds=[], json=False)
    assert listing.list_all(options) == 0 and capsys.readouterr().out == "sheet of f450\n"


def test_videos_that_can_be_coded_are_named(monkeypatch):
    def video(path, rate, size):
        assert (rate, size) == (25.0, (64, 64))
        if path.suffix == machine.CODED[0]:
            raise BadInput("no codec")
        return nullcontext()

    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    monkeypatch.setattr("iap_simulation.runs.video_file.VideoFile", video)
    assert machine.video_codecs() == list(machine.CODED[1:])
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    assert machine.video_codecs() == []


def test_a_machine_draws_where_its_renderer_can_be_made(monkeypatch):
    closed = []
    monkeypatch.setattr(
        warm_up, "make_renderer", lambda name: SimpleNamespace(close=lambda: closed.append(name))
    )
    assert warm_up._can_draw() is True and closed == ["opengl"]

    def refuse(name):
        raise BadInput("no display")

    monkeypatch.setattr(warm_up, "make_renderer", refuse)
    assert warm_up._can_draw() is False


def test_opencv_is_silent_unless_somebody_asks_it_to_speak(monkeypatch):
    monkeypatch.setattr(program, "_parse_and_run", lambda arguments: 5)
    for before, after in ((None, "SILENT"), ("INFO", "INFO")):
        monkeypatch.delenv("OPENCV_LOG_LEVEL", raising=False)
        if before:
            monkeypatch.setenv("OPENCV_LOG_LEVEL", before)
        assert program.main([]) == 5 and os.environ["OPENCV_LOG_LEVEL"] == after


def test_a_bar_of_episodes_is_as_long_as_there_are_episodes():
    console = Console(width=80, force_terminal=True, color_system=None)
    with episode_dataset._bar(console) as bar:
        bar.add_task("", total=7)
        assert [type(each).__name__ for each in bar.columns][:3] == [
            "BarColumn", "MofNCompleteColumn", "TimeLeft",
        ]  # fmt: skip

# SPDX-License-Identifier: BSD-3-Clause
"""Commands hand their options on to those who do the work, and end with what these say."""

import csv
import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.cli import evaluate, images
from iap_bringup.cli.main import main, parse
from iap_description.errors import BadInput
from iap_learning.evaluation.results import Results


@pytest.fixture
def judged(monkeypatch):
    """An evaluation whose episodes are made up, and what was asked of it."""
    asked = []
    measures = {"time": np.array([2.0, 9.0])}
    results = Results(np.array([5, 6]), np.array([True, False]), ["docked", "missed"], measures)
    flyer = SimpleNamespace(name="script", flies_alone=True)
    task = SimpleNamespace(name="docking", kind="docking")
    from iap_learning.evaluation.subjects import EvaluatedPolicy

    subject = EvaluatedPolicy(task, flyer, None)
    monkeypatch.setattr(
        evaluate, "subject_of", lambda *names: asked.append(("subject", *names)) or subject
    )
    monkeypatch.setattr(
        evaluate,
        "fly_batched",
        lambda *a, **k: asked.append(("batched", list(a[2]), k["threads"])) or results,
    )
    monkeypatch.setattr(
        evaluate,
        "fly_in_engine",
        lambda *a, **k: asked.append(("engine", a[2], list(a[3]), "viewer" in k)) or results,
    )
    monkeypatch.setattr(
        evaluate,
        "recording_engine",
        lambda task, engine: "mujoco" if engine == "batched" else engine,
    )
    monkeypatch.setattr(
        evaluate,
        "record_failures",
        lambda *a: (
            asked.append(("record", a[3]))
            or {"missed": SimpleNamespace(engine=a[3], outcome="missed", folder=Path("x"))}
        ),
    )
    monkeypatch.setattr(evaluate, "kind_of", lambda task: SimpleNamespace(single_run=1))
    monkeypatch.setattr(evaluate, "_draw", lambda *a: asked.append("draw"))
    monkeypatch.setattr(
        evaluate,
        "write_video",
        lambda out, task, flyer, seeds: asked.append(("video", out, seeds)) or 7,
    )
    monkeypatch.setattr(
        evaluate, "episode_flight", lambda *a: asked.append(("flight", a[2], a[3])), raising=False
    )
    return asked


def test_an_evaluation_flies_its_seeds_records_failures_and_writes_both_files(
    judged, tmp_path, capsys
):
    out = tmp_path / "e"
    words = [
        "--episodes",
        "2",
        "--seed",
        "5",
        "--threads",
        "3",
        "--out",
        str(out),
        "--json",
        "--preset",
        "hard",
        "--set",
        "force=40.0",
    ]
    assert main(["evaluate", "script", "--task", "docking", *words]) == 0
    assert judged == [
        ("subject", "script", "docking", "hard", {"force": 40.0}),
        ("batched", [5, 6], 3),
        ("record", "mujoco"),
        "draw",
    ]
    tree = json.loads(capsys.readouterr().out)
    assert tree == json.loads((out / "evaluation.json").read_text())
    assert tree["failures"] == {
        "missed": {"episodes": 1, "first_seed": 6, "recorded": "failures/missed"}
    } or (
        tree["failures"]["missed"]["first_seed"] == 6
        and tree["failures"]["missed"]["recorded"].endswith("/missed")
    )
    assert tree["arguments"] == {
        "name": "script",
        "task": "docking",
        "preset": "hard",
        "settings": {"force": 40.0},
    }
    assert (tree["policy"], tree["engine"], tree["seed"]) == (
        {"name": "script", "sha256": None},
        "batched",
        5,
    )
    with (out / "episodes.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [row["seed"] for row in rows] == ["5", "6"] and rows[1]["outcome"] == "missed"


def test_an_evaluation_leaves_out_what_is_not_asked_for(judged, tmp_path, capsys):
    quiet = ["--no-plot", "--no-record", "--episodes", "1", "--out", str(tmp_path / "e")]
    assert main(["evaluate", "script", "--task", "docking", "--engine", "mujoco", *quiet]) == 0
    assert judged[1:] == [("engine", "mujoco", [1_000_000], False)]
    assert "{" not in capsys.readouterr().out
    tree = json.loads((tmp_path / "e" / "evaluation.json").read_text())
    assert tree["failures"]["missed"]["recorded"] is None and tree["engine"] == "mujoco"
    assert (
        main(["evaluate", "script", "--export", "x.onnx", *quiet[:-1], str(tmp_path / "f")]) == 2
    )
    assert "is no network" in capsys.readouterr().err
    video = ["--video", str(tmp_path / "v.gif"), "--seed", "9", *quiet[:-1], str(tmp_path / "g")]
    assert main(["evaluate", "script", *video]) == 0
    assert ("video", tmp_path / "v.gif", [9]) in judged and "7 pictures" in capsys.readouterr().out


def test_episodes_in_the_browser_fly_in_an_engine(judged, tmp_path, monkeypatch, capsys):
    paces = []
    monkeypatch.setattr(
        "iap_bringup.viewing.live_flight.LiveFlight",
        lambda flight, *, is_paced: paces.append(is_paced),
    )
    monkeypatch.setattr(evaluate, "live_pages", lambda *a: nullcontext())
    words = ["--view", "web", "--episodes", "2", "--no-plot", "--no-record"]
    assert main(["evaluate", "script", *words, "--out", str(tmp_path / "a")]) == 0
    assert main(["evaluate", "script", *words, "--realtime", "--out", str(tmp_path / "b")]) == 0
    assert paces == [False, True] and ("engine", "mujoco", [1_000_000, 1_000_001], True) in judged
    assert "in mujoco" in capsys.readouterr().out


def test_plots_are_all_those_that_are_named_pages_or_a_list(monkeypatch, tmp_path, capsys):
    done = []
    monkeypatch.setattr(images, "RecordedRun", lambda folder: folder)
    monkeypatch.setattr(
        images, "write_plots", lambda run, report: done.append("all") or [Path("a.png")]
    )
    monkeypatch.setattr(
        images, "write_named_plots", lambda run, names, say: done.append(names) or []
    )
    monkeypatch.setattr(
        "iap_bringup.plots.interactive.write_pages",
        lambda run, names: done.append(("pages", names)) or [],
    )
    run = str(tmp_path)
    assert main(["plot", run]) == 0 and capsys.readouterr().out == "a.png\n"
    assert (
        main(["plot", run, "errors", "pose"]) == 0 and main(["plot", run, "errors", "--html"]) == 0
    )
    assert done == ["all", ["errors", "pose"], ("pages", ["errors"])]
    assert main(["plot"]) == 2 and "which RUN" in capsys.readouterr().err
    assert main(["plot", "--list"]) == 0
    said = capsys.readouterr().out
    assert "overview" in said and "needs" in said


def rendering(tmp_path, *words):
    """Options of iap render, of a folder that is there."""
    return parse(["render", str(tmp_path), *words])


def test_render_makes_a_picture_a_video_or_all_images_again(monkeypatch, tmp_path, capsys):
    done = []
    monkeypatch.setattr(images, "_draw_picture", lambda *a: done.append(("picture", *a[1:])))
    monkeypatch.setattr(images, "_render_again", lambda options: done.append("again") or 0)
    monkeypatch.setattr(images, "_write_video", lambda options: done.append("video") or 0)
    for words in (
        [],
        ["--time", "2.5", "--out", "p.png"],
        ["--sensors", "stereo"],
        ["--scene", "x"],
        ["--workers", "2"],
        ["--set", "a=1"],
        ["--renderer", "opengl"],
        ["--spp", "4"],
        ["--video", "v.gif"],
    ):
        assert main(["render", str(tmp_path), *words]) == 0
    assert done[0][1] == tmp_path / "plots" / "picture.png" and done[1][1:] == (
        Path("p.png"),
        [2.5],
    )
    assert done[2:] == ["again"] * 6 + ["video"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--video", "v.gif", "--time", "2"], "--video: goes with neither"),
        (["--video", "v.gif", "--out", "o"], "--video: goes with neither"),
        (["--video", "v.gif", "--sensors", "stereo"], "--video: goes with neither"),
        (["--video", "v.gif", "--workers", "2"], "--workers: of images of cameras"),
        (["--scene", "x", "--time", "2"], "--time: of a picture"),
        (["--rate", "5"], "--rate: acts on nothing without --video"),
        (["--from", "1"], "--from: acts on nothing without --video"),
        (["--plot", "errors", "--scene", "x"], "--plot: acts on nothing without --video"),
        (["--fixed"], "--fixed: acts on nothing without --video"),
    ],
)
def test_options_of_other_pictures_are_refused(words, said, tmp_path, capsys):
    assert main(["render", str(tmp_path), *words]) == 2
    assert said in capsys.readouterr().err


def test_what_a_run_is_rendered_with_is_its_own_scenario_and_what_was_typed(monkeypatch, tmp_path):
    asked = []

    def resolve_again(path, **changes):
        asked.append((path, changes))
        traced = "renderer=mitsuba" in changes["assignments"]
        name = "mitsuba" if traced else "opengl"
        return SimpleNamespace(world=SimpleNamespace(light=None), renderer=name), {}

    monkeypatch.setattr(images, "resolve_again", resolve_again)
    images._resolved_again(
        rendering(tmp_path, "--set", "a=1", "--renderer", "mitsuba", "--spp", "8", "--scene", "s")
    )
    path, changes = asked[-1]
    assert (
        path == tmp_path / "config.yaml" and changes["scene"] == "s" and changes["sensors"] is None
    )
    assert changes["assignments"][:2] == ["a=1", "renderer=mitsuba"]
    assert json.loads(changes["assignments"][2].removeprefix("world.light=")) == {
        "path_tracing": {"spp": 8}
    }
    images._resolved_again(rendering(tmp_path))
    assert asked[-1][1]["assignments"] == []
    with pytest.raises(BadInput, match="--spp: of renderer mitsuba, and this one is opengl"):
        images._resolved_again(rendering(tmp_path, "--spp", "8"))


def test_images_are_rendered_again_into_a_new_folder_with_one_process_or_several(
    monkeypatch, tmp_path, capsys
):
    (tmp_path / "run").mkdir()
    done = []
    scenario = SimpleNamespace(renderer="opengl", duration=2.0, recording="rec", scenario="hover")
    monkeypatch.setattr(images, "_resolved_again", lambda options: (scenario, {"tree": 1}))
    monkeypatch.setattr(
        images, "RunReader", lambda folder: SimpleNamespace(meta=SimpleNamespace(scenario="hover"))
    )
    monkeypatch.setattr(images.report, "flight_text", lambda scenario, duration: f"{duration} s")
    monkeypatch.setattr(images, "write_contact_sheet", lambda folder: folder / "sheet.png")
    monkeypatch.setattr(
        images,
        "make_renderer",
        lambda name: SimpleNamespace(name=name, close=lambda: done.append("closed")),
    )

    def rerender(run, folder, scenario, tree, **options):
        done.append(
            (run.name, folder.name, tree, options["recording"], type(options["renderer"]).__name__)
        )
        return SimpleNamespace(count=20, seconds=4.0)

    monkeypatch.setattr(images, "rerender", rerender)
    monkeypatch.setattr(images, "chunks_of_run", lambda *a: ["c"])
    monkeypatch.setattr(images, "ProcessPool", lambda workers: done.append(("pool", workers)))

    def spread(chunks, folder, pool, say):
        folder.path.mkdir()
        return 12

    monkeypatch.setattr(images, "spread", spread)
    monkeypatch.setattr(images, "FrameFolder", lambda path: SimpleNamespace(path=path))
    monkeypatch.setattr(images, "KeptFrames", lambda folder, chunks: "frames")
    run = str(tmp_path / "run")
    assert main(["render", run, "--scene", "x", "--out", str(tmp_path / "again")]) == 0
    assert done == [("run", "again", {"tree": 1}, "rec", "SimpleNamespace"), "closed"]
    assert "20 images, 5 in a second of rendering" in capsys.readouterr().out
    assert main(["render", run, "--workers", "3", "--out", str(tmp_path / "more")]) == 0
    assert done[2:] == [("pool", 3), ("run", "more", {"tree": 1}, "rec", "str")]
    words = capsys.readouterr().out
    assert not (tmp_path / "more_frames").exists() and "20 images\n" in words
    assert words.count("in a second of rendering") == 1
    assert "rendered now: 12, " in words and " by 3 processes" in words
    assert main(["render", run, "--workers", "0"]) == 2


def test_a_study_that_is_done_and_a_vehicle_that_is_printed_end_with_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from iap_bringup.experiments import table

    asked: list[str] = []
    monkeypatch.setattr(table, "run_experiment", lambda name, **_: asked.append(name))
    assert main(["experiment", "landing"]) == 0
    assert asked == ["landing"]
    assert main(["urdf", "f450"]) == 0
    assert capsys.readouterr().out.startswith("<?xml")

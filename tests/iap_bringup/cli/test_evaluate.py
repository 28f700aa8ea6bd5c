# SPDX-License-Identifier: BSD-3-Clause
"""``./iap evaluate``: its table, its files, and what it refuses in one line."""

import csv
import json
from pathlib import Path

import cv2
import pytest
from linear_policies import docking_policy, linear_policy

from iap_bringup.cli.main import main
from iap_learning.evaluation.subjects import base_of, preset_of, subject_of
from iap_learning.tasks.kinds.registry import make_episodes


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "straight.npz"
    docking_policy(make_episodes("docking", 1)).save(path)
    return str(path)


@pytest.mark.slow
def test_an_evaluation_leaves_figures_episodes_and_a_picture(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["evaluate", policy, "--episodes", "12", "--seed", "3", "--out", str(out), "--json"]
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "evaluation.json").read_text())
    assert printed["policy"]["name"] == "straight"
    assert printed["episodes"] == 12
    assert printed["success_low"] < printed["success_rate"] <= 1.0
    assert 3.0 < printed["time_mean"] < 6.0
    with (out / "episodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["seed"]) for row in rows] == list(range(3, 15))
    assert cv2.imread(str(out / "approach.png")) is not None


def test_two_agents_are_compared_draw_by_draw(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same policy against itself has no differences; a script that docks later has less time in no episode."""
    words = ["evaluate", policy, "--episodes", "6", "--no-record", "--no-plot", "--json"]
    assert main([*words, "--against", policy, "--out", str(tmp_path / "itself")]) == 0
    itself = json.loads(capsys.readouterr().out)
    assert itself["against"]["both"] == itself["successes"] > 0
    assert itself["against"]["neither"] == 6 - itself["successes"]
    assert {m["median_difference"] for m in itself["against"]["measures"].values()} == {0.0}
    assert {m["less"] for m in itself["against"]["measures"].values()} == {0.0}
    assert main([*words, "--against", "zero", "--out", str(tmp_path / "zero")]) == 0
    beside_zero = json.loads(capsys.readouterr().out)["against"]
    assert beside_zero["name"] == "zero"
    assert beside_zero["first_alone"] == itself["successes"]
    assert beside_zero["measures"] == {}


def test_an_agent_of_another_task_is_refused_before_anything_is_flown(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--against", "hold", "--out", str(tmp_path / "out")]
    assert main(["evaluate", policy, "--episodes", "4", *words]) == 2
    assert "'platform'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_presets_are_other_tasks_for_policies_that_see_the_same(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--preset", "hard", "--no-plot", "--no-record", "--out", str(tmp_path / "out")]
    path = tmp_path / "hard.npz"
    docking_policy(make_episodes("docking_hard", 1)).save(path)
    assert main(["evaluate", str(path), "--episodes", "4", *words]) == 0
    tree = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert tree["task"] == "docking_hard"
    assert main(["evaluate", policy, "--episodes", "4", *words]) == 2
    assert "'actions_before'" in capsys.readouterr().err


def test_keys_of_a_task_and_of_its_scenario_change_what_a_policy_flies(policy: str) -> None:
    settings = {"seconds": 3.0, "settings.wind.speed": 4.0, "settings.draw.delay": 0.02}
    for name, task in (("script", "docking_hard"), (policy, None)):
        made = subject_of(name, task, None, settings).task
        assert made.seconds == 3.0
        assert made.settings == {"wind.speed": 4.0, "draw.delay": 0.02}
    usual = subject_of("arm_reach", None, None).task
    noisy = subject_of("arm_reach", None, None, {"settings.plant.noise": 0.02}).task
    assert noisy.settings == {**usual.settings, "plant.noise": 0.02}


def test_presets_are_found_from_either_side() -> None:
    assert preset_of("docking", "hard") == base_of("docking") + "_hard" == "docking_hard"
    assert preset_of("docking", "nominal") == base_of("docking_hard") == "docking"
    assert base_of("hold") == preset_of("hold", None) == "hold"


def test_a_baseline_needs_a_task_and_has_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "script"]) == 2
    assert "--task is missing" in capsys.readouterr().err
    export = ["--export", str(tmp_path / "script.onnx")]
    assert main(["evaluate", "script", "--task", "docking", *export]) == 2
    assert "is no network" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["nowhere"], "no policy 'nowhere'"),
        ([__file__], "no policy of this suite, whose files end in .npz"),
        (["POLICY", "--preset", "soft"], "task 'docking' has nominal, depth, hard"),
        (["POLICY", "--set", "forse=40"], "did you mean force?"),
        (["POLICY", "--set", "settings.wind.sped=4.0"], "wind.sped"),
        (["POLICY", "--set", "force"], "--set force: expected KEY=VALUE"),
        (["POLICY", "--episodes", "0"], "--episodes 0: at least 1"),
        (["POLICY", "--seed", "-1"], "--seed -1: at least 0"),
        (["POLICY", "--task", "hold"], "key 'platform': 'f450_dock'"),
        (["POLICY", "--video", "episode.avi"], "ends in .webm, .mp4"),
    ],
)
def test_what_cannot_be_judged_is_said_in_one_line(
    policy: str, words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *(policy if word == "POLICY" else word for word in words)]) == 2
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1


@pytest.mark.slow
@pytest.mark.usefixtures("opengl")
def test_a_video_shows_the_episode_in_its_own_time(tmp_path: Path) -> None:
    path, video = tmp_path / "hold.npz", tmp_path / "hold.mp4"
    gains = {"position_error": 6.0, "velocity": -4.0}
    linear_policy(make_episodes("hold", 1), gains=gains).save(path)
    short = tmp_path / "short.yaml"
    short.write_text("extends: hold\nseconds: 1.5\n", encoding="utf-8")
    words = ["--video", str(video), "--out", str(tmp_path / "out"), "--episodes", "1"]
    assert main(["evaluate", str(path), "--task", str(short), *words]) == 0
    found = cv2.VideoCapture(str(video))
    seconds = found.get(cv2.CAP_PROP_FRAME_COUNT) / found.get(cv2.CAP_PROP_FPS)
    assert seconds == pytest.approx(1.5, abs=0.1)

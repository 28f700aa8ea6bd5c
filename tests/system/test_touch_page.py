# SPDX-License-Identifier: BSD-3-Clause
"""The commands and the Python of docs/how_to/learn_to_touch.md, with fewer episodes than the page has."""

import json
import re
import shlex

import pytest
from pages import BLOCK, DOCS, output

from iap_bringup.cli.main import main
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_task, task_of_policy
from iap_physics.engines.make import is_installed

PAGE = (DOCS / "how_to" / "learn_to_touch.md").read_text(encoding="utf-8")
BLOCKS = BLOCK.findall(PAGE)
COMMANDS = [line for kind, _, text in BLOCKS if kind == "sh" for line in text.splitlines()]
(EXAMPLE,) = (text for kind, _, text in BLOCKS if kind == "python")
RUNS = re.findall(r"^ +(\./iap run .+)$", PAGE, re.MULTILINE)

needs_engines = pytest.mark.skipif(
    not (is_installed("mujoco") and is_installed("pybullet")), reason="without an engine"
)


def task_flown(words):
    """The task of a command that evaluates an agent, or a policy by its name."""
    if "--task" in words:
        return make_task(words[words.index("--task") + 1])
    return task_of_policy(Policy.load(words[1]))


def test_every_task_of_the_page_is_evaluated_by_a_policy_and_by_agents():
    assert len(COMMANDS) == 37 and len(RUNS) == 2
    tasks = [task_flown(shlex.split(each)[1:]).name for each in COMMANDS]
    assert all(tasks.count(name) >= 4 for name in tasks)


@needs_engines
@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_flies_one_episode_to_its_end(command, capsys):
    words = shlex.split(command)[1:]
    assert main([*words, "--episodes=1", "--no-record", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["task"] == task_flown(words).name and found["episodes"] == 1
    # an oracle goes along the bore's axis, and a gripper takes what it need not touch
    if found["task"] != "arm_pick":
        assert (found["force_peak_mean"] > 0.0) == (words[1] != "insert_oracle")


@needs_engines
@pytest.mark.slow
@pytest.mark.parametrize("command", RUNS)
def test_a_policy_of_the_page_flies_its_scenario_as_a_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)[1:]
    assert main([*words, "--duration=2", "--no-plot", "--no-view", "--out=run"]) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["outcome"] == "completed"
    assert metrics["policy"]["task"] == words[1]


@needs_engines
@pytest.mark.slow
def test_the_python_of_the_page_pushes_on_walls(tmp_path):
    (tmp_path / "example.py").write_text(EXAMPLE, encoding="utf-8")
    peaks = re.findall(r"\d+\.\d*", output(tmp_path, "example.py").splitlines()[0])
    assert len(peaks) == 4 and max(map(float, peaks)) < 15.0

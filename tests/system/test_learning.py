# SPDX-License-Identifier: BSD-3-Clause
"""The code and the tables of the pages about learning are true."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from fork_server import command_server

from iap_bringup.cli.main import main
from iap_learning.policies.policy import Policy
from iap_learning.registration import name_of
from iap_learning.tasks.kinds.platform.quantities import QUANTITIES
from iap_learning.tasks.kinds.platform.term_table import TERMS
from iap_learning.tasks.kinds.registry import task_of_policy
from iap_learning.tasks.shapes import SHAPES
from iap_learning.tasks.task import TASKS
from iap_sensors.cameras.make import make_renderer
from iap_simulation.batch.actions import KINDS

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE, HOW_TO = (
    (DOCS / name).read_text(encoding="utf-8")
    for name in ("reference/learning.md", "how_to/learn_a_task.md")
)
PAGE = REFERENCE + HOW_TO
ENVIRONMENTS, BASELINES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FILES = re.findall(r"```(?:yaml|python) file=(\S+)\n(.*?)```", PAGE, re.DOTALL)


def write_files(folder):
    for name, text in FILES:
        (folder / name).write_text(text, encoding="utf-8")


def done_in(folder, script):
    """Run a Python script in a folder with the page's files."""
    write_files(folder)
    return command_server().python(folder, script)


def output_of(code, folder):
    """Lines that an example of the page prints."""
    (folder / "example.py").write_text(code, encoding="utf-8")
    done = done_in(folder, "example.py")
    assert done.code == 0, done.error
    return done.out.splitlines()


def can_draw():
    try:
        make_renderer("opengl").close()
    except Exception:  # noqa: BLE001 - whatever keeps this machine from drawing
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(not can_draw(), reason="this machine cannot draw")
def test_environments_are_used_as_the_page_says(tmp_path):
    *successes, last = output_of(ENVIRONMENTS, tmp_path)
    (success,) = successes
    assert float(success.removeprefix("success: ")) < 0.1  # without action few hold the place
    assert last == "(16,) float32 3 (360, 480, 3)"


@pytest.mark.slow
def test_a_task_of_one_s_own_is_flown_as_the_page_says(tmp_path):
    rows = dict(line.split(" ", 1) for line in output_of(BASELINES, tmp_path))
    assert list(rows) == ["zero", "random", "controller"]
    assert eval(rows["controller"])["success_rate"] > 0.9 > eval(rows["random"])["success_rate"]


@pytest.mark.slow
def test_a_task_of_one_s_own_is_learnt_as_the_page_says(tmp_path, monkeypatch, capsys):
    """In 40 lines, better than the suite's controller, and the file flies where the task's is not."""
    pytest.importorskip("jax")
    write_files(tmp_path)
    assert sum(text.count("\n") for name, text in FILES if name.endswith("yaml")) <= 40
    monkeypatch.chdir(tmp_path)
    assert main(["train", "dashing.yaml", "--out=run", "--set=threads=1"]) == 0
    (tmp_path / "dash.yaml").unlink()
    capsys.readouterr()
    policy = ["evaluate", "run/policy.npz", "--episodes=200", "--json", "--no-record"]
    assert main(policy) == 0
    learnt = json.loads(capsys.readouterr().out)
    assert learnt["success_low"] > 0.95
    assert learnt["time_mean"] < 2.2


@pytest.mark.slow
def test_another_library_trains_as_the_page_says(tmp_path):
    done = done_in(tmp_path, "with_sb3.py")
    if find_spec("stable_baselines3") is None:
        needs = "this example needs stable_baselines3: pip install stable-baselines3\n"
        assert (done.code, done.error) == (2, needs)
        return
    assert done.code == 0, done.error
    assert task_of_policy(Policy.load(tmp_path / "sb3.npz")).name == "hold"


LIBRARIES = (DOCS / "how_to" / "train_with_a_library.md").read_text(encoding="utf-8")
SCRIPTS = dict(re.findall(r"```python file=(\S+)\n(.*?)```", LIBRARIES, re.DOTALL))
NEEDED = {
    "hold_with_sb3.py": "stable_baselines3",
    "hold_with_skrl.py": "skrl",
    "hold_with_rl_games.py": "rl_games",
    "hold_with_torchrl.py": "torchrl",
    "hold_with_sample_factory.py": "sample_factory",
    "docking_with_pettingzoo.py": "pettingzoo",
}
STEPS = {
    "docking_with_pettingzoo.py": "500"
}  # of one world, one by one; others: 20000 of 256 worlds


def test_every_script_of_a_library_is_tried():
    assert SCRIPTS.keys() == NEEDED.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
def test_a_library_trains_in_its_adapter_as_the_page_says(name, tmp_path):
    if find_spec(NEEDED[name]) is None:
        pytest.skip(f"{NEEDED[name]} is not installed")
    (tmp_path / name).write_text(SCRIPTS[name], encoding="utf-8")
    command = [sys.executable, "-P", name, STEPS.get(name, "20000")]  # some begin processes anew
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert " steps with " in done.stdout


@pytest.mark.parametrize("name", NEEDED)
def test_a_script_whose_library_is_not_installed_says_so_in_a_line(name, tmp_path):
    without = f"import sys\nsys.modules[{NEEDED[name]!r}] = None\n{SCRIPTS[name]}"
    (tmp_path / name).write_text(without, encoding="utf-8")
    done = command_server().python(tmp_path, name, "20000")
    assert done.code == 2
    assert re.fullmatch(r"this example needs [\w.]+: pip install [\w -]+\n", done.error)


def test_every_task_stands_in_the_table():
    for task in TASKS.names():
        assert f"| `{name_of(task)}` |" in PAGE


def test_names_in_the_tables_are_those_of_the_code():
    rows = dict(re.findall(r"^\| (`[^|]+`) \| (`[^|]+) \|", PAGE, re.MULTILINE))
    known = {
        "`action.kind`": KINDS,
        "`observation`": TERMS,
        "`of`, `within`, `fails_beyond`": QUANTITIES,
        "`shape`": SHAPES,
    }
    for key, names in known.items():
        assert set(re.findall(r"`(\w+)`", rows[key])) <= set(names)

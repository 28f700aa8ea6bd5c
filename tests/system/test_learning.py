# SPDX-License-Identifier: BSD-3-Clause
"""The code and the tables of docs/learning.md are true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from iap_learning.registration import name_of
from iap_learning.tasks.observations import TERMS
from iap_learning.tasks.quantities import QUANTITIES
from iap_learning.tasks.rewards import SHAPES
from iap_learning.tasks.task import TASKS
from iap_sensors.cameras.make import make_renderer
from iap_simulation.parallel.actions import KINDS

PAGE = (Path(__file__).parents[2] / "docs/learning.md").read_text(encoding="utf-8")
ENVIRONMENTS, BASELINES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FILES = re.findall(r"```yaml file=(\S+)\n(.*?)```", PAGE, re.DOTALL)


def output_of(code, folder):
    """What an example of the page prints, line by line."""
    (folder / "example.py").write_text(code, encoding="utf-8")
    for name, text in FILES:
        (folder / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "example.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def can_draw():
    try:
        make_renderer("opengl").close()
    except Exception:  # noqa: BLE001 - whatever keeps this machine from drawing
        return False
    return True


@pytest.mark.skipif(not can_draw(), reason="this machine cannot draw")
def test_environments_are_used_as_the_page_says(tmp_path):
    *successes, last = output_of(ENVIRONMENTS, tmp_path)
    (success,) = successes
    assert float(success.removeprefix("success: ")) < 0.1  # without action few hold the place
    assert last == "(16,) float32 3 (360, 480, 3)"


def test_a_task_of_one_s_own_is_flown_as_the_page_says(tmp_path):
    rows = dict(line.split(" ", 1) for line in output_of(BASELINES, tmp_path))
    assert list(rows) == ["zero", "random", "controller"]
    assert eval(rows["controller"])["success_rate"] > 0.9 > eval(rows["random"])["success_rate"]


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

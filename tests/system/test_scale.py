# SPDX-License-Identifier: BSD-3-Clause
"""The commands and the code of docs/how_to/worlds.md and sweeps.md work."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from iap_bringup.cli.main import parse
from iap_simulation.sweeps.study import Axis, Study

DOCS = Path(__file__).parents[2] / "docs/how_to"
PAGE = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in ("worlds.md", "sweeps.md"))
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_commands_are_understood():
    command, dataset, head, joins, many = re.findall(
        r"^    \./iap (.*?) *(?:#.*)?$", PAGE, re.MULTILINE
    )
    assert parse(shlex.split(head)).head is None
    assert parse(shlex.split(joins)).head == parse(shlex.split(many)).cluster == "HEAD:6379"
    assert parse(shlex.split(dataset)).seeds == 20
    options = parse(shlex.split(command))
    axes = tuple(map(Axis.of, options.vary))
    study = Study(options.scenario, axes=axes, seeds=options.seeds)
    assert study.runs == 5 * 2 * 20
    assert len(study.points()) == 10


def test_lists_are_values():
    (text,) = re.findall(r"`--vary (control\.gains\.kP=\S+)`", PAGE)
    assert len(Study("hover", axes=(Axis.of(text),)).points()) == 2


def output_of(code, folder):
    """Output of an example of the page."""
    (folder / "example.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_worlds_fly_as_the_page_says(tmp_path):
    worlds, contact, *_ = EXAMPLES
    states, seed, *felt = output_of(worlds + contact, tmp_path).splitlines()
    assert states == "(64, 4, 13) [0] [0.    1.005 1.005 0.   ]"
    assert seed == "101"
    forces, statuses = "".join(felt).split("]]")
    pushes = [float(number) for number in re.findall(r"-?\d+\.\d*", forces)][::3]
    assert statuses.strip(" []").split() == ["0"] * len(pushes) == ["0"] * 8
    assert min(pushes) == 0.0 or min(pushes) > 0.1  # a wall never pulls
    assert sum(push > 0.1 for push in pushes) >= 6


@pytest.mark.slow
def test_vehicles_and_arms_in_worlds_fly_as_the_page_says(tmp_path):
    worlds, _, fleet, arms, _ = EXAMPLES
    _, _, vehicles, *lines = output_of(worlds + fleet + arms, tmp_path).splitlines()
    assert vehicles == "['iap_1', 'iap_2'] (8, 4, 13) [0 0 0 0 0 0 0 0]"
    rows = [list(map(float, row.split())) for row in re.findall(r"\[([-\d. ]+)\]", "".join(lines))]
    joints, efforts, status = np.array(rows[:4]), np.array(rows[4:8]), rows[8]
    assert status == [0.0] * 4
    assert np.abs(joints[:, 0]).max() < 0.02
    assert (joints[:, 1:] > 0.05).all() and (
        joints[:, 1:] < 0.19
    ).all()  # on their way to 0.19 rad
    assert 0.05 < np.abs(efforts[:, 1:]).min() and np.abs(efforts).max() < 1.0


@pytest.mark.slow
def test_a_sweep_is_made_as_the_page_says(tmp_path):
    *_, sweep = EXAMPLES
    errors = eval(output_of(sweep, tmp_path))
    assert len(errors) == 6
    assert max(errors[:3]) < 1e-3 < min(errors[3:])

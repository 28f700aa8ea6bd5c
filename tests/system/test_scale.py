# SPDX-License-Identifier: BSD-3-Clause
"""The commands and the code of docs/scale.md work."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from iap_bringup.cli.main import parse
from iap_simulation.sweeps.study import Axis, Study

PAGE = (Path(__file__).parents[2] / "docs/scale.md").read_text(encoding="utf-8")


def test_the_commands_are_understood():
    command, dataset = re.findall(r"^    \./iap (.*)$", PAGE, re.MULTILINE)
    assert parse(shlex.split(dataset)).seeds == 20
    options = parse(shlex.split(command))
    axes = tuple(map(Axis.of, options.vary))
    study = Study(options.scenario, axes=axes, seeds=options.seeds)
    assert study.runs == 5 * 2 * 20
    assert len(study.points()) == 10


def test_lists_are_values():
    (text,) = re.findall(r"`--vary (control\.gains\.kP=\S+)`", PAGE)
    assert len(Study("hover", axes=(Axis.of(text),)).points()) == 2


@pytest.mark.slow
def test_the_example_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "example.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    errors = eval(done.stdout)
    assert len(errors) == 6
    assert max(errors[:3]) < 1e-3 < min(errors[3:])

# SPDX-License-Identifier: BSD-3-Clause
"""README's commands and code are what a reader will type, so they must work."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from iap_bringup.cli.main import parse
from iap_simulation.scenario.resolving import SCENARIOS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(
    {c.strip() for c in re.findall(r"\./iap ((?!test|python|COMMAND)[^`#;|\n]+)", README)}
)


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_understood(command):
    options = parse(shlex.split(command))
    if command.startswith("run ") and not options.scenario.endswith(".yaml"):
        assert options.scenario in SCENARIOS.names()


def test_files_named_are_there():
    for name in re.findall(r"\]\(([\w/.]+)\)", README):
        assert (ROOT / name).exists(), name


PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *ROOT.glob("iap_*/iap_*/**/*.py"),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_named_are_there(page):
    for name in re.findall(r"`(iap_[a-z]+(?:\.\w+)+)", page.read_text(encoding="utf-8")):
        first, *rest = name.split(".")
        homes = [ROOT.joinpath(first, first, *rest[:k]) for k in range(len(rest), 0, -1)]
        assert any(h.is_dir() or h.with_suffix(".py").is_file() for h in homes), name


@pytest.mark.slow
def test_python_example_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    position_rmse_m = float(done.stdout.splitlines()[0])
    assert position_rmse_m < 0.01

# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the checkout and a stand-in for the system's Python, to call ./iap with."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

from hang import HANG

ROOT = Path(__file__).parents[2]

# Stands for the system's Python: it has all that set-up looks for, and its venv module does what a test wants.
PYTHON = """#!/bin/sh
case "$*" in
    *'-m venv'*) {venv} ;;
    --version) echo Python 3.11.0 ;;
esac
"""


def copied_checkout(folder: Path) -> Path:
    """A copy of what set-up reads, without an environment; of the modules, only one package's: a few for all."""
    copy = folder / "checkout"
    copy.mkdir()
    shutil.copy(ROOT / "iap", copy)
    others = {p.name for p in ROOT.glob("iap_*/iap_*")} - {"iap_description"}

    def skipped(within: str, names: list[str]) -> set[str]:
        modules = others & {Path(within).name} & set(names)
        return modules | {"__pycache__", "scenarios", "sample_flight"} & set(names)

    for name in ("tools", "requirements", *(p.name for p in ROOT.glob("iap_*"))):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    return copy


def environment(tmp_path, venv):
    """A caller's environment without ROS 2, in which python3 is the stand-in."""
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    for name in ("python3", "g++", "make"):
        (programs / name).write_text(PYTHON.format(venv=venv))
        (programs / name).chmod(stat.S_IRWXU)
    kept = {k: v for k, v in os.environ.items() if k not in ("ROS_DISTRO", "PYTHONPATH", "CXX")}
    return kept | {"PATH": f"{programs}:/usr/bin:/bin"}


def call(checkout, env, cwd=None):
    return subprocess.run(
        [checkout / "iap", "list"], env=env, cwd=cwd, capture_output=True, text=True, timeout=HANG
    )

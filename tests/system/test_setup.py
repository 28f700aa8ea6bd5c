# SPDX-License-Identifier: BSD-3-Clause
"""The set-up behind ./iap: what makes it start again, and how it ends when it cannot go on."""

import os
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Stands for the system's Python: it has all that set-up looks for, and its venv module does what a test wants.
PYTHON = """#!/bin/sh
case "$*" in
    *'-m venv'*) {venv} ;;
    --version) echo Python 3.11.0 ;;
esac
"""


@pytest.fixture
def checkout(tmp_path):
    """A copy of what set-up reads, without an environment."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    shutil.copy(ROOT / "iap", copy)
    skipped = shutil.ignore_patterns("__pycache__", "scenarios", "sample_flight")
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
        [checkout / "iap", "list"], env=env, cwd=cwd, capture_output=True, text=True, timeout=60
    )


def key(checkout, part):
    command = f'root="{checkout}"; . "$root/tools/workspace.sh"; key_of_{part}'
    return subprocess.check_output(["bash", "-c", command], text=True)


def edit(path):
    with path.open("a", encoding="utf-8") as file:
        file.write("# edited\n")


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ("wheels", "requirements/core.txt"),
        ("dev", "requirements/dev.txt"),
        ("dev", "requirements/oracles.txt"),
        ("messages", "iap_msgs/msg/PlatformState.msg"),
        ("packages", "iap_bringup/setup.py"),
        ("packages", "iap_control/package.xml"),
        ("kernels", "iap_description/iap_description/kernels.py"),
        ("kernels", "iap_description/iap_description/states.py"),
    ],
)
def test_an_edit_makes_its_part_anew(checkout, part, path):
    before = key(checkout, part)
    assert key(checkout, part) == before
    edit(checkout / path)
    assert key(checkout, part) != before


def test_an_edit_of_plain_python_makes_nothing_anew(checkout):
    parts = ("python", "wheels", "messages", "packages", "kernels")
    before = [key(checkout, part) for part in parts]
    edit(checkout / "iap_description/iap_description/errors.py")
    assert [key(checkout, part) for part in parts] == before


def test_a_new_launch_file_is_linked_by_a_new_build(checkout):
    before = key(checkout, "packages")
    (checkout / "iap_bringup/launch").mkdir(exist_ok=True)
    (checkout / "iap_bringup/launch/new.launch.py").touch()
    assert key(checkout, "packages") != before


def test_a_moved_checkout_needs_a_new_environment(checkout, tmp_path):
    before = key(checkout, "python")
    moved = checkout.rename(tmp_path / "moved")
    assert key(moved, "python") != before


def test_a_path_with_a_space_is_refused_in_one_line(checkout, tmp_path):
    moved = checkout.rename(tmp_path / "check out")
    done = call(moved, environment(tmp_path, venv="exit 0"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert str(moved) in done.stderr


def test_a_failure_shows_the_step_and_its_output(checkout, tmp_path):
    env = environment(tmp_path, venv="echo no room; exit 3")
    done = call(checkout, env, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "    no room" in done.stderr.splitlines()
    assert "set-up failed at 'Python environment" in done.stderr
    assert not (checkout / ".venv/stamps/python").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_step_and_leaves_no_stamp(checkout, tmp_path, number, code):
    started = tmp_path / "started"
    env = environment(tmp_path, venv=f"touch {started}; sleep 60")
    process = subprocess.Popen(
        [checkout / "iap", "list"],
        env=env,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's & ignores it
    )
    deadline = time.monotonic() + 30
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == code
    assert errors.splitlines()[-1] == "iap: set-up interrupted; the next call goes on with it"
    assert not (checkout / ".venv/stamps/python").exists()


def test_a_second_call_waits_for_the_first(checkout, tmp_path):
    log = tmp_path / "calls"
    env = environment(tmp_path, venv=f"echo in >>{log}; sleep 1; echo out >>{log}; exit 1")
    calls = [
        subprocess.Popen([checkout / "iap", "list"], env=env, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait(timeout=30) for process in calls] == [1, 1]
    assert log.read_text().split() == ["in", "out", "in", "out"]

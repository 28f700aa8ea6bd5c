# SPDX-License-Identifier: BSD-3-Clause
"""The set-up behind ./iap: what makes it start again, and how it ends when it cannot go on."""

import os
import signal
import subprocess
import time

import pytest
from checkouts import call, environment
from hang import HANG


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


@pytest.mark.parametrize(("asked", "heard"), [("", "LOCALHOST"), ("SUBNET", "SUBNET")])
def test_nodes_hear_this_host_only_unless_the_user_wants_more(checkout, asked, heard):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "environment.sh").touch()
    script = 'root=$1; . "$root/tools/workspace.sh"; enter_environment; printenv "$2"'
    variable = "ROS_AUTOMATIC_DISCOVERY_RANGE"
    env = {key: value for key, value in os.environ.items() if key != variable}
    env |= {variable: asked} if asked else {}
    command = ["bash", "-c", script, "bash", checkout, variable]
    assert subprocess.check_output(command, text=True, env=env).strip() == heard


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


@pytest.mark.slow
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
    deadline = time.monotonic() + HANG
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == code
    assert errors.splitlines()[-1] == "iap: set-up interrupted; the next call goes on with it"
    assert not (checkout / ".venv/stamps/python").exists()


@pytest.mark.slow
def test_a_second_call_waits_for_the_first(checkout, tmp_path):
    log = tmp_path / "calls"
    env = environment(tmp_path, venv=f"echo in >>{log}; sleep 1; echo out >>{log}; exit 1")
    calls = [
        subprocess.Popen([checkout / "iap", "list"], env=env, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait(timeout=HANG) for process in calls] == [1, 1]
    assert log.read_text().split() == ["in", "out", "in", "out"]

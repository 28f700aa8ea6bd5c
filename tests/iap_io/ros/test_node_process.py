# SPDX-License-Identifier: BSD-3-Clause
"""Ends of the process of nodes: by errors in tasks, by misspelt parameters, and with the launch that started it."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from hang import HANG

from iap_io.ros.process_end import LAUNCHER

pytestmark = [pytest.mark.ros, pytest.mark.slow]
ENVIRONMENT = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}
NODE = """
import sys
from iap_io.ros.node import STEADY, SuiteNode
from iap_io.ros.process import run

class Sensor(SuiteNode):
    def __init__(self):
        super().__init__("sensor", namespace="iap")
        self.parameter("scenario", "hover", "What is flown.")
        self.parameter("gains.kP", [1.0, 2.0], "Of position.")
        self.create_timer(0.05, self._tick, clock=STEADY)

    def _tick(self):
        self.soon(self._work)

    def _work(self):
        {work}

sys.exit(run("sensor", lambda: [Sensor()]))
"""
FAILS = NODE.format(work='raise ValueError("my own bug")')
ENDS = NODE.format(work="self.exit_code = 0")
STAYS = NODE.format(work="pass")


def ended(program, *arguments, before=()):
    """Exit code and words of a node's process."""
    command = [sys.executable, "-P", "-c", program, *before, "--ros-args", *arguments]
    done = subprocess.run(
        command, env=ENVIRONMENT, capture_output=True, text=True, timeout=HANG, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_an_error_in_a_task_reaches_the_log_and_the_exit_code():
    code, words = ended(FAILS)
    assert code == 1
    assert "ValueError: my own bug" in words and "Segmentation" not in words


def test_help_starts_no_node_and_a_parameter_without_ros_args_is_refused():
    code, words = ended(STAYS, before=["--help"])
    assert code == 0
    assert words.startswith("usage: sensor [--ros-args")
    code, words = ended(STAYS, before=["scenario:=hover"])
    assert code == 2
    assert words == "sensor: scenario:=hover: parameters follow --ros-args, as -p NAME:=VALUE\n"


def test_a_misspelt_parameter_is_refused_by_name_with_the_one_that_is_meant(tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text("/iap/sensor: {ros__parameters: {gains.kp: [1.0, 1.0]}}")
    for arguments, near in (
        (["-p", "scenrio:=figure_eight"], "parameter scenrio: not known; is scenario meant?"),
        (["--params-file", str(file)], "parameter gains.kp: not known; is gains.kP meant?"),
    ):
        code, words = ended(ENDS, *arguments)
        assert code == 2 and near in words


def test_parameters_for_others_are_named_and_do_no_harm(tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text("/**: {ros__parameters: {wrench_axes: [x], use_sim_time: true}}")
    code, words = ended(ENDS, "--params-file", str(file))
    assert code == 0
    assert "parameter wrench_axes: not known here" in words and "use_sim_time" not in words


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_a_node_ends_with_the_launch_that_started_it(tmp_path):
    starter = f"""
import os, subprocess, sys, time
os.environ[{LAUNCHER!r}] = str(os.getpid())
node = subprocess.Popen([sys.executable, "-P", "-c", {STAYS!r}], stderr=subprocess.PIPE, text=True)
for line in node.stderr:
    if "ready" in line:
        break
print(node.pid, flush=True)
time.sleep(600)
"""
    launch = subprocess.Popen(
        [sys.executable, "-P", "-c", starter], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )
    pid = int(launch.stdout.readline())
    assert is_alive(pid)
    launch.send_signal(signal.SIGKILL)
    launch.wait(HANG)
    deadline = time.monotonic() + HANG
    while is_alive(pid):
        assert time.monotonic() < deadline, "an orphan goes on"
        time.sleep(0.05)

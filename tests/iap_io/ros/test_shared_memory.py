# SPDX-License-Identifier: BSD-3-Clause
"""Shared memory that a killed node leaves is freed by the next one; that of a living node stays."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from iap_io.ros.process import LOCK_AGE, MEMORY_FOLDER, remove_unused

pytestmark = [pytest.mark.ros, pytest.mark.slow]
NODE = "import rclpy; rclpy.init(); node = rclpy.create_node('one'); print(flush=True); input()"


def segments_of(pid: int) -> set[Path]:
    """The segments of Fast DDS whose locks a process holds."""
    files = {Path(os.readlink(each)) for each in Path(f"/proc/{pid}/fd").iterdir()}
    return {
        each.with_name(each.name.removesuffix("_el"))
        for each in files
        if each.parent == MEMORY_FOLDER and each.name.endswith("_el") and "_port" not in each.name
    }


def test_memory_of_a_killed_node_is_freed_and_that_of_a_living_one_stays():
    command = [sys.executable, "-c", NODE]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    nodes = [subprocess.Popen(command, **pipes) for _ in range(2)]
    try:
        for each in nodes:
            each.stdout.readline()
        of_killed, of_living = (segments_of(each.pid) for each in nodes)
        assert of_killed and of_living
        nodes[0].kill()
        nodes[0].wait()
        remove_unused()  # a lock that was made just now may be about to be taken
        assert all(each.exists() for each in of_killed | of_living)
        for each in of_killed | of_living:
            lock, long_ago = each.with_name(f"{each.name}_el"), time.time() - 2.0 * LOCK_AGE
            os.utime(lock, (long_ago, long_ago))
        assert remove_unused() >= len(of_killed)
        assert not any(each.exists() for each in of_killed)
        assert all(each.exists() for each in of_living)
    finally:
        for each in nodes:
            each.kill()
            each.communicate()

# SPDX-License-Identifier: BSD-3-Clause
"""The reference node's parameters: what it is made of, and what it refuses."""

import subprocess
import sys

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

pytestmark = [pytest.mark.nodes, pytest.mark.slow]
LINE = "{type: line, duration: 3.0, start: [0.0, 0.0, 1.0], end: [1.0, 0.0, 1.0], yaw_deg: 0.0}"


@pytest.mark.parametrize(
    ("parameters", "reasons"),
    [
        ([], ["parameter reference", "missing"]),
        (["scenario:=hover"], ["parameter scenario", "'reference'", "iap_bringup reference_node"]),
        (["reference:='{type: loop}'"], ["reference", "loop"]),
        ([f"reference:='{LINE[:-1]}, speed: 2}}'"], ["unknown key 'reference.speed'"]),
        ([f"reference:='{LINE}'", "start:=flying"], ["parameter start: 'flying'"]),
        ([f"reference:='{LINE}'", "home:='[1.0, 2.0]'"], ["parameter home: 13 numbers"]),
        ([f"reference:='{LINE}'", "aircraft_yaw_deg:='[a]'"], ["aircraft_yaw_deg: 3 numbers"]),
        ([f"reference:='{LINE}'", "offset:=[1.0]"], ["parameter offset: three numbers"]),
        ([f"reference:='{LINE}'", "offset:=[.nan, 0.0, 0.0]"], ["parameter offset"]),
    ],
)
def test_a_wrong_parameter_is_one_clear_line_and_exit_code_2(parameters, reasons):
    arguments = [word for text in parameters for word in ("-p", text)]
    node = [sys.executable, "-P", "-m", "iap_control.nodes.reference_node"]
    command = [*node, "--ros-args", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode == 2, ended.stderr
    lines = [line for line in ended.stderr.splitlines() if "[rcl]" not in line]
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("reference_node: ")
    assert all(reason in lines[0] for reason in reasons), ended.stderr

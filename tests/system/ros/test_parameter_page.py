# SPDX-License-Identifier: BSD-3-Clause
"""The page of parameters: its text about a node is a file that the node takes, with its defaults."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy

from iap_control.nodes.admittance_node import AdmittanceNode
from iap_control.nodes.controller_node import ControllerNode

pytestmark = pytest.mark.ros
TOOL = Path(__file__).parents[3] / "tools" / "documentation"


def declared(node):
    """Values of all that a node has declared; it is destroyed."""
    node.check_parameters()
    values = {name: node.get_parameter(name).value for name in node.declared}
    node.destroy_node()
    return {k: list(v) if hasattr(v, "typecode") else v for k, v in values.items()}


@pytest.mark.parametrize("kind", [ControllerNode, AdmittanceNode])
def test_the_printed_parameters_are_the_defaults_of_the_node(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    monkeypatch.syspath_prepend(TOOL)
    from node_parameters import block, noted

    rclpy.init()
    try:
        with noted() as found:
            usual = declared(kind())
    finally:
        rclpy.shutdown()
    ((name, parameters),) = found.items()
    file = tmp_path / "parameters.yaml"
    text = block(f"**/{name}", parameters)
    file.write_text(text.removeprefix("```yaml\n").removesuffix("```\n"))
    rclpy.init(args=["--ros-args", "--params-file", str(file)])
    try:
        node = kind()
        given = set(node._parameter_overrides)
        assert declared(node) == usual
    finally:
        rclpy.shutdown()
    assert given == set(parameters)

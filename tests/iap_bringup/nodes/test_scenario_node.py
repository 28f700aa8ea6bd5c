# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are made of a scenario, and the parameters that name it."""

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy

from iap_bringup.nodes.scenario_node import make_node
from iap_description.errors import BadInput
from iap_io.ros.node import SuiteNode

pytestmark = pytest.mark.ros


@pytest.fixture
def process(monkeypatch):
    """Starts ROS with parameters of the process; what nodes warn of is kept."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    warnings = []
    log = type("Log", (), {"warning": lambda _, text: warnings.append(text)})()
    monkeypatch.setattr(SuiteNode, "get_logger", lambda _: log)

    def start(*parameters):
        rclpy.init(args=["--ros-args", *(word for each in parameters for word in ("-p", each))])
        return warnings

    yield start
    rclpy.shutdown()


@pytest.mark.slow
def test_parameters_that_a_scenario_was_made_of_are_known(process):
    warnings = process("scenario:=hover", "platform:=f450", "assignments:=[duration=1.0]", "x:=1")
    node = make_node("physics_node")
    try:
        node.check_parameters()
    finally:
        node.destroy_node()
    assert warnings == ["parameter x: not known here, has no effect"]


@pytest.mark.slow
def test_a_misspelt_parameter_of_a_scenario_is_refused_with_the_one_that_is_meant(process):
    process("scenario:=hover", "assignmnts:=[duration=1.0]")
    node = make_node("physics_node")
    try:
        with pytest.raises(BadInput, match="assignmnts: not known; is assignments meant?"):
            node.check_parameters()
    finally:
        node.destroy_node()

# SPDX-License-Identifier: BSD-3-Clause
"""Nodes know their simulation and vehicle by their namespace, and tell of themselves what tools want to know."""

import time

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterDescriptor

from iap_io.ros.conversions import status_message
from iap_io.ros.node import OK, Diagnostics, SuiteNode

pytestmark = pytest.mark.ros


@pytest.fixture
def make(monkeypatch):
    """Makes nodes that nobody outside hears."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    rclpy.init()
    nodes = []

    def one(*arguments, **options):
        nodes.append(SuiteNode(*arguments, **options))
        return nodes[-1]

    yield one
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown()


@pytest.mark.parametrize(
    ("of", "namespace", "simulation", "vehicle"),
    [
        ("simulation", "", "", ""),
        ("simulation", "/lab/sim_1", "/lab/sim_1", ""),
        ("vehicle", "iap", "", "iap"),
        ("vehicle", "/sim_1/iap", "/sim_1", "iap"),
        ("vehicle", "/", "", ""),
        ("aircraft", "/iap/drone_1", "", "iap"),
        ("aircraft", "/lab/sim_1/iap/drone_1", "/lab/sim_1", "iap"),
    ],
)
def test_the_last_names_are_the_vehicle_s_and_those_before_the_simulation_s(
    make, of, namespace, simulation, vehicle
):
    node = make("node", namespace=namespace, of=of)
    assert (node.simulation, node.vehicle) == (simulation, vehicle)
    assert node.absolute("clock") == node.absolute("/clock") == f"{simulation}/clock"


def test_a_parameter_of_words_says_which_there_are(make):
    node = make("node")
    assert node.choice("pace", ("realtime", "lockstep"), "How time goes on.") == "realtime"
    described: ParameterDescriptor = node.describe_parameter("pace")
    assert described.additional_constraints == "One of: realtime, lockstep."


def test_diagnostics_are_stamped_by_the_clock_and_name_their_hardware(make):
    node, heard = make("node", namespace="/sim_1/iap", of="vehicle"), []
    statuses = [
        status_message("one", OK, "", {}),
        status_message("two", OK, "", {}, hardware="other"),
    ]
    diagnostics = Diagnostics(node, lambda: statuses)
    node.create_subscription(DiagnosticArray, "/sim_1/diagnostics", heard.append, 10)
    deadline = time.monotonic() + 60.0
    while not heard:
        assert time.monotonic() < deadline
        diagnostics.publish()
        rclpy.spin_once(node, timeout_sec=0.1)
    assert [each.hardware_id for each in heard[0].status] == ["iap", "other"]
    assert abs(heard[0].header.stamp.sec - time.time()) < 60.0

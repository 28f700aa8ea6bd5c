# SPDX-License-Identifier: BSD-3-Clause
"""A controller for PX4's topics flies an aircraft of the suite by remapping alone, each of them a process."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from autopilot_packages import built
from probe import Probe

from iap_bringup.experiments.nodes.processes import Nodes
from iap_bringup.launching.node_parameters import controller_parameters
from iap_io.ros.domains import free_domain
from iap_simulation.scenario.resolving import Options, resolve

CONTROLLER = Path(__file__).parents[2] / "support" / "outside_controller.py"
PLACE = (1.0, 1.5, -2.0)  # north, east, down [m]
HERE = np.array([1.5, 1.0, 2.0])  # the same in ENU
FLIGHT = {"scenario": "hover", "platform": "f450", "assignments": ["engine.name=closed_form"]}
REMAPPED = (
    "in/offboard_control_mode",
    "in/trajectory_setpoint",
    "in/vehicle_attitude_setpoint_v1",
    "in/vehicle_rates_setpoint",
    "out/vehicle_odometry",
)
pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]


@pytest.fixture(scope="module")
def px4_msgs(tmp_path_factory):
    return built(tmp_path_factory.mktemp("px4_msgs"), "px4_msgs")


@pytest.fixture
def flight(tmp_path, px4_msgs):
    """physics_node of an f450 and setpoint_node, on the topics of a PX4."""
    with free_domain() as domain, Nodes(tmp_path, domain) as nodes:
        nodes.environment |= px4_msgs
        probe = Probe(domain, nodes)
        try:
            probe.hear_states("iap")
            nodes.start("physics_node", {**FLIGHT, "pace": "realtime"})
            remaps = [
                each for name in REMAPPED for each in ("-r", f"/iap/fmu/{name}:=/fmu/{name}")
            ]
            parameters = {"platform": "f450", "hover_thrust": 0.5, "loss_time": 3.0}
            nodes.start(
                "setpoint_node", parameters, package="iap_control", ros_arguments=tuple(remaps)
            )
            yield nodes, probe
        finally:
            probe.close()
        codes = {key: nodes.end(key) for key in nodes.processes}
        assert not any(codes.values()), {key: nodes.log(key).read_text() for key in codes}


def outside(nodes, way):
    """Start the outside controller."""
    command = [sys.executable, str(CONTROLLER), way, *map(str, PLACE)]
    process = subprocess.Popen(command, env=nodes.environment)
    nodes.processes[way] = process
    nodes.log(way).touch()
    return process


def distance(probe):
    newest = probe.newest.get("iap")
    return np.inf if newest is None else np.linalg.norm(probe.states["iap"][newest][0, :3] - HERE)


def settles(probe, within):
    """Wait until it has come to the place, and then stays there for two seconds."""
    probe.wait(lambda: distance(probe) < within, "arrival")
    begin = probe.newest["iap"] * 1e-9
    probe.wait_for_state("iap", begin + 2.0)
    probe.wait(lambda: distance(probe) < within, "stay")


def test_attitude_and_thrust_fly_to_a_place_and_without_them_the_aircraft_holds(flight):
    nodes, probe = flight
    process = outside(nodes, "attitude")
    settles(probe, 0.15)
    process.send_signal(signal.SIGSTOP)
    try:
        lost = "the set-points of the platform are lost"
        probe.wait(lambda: probe.says("/iap/setpoint_node", lost), "loss")
        probe.wait(lambda: probe.says("physics_node: iap", "levels out and holds"), "hold")
        begin = probe.newest["iap"] * 1e-9
        probe.wait_for_state("iap", begin + 2.0)
        row = probe.states["iap"][probe.newest["iap"]][0]
        assert np.abs(row[7:13]).max() < 0.2
        assert distance(probe) < 1.0
    finally:
        process.send_signal(signal.SIGCONT)
    settles(probe, 0.15)


def test_a_point_is_flown_to_by_the_suites_controller(flight):
    nodes, probe = flight
    scenario, _ = resolve("hover", Options(platform="f450"))
    parameters = controller_parameters(scenario, scenario.vehicles[0])
    nodes.start("controller_node", parameters, namespace="/iap")
    outside(nodes, "trajectory")
    settles(probe, 0.05)

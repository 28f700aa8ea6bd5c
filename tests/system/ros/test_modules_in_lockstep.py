# SPDX-License-Identifier: BSD-3-Clause
"""In lockstep modules dock and part as nodes bit for bit as they do in one process."""

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from probe import flown_in_process, fly_recorded, largest_difference

from iap_bringup.experiments.nodes.processes import executable
from iap_msgs.msg import ModuleJoints
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
DURATION = 9.0
NEAR = (
    *(f"vehicles.{i}.start.mode=hover" for i in range(3)),
    *(f"vehicles.{i}.start.lead_in=0.0" for i in range(3)),
    "vehicles.0.offset=[-0.66, 0.0, 0.0]",
    "modules.mission=[{hover: 0.2}, {join: left}, {hover: 0.5}, {part: left}]",
)
FLIGHT = {"scenario": "module_assembly", "duration": DURATION, "assignments": list(NEAR)}
VEHICLES = ("m1", "m2", "m3")


def test_nodes_dock_and_part_as_one_process_does(start, tmp_path):
    nodes, probe = start
    scenario = resolve("module_assembly", Options(duration=DURATION, assignments=NEAR))[0]
    for vehicle in VEHICLES:
        probe.hear_states(vehicle)
    joints = probe.hear(ModuleJoints, "/joints", 5000)
    fly_recorded(nodes, probe, scenario, FLIGHT, tmp_path / "nodes")
    alone = flown_in_process(scenario)
    for vehicle in VEHICLES:
        end = max(alone[vehicle]) / 1e9
        assert end == pytest.approx(DURATION)
        assert largest_difference(probe.states[vehicle], alone[vehicle], end) == 0.0
    assert (joints[0].leaders, joints[0].followers) == (["m2", "m2"], ["m1", "m3"])
    holds = [each.holds[0] for each in joints]
    order = [a for a, b in zip(holds, [None, *holds], strict=False) if a != b]
    assert order == [0, 1, 2, 0]
    log = nodes.log("coordinator_node").read_text()
    assert "joint 'left': joined" in log
    assert "joint 'left': separation" in log


def test_a_coordinator_of_nothing_is_refused_in_one_line(refusal):
    line = refusal(executable("coordinator_node"), ["--ros-args"])
    assert "parameter coordination: missing" in line

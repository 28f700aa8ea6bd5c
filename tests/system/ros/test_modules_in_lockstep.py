# SPDX-License-Identifier: BSD-3-Clause
"""In lockstep modules dock and part as nodes, and are recorded and judged, bit for bit as in one process."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from probe import SIMULATION, fly_recorded

from iap_bringup.experiments.nodes.processes import executable
from iap_io.bags.bag_reading import raw_messages
from iap_io.runs.topics import BAG, JOINTS
from iap_msgs.msg import ModuleJoints
from iap_simulation.modules.record import FILE
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
DURATION = 4.2
QUICK = {
    "alignment.offset": 0.03,
    "alignment.hold": 0.2,
    "approach.speed": 0.2,
    "assembly.lock": 0.3,
    "assembly.settle": 0.3,
    "separation.announce": 0.2,
    "separation.speed": 0.3,
    "separation.distance": 0.7,
    "acceleration": 0.5,
}
STARTS = {
    **{f"vehicles.{i}.start.mode": "hover" for i in range(3)},
    **{f"vehicles.{i}.start.lead_in": 0.0 for i in range(3)},
    "vehicles.0.offset": [-0.66, 0.0, 0.0],
    **{f"modules.machine.{key}": value for key, value in QUICK.items()},
}
MISSION = [{"hover": 0.2}, {"join": "left"}, {"hover": 0.3}, {"part": "left"}]
NEAR = tuple(f"{key}={json.dumps(v)}" for key, v in {"modules.mission": MISSION, **STARTS}.items())
RUNS = ("nodes", "alone")
FLIGHT = {"scenario": "module_assembly", "duration": DURATION, "assignments": list(NEAR)}
VEHICLES = ("m1", "m2", "m3")


def messages(run: Path) -> dict[str, list[tuple[int, bytes]]]:
    """All that a run's bag has on joints, states, references and commands, by topics."""
    flown = {f"/{v}/{name}" for v in VEHICLES for name in ("state", "reference", "command")}
    found: dict[str, list[tuple[int, bytes]]] = {}
    for connection, stamp, data in raw_messages(run / BAG, {JOINTS, *flown}):
        found.setdefault(connection.topic, []).append((stamp, bytes(data)))
    return found


def test_nodes_dock_and_part_as_one_process_does(start, tmp_path):
    nodes, probe = start
    scenario = resolve("module_assembly", Options(duration=DURATION, assignments=NEAR))[0]
    joints = probe.hear(ModuleJoints, "/joints", 5000)
    fly_recorded(nodes, probe, scenario, FLIGHT, tmp_path / "nodes")
    settings = {"modules.mission": MISSION, **STARTS}
    record("module_assembly", folder=tmp_path / "alone", settings=settings, duration=DURATION)
    by_nodes, alone = messages(tmp_path / "nodes"), messages(tmp_path / "alone")
    assert len(alone[JOINTS]) == round(200.0 * DURATION) + 1
    assert by_nodes.keys() == alone.keys()
    for topic, said in alone.items():
        assert by_nodes[topic] == said, topic
    with np.load(tmp_path / "nodes" / FILE) as a, np.load(tmp_path / "alone" / FILE) as b:
        assert a.files == b.files
        for name in b.files:
            np.testing.assert_array_equal(a[name], b[name])
    judged = [json.loads((tmp_path / run / "metrics.json").read_text()) for run in RUNS]
    assert judged[0]["modules"] == judged[1]["modules"]
    assert judged[0]["modules"]["mission_done"]
    assert judged[0]["outcome"] == judged[1]["outcome"] == "completed"
    assert (joints[0].leaders, joints[0].followers) == (["m2", "m2"], ["m1", "m3"])
    holds = [each.holds[0] for each in joints]
    order = [a for a, b in zip(holds, [None, *holds], strict=False) if a != b]
    assert order == [0, 1, 2, 0]
    log = nodes.log(SIMULATION).read_text()
    assert "joint 'left': joined" in log
    assert "joint 'left': separation" in log


def test_a_coordinator_of_nothing_is_refused_in_one_line(refusal):
    line = refusal(executable("coordinator_node"), ["--ros-args"])
    assert "parameter coordination: missing" in line

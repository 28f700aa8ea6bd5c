# SPDX-License-Identifier: BSD-3-Clause
"""A module whose controller_node ends in flight: a neighbour leads, and the structure flies on and parts."""

import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from probe import SIMULATION, process_of, start_gathered

from iap_msgs.msg import ModuleJoints
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
KILLED, PARTS = 1.2, 3.0  # [s]
SETTINGS = (
    "modules.count=3",
    "vehicles.0.start.mode=hover",
    "vehicles.0.start.lead_in=0.0",
    "modules.machine.separation={announce: 0.2, speed: 0.3, distance: 1.25}",
    "modules.machine.acceleration=0.5",
)
PARTING = f"modules.mission=[{{hover: {PARTS}}}, {{part: j2}}]"
STAYING = "modules.mission=[{hover: 60.0}]"
PATIENT = "modules.lost_after=3.0"  # where time does not wait, controllers of a busy machine pause
LEADER = "m2.controller_node"
NAMES = ("m1", "m2", "m3")
SECOND = 1e9  # [ns]


def places(probe, stamp: int) -> np.ndarray:
    """(3, 3) of all modules at a stamp [ns]."""
    return np.array([probe.states[name][stamp][0, :3] for name in NAMES])


def newest(probe) -> int:
    """Stamp of the newest state of all [ns]."""
    return min(max(probe.states[name], default=0) for name in NAMES)


def wait_until(probe, t: float) -> None:
    probe.wait(lambda: newest(probe) > t * SECOND, f"{t} s")


def seen(probe, first: float, last: float) -> np.ndarray:
    """(times, 3, 3) places of the modules between two stamps [ns]."""
    stamps = [s for s in sorted(probe.states["m1"]) if first <= s < last]
    complete = [s for s in stamps if all(s in probe.states[name] for name in NAMES)]
    return np.array([places(probe, s) for s in complete])


def hiccup(process) -> None:
    """Let a process stand still for 50 ms."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.05)
    process.send_signal(signal.SIGCONT)


def apart(node) -> str:
    """The leader's controller in a process of its own."""
    name = node.full_name("")[1:].replace("/", ".")
    return name if name == LEADER else process_of(node)


def lose_leader(nodes, probe, pace: str, *more: str) -> int:
    """Fly three joined modules, stop the leader's controller shortly, then for good; returns the stamp of that [ns]."""
    settings = (*SETTINGS, *more)
    scenario = resolve("module_release", Options(duration=30.0, assignments=settings))[0]
    flight = {"scenario": "module_release", "duration": 30.0, "assignments": list(settings)}
    for name in NAMES:
        probe.hear_states(name)
    start_gathered(nodes, scenario, flight, apart, pace=pace)
    wait_until(probe, KILLED - 0.5)
    leader = nodes.processes.pop(LEADER)
    hiccup(leader)
    wait_until(probe, KILLED)
    assert "lost" not in nodes.log(SIMULATION).read_text()
    leader.kill()
    leader.wait()
    return newest(probe)


def test_a_structure_flies_on_and_parts_where_the_leaders_controller_ends(start):
    nodes, probe = start
    joints = probe.hear(ModuleJoints, "/joints", 5000)
    ended = lose_leader(nodes, probe, "fast", PARTING)
    wait_until(probe, PARTS)
    assert "module 'm2': lost, 'm1' leads" in nodes.log(SIMULATION).read_text()
    said = nodes.log(SIMULATION).read_text()
    assert "no commands on /m2/command: its rotors hold the last one" in said
    flown = seen(probe, ended, PARTS * SECOND)
    assert len(flown) > 100
    assert np.linalg.norm(flown - flown[0], axis=-1).max() < 0.05
    np.testing.assert_allclose(np.linalg.norm(np.diff(flown, axis=1), axis=-1), 0.52, atol=2e-3)
    probe.wait(lambda: joints[-1].holds[1] == 0, "the joint to open")
    opened = newest(probe)
    wait_until(probe, 1e-9 * opened + 1.5)
    left = seen(probe, opened, newest(probe))
    assert joints[-1].holds[0] == 2
    np.testing.assert_allclose(np.linalg.norm(left[:, 1] - left[:, 0], axis=-1), 0.52, atol=2e-3)
    assert np.linalg.norm(left[:, :2] - left[0, :2], axis=-1).max() < 0.25
    assert np.linalg.norm(left[-1, 2] - left[-1, 1]) > 0.7


def test_in_real_time_a_neighbour_leads_too(start):
    """Allow for this machine's load, on which the structure's way depends: time does not wait for commands."""
    nodes, probe = start
    joints = probe.hear(ModuleJoints, "/joints", 5000)
    ended = lose_leader(nodes, probe, "realtime", STAYING, PATIENT)
    log = nodes.log(SIMULATION)
    probe.wait(lambda: "module 'm2': lost, 'm1' leads" in log.read_text(), "a new leader")
    probe.wait(lambda: joints and list(joints[-1].holds) == [2, 2], "both joints' state")
    wait_until(probe, ended / SECOND + 0.1)
    flown = seen(probe, ended, newest(probe))
    np.testing.assert_allclose(np.linalg.norm(np.diff(flown, axis=1), axis=-1), 0.52, atol=2e-3)

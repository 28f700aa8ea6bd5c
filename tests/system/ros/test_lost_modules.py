# SPDX-License-Identifier: BSD-3-Clause
"""A module whose controller_node ends in flight: a neighbour leads, and the structure flies on and parts."""

import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from iap_msgs.msg import ModuleJoints
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
PARTS = 6.0  # [s]
SETTINGS = (
    "modules.count=3",
    f"modules.mission=[{{hover: {PARTS}}}, {{part: j2}}]",
    "vehicles.0.start.mode=hover",
    "vehicles.0.start.lead_in=0.0",
)
PATIENT = "modules.lost_after=3.0"  # where time does not wait, controllers of a busy machine pause
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


def lose_leader(nodes, probe, pace: str, *more: str) -> int:
    """Fly three joined modules, stop the leader's controller shortly, then for good; returns the stamp of that [ns]."""
    settings = (*SETTINGS, *more)
    scenario = resolve("module_release", Options(duration=30.0, assignments=settings))[0]
    flight = {"scenario": "module_release", "duration": 30.0, "assignments": list(settings)}
    for name in NAMES:
        probe.hear_states(name)
    nodes.start_flight(scenario, flight, pace=pace)
    wait_until(probe, 2.0)
    leader = nodes.processes.pop("m2.controller_node")
    hiccup(leader)
    wait_until(probe, 3.0)
    assert "lost" not in nodes.log("coordinator_node").read_text()
    leader.kill()
    leader.wait()
    return newest(probe)


def test_a_structure_flies_on_and_parts_where_the_leaders_controller_ends(start):
    nodes, probe = start
    joints = probe.hear(ModuleJoints, "/joints", 5000)
    ended = lose_leader(nodes, probe, "fast")
    wait_until(probe, PARTS)
    assert "module 'm2': lost, 'm1' leads" in nodes.log("coordinator_node").read_text()
    said = nodes.log("physics_node").read_text()
    assert "no commands on /m2/command: its rotors hold the last one" in said
    flown = seen(probe, ended, PARTS * SECOND)
    assert len(flown) > 100
    assert np.linalg.norm(flown - flown[0], axis=-1).max() < 0.05
    np.testing.assert_allclose(np.linalg.norm(np.diff(flown, axis=1), axis=-1), 0.52, atol=2e-3)
    probe.wait(lambda: joints[-1].holds[1] == 0, "the joint to open")
    opened = newest(probe)
    wait_until(probe, 1e-9 * opened + 3.0)
    left = seen(probe, opened, newest(probe))
    assert joints[-1].holds[0] == 2
    np.testing.assert_allclose(np.linalg.norm(left[:, 1] - left[:, 0], axis=-1), 0.52, atol=2e-3)
    assert np.linalg.norm(left[:, :2] - left[0, :2], axis=-1).max() < 0.25
    assert np.linalg.norm(left[-1, 2] - left[-1, 1]) > 0.7


def test_in_real_time_a_neighbour_leads_too(start):
    """Allow for this machine's load, on which the structure's way depends: time does not wait for commands."""
    nodes, probe = start
    joints = probe.hear(ModuleJoints, "/joints", 5000)
    ended = lose_leader(nodes, probe, "realtime", PATIENT)
    log = nodes.log("coordinator_node")
    probe.wait(lambda: "module 'm2': lost, 'm1' leads" in log.read_text(), "a new leader")
    assert list(joints[-1].holds) == [2, 2]
    wait_until(probe, 1e-9 * ended + 0.5)
    flown = seen(probe, ended, newest(probe))
    np.testing.assert_allclose(np.linalg.norm(np.diff(flown, axis=1), axis=-1), 0.52, atol=2e-3)

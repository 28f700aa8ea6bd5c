# SPDX-License-Identifier: BSD-3-Clause
"""Dockings as nodes: in lockstep policy_node flies what one process flies, and latches are told of."""

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from linear_policies import docking_policy
from probe import flown_in_process, fly_recorded, largest_difference

from iap_bringup.experiments.nodes.processes import executable
from iap_io.runs.run_folder import load_run
from iap_learning.episodic import make_episodes
from iap_msgs.msg import LatchState
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
VEHICLES = ("target", "chaser")


@pytest.fixture(params=["script", "learned"])
def policy(request, tmp_path):
    if request.param == "script":
        return "script"
    path = tmp_path / "straight.npz"
    docking_policy(make_episodes("docking", 1)).save(path)
    return str(path)


def test_in_lockstep_nodes_dock_as_one_process_does(start, tmp_path, policy):
    nodes, probe = start
    assignments = (f"policy={policy}", "engine.name=mujoco")
    scenario, _ = resolve("docking", Options(assignments=assignments, seed=4, duration=5.5))
    parameters = {
        "scenario": "docking",
        "assignments": list(assignments),
        "seed": 4,
        "duration": 5.5,
    }
    for vehicle in VEHICLES:
        probe.hear_states(vehicle)
    latches = probe.hear(LatchState, "/latches", 5000)
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)
    for vehicle in VEHICLES:
        end = max(in_process[vehicle]) / 1e9
        assert end > 2.0
        assert largest_difference(probe.states[vehicle], in_process[vehicle], end) == 0.0
    phases = [each.phases[0] for each in latches]
    assert latches[0].names == ["dock"]
    assert phases[0] == LatchState.PHASE_OPEN
    assert phases[-1] == LatchState.PHASE_LOCKED
    assert phases == sorted(phases)
    recorded = {each.meta.name: each for each in load_run(tmp_path / "nodes").vehicles}
    assert recorded.keys() == set(VEHICLES)
    log = nodes.log("physics_node").read_text()
    assert "latch 'dock' caught" in log
    assert "latch 'dock' locked" in log


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-p", "policy:=nowhere"], "no policy 'nowhere'"),
        (["-p", "scenario:=two_platforms", "-p", "policy:=script"], "'docking'"),
        (["-p", "scenario:=nowhere"], "unknown scenario 'nowhere'"),
    ],
)
def test_what_cannot_be_flown_is_refused_in_one_line(refusal, words, named):
    assert named in refusal(executable("policy_node"), ["--ros-args", *words])

# SPDX-License-Identifier: BSD-3-Clause
"""Policies as nodes: in lockstep policy_node flies what one process flies; latches are told of, and tasks judged."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from linear_policies import docking_policy, gripping_policy, linear_policy, onward_policy
from probe import (
    SIMULATION,
    flown_in_process,
    fly_recorded,
    largest_difference,
    start_gathered,
)

from iap_bringup.experiments.nodes.processes import executable
from iap_io.bags.bag_reading import raw_messages
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG, LATCHES
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import LatchStateMessage
from iap_learning.nodes.policy_inputs import state_topic
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_msgs.msg import LatchState
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
VEHICLES = ("target", "chaser")
NO_LEAD = ("start.lead_in=0.0",)
TOUCHING: dict[str, tuple[str, ...]] = {  # tasks -> keys of theirs by which they touch within 5 s
    "open_door": (),
    "peg_in_hole": ("reference.position", "draw.object_rpy_deg"),
    "perch_on_wall": (),
    "push_door": (),
    "push_object": (),
    "slide_along_wall": ("reference.position",),
    "turn_valve": (),
}
NO_WRENCH_CONTROL = ("control.wrench_mode=none", "control.admittance=off")


def docking(policy):
    """A scenario in which it docks, and the parameters that name it."""
    assignments = (f"policy={policy}", "engine.name=mujoco")
    flight = {"seed": 4, "duration": 12.0}
    scenario, _ = resolve("docking", Options(assignments=assignments, **flight))
    return scenario, {"scenario": "docking", "assignments": list(assignments), **flight}


def test_in_lockstep_nodes_begin_the_script_as_one_process_does(start):
    nodes, probe = start
    scenario, parameters = docking("script")
    for vehicle in VEHICLES:
        probe.hear_states(vehicle)
    start_gathered(nodes, scenario, parameters, pace="lockstep", start_paused=True)
    probe.meet()
    probe.pause(False)
    in_process = flown_in_process(scenario)
    for vehicle in VEHICLES:
        probe.wait_for_state(vehicle, 1.5)
        assert largest_difference(probe.states[vehicle], in_process[vehicle], 1.5) == 0.0


def test_in_lockstep_nodes_dock_as_one_process_does(start, tmp_path):
    nodes, probe = start
    policy = tmp_path / "straight.npz"
    docking_policy(make_episodes("docking", 1)).save(policy)
    scenario, parameters = docking(policy)
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
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["outcome"] == "completed"
    judged = metrics["docking"]
    assert judged["success"]
    assert [event["what"] for event in judged["events"]] == ["caught", "locked"]
    assert end - 0.005 <= judged["docking_time_s"] <= end + 0.005 + 1e-9
    assert judged["force_peak_n"] > 1.0
    assert metrics["policy"]["name"] == Path(policy).stem
    bag = tmp_path / "nodes" / BAG
    recorded_phases = [
        MessageReader(LatchStateMessage).read(data).phases[0]
        for _, _, data in raw_messages(bag, {LATCHES})
    ]
    assert len(recorded_phases) > 400
    assert recorded_phases[-1] == LatchState.PHASE_LOCKED
    log = nodes.log(SIMULATION).read_text()
    assert "latch 'dock' caught" in log
    assert "latch 'dock' locked" in log


def test_in_lockstep_a_policy_finds_its_way_by_images_as_in_one_process(start, tmp_path):
    nodes, probe = start
    scenario, _ = resolve("navigate", Options(engine="closed_form", seed=7))
    parameters = {"scenario": "navigate", "assignments": ["engine.name=closed_form"], "seed": 7}
    probe.hear_states("iap")
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)["iap"]
    end = max(in_process) / 1e9
    assert largest_difference(probe.states["iap"], in_process, end) == 0.0
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["outcome"] == "completed"
    assert metrics["task"]["outcome"] == "arrived"
    assert metrics["task"]["time_s"] == pytest.approx(end, abs=0.05)


def test_in_lockstep_a_pair_flies_by_the_images_of_its_chaser_as_in_one_process(start, tmp_path):
    nodes, probe = start
    assignments = ["engine.name=mujoco", "docking.success.calm_time=0.2"]
    scenario, _ = resolve("docking_depth", Options(assignments=tuple(assignments), seed=4))
    parameters = {"scenario": "docking_depth", "assignments": assignments, "seed": 4}
    for vehicle in VEHICLES:
        probe.hear_states(vehicle)
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)
    for vehicle in VEHICLES:
        end = max(in_process[vehicle]) / 1e9
        assert largest_difference(probe.states[vehicle], in_process[vehicle], end) == 0.0
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["policy"]["task"] == "docking_depth"
    assert metrics["docking"]["success"]


def test_in_lockstep_a_policy_pushes_on_a_wall_by_the_wrenches_of_messages(start, tmp_path):
    nodes, probe = start
    path = tmp_path / "push.npz"
    gains = {"force_error": 0.02, "gap": 0.3}
    linear_policy(make_episodes("wall_push", 1), gains=gains).save(path)
    assignments = [
        f"policy={path}",
        "engine.name=mujoco",
        "control.wrench_mode=none",
        "reference.position=[-1.92,0.0,2.0]",
        "start.lead_in=0.0",
    ]
    given = Options(assignments=tuple(assignments), seed=4, duration=2.0)
    scenario, _ = resolve("wall_push", given)
    parameters = {"scenario": "wall_push", "assignments": assignments, "seed": 4, "duration": 2.0}
    probe.hear_states("iap")
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)["iap"]
    end = max(in_process) / 1e9
    # the wrench comes in axes of the platform, and is turned back
    assert largest_difference(probe.states["iap"], in_process, end) < 1e-6
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["outcome"] == "completed"
    assert metrics["policy"]["task"] == "wall_push"
    assert metrics["force_max_n"] > 1.0


@pytest.mark.parametrize("task", ["push_object", "perch_on_wall"])
def test_in_lockstep_a_policy_looks_at_objects_and_latches_of_messages(start, tmp_path, task):
    nodes, probe = start
    path = onward_policy(task, tmp_path).source
    assignments = [f"policy={path}", "engine.name=mujoco", "control.wrench_mode=none"]
    flight = {"seed": 4, "duration": 2.5}
    scenario, _ = resolve(task, Options(assignments=(*assignments, *NO_LEAD), **flight))
    parameters = {"scenario": task, "assignments": [*assignments, *NO_LEAD], **flight}
    probe.hear_states("iap")
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)["iap"]
    assert largest_difference(probe.states["iap"], in_process, max(in_process) / 1e9) < 1e-6
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["policy"]["task"] == task
    assert metrics["force_max_n"] > 1.0


def test_in_lockstep_a_policy_closes_a_gripper_by_messages_as_in_one_process(start, tmp_path):
    nodes, probe = start
    task, path = make_task("arm_pick"), tmp_path / "grips.npz"
    gripping_policy(make_episodes("arm_pick", 1)).save(path)
    keys = {**task.settings, "gripper.close": None, "gripper.open": None}
    assignments = [f"policy={path}", "engine.name=mujoco"]
    assignments += [f"{key}={json.dumps(value)}" for key, value in keys.items()]
    flight = {"seed": 5, "duration": 4.0}
    scenario, _ = resolve("arm_pick", Options(assignments=tuple(assignments), **flight))
    parameters = {"scenario": "arm_pick", "assignments": assignments, **flight}
    probe.hear_states("iap")
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)["iap"]
    assert largest_difference(probe.states["iap"], in_process, max(in_process) / 1e9) < 1e-6
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["outcome"] == "completed" and metrics["policy"]["task"] == "arm_pick"
    (recorded,) = load_run(tmp_path / "nodes").vehicles
    assert recorded.columns.arm.load[-1, 0] > 0.1


@pytest.mark.parametrize("name", sorted(TOUCHING))
def test_in_lockstep_a_shipped_policy_touches_as_in_one_process(start, tmp_path, name):
    nodes, probe = start
    assignments = [f"policy={name}", "engine.name=mujoco", *NO_WRENCH_CONTROL, *NO_LEAD]
    assignments += [f"{key}={make_task(name).settings[key]}" for key in TOUCHING[name]]
    flight = {"seed": 4, "duration": 5.0}
    scenario, _ = resolve(name, Options(assignments=tuple(assignments), **flight))
    parameters = {"scenario": name, "assignments": assignments, **flight}
    probe.hear_states("iap")
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)["iap"]
    assert largest_difference(probe.states["iap"], in_process, max(in_process) / 1e9) < 1e-6
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["policy"]["name"] == name and metrics["outcome"] == "completed"
    assert metrics["force_max_n"] > 1.0


PLACES = {"position_error": 1.0, "velocity": 1.0}
SENSED: dict[
    str, tuple[dict[str, Any], dict[str, Any]]
] = {  # keys of the task, and of the scenario
    "unit": (
        {"observation": {"position_error": 1.0, "gyro": 1.0, "specific_force": 10.0}},
        {"sensors": {"imu": "px4"}},
    ),
    "lidar": (
        {
            "observation": PLACES,
            "depth": {"preset": "vlp16", "settings": {"channels": 4, "columns": 16}},
        },
        {"sensors": {"lidar": {"preset": "vlp16", "channels": 4, "columns": 16, "rate": 50.0}}},
    ),
    "measured": (
        {"observation": PLACES, "observed": "measured"},
        {"state_noise.position": 0.02, "state_noise.velocity": 0.02},
    ),
    "estimated": (
        {"observation": PLACES, "observed": "estimated", "platform": "f450"},
        {
            "sensors": {"imu": "px4", "motion_capture": "jsk"},
            "control.state_source": "capture_inertial",
        },
    ),
}


def sensing(name, folder):
    """A scenario that a policy flies by its sensors, and the parameters that name it."""
    settings, keys = SENSED[name]
    settings = {**settings, "settings": {**make_task("hold").settings, **keys}}
    episodes = make_episodes("hold", 1, settings=settings)
    path = folder / "policy.npz"
    gains = {"position_error": 1.0, "velocity": -1.5}
    linear_policy(episodes, gains=gains, settings=settings, drawn=0.02).save(path)
    assignments = [f"policy={path}", "engine.name=closed_form", "draw.position=0.2", *NO_LEAD]
    for key, value in keys.items():
        each = value.items() if isinstance(value, dict) else [("", value)]
        assignments += [f"{key}{'.' if k else ''}{k}={json.dumps(v)}" for k, v in each]
    flight = {"seed": 4, "duration": 1.5, "platform": settings.get("platform", "three_star")}
    scenario, _ = resolve("hover", Options(assignments=tuple(assignments), **flight))
    return scenario, {"scenario": "hover", "assignments": assignments, **flight}


@pytest.mark.parametrize(
    ("keys", "topic"),
    [
        ((), "state"),
        (("state_noise.position=0.01",), "state/measured"),
        (
            ("control.state_source=capture_inertial", "state_noise.position=0.01"),
            "state/estimated",
        ),
    ],
)
def test_a_pair_listens_to_the_states_that_its_controllers_would_go_by(keys, topic):
    options = Options(platform="f450", sensors="capture", assignments=keys)
    (vehicle,) = resolve("hover", options)[0].vehicles
    assert state_topic(vehicle) == topic


@pytest.mark.parametrize("name", SENSED)
def test_in_lockstep_a_policy_flies_by_the_messages_of_its_sensors_as_in_one_process(
    start, tmp_path, name
):
    nodes, probe = start
    scenario, parameters = sensing(name, tmp_path)
    probe.hear_states("iap")
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    in_process = flown_in_process(scenario)["iap"]
    assert largest_difference(probe.states["iap"], in_process, max(in_process) / 1e9) == 0.0
    metrics = json.loads((tmp_path / "nodes/metrics.json").read_text())
    assert metrics["outcome"] == "completed" and metrics["policy"]["name"] == "policy"


def test_a_sensor_that_says_nothing_is_named_by_its_topic(start, tmp_path):
    """Physics and sensors without inertial units: diagnostics and the log say what the policy waits for."""
    nodes, probe = start
    scenario, parameters = sensing("unit", tmp_path)
    (vehicle,) = scenario.vehicles
    blind = vehicle.model_copy(
        update={"sensors": vehicle.sensors.model_copy(update={"imu": None})}
    )
    without = scenario.model_copy(update={"vehicles": (blind,)})
    start_gathered(nodes, without, parameters, pace="lockstep")
    late = "waiting for /iap/imu"
    probe.wait(lambda: probe.says("/policy_node", late), "the name of the sensor")
    assert late in nodes.log(SIMULATION).read_text()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-p", "scenario:=two_platforms", "-p", "policy:=script"], "'docking'"),
        (["-p", "scenario:=nowhere"], "unknown scenario 'nowhere'"),
    ],
)
def test_what_cannot_be_flown_is_refused_in_one_line(refusal, words, named):
    assert named in refusal(executable("policy_node"), ["--ros-args", *words])

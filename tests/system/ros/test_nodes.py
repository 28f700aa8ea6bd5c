# SPDX-License-Identifier: BSD-3-Clause
"""Several vehicles, one process for all nodes, replayed bags, simple inputs, and wrong parameters."""

import signal
import subprocess
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import yaml
from geometry_msgs.msg import PoseStamped, TwistStamped
from hang import HANG
from nav_msgs.msg import Odometry
from probe import flown_in_process, largest_difference
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from iap_bringup import DATA
from iap_bringup.experiments.nodes.processes import executable
from iap_bringup.launching.node_parameters import controller_parameters
from iap_io.runs.run_folder import load_run, read_metrics
from iap_msgs.srv import Step
from iap_simulation.scenario.replays import resolve_replay
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
SAMPLE = str(DATA / "sample_flight")
PUSHING = ("wrench_topic:=wrench/filtered", "wrench_mode:=selective")
PAUSED = {"pace": "lockstep", "start_paused": True}


def test_two_platforms_fly_in_one_container_as_in_one_process(start, tmp_path):
    nodes, probe = start
    scenario, _ = resolve("two_platforms", Options(duration=0.6))
    flight = {"scenario": "two_platforms", "duration": 0.6}
    parameters = {"/physics_node": {**flight, **PAUSED}}
    entries = ["physics_node"]
    for vehicle in scenario.vehicles:
        probe.hear_states(vehicle.name)
        space = f"/{vehicle.name}"
        parameters[f"{space}/controller_node"] = controller_parameters(scenario, vehicle)
        parameters[f"{space}/reference_node"] = dict(flight)
        entries += [f"controller_node@{space}", f"reference_node@{space}"]
    file = tmp_path / "nodes.yaml"
    file.write_text(yaml.safe_dump({k: {"ros__parameters": v} for k, v in parameters.items()}))
    nodes.start(
        "sim_container",
        arguments=("--nodes", *entries),
        ros_arguments=("--params-file", str(file)),
    )
    for name in ("iap_1", "iap_2"):
        probe.wait_for_state(name, 0.0)
    probe.pause(False)
    for name in ("iap_1", "iap_2"):
        probe.wait_for_state(name, 0.6)
    in_process = flown_in_process(scenario)
    for name in ("iap_1", "iap_2"):
        assert largest_difference(probe.states[name], in_process[name], 0.6) == 0.0


def test_a_bag_is_played_as_replay_flies_it(start):
    nodes, probe = start
    replay = {"path": SAMPLE, "topic": None, "actual_topic": None, "convention": None}
    scenario, _ = resolve_replay(replay, Options(duration=1.5))
    probe.hear_states("iap")
    nodes.start_flight(scenario, {"bag": SAMPLE, "duration": 1.5}, **PAUSED)
    probe.wait_for_state("iap", 0.0)
    probe.pause(False)
    probe.wait_for_state("iap", 1.5)
    in_process = flown_in_process(scenario)["iap"]
    assert largest_difference(probe.states["iap"], in_process, 1.5) == 0.0


def test_a_recording_ends_readable_with_a_reset_and_with_an_interrupt(start, tmp_path):
    nodes, probe = start
    scenario, _ = resolve("hover", Options())
    probe.hear_states("iap")
    recorder = {
        "scenario": "hover",
        "out": str(tmp_path / "run"),
        "plot": False,
        "end_pause": True,
    }
    nodes.start("recorder", recorder)
    nodes.start_flight(scenario, {"scenario": "hover"}, **PAUSED)
    probe.wait_for_state("iap", 1.0)
    probe.reset()
    probe.wait(lambda: probe.newest["iap"] < 1_000_000_000, "the reset")
    probe.wait_for_state("iap", 2.0)
    assert nodes.end("recorder") == 0
    for name, least in (("run", 1.0), ("run-2", 2.0)):
        metrics = read_metrics(tmp_path / name)
        assert metrics["outcome"] == "interrupted"
        assert metrics["duration_s"] >= least - 0.1
        assert metrics["position_rmse_m"] < 0.01
        assert load_run(tmp_path / name).vehicles[0].columns.t[0] == 0.0


def test_who_comes_while_time_stands_sees_where_it_stands(start):
    """Nobody commands the platform, so that its time does not begin; clock, odometry and more come nevertheless."""
    nodes, probe = start
    settings = {"scenario": "hover", "assignments": ["engine.name=closed_form"]}
    probe.hear_states("iap")
    nodes.start("physics_node", settings)
    probe.wait_for_state("iap", 0.0)
    kinds = {
        "/clock": Clock,
        "/iap/odom": Odometry,
        "/iap/joint_states": JointState,
        "/iap/markers": MarkerArray,
    }
    for repeat in range(2):  # the second one is there when the first has had all of its repeats
        heard = {topic: probe.hear(kind, topic) for topic, kind in kinds.items()}
        probe.wait(lambda: all(heard.values()), f"the topics of newcomer {repeat}")  # noqa: B023
    assert set(probe.states["iap"]) == {0}


def test_a_pose_or_a_velocity_alone_moves_the_platform(start):
    nodes, probe = start
    settings = {"scenario": "hover", "assignments": ["engine.name=closed_form"]}
    probe.hear_states("iap")
    nodes.start("controller_node")
    nodes.start("physics_node", {**settings, "pace": "fast"})
    poses = probe.node.create_publisher(PoseStamped, "/iap/reference/pose", 10)
    twists = probe.node.create_publisher(TwistStamped, "/iap/reference/twist", 10)
    probe.wait(lambda: poses.get_subscription_count() and "iap" in probe.newest, "nodes")

    pose = PoseStamped()
    pose.pose.position.x, pose.pose.position.z = 0.4, 1.8

    def has_arrived() -> bool:
        poses.publish(pose)
        base = probe.states["iap"][probe.newest["iap"]][0]
        return bool(np.abs(base[:3] - [0.4, 0.0, 1.8]).max() < 0.01)

    probe.wait(has_arrived, "the pose")

    twist = TwistStamped()
    twist.twist.linear.y = 0.5

    def has_moved() -> bool:
        twists.publish(twist)
        return bool(probe.states["iap"][probe.newest["iap"]][0][1] > 0.4)

    probe.wait(has_moved, "motion along y")


@pytest.mark.parametrize(
    ("node", "parameters", "reasons"),
    [
        ("physics_node", ["scenario:=nowhere"], ["unknown scenario 'nowhere'"]),
        ("physics_node", ["scenrio:=figure_eight"], ["parameter scenrio", "is scenario meant?"]),
        ("controller_node", ["gains.kp:=[1.0, 1.0, 1.0]"], ["gains.kp", "is gains.kP meant?"]),
        ("physics_node", ["pace:=slow"], ["parameter pace: 'slow'", "lockstep"]),
        ("physics_node", ["seed:=many"], ["seed"]),
        ("physics_node", ["assignments:=[wind.sped=3]"], ["unknown key 'wind.sped'"]),
        ("controller_node", ["gains.kP:=[1.0]"], ["gains.kP"]),
        ("controller_node", ["gains.yaml:='kP: 3'"], ["parameter gains.yaml"]),
        ("controller_node", ["wrench_mode:=paper"], ["parameter wrench_topic", "wrench_mode"]),
        ("controller_node", ["wrench_mode:=hybrid"], ["'hybrid'", "none, paper, selective"]),
        ("controller_node", ["platform:=f450", *PUSHING], ["vehicle 'iap': axis 'x'"]),
        ("controller_node", [*PUSHING, "push:='force: 3'"], ["parameter push", "force"]),
        ("admittance_node", ["wrench_topic:=''"], ["parameter wrench_topic"]),
        ("admittance_node", ["gains.admittance.M:=[1.0, 0.0]"], ["gains.admittance.M"]),
        ("wrench_observer_node", ["gain:=-1.0"], ["gain"]),
        ("wrench_observer_node", ["autopilot.rate:=[1.0]"], ["autopilot.rate", "three numbers"]),
        ("controller_node", ["scenario:=hover"], ["parameter scenario", "takes 'platform'"]),
        ("controller_node", ["law:=no_such:Law"], ["key 'law'", "module 'no_such'"]),
        ("admittance_node", ["scenario:=hover"], ["parameter scenario", "takes 'platform'"]),
        ("reference_node", ["scenario:=two_platforms"], ["iap_1, iap_2"]),
        ("bag_player", ["scenario:=hover"], ["bag"]),
        ("bag_player", ["bag:=/nowhere.bag"], ["/nowhere.bag"]),
        ("recorder", ["out:=/proc/run"], ["/proc/run"]),
        ("physics_node", ["scenario"], ["--ros-args", "scenario"]),
    ],
)
def test_a_wrong_parameter_is_one_clear_line_and_exit_code_2(refusal, node, parameters, reasons):
    arguments = [word for text in parameters for word in ("-p", text)]
    line = refusal(executable(node), ["--ros-args", *arguments])
    assert line.startswith(f"{node}: ")
    assert all(reason in line for reason in reasons), line


def flies(second, probe):
    """True if a process that would be a second simulation becomes one; False once it has ended."""
    probe.wait(
        lambda: second.poll() is not None or probe.node.count_publishers("/clock") > 1,
        "the end of the second, or its clock",
    )
    return second.poll() is None


def test_a_second_simulation_at_one_root_refuses_to_start(start):
    """Both would publish the same states, and crash; in a namespace it is one of its own."""
    nodes, probe = start
    settings = {"scenario": "hover", "assignments": ["engine.name=closed_form"], **PAUSED}
    nodes.start("physics_node", settings)
    probe.wait(lambda: probe.says("physics_node: simulation", "paused"), "the first")
    command = [str(executable("physics_node")), "--ros-args", "-p", "scenario:=hover"]
    for _ in range(5):  # on a busy machine the middleware may take longer to find the first
        second = subprocess.Popen(
            command, env=nodes.environment, stderr=subprocess.PIPE, text=True
        )
        if not flies(second, probe):
            break
        second.terminate()
        second.wait(HANG)
        probe.wait(lambda: probe.node.count_publishers("/clock") == 1, "the first alone")
    words = second.communicate()[1]
    assert second.returncode == 2, words
    assert "/clock is published by another simulation" in words
    assert "namespace:=NAME" in words
    nodes.start("physics_node", settings, namespace="/sim_2")
    probe.hear_diagnostics("/sim_2")
    probe.wait(lambda: probe.node.count_publishers("/sim_2/clock"), "one in a namespace")


def test_steps_that_nobody_answers_end_and_name_who_is_silent(start):
    nodes, probe = start
    settings = {"scenario": "hover", "assignments": ["engine.name=closed_form"], **PAUSED}
    nodes.start("physics_node", {**settings, "step_timeout": 3.0})
    client = probe.node.create_client(Step, "/step")
    probe.wait(client.service_is_ready, "service step")
    answer = client.call_async(Step.Request(steps=5))
    missing = "waiting for /iap/command stamped 0.000 s"
    probe.wait(lambda: probe.says("physics_node: simulation", missing), "who is silent")
    probe.wait(answer.done, "answer")
    assert not answer.result().success
    silence = "no /iap/command stamped 0.000 s within 3 s, with 5 steps to go"
    assert answer.result().message == silence


def test_a_container_knows_its_nodes():
    command = [str(executable("sim_container")), "--nodes", "physics_node", "robot_node"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert ended.returncode == 2
    assert "unknown node 'robot_node'" in ended.stderr


def test_interrupts_in_quick_succession_end_a_node_once(start):
    """The terminal sends one to every process, and launch another one."""
    nodes, probe = start
    key = nodes.start("reference_node", {"scenario": "hover"}, namespace="/iap")
    probe.wait(lambda: probe.node.count_publishers("/iap/reference"), "the node")
    process = nodes.processes[key]
    for _ in range(200):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.002)
    assert process.wait(HANG) == 0, nodes.log(key).read_text()

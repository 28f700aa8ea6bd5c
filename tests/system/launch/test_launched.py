# SPDX-License-Identifier: BSD-3-Clause
"""Launch files launched: the nodes that they start fly, record and end; what fails has an exit code."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from hang import HANG

from iap_io.runs.run_folder import load_run
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_simulation.scenario.resolving import SCENARIOS, Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
SAMPLE = Path(__file__).parents[3] / "iap_bringup" / "iap_bringup" / "data" / "sample_flight"
RECORDED = {"pace": "lockstep", "record": "true"}
VARIANTS = {
    "container": {"use_container": "true", "sensors": "imu,uwb"},
    "sensing": {"sensors": "imu,lidar", "scene": "textured_walls", "namespace": "lab/sim_1"},
    "depth": {"sensors": "depth_rays", "scene": "textured_walls"},
    "replay": {"bag": str(SAMPLE)},
}

FRONT_ENDS = {  # launch files of others that include the suite's
    "xml": """\
<launch>
  <arg name="folder"/>
  <include file="$(find-pkg-share iap_bringup)/launch/sim.launch.py">
    <arg name="pace" value="lockstep"/>
    <arg name="duration" value="1.0"/>
    <arg name="record" value="true"/>
    <arg name="out" value="$(var folder)"/>
  </include>
</launch>
""",
    "yaml": """\
launch:
- arg: {name: folder}
- include:
    file: $(find-pkg-share iap_bringup)/launch/sim.launch.py
    arg:
    - {name: pace, value: lockstep}
    - {name: duration, value: "1.0"}
    - {name: record, value: "true"}
    - {name: out, value: $(var folder)}
""",
}


def has_rviz():
    from ament_index_python.packages import get_packages_with_prefixes

    return "rviz2" in get_packages_with_prefixes()


def until(holds, launched, what):
    deadline = time.monotonic() + HANG
    while not holds():
        assert time.monotonic() < deadline, f"{what}: {launched.said}"
        time.sleep(0.1)


def wait_for_flight(launched):
    from probe import Probe  # here, so that the module can be collected where there is no ROS 2

    probe = Probe(launched.domain)
    probe.hear_states("iap")
    probe.wait_for_state("iap", 0.5)
    probe.close()


@pytest.mark.parametrize("scenario", SCENARIOS.names())
def test_every_scenario_starts_and_ends(launch, tmp_path, scenario):
    out, file = tmp_path / "run", tmp_path / "mine.yaml"
    file.write_text("/recorder: {ros__parameters: {plot: false}}\n")
    resolved, _ = resolve(scenario, Options())
    modules, faults = resolved.modules, resolved.vehicles[0].faults
    has_goal = bool(resolved.docking or resolved.policy or (modules and modules.mission))
    soon = ";".join(f"faults.{k}.at=0.5" for k in range(len(faults)))
    given = {"duration": "1.0", "out": str(out), "params_file": str(file), **RECORDED}
    flight = launch("sim", scenario=scenario, set=soon, **given)
    assert flight.end() == has_goal, flight.said  # which a second does not reach
    assert not (out / "plots").exists()
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["outcome"] in (["not_docked", "not_arrived"] if has_goal else ["completed"])
    assert metrics["duration_s"] == pytest.approx(1.0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_launched_flight_is_recorded_whole(launch, tmp_path, variant):
    out = tmp_path / "run"
    name = "replay" if variant == "replay" else "sim"
    given = {"duration": "4.0", "out": str(out), **RECORDED, **VARIANTS[variant]}
    flight = launch(name, **given)
    assert flight.end() == 0, flight.said
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["outcome"] == "completed"
    assert metrics["position_rmse_m"] < 0.02
    sensors = load_run(out).meta.sensors
    assert bool(sensors) == ("sensors" in VARIANTS[variant])
    kept = {reading.source.topic for reading in read_sensors(out / "bag", sensors)}
    assert kept == {sensor.topic for sensor in sensors}
    left = [path.name for path in (tmp_path / "launch_0").iterdir()]
    assert not [name for name in left if name.startswith(("iap_launch_", "launch_params_"))]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_launch_file_in_xml_or_yaml_includes_the_simulation(launch, tmp_path, front_end):
    file, out = tmp_path / f"mine.launch.{front_end}", tmp_path / "run"
    file.write_text(FRONT_ENDS[front_end])
    flight = launch(file, folder=str(out))
    assert flight.end() == 0, flight.said
    assert json.loads((out / "metrics.json").read_text())["outcome"] == "completed"
    assert not flight.nodes()


def test_a_node_that_is_killed_ends_the_launch_with_an_error(launch, tmp_path):
    out = tmp_path / "run"
    flight = launch("sim", scenario="hover", out=str(out), record="true")
    wait_for_flight(flight)
    (controller,) = flight.nodes("controller_node")
    os.kill(controller, signal.SIGKILL)
    assert flight.end() == 1
    assert "controller_node-2 ended with exit code -9" in flight.said
    assert not flight.nodes()


def test_a_node_that_is_killed_comes_back_where_that_is_asked_for(launch, tmp_path):
    out = tmp_path / "run"
    given = {"respawn": "true", "record": "true", "out": str(out), "duration": "600.0"}
    flight = launch("sim", scenario="hover", **given)
    wait_for_flight(flight)
    (controller,) = flight.nodes("controller_node")
    os.kill(controller, signal.SIGKILL)
    until(lambda: set(flight.nodes("controller_node")) - {controller}, flight, "another one")
    until(lambda: "commands on /iap/command again" in flight.said, flight, "commands")
    assert flight.interrupt() == 0, flight.said
    assert json.loads((out / "metrics.json").read_text())["outcome"] == "interrupted"


def test_an_interrupt_of_the_launch_alone_ends_its_nodes_too(launch, tmp_path):
    """As by a supervisor that knows one process: launch sends SIGTERM to its nodes after 5 s, and nothing is lost."""
    out = tmp_path / "run"
    flight = launch("sim", scenario="hover", record="true", out=str(out), duration="600.0")
    wait_for_flight(flight)
    flight.process.send_signal(signal.SIGINT)
    assert flight.end() == 0, flight.said
    assert not flight.nodes()
    assert json.loads((out / "metrics.json").read_text())["outcome"] == "interrupted"


def test_wrong_parameters_end_the_launch_although_nodes_come_back(launch, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("/iap/controller_node: {ros__parameters: {law: no_such_law}}\n")
    flight = launch("sim", respawn="true", params_file=str(file))
    assert flight.end() == 1
    assert "no_such_law" in flight.said
    assert not flight.nodes()


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("sim", {"scenario": "nope"}, "unknown scenario 'nope'"),
        ("sim", {"params_file": "/nowhere.yaml"}, "/nowhere.yaml"),
        ("sim", {"discovery": "moon"}, "moon"),
        ("sim", {"scenarios": "wall_push"}, "is scenario:= meant?"),
        ("teleop", {"vehicel": "m1"}, "is vehicle:= meant?"),
        ("replay", {"scenario": "hover"}, "scenario:=hover has no effect here"),
        ("teleop", {"reference": "true"}, "reference:=true has no effect here"),
        ("localization", {"rate": "fast"}, "rate:=fast: a number is expected"),
        ("sim", {"rviz": "true"}, "rviz:=true: package 'rviz2' is not installed"),
    ],
)
def test_what_cannot_be_launched_is_refused_before_anything_starts(launch, name, given, reason):
    if "rviz" in given and has_rviz():
        pytest.skip("rviz2 is installed here")
    flight = launch(name, **given)
    assert flight.end() == 1
    assert reason in flight.said
    assert "process started" not in flight.said

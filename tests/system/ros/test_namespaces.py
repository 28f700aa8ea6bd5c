# SPDX-License-Identifier: BSD-3-Clause
"""Two simulations in namespaces of one domain: neither hears the other, and each flies as alone.

A topic of one is remapped, which its recorder follows.
"""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from iap_bringup.launching.flight_nodes import flight_nodes
from iap_bringup.launching.launch_arguments import PARAMETERS, flight_parameters, resolve_flight
from iap_bringup.launching.parameter_files import parameters_text
from iap_io.runs.run_folder import load_run, read_metrics
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
DURATION = 0.8
IMU, DATA = "/iap/imu", "/iap/imu/data"  # as it is called here, and in REP 145
APART, TOGETHER = "/sim_1", "/lab/sim_2"
FLIGHTS = {
    APART: {"scenario": "figure_eight_windy", "duration": DURATION},
    TOGETHER: {"scenario": "wall_push", "sensors": "imu,uwb", "duration": DURATION},
}
ROOT_TOPICS = {"/rosout", "/parameter_events"}  # of rclpy itself, for all nodes of a domain


def resolved(flight):
    return resolve(
        flight["scenario"], Options(**{k: v for k, v in flight.items() if k != "scenario"})
    )


def fly_apart(nodes, flight, simulation, out):
    """Start a process for each node of a flight; returns the key of the recorder."""
    scenario, _ = resolved(flight)
    paused = {"pace": "lockstep", "start_paused": True}
    nodes.start_flight(scenario, flight, simulation=simulation, **paused)
    recorder = {**flight, "out": str(out), "plot": False, "end_pause": True}
    return nodes.start("recorder", recorder, namespace=simulation)


def fly_together(nodes, flight, simulation, out):
    """Start one process for all nodes of a flight; returns its key."""
    given = {name: str(default) for name, (default, _) in PARAMETERS.items()}
    given |= {key: str(value) for key, value in flight.items()}
    given |= {"set": "", "pace": "lockstep", "record": "true", "reference": "true"}
    given |= {"out": str(out), "localization": ""}
    values = flight_parameters(given)
    launched = flight_nodes(resolve_flight(values)[0], values, given)
    file = out.with_suffix(".yaml")
    file.write_text(parameters_text({n.full_name(simulation): n.parameters for n in launched}))
    entries = [f"{node.executable}@{simulation}/{node.space}".rstrip("/") for node in launched]
    return nodes.start(
        "sim_container",
        arguments=("--nodes", *entries),
        ros_arguments=("--params-file", str(file), "-r", f"{simulation}{IMU}:={simulation}{DATA}"),
    )


def test_two_simulations_keep_to_themselves_and_fly_as_one_process_does(start, tmp_path):
    nodes, probe = start
    folders = {space: tmp_path / space.rpartition("/")[2] for space in FLIGHTS}
    keys = [
        fly(nodes, FLIGHTS[space], space, folders[space])
        for fly, space in ((fly_apart, APART), (fly_together, TOGETHER))
    ]
    seen, services = set(), set()

    def have_ended():
        names = {name for name, _ in probe.node.get_topic_names_and_types()}
        seen.update(name for name in names if probe.node.count_publishers(name))
        services.update(name for name, _ in probe.node.get_service_names_and_types())
        return None not in [nodes.processes[key].poll() for key in keys]

    probe.wait(have_ended, "end of the recorders")
    assert [nodes.processes[key].returncode for key in keys] == [0, 0]
    assert {f"{space}/{name}" for space in FLIGHTS for name in ("clock", "iap/state")} < seen
    assert {name for name in seen if not name.startswith(tuple(FLIGHTS))} <= ROOT_TOPICS
    assert f"{TOGETHER}{DATA}" in seen
    assert f"{TOGETHER}{IMU}" not in seen
    offered = {f"{space}/{name}" for space in FLIGHTS for name in ("reset", "pause", "step")}
    assert offered < services
    assert all(name.startswith((*FLIGHTS, "/probe/")) for name in services)

    for space, flight in FLIGHTS.items():
        alone = tmp_path / f"alone_{folders[space].name}"
        alone.mkdir()
        scenario, config = resolved(flight)
        execute(Flight.of(scenario), alone, config)
        ours, theirs = load_run(folders[space]), load_run(alone)
        for name in ("t", "x", "reference", "aircraft"):
            a, b = (getattr(run.vehicles[0].columns, name) for run in (ours, theirs))
            np.testing.assert_array_equal(a, b, err_msg=f"{space} {name}")
        assert read_metrics(folders[space])["outcome"] == "completed"
        read = [
            sum(1 for _ in read_sensors(folder / "bag", run.meta.sensors))
            for folder, run in ((folders[space], ours), (alone, theirs))
        ]
        assert read[0] == read[1]
        assert bool(read[0]) == ("sensors" in flight)

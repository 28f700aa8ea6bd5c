# SPDX-License-Identifier: BSD-3-Clause
"""Flights of nodes on an estimate that is lost: the vehicle comes down or is held, and no outcome says completed."""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from hang import HANG
from probe import process_of, start_gathered

from iap_bringup.launching.launch_arguments import PARAMETERS, resolve_flight
from iap_io.runs.run_folder import read_metrics

pytestmark = [
    pytest.mark.ros,
    pytest.mark.nodes,
    pytest.mark.slow,
    pytest.mark.usefixtures("opengl"),
]
SMALL = {"width": 320, "height": 240, "fx": 160.0, "fy": 160.0, "cx": 159.5, "cy": 119.5}
ESTIMATOR = "virpo_node"
START = np.array([0.0, 0.0, 1.5])  # of scenario hover


def flight(duration, **camera):
    """The parameters of a quadrotor that hovers on what its cameras see."""
    assignments = [
        f"sensors.cameras.{side}.{key}={value}"
        for side in ("left", "right")
        for key, value in (SMALL | camera).items()
    ]
    return {
        "scenario": "hover",
        "platform": "f450",
        "sensors": "stereo",
        "scene": "textured_walls",
        "state_source": "vio",
        "duration": duration,
        "assignments": [*assignments, "recording.euroc=false"],
    }


def process(node):
    """The estimator may be killed alone, and images are drawn beside the plant, for which time may not wait."""
    alone = node.executable in ("camera_node", ESTIMATOR)
    return node.executable if alone else process_of(node)


def begin(nodes, probe, flown, folder, pace):
    """Start the nodes of a recorded flight."""
    defaults = {name: default for name, (default, _) in PARAMETERS.items()}
    scenario, _ = resolve_flight(defaults | flown)
    probe.hear_states("iap")
    recorder = {**flown, "out": str(folder), "plot": False, "end_pause": True}
    nodes.start("recorder", recorder)
    start_gathered(nodes, scenario, flown, process, pace=pace, start_paused=True)


def metrics_at_end(nodes, probe, folder, code=1):
    """The metrics of a flight once its recorder has ended, with the exit code of a failed one or another."""
    recorder = nodes.processes["recorder"]
    probe.wait(lambda: recorder.poll() is not None, "the end of the flight")
    assert nodes.processes.pop("recorder").returncode == code
    return read_metrics(folder)


def test_in_the_dark_a_quadrotor_of_nodes_lands_and_says_so(start, tmp_path):
    nodes, probe = start
    begin(nodes, probe, flight(8.0, exposure=-20), tmp_path / "run", "lockstep")
    metrics = metrics_at_end(nodes, probe, tmp_path / "run")
    assert metrics["outcome"] == "lost"
    health = metrics["methods"]["vio"]["health"]
    assert health["tracks_min"] == 0
    assert health["blind_max_s"] > 2.0
    *_, values = probe.statuses["/iap/controller_node"]
    assert "nothing seen for 2." in values["estimate_lost"]
    down = probe.states["iap"][probe.newest["iap"]][0]
    assert down[2] < 0.5
    assert np.linalg.norm(down[:2] - START[:2]) < 1.0


def test_cameras_that_fall_silent_hold_a_flight_in_lockstep_up_once(start, tmp_path):
    nodes, probe = start
    flown = flight(3.0)
    left, right = (
        f"{{at: 1.0, for: 1.0, output: silent, sensor: {side}}}" for side in ("left", "right")
    )
    flown["assignments"] += [f"faults=[{left}, {right}]"]
    begin(nodes, probe, flown, tmp_path / "run", "lockstep")
    metrics = metrics_at_end(nodes, probe, tmp_path / "run", code=0)
    assert metrics["outcome"] == "completed"
    method = metrics["methods"]["vio"]
    assert method["health"]["blind_max_s"] == pytest.approx(1.0, abs=0.1)
    assert [each["what"] for each in method["events"]] == ["vision lost", "vision regained"]
    lost, regained = (each["t_s"] for each in method["events"])
    assert lost == pytest.approx(1.0, abs=0.15)
    # a busy machine's images are late once states do not wait for them
    assert 1.95 <= regained < 3.0
    text = nodes.log("iap").read_text()
    assert text.count("states no longer wait for it") == 1, text


def test_a_killed_estimator_leaves_a_vehicle_that_is_held(start, tmp_path):
    nodes, probe = start
    begin(nodes, probe, flight(60.0), tmp_path / "run", "realtime")
    probe.wait_for_state("iap", 1.0)
    estimator = nodes.processes.pop(ESTIMATOR)
    estimator.send_signal(signal.SIGKILL)
    estimator.wait(HANG)
    assert metrics_at_end(nodes, probe, tmp_path / "run")["outcome"] == "lost"
    ended = probe.newest["iap"]
    probe.wait_for_state("iap", 1e-9 * ended + 3.0)
    held = probe.states["iap"][probe.newest["iap"]][0]
    assert np.linalg.norm(held[:3] - START) < 0.5
    assert np.linalg.norm(held[7:10]) < 0.2

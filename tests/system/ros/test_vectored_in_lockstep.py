# SPDX-License-Identifier: BSD-3-Clause
"""In lockstep the nodes fly a module that tilts its rotors as one process does, and record their angles."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from probe import flown_in_process, fly_recorded, largest_difference

from iap_io.runs.run_folder import load_run
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
DURATION = 1.0
ASLANT = (
    "start.mode=hover",
    "reference.rpy_deg=[0.0, 40.0, 0.0]",
    "draw.position=0.05",
    "draw.attitude_deg=5.0",
)
FLIGHT = {"scenario": "beetle_hover", "duration": DURATION, "assignments": list(ASLANT)}


def test_nodes_tilt_rotors_as_one_process_does(start_once, tmp_path):
    nodes, probe = start_once
    probe.hear_states("iap")
    scenario = resolve("beetle_hover", Options(duration=DURATION, assignments=ASLANT))
    fly_recorded(nodes, probe, scenario[0], FLIGHT, tmp_path / "nodes")
    alone = flown_in_process(scenario[0])["iap"]
    assert largest_difference(probe.states["iap"], alone, DURATION) == 0.0
    execute(Flight.of(scenario[0]), tmp_path / "process", scenario[1])
    ours, theirs = (load_run(tmp_path / name).vehicles[0].columns for name in ("nodes", "process"))
    np.testing.assert_array_equal(ours.tilt, theirs.tilt)
    np.testing.assert_array_equal(ours.aircraft, theirs.aircraft)
    assert np.abs(ours.tilt).max() > 0.5

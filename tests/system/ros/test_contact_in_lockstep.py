# SPDX-License-Identifier: BSD-3-Clause
"""Flights that touch: in lockstep the nodes feel, yield and push as one process does, and are recorded alike."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from probe import fly_recorded

from iap_io.runs.run_folder import load_run, read_metrics
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
STILL = "reference.moves=[{seconds: 4.0, by: [0.0, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]}]"
WALL = ("reference.position=[-1.94, 0.0, 2.0]", "start.lead_in=0.2", "push.at=0.5", STILL)
NOISE = ("state_noise.velocity=0.002", "state_noise.attitude_deg=0.02")
PEG = (
    "reference.position=[-1.85, 0.0, 2.1]",
    "start.lead_in=0.2",
    "draw.position=0.0",
    "draw.attitude_deg=0.0",
    "reference.moves=[{seconds: 3.0, by: [-0.6, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]}]",
)
UNITS = ("sensors=imu", "control.observer=acceleration")
FLIGHTS = {  # scenario, assignments, simulated time in which contact is made [s]
    "admittance": ("peg_in_hole", PEG, 2.2),
    "filtered": ("wall_push", WALL, 2.0),
    "estimated": (
        "wall_push",
        (*WALL, *NOISE, "control.wrench_source=estimated", "control.gains.compensation=1.0"),
        2.0,
    ),
    "acceleration": (
        "wall_push",
        (*WALL, *NOISE, *UNITS, "control.wrench_source=estimated"),
        2.0,
    ),
}


@pytest.fixture(params=FLIGHTS)
def flight(request):
    return FLIGHTS[request.param]


def test_in_lockstep_they_fly_and_are_recorded_as_in_one_process(start, tmp_path, flight):
    nodes, probe = start
    name, assignments, duration = flight
    scenario, config = resolve(name, Options(assignments=assignments, duration=duration))
    parameters = {"scenario": name, "assignments": list(assignments), "duration": duration}
    fly_recorded(nodes, probe, scenario, parameters, tmp_path / "nodes")
    execute(Flight.of(scenario), tmp_path / "process", config)
    ours, theirs = (load_run(tmp_path / part).vehicles[0] for part in ("nodes", "process"))
    np.testing.assert_array_equal(ours.columns.t, theirs.columns.t)
    np.testing.assert_array_equal(ours.columns.x, theirs.columns.x)
    assert len(ours.columns.t) == round(duration / 0.005) + 1
    felt = theirs.columns.wrench_record
    assert np.abs(felt.wrenches[-1, :3, 0]).min() > 1.0  # it touches, and everybody knows
    for part in ("wrenches", "tracked", "mode", "axes", "measured", "integrals"):
        np.testing.assert_array_equal(
            getattr(ours.columns.wrench_record, part), getattr(felt, part), part
        )
    timing = {"wall_s", "real_time_factor", "control_step_us", "compiled_fraction"}
    a, b = (read_metrics(tmp_path / part) for part in ("nodes", "process"))
    assert {k: a[k] for k in a.keys() - timing} == {k: b[k] for k in b.keys() - timing}

# SPDX-License-Identifier: BSD-3-Clause
"""Launch files launched: the nodes that they start fly, record and end."""

import json
import time
from pathlib import Path

import pytest
from hang import HANG

from iap_io.runs.run_folder import load_run
from iap_io.sensor_messages.sensor_reader import read_sensors

REASON = "ROS 2's launch_pytest is not installed here"
launch_pytest = pytest.importorskip("launch_pytest", reason=REASON)
launch = pytest.importorskip("launch", reason=REASON)
sources = pytest.importorskip("launch.launch_description_sources", reason=REASON)

LAUNCH = Path(__file__).parents[3] / "iap_bringup" / "launch"
SAMPLE = Path(__file__).parents[3] / "iap_bringup" / "iap_bringup" / "data" / "sample_flight"
BY_NODES = {
    "hover": {},
    "container": {"use_container": "true", "sensors": "imu,uwb"},
    "sensing": {"sensors": "imu,lidar", "scene": "textured_walls"},
    "replay": {"bag": str(SAMPLE)},
}


@pytest.fixture(params=BY_NODES)
def out(request, tmp_path):
    return tmp_path / request.param


@launch_pytest.fixture
def flight(out):
    name = out.name if out.name in ("replay", "hover") else "sim"
    arguments = {"pace": "lockstep", "duration": "4.0", "record": "true", "out": str(out)}
    source = sources.PythonLaunchDescriptionSource(str(LAUNCH / f"{name}.launch.py"))
    included = launch.actions.IncludeLaunchDescription(
        source, launch_arguments=(arguments | BY_NODES[out.name]).items()
    )
    return launch.LaunchDescription([included, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=flight)
def test_a_launched_flight_is_recorded_whole(out):
    deadline = time.monotonic() + HANG
    while not (out / "metrics.json").exists():
        assert time.monotonic() < deadline, sorted(p.name for p in out.glob("*"))
        time.sleep(0.1)
    time.sleep(0.2)  # until it is written
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["outcome"] == "completed"
    assert metrics["position_rmse_m"] < 0.02
    sensors = load_run(out).meta.sensors
    assert bool(sensors) == ("sensors" in BY_NODES[out.name])
    kept = {reading.source.topic for reading in read_sensors(out / "bag", sensors)}
    assert kept == {sensor.topic for sensor in sensors}

# SPDX-License-Identifier: BSD-3-Clause
"""Each launch file as launch_pytest runs it, in the process of the test: it flies, ends with 0 and leaves nothing."""

import json
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

pytest.importorskip("launch_pytest", reason="launch_pytest is not installed here")

import launch_pytest
from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_pytest.actions import ReadyToTest
from probe import Probe

from iap_io.ros.domains import free_domain
from iap_simulation.runs.run import record

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
LAUNCH = get_package_share_path("iap_bringup") / "launch"
FLIGHT = {"pace": "lockstep", "record": "true", "duration": "2.0"}
STICK = """#!{python}
import rclpy
from sensor_msgs.msg import Joy

rclpy.init()
node = rclpy.create_node("joy_node")
publisher = node.create_publisher(Joy, "joy", 10)
held = Joy(axes=[0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], buttons=[0, 0, 0, 0, 1])
node.create_timer(0.05, lambda: publisher.publish(held))
try:
    rclpy.spin(node)
except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
    pass
"""  # the left stick half forward, with the dead man's button


@pytest.fixture
def domain(tmp_path):
    """A ROS domain of the test's own, in an environment that launch may change."""
    with free_domain() as number, mock.patch.dict(os.environ):
        os.environ |= {"ROS_DOMAIN_ID": str(number), "ROS_LOG_DIR": str(tmp_path / "log")}
        yield number


@pytest.fixture
def joy(domain, tmp_path, monkeypatch):
    """A package `joy` whose stick is held forward."""
    prefix = tmp_path / "joy"
    index = prefix / "share" / "ament_index" / "resource_index" / "packages" / "joy"
    node = prefix / "lib" / "joy" / "joy_node"
    for path, text in ((index, ""), (node, STICK.format(python=sys.executable))):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    node.chmod(stat.S_IRWXU)
    os.environ["AMENT_PREFIX_PATH"] = f"{prefix}:{os.environ['AMENT_PREFIX_PATH']}"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A flight with the images that localise it."""
    run = tmp_path_factory.mktemp("recorded") / "run"
    record("figure_eight", folder=run, sensors="stereo", scene="textured_walls", duration=2.0)
    return run


def described(name, **arguments):
    """A launch file with its arguments."""
    source = PythonLaunchDescriptionSource(str(LAUNCH / f"{name}.launch.py"))
    included = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return LaunchDescription([included, ReadyToTest()])


def left_behind(folder):
    """Processes with a test's own folder in their environment, as all have that its launch has started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"ROS_LOG_DIR={folder}" in (process / "environ").read_bytes().decode(
                errors="replace"
            ):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has ended meanwhile, or is somebody else's
            continue
    return found


def check_flight(folder):
    """It was flown to its end near its reference and recorded, and nothing of its launch runs any longer."""
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    assert metrics["outcome"] == "completed"
    assert metrics["position_rmse_m"] < 0.01
    assert not left_behind(folder)


def launched_by(**options):
    """A fixture of launch_pytest, which looks for its scope where pytest had it before version 8.4."""

    def mark(function):
        made = launch_pytest.fixture(**options)(function)
        if not hasattr(made, "_pytestfixturefunction"):
            made._pytestfixturefunction = SimpleNamespace(scope="function")
        return made

    return mark


@launched_by(auto_shutdown=False)
def sim(domain, tmp_path):
    return described("sim", scenario="hover", out=str(tmp_path / "run"), **FLIGHT)


@launched_by(auto_shutdown=False)
def replay(domain, tmp_path):
    return described("replay", out=str(tmp_path / "run"), **FLIGHT)


@launched_by(auto_shutdown=False)
def localization(domain, recorded):
    return described("localization", run=str(recorded), rate="0.2")


@launched_by()
def teleop(domain, joy):
    return described("teleop", scenario="hover", duration="600.0")


@pytest.mark.launch(fixture=sim, shutdown=True)
def test_a_scenario_is_flown_and_recorded(tmp_path):
    check_flight(tmp_path)


@pytest.mark.launch(fixture=replay, shutdown=True)
def test_recorded_commands_are_flown_and_recorded(tmp_path):
    check_flight(tmp_path)


@pytest.mark.launch(fixture=localization, shutdown=True)
def test_a_recording_is_played_to_nodes_that_localise(tmp_path):
    logs = "".join(path.read_text() for path in (tmp_path / "log").glob("*.log"))
    assert "played; at most" in logs
    assert "[FATAL]" not in logs
    assert not left_behind(tmp_path)


@pytest.mark.launch(fixture=teleop)
def test_a_stick_flies_the_platform_until_the_launch_is_ended(domain, tmp_path):
    probe = Probe(domain)
    try:
        probe.hear_states("iap")
        probe.wait(lambda: probe.states["iap"], "a state")
        first = min(probe.states["iap"])
        x = probe.states["iap"][first][0, 0]
        probe.wait(
            lambda: probe.states["iap"][probe.newest["iap"]][0, 0] > x + 0.2, "a way forward"
        )
    finally:
        probe.close()
    yield
    assert not left_behind(tmp_path)

# SPDX-License-Identifier: BSD-3-Clause
"""Streams of H.264 from camera_node to frontend_node, and what is said where ROS lacks their messages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hang import HANG

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
pytest.importorskip("av")

from iap_description.errors import BadInput
from iap_io.ros.message_classes import message_class
from iap_io.wire.other_types import DEFINITIONS, PACKET

pytestmark = [pytest.mark.ros, pytest.mark.nodes]
PACKAGE, _, MESSAGE = PACKET.split("/")
PACKAGE_XML = f"""\
<package format="3">
  <name>{PACKAGE}</name>
  <version>1.0.0</version>
  <description>Packets of a stream of images.</description>
  <maintainer email="maintainers@example.org">tests</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <depend>std_msgs</depend>
  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""
CMAKE = f"""\
cmake_minimum_required(VERSION 3.16)
project({PACKAGE})
find_package(ament_cmake REQUIRED)
find_package(std_msgs REQUIRED)
find_package(rosidl_default_generators REQUIRED)
rosidl_generate_interfaces(${{PROJECT_NAME}} "msg/{MESSAGE}.msg" DEPENDENCIES std_msgs)
ament_package()
"""
FLIGHT = """
import os
import sys
import time
from pathlib import Path

import rclpy

from iap_bringup.experiments.nodes.processes import Nodes
from iap_bringup.launching.flight_nodes import CAMERA, flight_nodes
from iap_estimation.nodes.track_messages import tracks_of
from iap_io.ros.domains import free_domain
from iap_io.ros.sensor_topics import RELIABLE
from iap_msgs.msg import FeatureTracks
from iap_simulation.scenario.resolving import Options, resolve

FRONTEND, COUNT, PATIENCE = "frontend_node", 10, 240.0
small = [f"sensors.cameras.{side}.{key}={value}" for side in ("left", "right") for key, value in
         {"width": 320, "height": 240, "fx": 160.0, "fy": 160.0, "cx": 159.5, "cy": 119.5}.items()]
options = Options(sensors="stereo", scene="textured_walls", duration=300.0, assignments=tuple(small))
scenario, _ = resolve("hover", options)
words = {"reference": "true", "record": "false", "pace": "realtime", "localization": "virpo"}
with free_domain() as domain:
    nodes = Nodes(Path(sys.argv[1]), domain)
    os.environ["ROS_DOMAIN_ID"] = str(domain)
    rclpy.init()
    node, found = rclpy.create_node("listener"), []
    take = lambda data: found.append(tracks_of(data))
    node.create_subscription(FeatureTracks, "/iap/drone_1/virpo/tracks", take, RELIABLE, raw=True)
    with nodes:
        for each in flight_nodes(scenario, {"bag": ""}, words):
            values = dict(each.parameters)
            if each.executable == CAMERA:
                values |= {"compression": "h264"}
            elif each.executable == FRONTEND and each.space.endswith("drone_1"):
                values |= {"image_transport": "ffmpeg"}
            elif each.package in ("iap_estimation", "iap_sensors"):
                continue
            space = f"/{each.space}" if each.space else ""
            nodes.start(each.executable, values, namespace=space, package=each.package)
        until = time.monotonic() + PATIENCE
        while len(found) < COUNT and time.monotonic() < until:
            rclpy.spin_once(node, timeout_sec=0.5)
    rclpy.try_shutdown()
print(len(found), min(len(each.ids) for each in found))
"""


@pytest.fixture
def packets(tmp_path: Path) -> dict[str, str]:
    """The environment with ROS's package of packets, made of its definition here."""
    source = tmp_path / "src" / PACKAGE
    (source / "msg").mkdir(parents=True)
    (source / "msg" / f"{MESSAGE}.msg").write_text(DEFINITIONS[PACKET])
    (source / "package.xml").write_text(PACKAGE_XML)
    (source / "CMakeLists.txt").write_text(CMAKE)
    command = [sys.executable, "-m", "colcon", "--log-base", "log", "build", "--base-paths", "src"]
    prefix = Path(sys.prefix)
    building = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    if "ROS_DISTRO" not in os.environ:  # wheels are a prefix of ament's
        building |= {"AMENT_PREFIX_PATH": str(prefix), "CMAKE_PREFIX_PATH": str(prefix)}
        building.pop("PYTHONPATH", None)
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=building,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    installed = tmp_path / "install" / PACKAGE
    (python,) = installed.glob("**/*-packages")
    places = {
        "AMENT_PREFIX_PATH": installed,
        "PYTHONPATH": python,
        "LD_LIBRARY_PATH": installed / "lib",
    }
    return {
        **os.environ,
        **{name: f"{each}:{os.environ.get(name, '')}" for name, each in places.items()},
    }


@pytest.mark.slow
def test_a_front_end_tracks_what_a_camera_node_streams(
    packets: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "nodes").mkdir()
    command = [sys.executable, "-P", "-c", FLIGHT, str(tmp_path / "nodes")]
    done = subprocess.run(
        command, env=packets, capture_output=True, text=True, timeout=HANG, check=False
    )
    logs = "\n".join(each.read_text() for each in (tmp_path / "nodes").glob("*.log"))
    assert done.returncode == 0, done.stderr + logs
    pairs, fewest = map(int, done.stdout.split())
    assert pairs >= 10, logs
    assert fewest >= 30


@pytest.mark.skipif("ROS_DISTRO" in os.environ, reason="the package may be installed")
def test_a_package_of_messages_that_is_missing_is_named_with_the_remedy() -> None:
    with pytest.raises(BadInput, match=r"apt-get install ros-DISTRO-ffmpeg-image-transport-msgs"):
        message_class(PACKET)

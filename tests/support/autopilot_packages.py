# SPDX-License-Identifier: BSD-3-Clause
"""Packages px4_msgs and mavros_msgs with the messages of set-points alone, built for processes that talk by them."""

import os
import subprocess
import sys

HEADER = "std_msgs/Header header"
THRUST = "float32[3] thrust_body"
MESSAGES = {
    "px4_msgs": {
        "OffboardControlMode": (
            "uint64 timestamp",
            *(f"bool {loop}" for loop in ("position", "velocity", "acceleration", "attitude", "body_rate")),
            "bool thrust_and_torque",
            "bool direct_actuator",
        ),
        "VehicleAttitudeSetpoint": (
            "uint32 MESSAGE_VERSION = 1",
            "uint64 timestamp",
            "float32 yaw_sp_move_rate",
            "float32[4] q_d",
            THRUST,
        ),
        "VehicleRatesSetpoint": (
            "uint32 MESSAGE_VERSION = 0",
            "uint64 timestamp",
            "float32 roll",
            "float32 pitch",
            "float32 yaw",
            THRUST,
        ),
        "TrajectorySetpoint": (
            "uint64 timestamp",
            *(f"float32[3] {part}" for part in ("position", "velocity", "acceleration", "jerk")),
            "float32 yaw",
            "float32 yawspeed",
        ),
        "VehicleOdometry": (
            "uint32 MESSAGE_VERSION = 0",
            "uint64 timestamp",
            "uint64 timestamp_sample",
            "uint8 POSE_FRAME_NED = 1",
            "uint8 VELOCITY_FRAME_NED = 1",
            "uint8 pose_frame",
            "float32[3] position",
            "float32[4] q",
            "uint8 velocity_frame",
            "float32[3] velocity",
            "float32[3] angular_velocity",
            "float32[3] position_variance",
            "float32[3] orientation_variance",
            "float32[3] velocity_variance",
            "uint8 reset_counter",
            "int8 quality",
        ),
    },
}  # fmt: skip
CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project({name})
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
rosidl_generate_interfaces(${{PROJECT_NAME}} {messages})
ament_package()
"""
PACKAGE = """\
<package format="3">
  <name>{name}</name><version>0.0.0</version><description>Stand-in.</description>
  <maintainer email="nobody@example.org">Nobody</maintainer><license>BSD-3-Clause</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""


def built(folder, name):
    """Build a package; returns what its users need in their environment."""
    source, install = folder / "source", folder / "install"
    (source / "msg").mkdir(parents=True)
    for message, lines in MESSAGES[name].items():
        (source / "msg" / f"{message}.msg").write_text("\n".join(lines) + "\n")
    files = " ".join(f'"msg/{message}.msg"' for message in MESSAGES[name])
    (source / "CMakeLists.txt").write_text(CMAKE.format(name=name, messages=files))
    (source / "package.xml").write_text(PACKAGE.format(name=name))
    places = ["--base-paths", source, "--build-base", folder / "build", "--install-base", install]
    command = [sys.executable, "-m", "colcon", "--log-base", folder / "log", "build", *places]
    flags = ["--merge-install", "--cmake-args", "-DBUILD_TESTING=OFF"]
    ended = subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (modules,) = install.glob("lib/python*/site-packages")
    added = {
        "AMENT_PREFIX_PATH": install,
        "LD_LIBRARY_PATH": install / "lib",
        "PYTHONPATH": modules,
    }
    return {
        variable: os.pathsep.join(filter(None, (str(path), os.environ.get(variable))))
        for variable, path in added.items()
    }

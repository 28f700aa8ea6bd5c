# SPDX-License-Identifier: BSD-3-Clause
"""Flies a platform by joystick: the simulation without references, joy_node, and joy_teleop.

ros2 launch iap_bringup teleop.launch.py platform:=three_star rviz:=true
"""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description() -> LaunchDescription:
    """The simulation, and what turns the stick into its reference."""
    mapping = DeclareLaunchArgument(
        "mapping",
        default_value="gamepad",
        description="Mapping of axes and buttons: gamepad, or the path of a YAML file like it.",
    )
    sim = get_package_share_path("iap_bringup") / "launch" / "sim.launch.py"
    simulation = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(sim)), launch_arguments={"reference": "false"}.items()
    )
    joystick = Node(package="joy", executable="joy_node", namespace="iap")
    teleop = Node(
        package="iap_bringup",
        executable="joy_teleop",
        namespace="iap",
        parameters=[{"mapping": LaunchConfiguration("mapping")}],
    )
    return LaunchDescription([mapping, simulation, joystick, teleop])

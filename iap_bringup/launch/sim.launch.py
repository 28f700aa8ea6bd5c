# SPDX-License-Identifier: BSD-3-Clause
"""Flies a scenario as ROS 2 nodes: one physics_node, and a controller and references for every vehicle.

ros2 launch iap_bringup sim.launch.py scenario:=figure_eight pace:=lockstep rviz:=true
"""

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, SetEnvironmentVariable
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from iap_bringup.scenario import Options, Vehicle, resolve
from iap_description.assembly import Assembly
from iap_description.urdf import urdf_text

ARGUMENTS = [
    DeclareLaunchArgument(
        "scenario",
        default_value="hover",
        description="A name from 'iap list', or a YAML file's path.",
    ),
    DeclareLaunchArgument(
        "platform", default_value="", description="Fly this platform instead of the scenario's."
    ),
    DeclareLaunchArgument(
        "gains",
        default_value="",
        description="Gain preset (default, paper) instead of the scenario's.",
    ),
]

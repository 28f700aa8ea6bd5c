# SPDX-License-Identifier: BSD-3-Clause
"""Flies two_line_figure_eight; every other argument is that of sim.launch.py."""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def generate_launch_description() -> LaunchDescription:
    """The simulation with this scenario."""
    sim = get_package_share_path("iap_bringup") / "launch" / "sim.launch.py"
    given = {"scenario": "two_line_figure_eight"}.items()
    return LaunchDescription(
        [IncludeLaunchDescription(PythonLaunchDescriptionSource(str(sim)), launch_arguments=given)]
    )

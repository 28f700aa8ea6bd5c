# SPDX-License-Identifier: BSD-3-Clause
"""Flies the scenario whose name a link to this file has; every other argument is that of sim.launch.py."""

from pathlib import Path

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, LogInfo
from launch.launch_description_sources import PythonLaunchDescriptionSource

from iap_bringup.launching.launch_actions import refuse_argument

NAME = Path(__file__).name.removesuffix(".launch.py")


def generate_launch_description() -> LaunchDescription:
    """The simulation with this scenario, after a warning."""
    warning = f"{NAME}.launch.py goes with the next version: use sim.launch.py scenario:={NAME}"
    own = refuse_argument("scenario", f"{NAME} is flown; sim.launch.py flies others")
    sim = get_package_share_path("iap_bringup") / "launch" / "sim.launch.py"
    source = PythonLaunchDescriptionSource(str(sim))
    flight = IncludeLaunchDescription(source, launch_arguments={"scenario": NAME}.items())
    return LaunchDescription([LogInfo(msg=f"warning: {warning}"), own, flight])

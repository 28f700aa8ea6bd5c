# SPDX-License-Identifier: BSD-3-Clause
"""Flies the commands of a bag or CSV; every other argument is that of sim.launch.py.

ros2 launch iap_bringup replay.launch.py bag:=FLIGHT topic:=/command convention:=ned
"""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from iap_bringup import DATA
from iap_bringup.launching.launch_actions import refuse_argument

SAMPLE = DATA / "sample_flight"


def generate_launch_description() -> LaunchDescription:
    """The simulation with a bag_player in place of the scenario's references."""
    bag = DeclareLaunchArgument(
        "bag",
        default_value=str(SAMPLE),
        description="Bag or CSV whose commands are flown; by default the sample that ships with the suite.",
    )
    own = refuse_argument("scenario", "a bag is flown; sim.launch.py flies scenarios")
    sim = get_package_share_path("iap_bringup") / "launch" / "sim.launch.py"
    given = {"bag": LaunchConfiguration("bag")}.items()
    source = PythonLaunchDescriptionSource(str(sim))
    return LaunchDescription([bag, own, IncludeLaunchDescription(source, launch_arguments=given)])

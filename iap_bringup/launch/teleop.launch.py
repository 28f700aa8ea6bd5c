# SPDX-License-Identifier: BSD-3-Clause
"""Flies a platform by joystick: the simulation without its reference, joy_node, and joy_teleop.

ros2 launch iap_bringup teleop.launch.py platform:=three_star rviz:=true
ros2 launch iap_bringup teleop.launch.py scenario:=module_hover vehicle:=m1    # joined modules, by their leader
"""

from typing import Any

from ament_index_python.packages import get_package_share_path
from launch import LaunchContext, LaunchDescription
from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from iap_bringup.launching.flight_nodes import LaunchedNode
from iap_bringup.launching.launch_actions import (
    NodeMaker,
    declared,
    given_arguments,
    need_packages,
    refuse_argument,
)
from iap_bringup.launching.launch_arguments import COMMON

ARGUMENTS = {  # name: default, description, choices
    "mapping": (
        "gamepad",
        "Mapping of axes and buttons: gamepad, or the path of a YAML file like it.",
        None,
    ),
    "vehicle": ("iap", "Name of the vehicle that is flown; of joined modules the leader's.", None),
    **COMMON,
}


def generate_launch_description() -> LaunchDescription:
    """The simulation, and what turns the stick into its reference."""
    own = [
        refuse_argument(name, "the stick gives the reference of vehicle:=NAME")
        for name in ("reference", "by_hand")
    ]
    sim = get_package_share_path("iap_bringup") / "launch" / "sim.launch.py"
    simulation = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(sim)),
        launch_arguments={"by_hand": LaunchConfiguration("vehicle")}.items(),
    )
    check = OpaqueFunction(function=lambda _: need_packages({"joy": "teleop.launch.py"}))
    stick = OpaqueFunction(function=nodes)
    return LaunchDescription([*declared(ARGUMENTS), *own, check, simulation, stick])


def nodes(context: LaunchContext) -> list[Any]:
    """What reads the stick, and what turns it into references."""
    given = given_arguments(context, ARGUMENTS)
    vehicle, mapping = given["vehicle"], {"mapping": given["mapping"]}
    maker = NodeMaker(given, [LaunchedNode("iap_bringup", "joy_teleop", vehicle, mapping)])
    return [*maker.nodes(), maker.other("joy", "joy_node", vehicle)]

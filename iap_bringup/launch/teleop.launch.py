# SPDX-License-Identifier: BSD-3-Clause
"""Flies a platform, or an arm's end effector, by joystick: the simulation, joy_node, and joy_teleop.

ros2 launch iap_bringup teleop.launch.py platform:=three_star rviz:=true
ros2 launch iap_bringup teleop.launch.py scenario:=module_hover vehicle:=m1    # joined modules, by their leader
ros2 launch iap_bringup teleop.launch.py platform:=m100_arm tip:=true          # an arm's end effector
"""

from typing import Any

from ament_index_python.packages import get_package_share_path
from launch import LaunchContext, LaunchDescription
from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitution import Substitution

from iap_bringup.launching.flight_nodes import LaunchedNode
from iap_bringup.launching.launch_actions import (
    NodeMaker,
    argument_values,
    declared,
    need_packages,
    refuse_argument,
)
from iap_bringup.launching.launch_arguments import COMMON, SWITCH, by_stick

ARGUMENTS = {  # name: default, description, choices
    "mapping": (
        "gamepad",
        "Mapping of axes and buttons: gamepad, or the path of a YAML file like it.",
        None,
    ),
    "vehicle": ("iap", "Name of the vehicle that is flown; of joined modules the leader's.", None),
    "tip": (
        "false",
        "Whether the stick moves the end effector of the platform's arm: scenario:=arm_teleop, unless given.",
        SWITCH,
    ),
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
        launch_arguments=[(name, ByStick(name)) for name in ("by_hand", "scenario", "set")],
    )
    first, stick = OpaqueFunction(function=check), OpaqueFunction(function=nodes)
    return LaunchDescription([*declared(ARGUMENTS), *own, first, simulation, stick])


def check(context: LaunchContext) -> None:
    """Look at the own arguments and at what is installed, before the simulation starts."""
    argument_values(context, ARGUMENTS)
    need_packages({"joy": "teleop.launch.py"})


class ByStick(Substitution):
    """An argument of sim.launch.py for a flight by hand, see `by_stick`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def perform(self, context: LaunchContext) -> str:
        """Its value."""
        return by_stick(context.launch_configurations)[self._name]


def nodes(context: LaunchContext) -> list[Any]:
    """Nodes that read the stick, and that turn it into references."""
    values = argument_values(context, ARGUMENTS)
    vehicle, mapping = (
        values["vehicle"],
        {"mapping": values["mapping"], "tip": values["tip"] == "true"},
    )
    maker = NodeMaker(values, [LaunchedNode("iap_bringup", "joy_teleop", vehicle, mapping)])
    return [*maker.nodes(), maker.other("joy", "joy_node", vehicle)]

# SPDX-License-Identifier: BSD-3-Clause
"""Flies a scenario, or the commands of a bag, as ROS 2 nodes.

ros2 launch iap_bringup sim.launch.py scenario:=figure_eight pace:=lockstep rviz:=true
"""

from typing import Any

from ament_index_python.packages import get_package_share_path
from launch import LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction

from iap_bringup.launching.flight_nodes import LaunchedNode, flight_nodes
from iap_bringup.launching.launch_actions import (
    NodeMaker,
    argument_values,
    declared,
    has_package,
    need_packages,
)
from iap_bringup.launching.launch_arguments import (
    COMMON,
    SWITCH,
    flight_parameters,
    resolve_flight,
)
from iap_bringup.launching.parameter_files import temporary_file
from iap_bringup.launching.rviz_view import view_text
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.urdf import attachments_urdf
from iap_simulation.scenario.vehicle_spec import VehicleSpec

FRAMES, VIEW = "robot_state_publisher", "rviz2"
ARGUMENTS = {  # name: default, description, choices
    "scenario": ("hover", "Name of a scenario (see iap list), or path of a YAML file.", None),
    "bag": ("", "Bag or CSV whose commands are flown instead of a scenario.", None),
    "topic": ("", "Topic of the bag's commands; empty: the one whose type and name fit.", None),
    "actual_topic": ("", "Topic of what the real aircraft did, to compare with.", None),
    "convention": ("", "Frames of the bag's numbers; empty: what fits.", ["", "enu", "ned"]),
    "platform": ("", "Platform instead of the scenario's own.", None),
    "gains": ("", "Gain preset, or path of a YAML file, instead of the scenario's own.", None),
    "sensors": ("", "Sensors instead of the scenario's own: stereo, imu, ... (see docs).", None),
    "scene": ("", "Scene instead of the scenario's own, such as textured_walls.", None),
    "state_source": (
        "",
        "What controllers go by: truth, or a method; empty: the scenario's.",
        None,
    ),
    "localization": ("", "Method that localises the vehicles that go by the truth.", None),
    "seed": ("-1", "Seed of all noise; -1: the scenario's own.", None),
    "duration": ("0", "Simulated time [s]; 0: the scenario's own.", None),
    "set": ("", "KEY=VALUE of the configuration; several are separated by semicolons.", None),
    "pace": ("realtime", "How time goes on.", ["realtime", "fast", "lockstep"]),
    "reference": ("true", "Whether the scenario's references are flown; false: yours.", SWITCH),
    "by_hand": ("", "Vehicle whose reference alone is yours, as of joined modules.", None),
    "camera_node": ("true", "Whether camera_node renders; false: a renderer of yours.", SWITCH),
    "use_container": ("false", "Whether the suite's nodes share one process.", SWITCH),
    "record": ("false", "Whether to record a run folder; its end ends the launch.", SWITCH),
    "out": ("", "The run folder; empty: the next free runs/SCENARIO-001.", None),
    "web": ("false", "Whether web_view shows the flight in a browser.", SWITCH),
    "rviz": ("false", "Whether RViz shows the flight.", SWITCH),
    **COMMON,
}


def generate_launch_description() -> LaunchDescription:
    """The arguments; the nodes follow from their values."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=flight)])


def flight(context: LaunchContext) -> list[Any]:
    """The nodes of a flight, and what shows it; everything is looked at before the first one starts."""
    values = argument_values(context, ARGUMENTS)
    parameters = flight_parameters(values)
    scenario = resolve_flight(parameters)[0]
    views = values["rviz"] == "true"
    need_packages({VIEW: "rviz:=true"} if views else {})
    has_frames = has_package(FRAMES)
    nodes = flight_nodes(scenario, parameters, values, mount_frames=not has_frames)
    others: dict[str, dict[str, Any]] = {f"/{VIEW}": {"use_sim_time": True}} if views else {}
    described = scenario.vehicles if has_frames else ()
    others |= {f"/{each.name}/{FRAMES}": description(each) for each in described}
    maker = NodeMaker(values, nodes, others)
    suite = maker.container() if values["use_container"] == "true" else maker.nodes()
    own = (("robot_description", "robot_description/attachments"),)  # physics_node has the whole
    shown = [maker.other(FRAMES, FRAMES, each.name, remapped=own) for each in described]
    if values["web"] == "true":  # a process of its own, which takes no time from the others
        viewer = LaunchedNode("iap_bringup", "web_view", "", {**parameters, "open_browser": True})
        shown += NodeMaker(values, [viewer]).nodes()
    if views:
        template = get_package_share_path("iap_bringup") / "rviz" / "iap.rviz"
        view = temporary_file("view.rviz", view_text(template, scenario, maker.namespace))
        shown.append(maker.other(VIEW, VIEW, name=VIEW, arguments=["-d", view]))
    return [*maker.environment, *suite, *shown]


def description(vehicle: VehicleSpec) -> dict[str, Any]:
    """Parameters of what publishes the frames that hang on a vehicle's bodies: rotors and sensor mounts."""
    text = attachments_urdf(Assembly.of(vehicle.platform, vehicle.name))
    return {
        "robot_description": text,
        "frame_prefix": f"{vehicle.name}/",
        "use_sim_time": True,
    }

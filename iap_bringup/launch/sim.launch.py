# SPDX-License-Identifier: BSD-3-Clause
"""Flies a scenario, or the commands of a bag, as ROS 2 nodes.

ros2 launch iap_bringup sim.launch.py scenario:=figure_eight pace:=lockstep rviz:=true
"""

from ament_index_python.packages import get_package_share_path, get_packages_with_prefixes
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from iap_bringup.launching.launch_arguments import (
    flight_parameters,
    localizers,
    parameter_file,
    resolve_flight,
    view_file,
)
from iap_bringup.launching.node_parameters import package_of, sensor_nodes, vehicle_nodes
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.urdf import urdf_text
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

SWITCH = ["true", "false"]
ARGUMENTS = {  # name: default, description, choices
    "scenario": ("hover", "Name of a scenario (see iap list), or path of a YAML file.", None),
    "bag": ("", "Bag or CSV whose commands are flown instead of a scenario.", None),
    "topic": ("", "Topic of the bag's commands; empty: the one whose type and name fit.", None),
    "actual_topic": ("", "Topic of what the real aircraft did, to compare with.", None),
    "convention": ("", "Frames of the bag's numbers; empty: what fits.", ["", "enu", "ned"]),
    "platform": ("", "Platform instead of the scenario's own.", None),
    "gains": ("", "Gain preset instead of the scenario's own.", ["", "default", "paper"]),
    "sensors": ("", "Sensors instead of the scenario's own: stereo, imu, ... (see docs).", None),
    "scene": ("", "Scene instead of the scenario's own, such as textured_walls.", None),
    "state_source": (
        "",
        "What controllers go by: truth, or a method; empty: the scenario's.",
        None,
    ),
    "localization": ("", "Method by which vehicles localize that go by the truth.", None),
    "seed": ("-1", "Seed of all noise; -1: the scenario's own.", None),
    "duration": ("0", "Simulated time [s]; 0: the scenario's own.", None),
    "set": ("", "KEY=VALUE of the configuration; several are separated by semicolons.", None),
    "pace": ("realtime", "How time goes on.", ["realtime", "fast", "lockstep"]),
    "reference": ("true", "Whether the scenario's references are flown; false: yours.", SWITCH),
    "use_container": ("false", "Whether the suite's nodes share one process.", SWITCH),
    "record": ("false", "Whether to record a run folder; its end ends the launch.", SWITCH),
    "out": ("", "The run folder; empty: the next free runs/SCENARIO-001.", None),
    "rviz": ("false", "Whether RViz shows the flight.", SWITCH),
}


def generate_launch_description() -> LaunchDescription:
    """The arguments; the nodes follow from their values."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text, choices=choices)
        for name, (default, text, choices) in ARGUMENTS.items()
    ]
    one_thread = SetEnvironmentVariable("OMP_NUM_THREADS", "1")  # more only hurt small matrices
    return LaunchDescription([*declared, one_thread, OpaqueFunction(function=flight_nodes)])


def flight_nodes(context: LaunchContext) -> list[Node]:
    """The nodes of a flight, and what shows it."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    flight = flight_parameters(given)
    scenario = resolve_flight(flight)[0]
    parameters = parameter_file(scenario, flight, given, mount_frames=not has_state_publisher())
    own = suite_nodes(given, scenario)
    if given["use_container"] == "true":
        entries = [f"{name}@/{space}" for _, name, space in own]
        suite = [
            Node(
                package="iap_bringup",
                executable="sim_container",
                arguments=["--nodes", *entries],
                parameters=[parameters],
                on_exit=Shutdown(),
            )
        ]
    else:
        suite = [
            Node(
                package=package,
                executable=name,
                namespace=space,
                parameters=[parameters],
                on_exit=Shutdown(),
            )
            for package, name, space in own
        ]
    return [*suite, *displays(given, scenario)]


def suite_nodes(given: dict[str, str], scenario: Scenario) -> list[tuple[str, str, str]]:
    """Package, executable and namespace of the suite's own nodes."""
    out = [("iap_physics", "physics_node", "")]
    player = ("iap_bringup", "bag_player") if given["bag"] else ("iap_control", "reference_node")
    for vehicle in scenario.vehicles:
        nodes = vehicle_nodes(scenario, vehicle)
        out += [(package_of(name), name, vehicle.name) for name in nodes]
        if given["reference"] == "true":
            out.append((*player, vehicle.name))
    out += [(package_of(name), name, space) for name, space, _ in localizers(scenario, given)]
    out += [(package_of(name), name, "") for name in sensor_nodes(scenario)]
    return [*out, ("iap_bringup", "recorder", "")] if given["record"] == "true" else out


def has_state_publisher() -> bool:
    """Whether robot_state_publisher is installed, which tells the frames that hang on the bodies."""
    return "robot_state_publisher" in get_packages_with_prefixes()


def displays(given: dict[str, str], scenario: Scenario) -> list[Node]:
    """RViz where it is wanted, and robot_state_publisher where it is installed."""
    out = []
    if has_state_publisher():
        out += [description_node(vehicle) for vehicle in scenario.vehicles]
    if given["rviz"] == "true":
        template = get_package_share_path("iap_bringup") / "rviz" / "iap.rviz"
        view = view_file(template, scenario)
        clock = {"use_sim_time": True}
        out.append(
            Node(package="rviz2", executable="rviz2", arguments=["-d", view], parameters=[clock])
        )
    return out


def description_node(vehicle: VehicleSpec) -> Node:
    """The frames that hang on a vehicle's bodies: rotors and sensor mounts."""
    text = urdf_text(Assembly.of(vehicle.platform, vehicle.name), target="ros")
    return Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        namespace=vehicle.name,
        parameters=[
            {
                "robot_description": ParameterValue(text, value_type=str),
                "frame_prefix": f"{vehicle.name}/",
                "use_sim_time": True,
            }
        ],
    )

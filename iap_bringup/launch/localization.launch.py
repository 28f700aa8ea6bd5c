# SPDX-License-Identifier: BSD-3-Clause
"""Localises one vehicle from its sensors' topics, live or played from a recording.

ros2 launch iap_bringup localization.launch.py run:=runs/figure_eight-001 method:=virpo
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from iap_bringup.launching.launch_arguments import localized
from iap_bringup.launching.node_parameters import localization_nodes, package_of

METHODS = ["vio", "vio_uwb", "virpo", "joint", "drift_filter"]
ARGUMENTS = {  # name: default, description, choices
    "run": ("", "Run folder that is played; empty: sensors publish, or ros2 bag play does.", None),
    "scenario": ("hover", "Name of the scenario whose sensors they are; a run has its own.", None),
    "platform": ("", "Platform instead of the scenario's own.", None),
    "sensors": ("", "Sensors instead of the scenario's own: stereo, ... (see docs).", None),
    "scene": ("", "Scene instead of the scenario's own.", None),
    "set": ("", "KEY=VALUE of the configuration; several are separated by semicolons.", None),
    "vehicle": ("", "Name of the vehicle; empty: the first one.", None),
    "method": ("joint", "How it localizes.", METHODS),
    "preset": ("default", "Settings of the estimator.", None),
    "rate": ("1.0", "Times real time at which a run is played.", None),
}


def generate_launch_description() -> LaunchDescription:
    """The arguments; the nodes follow from their values."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text, choices=choices)
        for name, (default, text, choices) in ARGUMENTS.items()
    ]
    one_thread = SetEnvironmentVariable("OMP_NUM_THREADS", "1")  # more only hurt small matrices
    return LaunchDescription([*declared, one_thread, OpaqueFunction(function=nodes)])


def nodes(context: LaunchContext) -> list[Node]:
    """The nodes that localise, and what plays a run to them."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    scenario, vehicle = localized(given)
    own = {"preset": given["preset"], "reliable": bool(given["run"])}
    out = [
        Node(
            package=package_of(name),
            executable=name,
            namespace=space,
            parameters=[{**values, **own}],
            on_exit=Shutdown(),
        )
        for name, space, values in localization_nodes(scenario, vehicle, given["method"])
    ]
    if given["run"]:
        played = {"run": str(Path(given["run"]).resolve()), "rate": float(given["rate"])}
        played |= {"wait": 10.0}
        out.append(
            Node(
                package="iap_bringup",
                executable="sensor_player",
                parameters=[played],
                on_exit=Shutdown(),
            )
        )
    return out

# SPDX-License-Identifier: BSD-3-Clause
"""Localises one vehicle from its sensors' topics, live or played from a recording.

ros2 launch iap_bringup localization.launch.py run:=runs/figure_eight-001 method:=virpo
"""

from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction

from iap_bringup.launching.flight_nodes import LaunchedNode, localizing_nodes
from iap_bringup.launching.launch_actions import NodeMaker, argument_values, declared
from iap_bringup.launching.launch_arguments import COMMON, localized, number
from iap_bringup.launching.node_parameters import JOINT, VIRPO
from iap_estimation.virpo.localizer import METHODS

ARGUMENTS = {  # name: default, description, choices
    "run": ("", "Run folder that is played; empty: sensors publish, or ros2 bag play does.", None),
    "scenario": ("hover", "Name of the scenario whose sensors they are; a run has its own.", None),
    "platform": ("", "Platform instead of the scenario's own.", None),
    "sensors": ("", "Sensors instead of the scenario's own: stereo, ... (see docs).", None),
    "scene": ("", "Scene instead of the scenario's own.", None),
    "set": ("", "KEY=VALUE of the configuration; several are separated by semicolons.", None),
    "vehicle": ("", "Name of the vehicle; empty: the first one.", None),
    "method": ("joint", "How it localises.", list(METHODS)),
    "preset": ("default", "Settings of the estimator.", None),
    "rate": ("1.0", "Times real time at which a run is played.", None),
    **COMMON,
}


def generate_launch_description() -> LaunchDescription:
    """The arguments; the nodes follow from their values."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=nodes)])


def nodes(context: LaunchContext) -> list[Any]:
    """The nodes that localise, and what plays a run to them."""
    values = argument_values(context, ARGUMENTS)
    scenario, vehicle = localized(values)
    rate = number(values, "rate", float)
    own = {"preset": values["preset"], "reliable": bool(values["run"])}
    out = localizing_nodes(scenario, vehicle, values["method"], **own)
    if values["run"]:
        played = {"run": str(Path(values["run"]).resolve()), "rate": rate, "wait": 10.0}
        estimators = [each for each in out if each.executable in (VIRPO, JOINT)]
        played["until"] = [f"{each.space}/virpo/odometry" for each in estimators]
        out.append(LaunchedNode("iap_bringup", "sensor_player", "", played, restarts=False))
    maker = NodeMaker(values, out)
    return [*maker.environment, *maker.nodes()]

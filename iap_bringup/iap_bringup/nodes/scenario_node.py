# SPDX-License-Identifier: BSD-3-Clause
"""Executables that take a scenario and start nodes of other packages, which take values only.

ros2 run iap_bringup physics_node --ros-args -p scenario:=hover

An alias resolves the parameters that name a flight (`scenario_parameters`) and hands the values over;
all other parameters and remaps reach the node as ever.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from iap_bringup.launching.node_parameters import sensor_parameters
from iap_bringup.nodes.scenario_parameters import resolved_scenario
from iap_io.ros.node import SuiteNode, run


class Alias(NamedTuple):
    """A node that is made of a scenario.

    Attributes:
        node: its class as ``module:Class``, which takes `namespace` and `given` (see `SuiteNode`).
        parameters: its values out of the scenario that a node of the same name and parameters names.
        key: the parameter that holds its values; set by the user, no scenario is resolved. Empty: none such.
        namespace: where it is unless it is remapped.
    """

    node: str
    parameters: Callable[[SuiteNode], dict[str, Any]]
    key: str = ""
    namespace: str = ""


def _sensors(node: SuiteNode) -> dict[str, Any]:
    return sensor_parameters(resolved_scenario(node)[0])


ALIASES: dict[str, Alias] = {
    "imu_node": Alias("iap_sensors.nodes.imu_node:ImuNode", _sensors, key="rig"),
    "uwb_node": Alias("iap_sensors.nodes.uwb_node:UwbNode", _sensors, key="rig"),
    "camera_node": Alias("iap_sensors.nodes.camera_node:CameraNode", _sensors, key="rig"),
    "lidar_node": Alias("iap_sensors.nodes.lidar_node:LidarNode", _sensors, key="rig"),
    "sensor_node": Alias("iap_sensors.nodes.sensor_node:OtherSensorNode", _sensors, key="rig"),
}


def make_node(executable: str, namespace: str | None = None) -> SuiteNode:
    """The node of an alias, with the values of the scenario that its parameters name.

    Raises:
        BadInput: anything unknown, missing or impossible.
    """
    alias = ALIASES[executable]
    space = alias.namespace if namespace is None else namespace
    module, _, name = alias.node.partition(":")
    given = _values(alias, SuiteNode(executable, namespace=space))
    node: SuiteNode = getattr(import_module(module), name)(namespace=space, given=given)
    return node


def _values(alias: Alias, stand_in: SuiteNode) -> dict[str, Any]:
    """The values of an alias, from a node that is destroyed again."""
    try:
        what = "The node's own values, in place of a scenario."
        if alias.key and stand_in.parameter(alias.key, "", what):
            return {}
        return alias.parameters(stand_in)
    finally:
        stand_in.destroy_node()


def main_of(executable: str) -> Callable[[], int]:
    """The entry point of an alias."""
    return lambda: run(executable, lambda: [make_node(executable)])


imu_node = main_of("imu_node")
uwb_node = main_of("uwb_node")
camera_node = main_of("camera_node")
lidar_node = main_of("lidar_node")
sensor_node = main_of("sensor_node")

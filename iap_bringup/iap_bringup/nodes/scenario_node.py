# SPDX-License-Identifier: BSD-3-Clause
"""Executables that take a scenario and start nodes of other packages, which take values only.

ros2 run iap_bringup physics_node --ros-args -p scenario:=hover

An alias resolves the parameters that name a flight (`scenario_parameters`) and hands the values over;
all other parameters and remaps reach the node as ever.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from iap_bringup.launching.node_parameters import (
    physics_parameters,
    reference_parameters,
    sensor_parameters,
)
from iap_bringup.nodes.estimation_aliases import estimator_values, observer_values
from iap_bringup.nodes.scenario_parameters import resolved_scenario, vehicle_of_namespace
from iap_control.references.motions import Replay
from iap_description.errors import BadInput
from iap_io.ros.node import SuiteNode, run
from iap_simulation.flight import Flight


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


def reference_values(node: SuiteNode) -> dict[str, Any]:
    """Values of a reference_node in the namespace of one of the scenario's vehicles."""
    scenario, _ = resolved_scenario(node)
    return reference_parameters(scenario, scenario.vehicles[vehicle_of_namespace(node, scenario)])


def bag_values(node: SuiteNode) -> dict[str, Any]:
    """The same of a bag_player.

    Raises:
        BadInput: no bag is named.
    """
    scenario, _ = resolved_scenario(node)
    vehicle = scenario.vehicles[vehicle_of_namespace(node, scenario)]
    if not isinstance(vehicle.reference, Replay):
        raise BadInput("parameter bag: the bag or CSV file to play is missing")
    return reference_parameters(scenario, vehicle)


def _physics(node: SuiteNode) -> dict[str, Any]:
    scenario, _ = resolved_scenario(node)
    flight = Flight.of(scenario)
    for note in flight.sensors.suite.notes:
        node.get_logger().warning(note)
    return physics_parameters(scenario, flight.vehicles)


_ESTIMATION = "iap_estimation.nodes"
_AIRCRAFT, _VEHICLE = "iap/drone_1", "iap"
ALIASES: dict[str, Alias] = {
    "physics_node": Alias("iap_physics.nodes.physics_node:PhysicsNode", _physics, key="plant"),
    "reference_node": Alias(
        "iap_control.nodes.reference_node:ReferenceNode", reference_values, "reference", "iap"
    ),
    "bag_player": Alias("iap_bringup.nodes.bag_player:BagPlayer", bag_values, namespace="iap"),
    "frontend_node": Alias(
        f"{_ESTIMATION}.frontend_node:FrontendNode", estimator_values, namespace=_AIRCRAFT
    ),
    "virpo_node": Alias(
        f"{_ESTIMATION}.virpo_node:VirpoNode", estimator_values, namespace=_AIRCRAFT
    ),
    "joint_node": Alias(
        f"{_ESTIMATION}.joint_node:JointNode", estimator_values, namespace=_VEHICLE
    ),
    "centre_node": Alias(
        f"{_ESTIMATION}.centre_node:CentreNode", estimator_values, namespace=_VEHICLE
    ),
    "wrench_observer_node": Alias(
        f"{_ESTIMATION}.wrench_observer_node:WrenchObserverNode",
        observer_values,
        namespace=_VEHICLE,
    ),
    "imu_node": Alias("iap_sensors.nodes.imu_node:ImuNode", _sensors, key="rig"),
    "uwb_node": Alias("iap_sensors.nodes.uwb_node:UwbNode", _sensors, key="rig"),
    "camera_node": Alias("iap_sensors.nodes.camera_node:CameraNode", _sensors, key="rig"),
    "lidar_node": Alias("iap_sensors.nodes.lidar_node:LidarNode", _sensors, key="rig"),
    "sensor_node": Alias("iap_sensors.nodes.sensor_node:MountedSensorNode", _sensors, key="rig"),
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


def main() -> int:
    """Run the alias that the process is named after."""
    return main_of(Path(sys.argv[0]).name)()


if __name__ == "__main__":
    sys.exit(main())

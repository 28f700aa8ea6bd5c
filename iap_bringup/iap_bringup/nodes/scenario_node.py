# SPDX-License-Identifier: BSD-3-Clause
"""Executables that take a scenario and start nodes of other packages, which take values only.

ros2 run iap_bringup physics_node --ros-args -p scenario:=hover

An alias resolves the parameters that name a flight and hands the values over;
all other parameters and remaps reach the node as ever.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from iap_bringup.launching.launch_arguments import PARAMETERS, resolve_flight
from iap_bringup.launching.node_parameters import (
    estimator_parameters,
    localization_nodes,
    observer_parameters,
    physics_parameters,
    reference_parameters,
    sensor_parameters,
)
from iap_control.references.motions import Replay
from iap_description.errors import BadInput
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_io.ros.node import Owner, SuiteNode
from iap_io.ros.process import run
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

LIMITS = {"seed": (-1, 2**62), "duration": (0.0, 1e6)}


def resolved_scenario(node: SuiteNode) -> tuple[Scenario, dict[str, Any]]:
    """Declare the parameters and resolve the scenario; also returns its plain tree.

    Raises:
        BadInput: anything unknown, missing or impossible.
    """
    values = {
        name: node.parameter(name, default, what, limits=LIMITS.get(name))
        for name, (default, what) in PARAMETERS.items()
    }
    return resolve_flight(values)


def vehicle_of(node: SuiteNode, scenario: Scenario) -> VehicleSpec:
    """The vehicle that a node's namespace names.

    Raises:
        BadInput: the scenario has no such vehicle.
    """
    vehicles = {vehicle.name: vehicle for vehicle in scenario.vehicles}
    if node.vehicle not in vehicles:
        raise BadInput(
            f"namespace '{node.get_namespace()}': {scenario.scenario} has no such vehicle, "
            f"but {', '.join(vehicles)} (remap with -r __ns:=/{scenario.vehicles[0].name})"
        )
    return vehicles[node.vehicle]


class Alias(NamedTuple):
    """A node that is made of a scenario.

    Attributes:
        node: its class as ``module:Class``, which takes `namespace` and `parameters` (see `SuiteNode`).
        parameters: its values out of the scenario that a node of the same name and parameters names.
        key: the parameter that holds its values; set by the user, no scenario is resolved. Empty: none such.
        of: whose namespace it is in; that is `SPACES`' unless it is remapped.
        arguments: of the class besides; ReferenceNode takes its name.
    """

    node: str
    parameters: Callable[[SuiteNode], dict[str, Any]]
    key: str = ""
    of: Owner = "simulation"
    arguments: tuple[str, ...] = ()


def _sensors(node: SuiteNode) -> dict[str, Any]:
    return sensor_parameters(resolved_scenario(node)[0])


def reference_values(node: SuiteNode) -> dict[str, Any]:
    """Values of a reference_node in the namespace of one of the scenario's vehicles."""
    scenario, _ = resolved_scenario(node)
    return reference_parameters(scenario, vehicle_of(node, scenario))


def bag_values(node: SuiteNode) -> dict[str, Any]:
    """The same of a bag_player.

    Raises:
        BadInput: no bag is named.
    """
    scenario, _ = resolved_scenario(node)
    vehicle = vehicle_of(node, scenario)
    if not isinstance(vehicle.reference, Replay):
        raise BadInput("parameter bag: the bag or CSV file to play is missing")
    return reference_parameters(scenario, vehicle)


def _physics(node: SuiteNode) -> dict[str, Any]:
    scenario, _ = resolved_scenario(node)
    flight = Flight.of(scenario)
    for note in flight.sensors.suite.notes:
        node.get_logger().warning(note)
    return physics_parameters(scenario, flight.vehicles)


def estimator_values(node: SuiteNode) -> dict[str, Any]:
    """Values of a node that localises; none where the user gives its sensors instead of a scenario.

    Raises:
        BadInput: anything unknown, missing or impossible, or the namespace is of none of the scenario's vehicles.
    """
    if _given(node, "sensors").endswith(("\n", ".yaml", ".yml")):
        return {}
    scenario, _ = resolved_scenario(node)
    values = estimator_parameters(scenario, vehicle_of(node, scenario))
    return values | {key: node.parameter(key, values[key], PRESETS[key]) for key in PRESETS}


def capture_values(node: SuiteNode) -> dict[str, Any]:
    """Values of the filter of capture and inertial unit.

    Raises:
        BadInput: as `estimator_values`.
    """
    if "\n" in _given(node, "platform"):
        return {}
    scenario, _ = resolved_scenario(node)
    vehicle = vehicle_of(node, scenario)
    ((_, _, values),) = localization_nodes(scenario, vehicle, CAPTURE_INERTIAL)
    return values


def observer_values(node: SuiteNode) -> dict[str, Any]:
    """Values of a wrench observer; none where the user gives its platform as YAML instead of a scenario.

    Raises:
        BadInput: as `estimator_values`.
    """
    if "\n" in _given(node, "platform"):
        return {}
    scenario, _ = resolved_scenario(node)
    return observer_parameters(scenario, vehicle_of(node, scenario))


def _given(node: SuiteNode, name: str) -> str:
    """The text of a parameter that a scenario has, too, with another meaning."""
    text: str = node.parameter(name, "", "Declared again below.", changeable=True)
    node.undeclare_parameter(name)
    return text


PRESETS = {  # parameters by which the user overrides the scenario's
    "preset": "Settings of the estimator instead of the scenario's.",
    "frontend": "Settings of the front end instead of the scenario's.",
}
_ESTIMATION = "iap_estimation.nodes"
SPACES: dict[Owner, str] = {"simulation": "", "vehicle": "iap", "aircraft": "iap/drone_1"}
_ESTIMATORS: tuple[tuple[str, str, Owner], ...] = (
    ("frontend_node", "FrontendNode", "aircraft"),
    ("virpo_node", "VirpoNode", "aircraft"),
    ("joint_node", "JointNode", "vehicle"),
    ("centre_node", "CentreNode", "vehicle"),
)
ALIASES: dict[str, Alias] = {
    "physics_node": Alias("iap_physics.nodes.physics_node:PhysicsNode", _physics, key="plant"),
    "reference_node": Alias(
        "iap_control.nodes.reference_node:ReferenceNode", reference_values, "reference", "vehicle"
    ),
    "bag_player": Alias(
        "iap_control.nodes.reference_node:ReferenceNode",
        bag_values,
        "",
        "vehicle",
        ("bag_player",),
    ),
    **{
        name: Alias(f"{_ESTIMATION}.{name}:{kind}", estimator_values, of=owner)
        for name, kind, owner in _ESTIMATORS
    },
    "capture_node": Alias(f"{_ESTIMATION}.capture_node:CaptureNode", capture_values, of="vehicle"),
    "wrench_observer_node": Alias(
        f"{_ESTIMATION}.wrench_observer_node:WrenchObserverNode",
        observer_values,
        of="vehicle",
    ),
    **{
        f"{name}_node": Alias(f"iap_sensors.nodes.{name}_node:{kind}", _sensors, key="rig")
        for name, kind in (
            ("imu", "ImuNode"),
            ("uwb", "UwbNode"),
            ("camera", "CameraNode"),
            ("lidar", "LidarNode"),
            ("sensor", "MountedSensorNode"),
        )
    },
}


def make_node(executable: str, namespace: str | None = None) -> SuiteNode:
    """The node of an alias, with the values of the scenario that its parameters name.

    Raises:
        BadInput: anything unknown, missing or impossible.
    """
    alias = ALIASES[executable]
    space = SPACES[alias.of] if namespace is None else namespace
    module, _, name = alias.node.partition(":")
    parameters, names = _values(alias, SuiteNode(executable, namespace=space, of=alias.of))
    kind: type[SuiteNode] = getattr(import_module(module), name)
    node = kind(*alias.arguments, namespace=space, parameters=parameters)
    node.resolved_from = names
    return node


def _values(alias: Alias, node: SuiteNode) -> tuple[dict[str, Any], frozenset[str]]:
    """The values of an alias and the parameters that they were made of, from a node that is destroyed again."""
    try:
        what = "The node's own values, in place of a scenario."
        if alias.key and node.parameter(alias.key, "", what):
            return {}, frozenset()
        return alias.parameters(node), node.declared
    finally:
        node.destroy_node()


def main() -> int:
    """Run the alias that the process is named after."""
    executable = Path(sys.argv[0]).name
    return run(executable, lambda: [make_node(executable)])


if __name__ == "__main__":
    sys.exit(main())

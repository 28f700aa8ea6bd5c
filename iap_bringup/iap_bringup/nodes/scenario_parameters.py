# SPDX-License-Identifier: BSD-3-Clause
"""The parameters that say which flight a node takes part in; the same ones for every node of a simulation."""

from typing import Any

from iap_bringup.launching.launch_arguments import PARAMETERS, resolve_flight
from iap_description.errors import BadInput
from iap_io.ros.node import SuiteNode
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

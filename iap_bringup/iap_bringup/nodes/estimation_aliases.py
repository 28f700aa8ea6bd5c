# SPDX-License-Identifier: BSD-3-Clause
"""Values with which estimation nodes are made of a scenario, for ``ros2 run iap_bringup virpo_node`` and the like."""

from typing import Any

from iap_bringup.launching.node_parameters import estimator_parameters, observer_parameters
from iap_bringup.nodes.scenario_parameters import resolved_scenario
from iap_description.errors import BadInput
from iap_io.ros.node import SuiteNode
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

PRESETS = {  # parameters that the user's own win over
    "preset": "Settings of the estimator instead of the scenario's.",
    "frontend": "Settings of the front end instead of the scenario's.",
}


def estimator_values(stand_in: SuiteNode) -> dict[str, Any]:
    """Parameters of a node that localises; none where the user gives its sensors instead of a scenario.

    Raises:
        BadInput: anything unknown, missing or impossible, or the namespace is of none of the scenario's vehicles.
    """
    if _given(stand_in, "sensors").endswith(("\n", ".yaml", ".yml")):
        return {}
    scenario, own = _flown(stand_in)
    values = estimator_parameters(scenario, own)
    return values | {key: stand_in.parameter(key, values[key], PRESETS[key]) for key in PRESETS}


def observer_values(stand_in: SuiteNode) -> dict[str, Any]:
    """Parameters of a wrench observer; none where the user gives its platform as YAML instead of a scenario.

    Raises:
        BadInput: as `estimator_values`.
    """
    return {} if "\n" in _given(stand_in, "platform") else observer_parameters(*_flown(stand_in))


def _given(stand_in: SuiteNode, name: str) -> str:
    """The text of a parameter that a scenario has, too, with another meaning."""
    text: str = stand_in.declare_parameter(name, "").value
    stand_in.undeclare_parameter(name)
    return text


def _flown(stand_in: SuiteNode) -> tuple[Scenario, VehicleSpec]:
    """The scenario that the parameters name, and its vehicle of the namespace."""
    scenario, _ = resolved_scenario(stand_in)
    mine = stand_in.get_namespace()
    vehicles = {vehicle.name: vehicle for vehicle in scenario.vehicles}
    own = vehicles.get(mine.strip("/").partition("/")[0])
    if own is None:
        there = ", ".join(f"/{name}" for name in vehicles)
        raise BadInput(f"namespace '{mine}': {scenario.scenario} has no such vehicle, but {there}")
    return scenario, own

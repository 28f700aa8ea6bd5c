# SPDX-License-Identifier: BSD-3-Clause
"""The suite's nodes that a launched flight needs, and their parameters; no ROS needed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from iap_bringup.launching.node_parameters import (
    COORDINATOR,
    POLICY,
    coordinator_parameters,
    localization_nodes,
    package_of,
    physics_parameters,
    reference_parameters,
    sensor_nodes,
    sensor_parameters,
    vehicle_nodes,
)
from iap_io.runs.vehicle_meta import TRUTH
from iap_simulation.modules.coordination import check_flown_by_hand
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

CAMERA = "camera_node"  # and the argument that leaves it out


class LaunchedNode(NamedTuple):
    """One of the suite's nodes.

    Attributes:
        package: that has its executable.
        executable: which is also its name.
        space: its namespace within the simulation's: empty, a vehicle's or an aircraft's.
        parameters: of it.
        restarts: whether it may be started again in a flight.
    """

    package: str
    executable: str
    space: str
    parameters: Mapping[str, Any]
    restarts: bool = True

    def full_name(self, simulation: str) -> str:
        """Its name in a simulation's namespace, which is empty or such as ``/sim_1``."""
        return "/".join((simulation, *filter(None, (self.space, self.executable))))


def flight_nodes(
    scenario: Scenario,
    flight: Mapping[str, Any],
    arguments: Mapping[str, str],
    *,
    mount_frames: bool = True,
) -> list[LaunchedNode]:
    """The nodes that fly a scenario, and record it where that is asked for.

    A recorded flight stands until all of its nodes are there, so that none misses its beginning, and
    what its sensors say is sent again where it was lost. Its physics_node cannot be started again in between.

    Args:
        scenario: that is flown.
        flight: its parameters, see `launch_arguments.PARAMETERS`.
        arguments: of the launch.
        mount_frames: whether physics_node publishes the frames of mounts.

    Raises:
        BadInput: the scenario has modules that fly in one process alone, or nothing that can be flown by hand as asked.
    """
    has_references, records = arguments["reference"] == "true", arguments["record"] == "true"
    by_hand = arguments.get("by_hand", "")
    if by_hand:
        check_flown_by_hand(scenario, by_hand)
    stands = records and has_references and not by_hand
    common = {"pace": arguments["pace"], "start_paused": stands, "mount_frames": mount_frames}
    physics = {**physics_parameters(scenario), **common}
    out = [LaunchedNode("iap_physics", "physics_node", "", physics, not records)]
    for vehicle in scenario.vehicles:
        for name, parameters in vehicle_nodes(scenario, vehicle).items():
            out.append(LaunchedNode(package_of(name), name, vehicle.name, parameters))
        if has_references and vehicle.name != by_hand:
            out.append(_reference_source(scenario, vehicle, flight))
    if is_coordinated(scenario):
        values = coordinator_parameters(scenario)
        out.append(LaunchedNode(package_of(COORDINATOR), COORDINATOR, "", values))
    if scenario.policy:
        out.append(LaunchedNode(package_of(POLICY), POLICY, "", flight))
    localizing = _localizers(scenario, arguments)
    out += localizing
    is_reliable = records or bool(localizing) or scenario.policy is not None
    left_out = CAMERA if arguments.get(CAMERA) == "false" else ""
    for name in (each for each in sensor_nodes(scenario) if each != left_out):
        parameters = {**sensor_parameters(scenario), "reliable": is_reliable}
        out.append(LaunchedNode(package_of(name), name, "", parameters))
    if records:
        recorder = {**flight, "out": arguments["out"], "end_pause": stands}
        out.append(LaunchedNode("iap_bringup", "recorder", "", recorder, restarts=False))
    return out


def localizing_nodes(
    scenario: Scenario, vehicle: VehicleSpec, method: str, pace: str = "", **common: object
) -> list[LaunchedNode]:
    """The nodes that localise a vehicle; `own` are parameters besides those of `localization_nodes`."""
    return [
        LaunchedNode(package_of(name), name, space.strip("/"), {**values, **common})
        for name, space, values in localization_nodes(scenario, vehicle, method, pace)
    ]


def _reference_source(
    scenario: Scenario, vehicle: VehicleSpec, flight: Mapping[str, Any]
) -> LaunchedNode:
    if flight["bag"]:
        return LaunchedNode("iap_bringup", "bag_player", vehicle.name, flight)
    values = reference_parameters(scenario, vehicle)
    return LaunchedNode("iap_control", "reference_node", vehicle.name, values)


def _localizers(scenario: Scenario, arguments: Mapping[str, str]) -> list[LaunchedNode]:
    """The nodes that localise vehicles by what these go by, or by what is asked for."""
    out = []
    for vehicle in scenario.vehicles:
        source = vehicle.control.state_source
        method = arguments["localization"] if source == TRUTH else source
        if method:
            out += localizing_nodes(scenario, vehicle, method, arguments["pace"], reliable=True)
    return out

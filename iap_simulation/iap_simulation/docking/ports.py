# SPDX-License-Identifier: BSD-3-Clause
"""Ports of a scenario's latches: their frames, their vehicles, and when they hold each other."""

import numpy as np

from iap_description.errors import BadInput
from iap_description.vehicles.latch import Latch, PortFrame
from iap_physics.docking.mechanism import Mechanism
from iap_physics.latching.latches import Phase
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.scenario_keys import DockingSpec


def is_held(phase: Phase) -> bool:
    """True if a latch holds its probe."""
    return phase in (Phase.CAUGHT, Phase.LOCKED)


def port_frames(scenario: Scenario, latch: Latch) -> tuple[PortFrame, PortFrame]:
    """Frames of a latch's probe and socket on their vehicles as their files say, or on an object."""
    platforms = {vehicle.name: vehicle.platform for vehicle in scenario.vehicles}

    def frame(path: str) -> PortFrame:
        vehicle, _, port = path.partition("/")
        if not port:
            return PortFrame.of_face()
        return PortFrame.of(platforms[vehicle].ends[port], np.zeros(3))

    return frame(latch.probe), frame(latch.socket)


def pair_of(scenario: Scenario) -> tuple[tuple[int, int], str]:
    """Numbers of target and chaser among a scenario's vehicles, and their latch.

    Raises:
        BadInput: nothing docks.
    """
    if scenario.docking is None:
        raise BadInput(f"key 'policy': scenario '{scenario.scenario}' has no key 'docking'")
    latch = scenario.latches[scenario.docking.latch]
    names = [vehicle.name for vehicle in scenario.vehicles]
    target, chaser = (names.index(path.split("/")[0]) for path in (latch.socket, latch.probe))
    return (target, chaser), scenario.docking.latch


def pair_vehicles(scenario: Scenario, spec: DockingSpec) -> tuple[int, int]:
    """Numbers of target and chaser among a scenario's vehicles.

    Raises:
        BadInput: there are others, or what these worlds do not have.
    """
    latch = scenario.latches[spec.latch]
    names = [vehicle.name for vehicle in scenario.vehicles]
    if len(names) != 2 or len(scenario.latches) != 1 or latch.release is not None:
        raise BadInput("docking: worlds side by side have two vehicles and one latch that stays")
    for vehicle in scenario.vehicles:
        error = vehicle.model_error
        if vehicle.faults or vehicle.disturbances or any(error.com + error.force):
            raise BadInput(
                f"docking: worlds side by side have no faults, disturbances or shifted CoMs: '{vehicle.name}'"
            )
    draw = scenario.draw
    if draw.com or draw.force or draw.torque or draw.friction:
        raise BadInput("docking: worlds side by side draw no com, force, torque or friction")
    return names.index(latch.socket.split("/")[0]), names.index(latch.probe.split("/")[0])


def mechanism_of(scenario: Scenario, spec: DockingSpec) -> Mechanism:
    """Probe and socket of a scenario's latch, with the surfaces of their aircraft."""
    latch = scenario.latches[spec.latch]
    platforms = {vehicle.name: vehicle.platform for vehicle in scenario.vehicles}
    ports = [platforms[v].ports[p] for v, p in (x.split("/") for x in (latch.probe, latch.socket))]
    surfaces = [platforms[x.split("/")[0]].aircraft.surface for x in (latch.probe, latch.socket)]
    surfaces = [each or scenario.world.surface for each in surfaces]
    return Mechanism.of(ports[0], ports[1], (surfaces[0], surfaces[1]))  # type: ignore[arg-type] # checked with the scenario

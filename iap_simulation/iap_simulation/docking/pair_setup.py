# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles, ports and starts of a docking scenario in many worlds."""

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly
from iap_physics.docking.mechanism import Mechanism
from iap_simulation.batch.starts import Starts
from iap_simulation.scenario.docking_spec import DockingSpec
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class PairStarts:
    """Starts of one vehicle of a scenario of several.

    Attributes:
        assembly: of its platform, as the file says.
    """

    def __init__(self, scenario: Scenario, vehicle: int) -> None:
        alone = Scenario.model_construct(
            **{**dict(scenario), "vehicles": (scenario.vehicles[vehicle],)}
        )
        ready = Vehicle.of(scenario, scenario.vehicles[vehicle])
        assembly = Assembly.of(scenario.vehicles[vehicle].platform, ready.name)
        self.assembly = assembly.without_looks()
        self._starts = Starts(alone, ready, self.assembly)

    def __call__(self, seeds: Integers) -> tuple[Array, Array]:
        """States (n, 1, 13) and rotor speeds (n, 1, 4) [rpm] at the starts that seeds (n,) draw."""
        x, rpm, _ = self._starts(seeds)
        return x, rpm


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
        if vehicle.faults or vehicle.disturbances or error.delay or any(error.com + error.force):
            raise BadInput(
                f"docking: worlds side by side have no faults, disturbances, delays or shifted CoMs: '{vehicle.name}'"
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

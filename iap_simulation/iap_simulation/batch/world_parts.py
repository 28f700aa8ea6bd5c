# SPDX-License-Identifier: BSD-3-Clause
"""Parts of which many worlds of a scenario are made, and how they come to the starts of their seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from iap_description.arrays import Integers
from iap_description.errors import BadInput
from iap_description.math.lanes import Precision
from iap_description.math.random_streams import stream
from iap_description.vehicles.assembly import Assembly
from iap_physics.air.batch_air import GUSTS
from iap_physics.batch.threads import Threads
from iap_physics.build import build_plant
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.plant.plant import Plant, PlantOptions
from iap_simulation.batch.batch_support import check_memory, deviates, unsupported
from iap_simulation.batch.inertial_units import WorldInertialUnits
from iap_simulation.batch.starts import Starts, seed_array
from iap_simulation.batch.tracking import Tracking
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.randomization import drawn_deviation, drawn_wind
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


@dataclass(frozen=True, eq=False)
class WorldParts:
    """Parts of B worlds of one scenario.

    Attributes:
        scenario: resolved.
        seeds: (B,) of the worlds.
        flight: the scenario made ready with the first seed.
        vehicle: its only one.
        engine: of all worlds.
        plant: likewise.
        tracking: references, measured states and controllers.
        units: inertial units; None without.
        threads: that share the worlds.
        starter: that draws the starts of seeds.
    """

    scenario: Scenario
    seeds: Integers
    flight: Flight
    vehicle: Vehicle
    engine: ClosedFormEngine
    plant: Plant
    tracking: Tracking
    units: WorldInertialUnits | None
    threads: Threads
    starter: "WorldStarter"

    @classmethod
    def of(
        cls, scenario: Scenario, seeds: Sequence[int], threads: Threads, precision: Precision
    ) -> Self:
        """Make parts of worlds that stand nowhere yet.

        Raises:
            BadInput: there are no worlds, or they cannot fly this.
        """
        numbers = _checked(scenario, seeds)
        flight = Flight.of(seeded(scenario, int(numbers[0])))
        (vehicle,), (spec,), batch = flight.vehicles, scenario.vehicles, len(numbers)
        engine = ClosedFormEngine(batch=batch, raises=False)
        has_units = spec.sensors.imu is not None
        units = WorldInertialUnits(scenario, flight.spec, batch) if has_units else None
        probes = [] if units is None else [units.probe]
        options = PlantOptions(raises=False, threads=threads, precision=precision)
        plant = build_plant(flight.spec, engine, probes, options)
        return cls(
            scenario,
            numbers,
            flight,
            vehicle,
            engine,
            plant,
            Tracking(scenario, vehicle, batch),
            units,
            threads,
            WorldStarter(scenario, flight, vehicle),
        )


@dataclass(frozen=True, eq=False)
class WorldsSnapshot:
    """An instant of all worlds."""

    parts: tuple[Any, ...]
    engine: object


class WorldStarter:
    """Brings worlds to the starts that their seeds draw.

    Args:
        scenario: resolved.
        flight: the scenario made ready with any seed.
        vehicle: its only one.

    Attributes:
        assembly: of the platform, as the file says.
    """

    def __init__(self, scenario: Scenario, flight: Flight, vehicle: Vehicle) -> None:
        (spec,) = scenario.vehicles
        self._scenario, self._spec = scenario, flight.spec.vehicles[0]
        self.assembly = Assembly.of(spec.platform, spec.name).without_looks()
        self._starts = Starts(scenario, vehicle, self.assembly)

    def reset(
        self,
        worlds: Integers,
        seeds: Integers,
        plant: Plant,
        tracking: Tracking,
        units: WorldInertialUnits | None,
    ) -> None:
        """Bring some worlds (n,) to the starts of their seeds (n,)."""
        numbers = seeds.tolist()
        if deviates(self._scenario):
            for world, seed in zip(worlds.tolist(), numbers, strict=True):
                self._deviate(world, seed, plant)
        if units is not None:
            units.reset(worlds, [seeded(self._scenario, seed) for seed in numbers])
        gusts = [stream(seed, GUSTS) for seed in numbers] if plant.air.is_gusty else None
        x, rpm, tilt = self._starts(seeds)
        plant.reset(x, [rpm], gusts, worlds, tilt=[tilt])
        tracking.reset(worlds, numbers, x[:, 0])

    def _deviate(self, world: int, seed: int, plant: Plant) -> None:
        """Give a world the vehicle and the wind that its seed draws."""
        scenario = seeded(self._scenario, seed)
        deviation = drawn_deviation(scenario, scenario.vehicles[0])
        vehicle = self._spec.model_copy(update={"deviation": deviation})
        airframe = vehicle.airframe(deviation.assembly(self.assembly))
        plant.deviate(world, airframe, drawn_wind(scenario))


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """The scenario of the world of a seed."""
    return scenario.model_copy(update={"seed": seed})


def _checked(scenario: Scenario, seeds: Sequence[int]) -> Integers:
    """Seeds as an array (B,).

    Raises:
        BadInput: there are none, or worlds cannot fly this.
    """
    why = unsupported(scenario)
    if why is not None:
        raise BadInput(f"worlds: '{scenario.scenario}' cannot be flown side by side: {why}")
    if not len(seeds):
        raise BadInput("worlds: at least one seed is expected")
    check_memory(len(seeds), scenario.vehicles[0])
    return seed_array(seeds)

# SPDX-License-Identifier: BSD-3-Clause
"""Parts of which many worlds of a scenario are made, and how they come to the starts of their seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.lanes import Precision
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import imu_mounts
from iap_description.vehicles.assembly import Assembly
from iap_physics.air.batch_air import GUSTS
from iap_physics.arm.batch_grippers import BatchGrippers
from iap_physics.batch.threads import Threads, VectorTime
from iap_physics.build import build_plant
from iap_physics.engines.batch_engine import BatchEngine, ObjectEngine
from iap_physics.engines.make import make_batch
from iap_physics.latching.batch_latches import BatchLatches
from iap_physics.plant.inertial import inertial_probe
from iap_physics.plant.period_flight import PlantOptions
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.vehicle_spec import deviated
from iap_sensors.inertial.imu import Imus, ImuSamples
from iap_simulation.batch.batch_support import check_fits, check_memory, deviates, unsupported
from iap_simulation.batch.contact_endings import ContactEndings
from iap_simulation.batch.starts import Starts, seed_array
from iap_simulation.batch.tracking import Tracking
from iap_simulation.batch.world_estimates import WorldEstimates
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.randomization import (
    drawn_deviation,
    drawn_imu_mounts,
    drawn_latches,
    drawn_wind,
    drawn_world,
    friction_factor,
)
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class WorldInertialUnits:
    """Units on the central body and on every aircraft of the only vehicle, M in each of B worlds.

    Args:
        scenario: resolved; its vehicle has inertial units, with whole numbers of samples in a control period.
        spec: of the plant of one of the worlds.
        batch: number of worlds.

    Attributes:
        probe: what the plant shows its physics steps.
        samples: of the last control period, arrays (B, M, S, 3); before the first one S is 0.
        ages: (S,) physics steps from their stamps to the period's end.
    """

    def __init__(self, scenario: Scenario, spec: PlantSpec, batch: int) -> None:
        (vehicle,), (plant_vehicle,) = scenario.vehicles, spec.vehicles
        assert vehicle.sensors.imu is not None  # noqa: S101 - the caller has looked
        assert plant_vehicle.imu is not None  # noqa: S101 - so has the plant's
        mounts = imu_mounts(Assembly.of(vehicle.platform, vehicle.name))
        self._topics = [mount.source.topic for mount in mounts]
        self._is_drawn = scenario.draw.imu_position > 0.0 or scenario.draw.imu_tilt_deg > 0.0
        self.probe = inertial_probe(spec, plant_vehicle.imu, batch=batch)
        rngs = [np.random.default_rng(0)] * (batch * len(mounts))  # until the first reset
        self._errors = Imus(
            vehicle.sensors.imu, scenario.rates.physics_hz / plant_vehicle.imu.every, rngs
        )
        self.samples, self.ages = self._none(batch), np.zeros(0, dtype=np.int64)

    def _none(self, batch: int) -> ImuSamples:
        return ImuSamples(*np.zeros((4, batch, len(self._topics), 0, 3)))

    def reset(self, worlds: Integers, scenarios: Sequence[Scenario]) -> None:
        """Draw the units of some worlds, before their plants are reset; `scenarios` are theirs."""
        count = len(self._topics)
        for world, scenario in zip(worlds.tolist(), scenarios, strict=True):
            units = range(world * count, (world + 1) * count)
            self._errors.reset(units, [stream(scenario.seed, topic) for topic in self._topics])
            if self._is_drawn:
                mounts = drawn_imu_mounts(scenario, scenario.vehicles[0])
                positions = np.array([mount.p_BS_B for mount in mounts])
                self.probe.set_mounts(world, positions, np.array([each.q_BS for each in mounts]))

    def measure(self) -> None:
        """Take the samples of the control period that has just been flown."""
        ticks, w, f = self.probe.take_all()
        self.ages = self.probe.steps - ticks
        steps, batch, count, _ = w.shape
        by_unit = (np.moveaxis(each, 0, 2).reshape(batch * count, steps, 3) for each in (w, f))
        measured = self._errors(*by_unit)
        self.samples = ImuSamples(*(each.reshape(batch, count, steps, 3) for each in measured))


@dataclass(frozen=True, eq=False)
class WorldParts:
    """Parts of B worlds of one scenario.

    Attributes:
        scenario: resolved.
        seeds: (B,) of the worlds.
        flight: the scenario made ready with the first seed.
        vehicles: in the scenario's order.
        engine: of all worlds.
        plant: likewise.
        trackings: references, measured states and controllers of each vehicle.
        units: inertial units; None without.
        endings: of flights in contact; None without contact.
        estimates: that the vehicle goes by; None where it goes by the truth.
        threads: that share the worlds.
        starter: that draws the starts of seeds.
    """

    scenario: Scenario
    seeds: Integers
    flight: Flight
    vehicles: tuple[Vehicle, ...]
    engine: BatchEngine
    plant: Plant
    trackings: tuple[Tracking, ...]
    units: WorldInertialUnits | None
    endings: ContactEndings | None
    estimates: WorldEstimates | None
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
        vehicles, batch = flight.vehicles, len(numbers)
        engine = make_batch(scenario.engine.name, batch, partial(threads.run, pace=VectorTime()))
        has_units = scenario.vehicles[0].sensors.imu is not None
        units = WorldInertialUnits(scenario, flight.spec, batch) if has_units else None
        probes = [] if units is None else [units.probe]
        options = PlantOptions(raises=False, threads=threads, precision=precision)
        plant = build_plant(flight.spec, engine, probes, options)
        if isinstance(engine, ObjectEngine) and deviates(scenario):
            check_fits(batch * engine.own_bytes, f"worlds: models of {batch} of them")
        endings = ContactEndings.of(engine, flight.spec, batch)
        return cls(
            scenario,
            numbers,
            flight,
            vehicles,
            engine,
            plant,
            tuple(Tracking(scenario, i, each, batch) for i, each in enumerate(vehicles)),
            units,
            endings,
            WorldEstimates.of(scenario, flight, batch),
            threads,
            WorldStarter(scenario, flight, touches=endings is not None),
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
        touches: whether vehicles meet anything; those that do not are drawn without their shapes.
    """

    def __init__(self, scenario: Scenario, flight: Flight, *, touches: bool) -> None:
        self._scenario, self._specs = scenario, flight.spec.vehicles
        self._starts = [Starts(scenario, each, i) for i, each in enumerate(flight.vehicles)]
        whole = [Assembly.of(each.platform, each.name) for each in scenario.vehicles]
        self._assemblies = whole if touches else [each.without_looks() for each in whole]

    def reset(
        self,
        worlds: Integers,
        seeds: Integers,
        plant: Plant,
        units: WorldInertialUnits | None = None,
    ) -> list[Array]:
        """Bring some worlds (n,) to the starts of their seeds (n,).

        Returns:
            State rows (n, 13) of the central body of each vehicle.
        """
        numbers = seeds.tolist()
        if deviates(self._scenario):
            for world, seed in zip(worlds.tolist(), numbers, strict=True):
                self._deviate(world, seed, plant)
        if units is not None:
            units.reset(worlds, [seeded(self._scenario, seed) for seed in numbers])
        plant.set_sensors(worlds.tolist(), numbers)
        gusts = [stream(seed, GUSTS) for seed in numbers] if plant.air.is_gusty else None
        x, rpm, tilt = zip(*(starts(seeds) for starts in self._starts), strict=True)
        plant.reset(np.concatenate(x, axis=1), rpm, gusts, worlds, tilt=tilt)
        return [rows[:, 0] for rows in x]

    def _deviate(self, world: int, seed: int, plant: Plant) -> None:
        """Give a world the vehicles and the wind that its seed draws."""
        scenario = seeded(self._scenario, seed)
        friction, airframes = friction_factor(scenario), []
        for number, spec in enumerate(self._specs):
            deviation = drawn_deviation(scenario, scenario.vehicles[number])
            assembly = deviated(self._assemblies[number], deviation, friction)
            airframes.append(spec.airframe(assembly, deviation))
        plant.deviate(world, airframes, drawn_wind(scenario), drawn_world(scenario))
        grippers, latches = plant.part(BatchGrippers), plant.part(BatchLatches)
        if grippers is not None:
            grippers.set_world(world, drawn_world(scenario))
        if latches is not None:
            assemblies = [airframe.assembly for airframe in airframes]
            latches.set_world(world, drawn_latches(scenario), assemblies)


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
    check_memory(len(seeds), scenario.vehicles)
    return seed_array(seeds)

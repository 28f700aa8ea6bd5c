# SPDX-License-Identifier: BSD-3-Clause
"""All sensors of a run, on one clock: they look at every state, and whoever takes readings gets them in order."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import AnySensor
from iap_description.vehicles.assembly import Assembly
from iap_physics.plant import Plant, Probe
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.inertial_units import InertialUnits
from iap_sensors.mounted.lidars import Lidars
from iap_sensors.mounted.uwb_tags import UwbTags
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]


class ReadingSink(Protocol):
    """What takes readings: a recorder, an estimator."""

    def take(self, reading: Reading) -> None:
        """Take one; those of one sensor come in the order of their stamps."""


class VehicleSensors:
    """The sensors of one vehicle but its cameras; each kind is None where there is none."""

    def __init__(
        self, scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly, first: int
    ) -> None:
        sensors = vehicle.sensors
        self.inertial = InertialUnits(scenario, vehicle, assembly, first) if sensors.imu else None
        self.uwb = UwbTags(scenario, vehicle, assembly) if sensors.uwb else None
        self.lidars = Lidars(scenario, vehicle, assembly) if sensors.lidar else None

    @property
    def kinds(self) -> list[InertialUnits | UwbTags | Lidars]:
        """Those that there are."""
        return [each for each in (self.inertial, self.uwb, self.lidars) if each is not None]

    def reset(self, seed: int, x: Array) -> None:
        """Start anew from the vehicle's rows (bodies, 13)."""
        if self.inertial is not None:
            self.inertial.reset(seed, x)
        for kind in (self.uwb, self.lidars):
            if kind is not None:
                kind.reset(seed)

    def look(self, k: int, plant: Plant, x: Array) -> list[Reading]:
        """Readings that have come by control instant k; `x` (bodies, 13) is the vehicle's state then."""
        out: list[Reading] = []
        if self.inertial is not None:
            out += self.inertial.look(k, plant.t, x, self.inertial.probe.take())
        for kind in (self.uwb, self.lidars):
            if kind is not None:
                out += kind.look(k, plant.t, x, plant.engine)
        return out


class SensorSuite:
    """The sensors of all vehicles, and cameras in the world.

    Args:
        scenario: resolved.

    Attributes:
        takers: get every reading.
        eyes: the cameras once `open_eyes` was called; None without cameras.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.vehicles: list[VehicleSensors] = []
        first = 0
        for vehicle in scenario.vehicles:
            assembly = Assembly.of(vehicle.platform, vehicle.name)
            self.vehicles.append(VehicleSensors(scenario, vehicle, assembly, first))
            first += len(assembly.bodies)
        self._seeing = mounted_cameras_of(scenario)
        self.takers: list[ReadingSink] = []
        self.eyes: MountedCameras | None = None

    @property
    def has_cameras(self) -> bool:
        """Whether there are cameras, so that a renderer is needed."""
        return bool(self._seeing)

    @property
    def is_empty(self) -> bool:
        """Whether there is no sensor at all."""
        return not self._seeing and not any(each.kinds for each in self.vehicles)

    def open_cameras(self, renderer: Renderer) -> None:
        """Give the cameras a fresh renderer, which whoever made it closes."""
        self.eyes = MountedCameras(self._scenario, self._seeing, renderer)

    @property
    def probes(self) -> list[Probe]:
        """What the plant lets see every physics step."""
        return [each.inertial.probe for each in self.vehicles if each.inertial is not None]

    @property
    def metas(self) -> tuple[AnySensor, ...]:
        """What a recording says of the sensors."""
        kinds = [kind for each in self.vehicles for kind in each.kinds]
        return (
            *(meta for kind in kinds for meta in kind.metas),
            *(eye.meta for eye in self._seeing),
        )

    @property
    def notes(self) -> list[str]:
        """Sentences for the user, each once: rates that are not what was asked for."""
        kinds = [kind for each in self.vehicles for kind in each.kinds]
        found = [note for kind in kinds for note in kind.notes]
        found += [eye.sampling.note for eye in self._seeing if eye.sampling.note]
        return list(dict.fromkeys(found))

    def begin(self, plant: Plant, takers: Sequence[ReadingSink]) -> None:
        """Begin a run for those who take readings; the plant is at its start."""
        self.takers = list(takers)
        for i, senses in enumerate(self.vehicles):
            senses.reset(self._scenario.seed, plant.state(i)[0])
        if self.eyes is not None:
            self.eyes.reset(self._scenario.seed)

    def look(self, k: int, plant: Plant) -> None:
        """Sense the present state at control instant k."""
        for i, senses in enumerate(self.vehicles):
            self._hand_over(senses.look(k, plant, plant.state(i)[0]))
        if self.eyes is not None:
            engine = plant.engine
            x = engine.state()[0]
            self._hand_over(self.eyes.look(k, plant.t, x, engine.object_states()))

    def _hand_over(self, readings: Iterable[Reading]) -> None:
        for reading in readings:
            for taker in self.takers:
                taker.take(reading)

# SPDX-License-Identifier: BSD-3-Clause
"""Observed side of worlds: states, status, times, references and outcomes, as properties that change nothing."""

from functools import cached_property
from typing import Any

import numpy as np

from iap_control.allocation.model import PlatformModel
from iap_control.batch.controllers import Controllers
from iap_control.references.timeline import Timeline
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput, IapError
from iap_io.runs.run_meta import RunMeta
from iap_physics.batch.threads import Threads
from iap_physics.engines.batch_engine import ArmJointBatch, ObjectEngine
from iap_physics.engines.engine import RUNNING
from iap_physics.plant.plant import Plant
from iap_sensors.inertial.imu import ImuSamples
from iap_simulation.batch.batch_support import deviates
from iap_simulation.batch.commanders import WorldInputs
from iap_simulation.batch.placed_objects import PlacedObjects
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import Tracking
from iap_simulation.batch.world_parts import WorldParts
from iap_simulation.batch.world_vehicle import WorldVehicle
from iap_simulation.scenario.randomization import drawn_deviation
from iap_simulation.scenario.scenario import Scenario


class WorldViews:
    """Views of B worlds, see `iap_simulation.batch.worlds.Worlds`; of several vehicles those of the first.

    Args:
        parts: of which they are made.
        gpu: in whose memory they fly; None on this machine.

    Attributes:
        seeds: (B,) of the worlds.
        scenario: of all of them.
        flight: the scenario made ready with the first seed.
    """

    def __init__(self, parts: WorldParts, gpu: Any) -> None:  # noqa: ANN401 - its module is an extra
        self.scenario, self.flight, self.seeds = parts.scenario, parts.flight, parts.seeds
        self._plant, self._trackings, self._units = parts.plant, parts.trackings, parts.units
        self._vehicles, self._engine, self._threads = parts.vehicles, parts.engine, parts.threads
        self._endings, self._estimates = parts.endings, parts.estimates
        self._gpu = gpu

    def _seeded(self, i: int) -> Scenario:
        return self.scenario.model_copy(update={"seed": int(self.seeds[i])})

    def world(self, i: int) -> Scenario:
        """The scenario of one world, whose single run is the same flight."""
        return self._seeded(range(len(self.seeds))[i])

    @property
    def plant(self) -> Plant:
        """Plant of all worlds; of worlds on a GPU as it has been brought home."""
        self._bring_home()
        return self._plant

    @property
    def controllers(self) -> Controllers:
        """Controllers of all worlds; of worlds on a GPU as they have been brought home."""
        self._bring_home()
        return self._trackings[0].controllers

    def _bring_home(self) -> None:
        """Bring worlds on a GPU home: this machine's arrays count."""
        if self._gpu is not None:
            self._gpu.bring_home()

    def _current(self, array: Any) -> Any:  # noqa: ANN401 - of floats or integers
        """An array of this machine as it is now."""
        return array if self._gpu is None else self._gpu.current(array)

    @property
    def threads(self) -> Threads:
        """Threads that share the worlds."""
        return self._threads

    @property
    def timeline(self) -> Timeline:
        """The scenario's references."""
        return self._vehicles[0].timeline

    @property
    def model(self) -> PlatformModel:
        """The platform as controllers believe it."""
        return self._vehicles[0].model

    @property
    def name(self) -> str:
        """The vehicle's name."""
        return self.names[0]

    @property
    def names(self) -> list[str]:
        """The vehicles' names, in their order."""
        return [vehicle.name for vehicle in self._vehicles]

    @property
    def trackings(self) -> tuple[Tracking, ...]:
        """The controllers' side of each vehicle."""
        return self._trackings

    @property
    def _tracking(self) -> Tracking:
        return self._trackings[0]

    def number_of(self, name: str) -> int:
        """The number of a vehicle.

        Raises:
            BadInput: there is none of that name.
        """
        if name not in self.names:
            raise BadInput(f"worlds: no vehicle '{name}' (vehicles: {', '.join(self.names)})")
        return self.names.index(name)

    def vehicle(self, name: str) -> WorldVehicle:
        """The view of one vehicle in all worlds.

        Raises:
            BadInput: there is none of that name.
        """
        number = self.number_of(name)
        return WorldVehicle(self, number, self._vehicles[number])

    @property
    def metas(self) -> list[RunMeta]:
        """(B,) description of each world's run."""
        first, metas = self.flight.meta, []
        for i, seed in enumerate(self.seeds.tolist()):
            vehicles = first.vehicles
            if deviates(self.scenario):
                world = self._seeded(i)
                thrusts = [drawn_deviation(world, each).thrust for each in world.vehicles]
                vehicles = tuple(
                    vehicle.model_copy(update={"thrust_factors": thrust})
                    for vehicle, thrust in zip(vehicles, thrusts, strict=True)
                )
            metas.append(first.model_copy(update={"seed": seed, "vehicles": vehicles}))
        return metas

    @property
    def state(self) -> Array:
        """(B, bodies, 13) states, a view that the next step overwrites; of worlds on a GPU a copy."""
        return self._current(self._plant.state())

    @property
    def bodies(self) -> Array:
        """(B, bodies, 13) states of the bodies of all vehicles, in their order."""
        if len(self._vehicles) == 1:
            return self.state
        return np.hstack([self.vehicle(name).state for name in self.names])

    def known_states(self, vehicle: int = 0) -> Array:
        """(B, bodies, 13) states that a vehicle goes by: its estimates, or the truth; the next step overwrites them."""
        return self._plant.state(vehicle) if self._estimates is None else self._estimates.x

    @property
    def flies_on_estimates(self) -> bool:
        """True if the vehicle's controller and autopilots go by an estimate."""
        return self._estimates is not None

    @property
    def measured(self) -> Array:
        """(B, 13) central bodies as controllers have measured them last; at a start, and without noise, as known."""
        return self._tracking.commander.measured(self._current(self.known_states()))

    @property
    def position_bias(self) -> Array:
        """(B, 3) of measured places in the present flights [m]."""
        return self._tracking.commander.position_bias

    @property
    def rpm(self) -> Array:
        """(B, N, 4) rotor speeds [rpm], a view that the next step overwrites; of worlds on a GPU a copy."""
        return self._current(self._plant.propulsion[0].rpm)

    @property
    def tilt(self) -> Array:
        """(B, N, 4) tilts of rotors [rad], a view that the next step overwrites; of worlds on a GPU a copy."""
        return self._current(self._plant.propulsion[0].rotors.tilt)

    @property
    def status(self) -> Integers:
        """(B,) `RUNNING`, or why a world stands still, see `iap_physics.engines.engine`."""
        return self._current(self._plant.status)

    @property
    def times(self) -> Array:
        """(B,) simulation time of each world [s]."""
        self._current(self._plant.ticks)
        return self._plant.times

    @property
    def imu(self) -> ImuSamples:
        """Samples of the last control period, (B, M, S, 3): of the central body's unit and of each aircraft's.

        Raises:
            IapError: the scenario has no inertial units.
        """
        if self._units is None:
            raise IapError("worlds: there are no inertial units without sensors.imu")
        return self._units.samples

    @property
    def instants(self) -> Integers:
        """(B,) numbers of the worlds' control instants."""
        return self._current(self._plant.ticks) // self._plant.substeps

    @property
    def is_done(self) -> Booleans:
        """(B,) whether a world has failed, or its references have come to their end."""
        return (self.status != RUNNING) | (self.instants >= self.timeline.last)

    def _inputs(self, vehicle: int) -> WorldInputs:
        """The present inputs of the commander of a vehicle."""
        plant = self.plant
        times, contact_W = plant.times, plant.contact_wrenches(vehicle)
        x = self.known_states(vehicle)
        return WorldInputs(x, times, contact_W, plant.status == RUNNING)

    @property
    def contact_wrenches(self) -> Array:
        """(B, 6) mean wrenches of contacts on the central bodies over the last control period, world axes.

        Force [N] and torque about the CoM [N m]; zero where no scenario of contact is flown.
        """
        return self._plant.contact_wrenches()

    @property
    def arm(self) -> ArmJointBatch:
        """Joints and motors of the vehicle's arm.

        Raises:
            IapError: it has none.
        """
        return self.vehicle(self.name).arm

    @property
    def object_states(self) -> Array:
        """(B, objects, 13) state rows of the frames of each world's objects, new ones."""
        return self.objects.states()

    @cached_property
    def objects(self) -> PlacedObjects:
        """The objects of each world where its seed places them."""
        engine = self._engine if isinstance(self._engine, ObjectEngine) else None
        return PlacedObjects(self, engine)

    def object_angles(self, name: str) -> Array:
        """(B,) angles of an object about its hinge [rad].

        Raises:
            IapError: there is no such object with a hinge, or they fly in an engine without contact.
        """
        objects = list(self.scenario.world.objects)
        if name not in objects:
            raise IapError(f"worlds: no object '{name}'")
        return self._object_engine.object_angles(objects.index(name))

    @property
    def _object_engine(self) -> ObjectEngine:
        if not isinstance(self._engine, ObjectEngine):
            raise IapError("worlds: objects turn about hinges with engine.name: mujoco alone")
        return self._engine

    def references(self) -> References:
        """The scenario's references at the worlds' present instants; the last one is held.

        Arrays that the next call overwrites.
        """
        return self._tracking.references(self.instants)

    def reference_rows(self) -> tuple[Array, Integers]:
        """Rows (K, 19 + N) of the scenario's references, and which of them is each world's at present (B,).

        Neither is to be written to, nor kept.
        """
        return self._tracking.reference_rows(self.instants)

    @property
    def flies_at_once(self) -> bool:
        """Tell if `fly` can be called: between periods only states and gusts change, and references fit a table."""
        tracking = self._tracking
        return (
            len(self._trackings) == 1
            and tracking.table is not None
            and tracking.commander.measures_truth
            and self._plant.is_steady
        )

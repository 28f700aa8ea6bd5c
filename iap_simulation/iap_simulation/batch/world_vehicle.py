# SPDX-License-Identifier: BSD-3-Clause
"""One of the vehicles in many worlds: its states and references, for actions on it and for whoever looks on."""

from collections.abc import Sequence
from typing import Protocol

from iap_control.allocation.model import PlatformModel
from iap_control.references.timeline import Timeline
from iap_description.arrays import Array, Integers
from iap_description.errors import IapError
from iap_physics.engines.batch_engine import ArmEngine, ArmJointBatch
from iap_physics.plant.plant import Plant
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import Tracking
from iap_simulation.vehicles.vehicle import Vehicle


class FleetWorlds(Protocol):
    """Worlds that have several vehicles."""

    @property
    def plant(self) -> Plant:
        """Plant of all worlds."""

    @property
    def trackings(self) -> Sequence[Tracking]:
        """The controllers' side of each vehicle."""

    @property
    def instants(self) -> Integers:
        """(B,) numbers of the worlds' control instants."""

    def known_states(self, vehicle: int = 0) -> Array:
        """(B, bodies, 13) states that a vehicle goes by."""


class WorldVehicle:
    """A vehicle in B worlds; arrays are views that the next step overwrites.

    Args:
        worlds: that it flies in.
        number: of the vehicle.
        vehicle: of any world.
    """

    def __init__(self, worlds: FleetWorlds, number: int, vehicle: Vehicle) -> None:
        self._worlds, self._number, self._vehicle = worlds, number, vehicle

    @property
    def model(self) -> PlatformModel:
        """The platform as controllers believe it."""
        return self._vehicle.model

    @property
    def timeline(self) -> Timeline:
        """Its references in the scenario."""
        return self._vehicle.timeline

    @property
    def state(self) -> Array:
        """(B, bodies, 13) states."""
        return self._worlds.plant.state(self._number)

    def known_states(self) -> Array:
        """(B, bodies, 13) states that it goes by."""
        return self._worlds.known_states(self._number)

    @property
    def measured(self) -> Array:
        """(B, 13) central bodies as controllers have measured them last."""
        return self._worlds.trackings[self._number].commander.measured(self.known_states())

    @property
    def rpm(self) -> Array:
        """(B, N, 4) rotor speeds [rpm]."""
        return self._worlds.plant.propulsion[self._number].rpm

    @property
    def tilt(self) -> Array:
        """(B, N, 4) tilts of rotors [rad]."""
        return self._worlds.plant.propulsion[self._number].rotors.tilt

    @property
    def contact_wrenches(self) -> Array:
        """(B, 6) mean contact wrenches on central bodies over the last control period, world axes [N, N m]."""
        return self._worlds.plant.contact_wrenches(self._number)

    @property
    def arm(self) -> ArmJointBatch:
        """Joints and motors of its arm.

        Raises:
            IapError: it has none.
        """
        engine = self._worlds.plant.engine
        if not isinstance(engine, ArmEngine) or self._number not in engine.arm_batches:
            raise IapError(f"worlds: {self._vehicle.name} has no arm")
        return engine.arm_batches[self._number]

    def references(self) -> References:
        """Its references in the scenario at the worlds' present instants; the next call overwrites them."""
        return self._worlds.trackings[self._number].references(self._worlds.instants)

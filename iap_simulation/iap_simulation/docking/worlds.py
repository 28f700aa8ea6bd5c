# SPDX-License-Identifier: BSD-3-Clause
"""A docking scenario in many worlds side by side: the general batch, with the contact of `iap_physics.docking`."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_control.docking.guidance import command_by_script, memory_size
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_physics.batch.threads import Threads
from iap_physics.docking.pair_flight import pair_plant
from iap_physics.engines.engine import RUNNING, world_indices
from iap_physics.latching.kernel import CAUGHT, LOCKED
from iap_physics.measured.state_noise import NoisyStates
from iap_simulation.batch.placed_objects import PlacedObjects
from iap_simulation.batch.starts import give_seeds, seed_array
from iap_simulation.batch.world_parts import WorldStarter
from iap_simulation.docking.batch_outcome import DockingRecords, follow_all
from iap_simulation.docking.pair_laws import docking_limits, pair_laws
from iap_simulation.docking.pair_pilot import TOUCH
from iap_simulation.docking.ports import mechanism_of, pair_vehicles
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.parts import state_noise_stream


class DockingWorlds:
    """A docking scenario in B worlds; world i of any B is the same as alone with its seed.

    Args:
        scenario: resolved, with the key `docking`.
        seeds: of the worlds.
        threads: that share them; no result depends on how many.

    Attributes:
        scenario: as given.
        seeds: (B,) of the present flights.
        plant: of all worlds; the target comes before the chaser.
        pairs: what moves on in it.
        laws: of the pair, by which the scenario's script flies.
        threads: that share them.
        records: progress and outcome of each docking.
        limits: of them.

    Raises:
        BadInput: the scenario has no docking, or what these worlds do not have.
    """

    def __init__(self, scenario: Scenario, seeds: Sequence[int], *, threads: int = 1) -> None:
        spec = scenario.docking
        if spec is None:
            raise BadInput(f"docking: scenario '{scenario.scenario}' has no key 'docking'")
        self.scenario, self.spec = scenario, spec
        self.seeds = seed_array(seeds)
        self._vehicles, batch = pair_vehicles(scenario, spec), len(self.seeds)
        self._both = both = tuple(scenario.vehicles[i] for i in self._vehicles)
        flight = Flight.of(scenario.model_copy(update={"vehicles": both}))
        ports = mechanism_of(scenario, spec)
        self.threads = Threads(threads)
        self.plant, self._flight = pair_plant(flight.spec, ports, batch, self.threads)
        self.pairs, self._ports = self._flight.pairs, (ports.probe, ports.socket)
        self._starter = WorldStarter(flight.scenario, flight, touches=False)
        target, chaser = (vehicle.platform.ground_clearance for vehicle in both)
        self._ground_clearance = (target, chaser)
        every = np.arange(batch)
        self._noise = [
            NoisyStates(each.state_noise, self._noise_streams(each, every), scenario.dt)
            for each in both
        ]
        self.records, self.limits = DockingRecords.of(batch), docking_limits(scenario)
        self._out = np.zeros((batch, 2, 4))
        self.laws = pair_laws(scenario)
        self._memory = np.zeros((batch, memory_size(self.laws.pair.ahead)))
        self.reset()

    @classmethod
    def of(
        cls,
        scenario: str | Path | Mapping[str, Any] | Scenario,
        seeds: Sequence[int] | int,
        *,
        settings: Mapping[str, Any] | None = None,
        threads: int = 1,
        **options: Any,  # noqa: ANN401 - the fields of `Options`
    ) -> Self:
        """Worlds at their start; arguments as those of `iap_simulation.batch.worlds.Worlds.of`."""
        ready = resolved(scenario, settings or {}, options)[0]
        numbers = range(seeds) if isinstance(seeds, int) else seeds
        return cls(ready, numbers, threads=threads)

    def _noise_streams(self, vehicle: VehicleSpec, worlds: Integers) -> list[np.random.Generator]:
        return [state_noise_stream(seed, vehicle.name) for seed in self.seeds[worlds].tolist()]

    def reset(self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None) -> None:
        """Bring worlds back to their start, as fresh ones of their seeds would stand there.

        Args:
            worlds: their indices, or a mask (B,); None for all of them.
            seeds: new ones for these worlds.

        Raises:
            BadInput: there is no such world, or there are more or fewer seeds than worlds.
        """
        indices = world_indices(worlds, len(self.seeds))
        if seeds is not None:
            give_seeds(self.seeds, indices, seeds)
        if not len(indices):
            return
        starts = self._starter.reset(indices, self.seeds[indices], self.plant)
        for i, (x, noise) in enumerate(zip(starts, self._noise, strict=True)):
            # as drawn: the engine has scaled attitudes to unit length, in their last bits
            self.pairs.x[indices, i] = x
            if not noise.is_zero:
                noise.reset(indices, self._noise_streams(self._both[i], indices))
        self.pairs.reset(indices)
        self._memory[indices] = 0.0
        self.records.reset(indices)

    @property
    def times(self) -> Array:
        """(B,) simulation time since each world's reset [s]."""
        return self.plant.times

    @property
    def instants(self) -> Integers:
        """(B,) numbers of the worlds' control instants."""
        return np.asarray(self.plant.ticks // self.plant.substeps)

    def world(self, i: int) -> Scenario:
        """The scenario of one world."""
        return self.scenario.model_copy(update={"seed": int(self.seeds[i])})

    @cached_property
    def objects(self) -> PlacedObjects:
        """The objects of each world where its seed places them."""
        return PlacedObjects(self, None)

    @property
    def is_over(self) -> Booleans:
        """(B,) whether a docking has succeeded, failed, or its time is up."""
        return (self.records.outcome != RUNNING) | (self.pairs.status != RUNNING)

    @property
    def is_caught(self) -> Booleans:
        """(B,) whether the latch holds the probe."""
        phase = self.pairs.phase
        return (phase == CAUGHT) | (phase == LOCKED)

    @property
    def is_locked(self) -> Booleans:
        """(B,) whether the latch holds the probe without play."""
        return np.asarray(self.pairs.phase == LOCKED)

    @property
    def is_touched(self) -> Booleans:
        """(B,) whether the two are in contact, by the force over the last period."""
        return np.asarray(np.linalg.norm(self.pairs.contact[:, :3], axis=1) > TOUCH)

    @property
    def state(self) -> Array:
        """(B, 2, 13) state rows in the order of the scenario's vehicles."""
        return self.pairs.x if self._vehicles == (0, 1) else self.pairs.x[:, ::-1]

    @property
    def bodies(self) -> Array:
        """(B, 2, 13) states of the bodies of all vehicles, in their order."""
        return self.state

    @property
    def rpm(self) -> Array:
        """(B, 2, 4) rotor speeds of target and chaser [rpm]."""
        return self._flight.fleet.rpm

    @property
    def last_command(self) -> tuple[Array, Array]:
        """Thrusts (B, 2) [N] and body rates (B, 2, 3) [rad/s] that the aircraft obeyed last; copies."""
        command = self._flight.fleet.command
        return command.thrust.copy(), command.w_WB_B.copy()

    @property
    def tilt(self) -> Array:
        """(B, 2, 4) tilts of rotors of target and chaser [rad]."""
        return self._flight.fleet.tilt

    def measured(self, worlds: Integers | None = None) -> Array:
        """(n, 2, 13) state rows of worlds, or of all, as measured; to be asked for once in every control period."""
        x = self.pairs.x if worlds is None else self.pairs.x[worlds]
        rows = [n(x[:, i], worlds) for i, n in enumerate(self._noise)]
        return np.stack(rows, axis=1)

    def advance(self, thrust: Array, w_WB_B: Array) -> None:
        """Fly one control period of every running world under thrusts (B, 2) [N] and body rates (B, 2, 3) [rad/s]."""
        for i, propulsion in enumerate(self._flight.propulsion):
            own = slice(i, i + 1)
            propulsion.command_rates(thrust[:, own], w_WB_B[:, own])
        self.plant.advance()
        follow_all(
            self.pairs, self.records, self._ports, self.limits, self._ground_clearance, self.times
        )

    def step_script(self, measured: Array | None = None) -> None:
        """Fly one control period under the script, at `measured` states, which are asked for where none are passed."""
        x = self.measured() if measured is None else measured
        links = (self.is_touched, self.is_caught, self.is_locked)
        command_by_script(x, links, self.laws, self._memory, self._out)
        self.advance(self._out[:, :, 0], self._out[:, :, 1:])

    def fly_script(self) -> None:
        """Fly all worlds under the script until their dockings are over."""
        while not self.is_over.all():
            self.step_script()

# SPDX-License-Identifier: BSD-3-Clause
"""A docking scenario in many worlds side by side, with the contact of `iap_physics.docking`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_control.docking.guidance import command_by_script, memory_size
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_physics.air.batch_air import GUSTS, Air
from iap_physics.batch.records import BatchVehicle, FreeFlightState
from iap_physics.batch.threads import Threads
from iap_physics.docking import pairs as kernel
from iap_physics.docking.batch_loop import advance_pairs, flight_of, set_aircraft, shared_numbers
from iap_physics.engines.engine import RUNNING, world_indices
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN, LatchParameters
from iap_physics.measured.state_noise import NoisyStates
from iap_physics.propulsion.rotors import lag
from iap_simulation.batch.starts import Starts, give_seeds, seed_array
from iap_simulation.docking.batch_outcome import DockingRecords, follow_all
from iap_simulation.docking.pair_laws import PairCommands, docking_limits, pair_laws
from iap_simulation.docking.pair_pilot import TOUCH
from iap_simulation.docking.ports import mechanism_of, pair_vehicles
from iap_simulation.scenario.randomization import drawn_deviation, drawn_wind
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.parts import state_noise_stream
from iap_simulation.vehicles.vehicle import Vehicle


class Winds:
    """Wind and gusts of many worlds.

    Args:
        scenario: that says how it blows.
        batch: number of worlds.
    """

    def __init__(self, scenario: Scenario, batch: int) -> None:
        self._scenario = scenario
        self._blows = scenario.has_drag
        self._air = Air(scenario.wind, [np.random.default_rng(0) for _ in range(batch)])

    def reset(self, indices: Integers, seeds: Integers) -> None:
        """Begin flights of seeds in some worlds."""
        if not (self._blows and len(indices)):
            return
        for b, seed in zip(indices.tolist(), seeds.tolist(), strict=True):
            wind = drawn_wind(self._scenario.model_copy(update={"seed": seed}))
            self._air.set_wind(b, wind)
        if self._air.is_gusty:
            self._air.reset(indices, [stream(seed, GUSTS) for seed in seeds.tolist()])

    def advance(self, air_W: Array, dt: float) -> None:
        """Write the air's velocity (B, 3) of the next period."""
        if self._blows:
            air_W[:] = self._air.advance(1, dt)[0]


class DockingWorlds:
    """A docking scenario in B worlds; world i of any B is the same as alone with its seed.

    Args:
        scenario: resolved, with the key `docking`.
        seeds: of the worlds.
        threads: that share them; no result depends on how many.

    Attributes:
        scenario: as given.
        seeds: (B,) of the present flights.
        pairs: what moves on; the target's rows come before the chaser's.
        commands: to both.
        laws: of the pair, by which the scenario's script flies.
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
        self._vehicles = pair_vehicles(scenario, spec)
        batch, dt = len(self.seeds), 1.0 / scenario.rates.physics_hz
        self.dt, self._substeps = dt, scenario.rates.substeps
        ready = {i: Vehicle.of(scenario, scenario.vehicles[i]) for i in self._vehicles}
        self._starts = [Starts(scenario, each, i) for i, each in ready.items()]
        self.pairs = kernel.Pairs.empty(batch)
        self._flight = self._free_flight()
        bodies = kernel.PairBodies.empty(batch)
        latch = LatchParameters.of(scenario.latches[spec.latch])
        gravity = scenario.world.gravity
        self._between = kernel.PairContact(bodies, mechanism_of(scenario, spec), latch, gravity)
        streams = [[self._noise_stream(s, i) for s in seeds] for i in self._vehicles]
        specs = [scenario.vehicles[i].state_noise for i in self._vehicles]
        self._noise = [NoisyStates(a, b, scenario.dt) for a, b in zip(specs, streams, strict=True)]
        self._wind, self._threads = Winds(scenario, batch), Threads(threads)
        are_late = any(scenario.vehicles[i].model_error.delay for i in self._vehicles)
        self.commands = PairCommands(self._flight.command, are_late=are_late)
        self.records, self.limits = DockingRecords.of(batch), docking_limits(scenario)
        platforms = [scenario.vehicles[i].platform for i in self._vehicles]
        self._ground_clearance = (platforms[0].ground_clearance, platforms[1].ground_clearance)
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

    def _noise_stream(self, seed: int, vehicle: int) -> np.random.Generator:
        return state_noise_stream(seed, self.scenario.vehicles[vehicle].name)

    def _free_flight(self) -> FreeFlightState:
        specs = [self.scenario.vehicles[i] for i in self._vehicles]
        gains = [spec.control.gains.autopilot for spec in specs]
        if gains[0].rate_hz != gains[1].rate_hz:
            raise BadInput("docking: both autopilots have one rate_hz in worlds side by side")
        physics_hz = self.scenario.rates.physics_hz
        every = round(physics_hz / (gains[0].rate_hz or physics_hz))
        shared = shared_numbers([spec.platform.aircraft for spec in specs], gains)
        turns, bodies = np.ones(2, bool), np.arange(2)
        vehicle = BatchVehicle(turns, bodies, every, self.scenario.has_drag, is_tilting=False)
        return flight_of(self.pairs, shared, vehicle, self.dt)

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
        now = self.seeds[indices]
        for i, (starts, noise) in enumerate(zip(self._starts, self._noise, strict=True)):
            x, rpm, _ = starts(now)
            rotors = self._flight.rotors
            self.pairs.x[indices, i] = x[:, 0]
            rotors.rpm[indices, i], rotors.target[indices, i] = rpm[:, 0], rpm[:, 0]
            self.commands.hold_rotors(indices, i, rpm[:, 0])
            self._deviate(indices, i)
            if not noise.is_zero:
                noise.reset(
                    indices, [self._noise_stream(s, self._vehicles[i]) for s in now.tolist()]
                )
        self.pairs.status[indices], self.pairs.phase[indices] = RUNNING, OPEN
        for array in (self.pairs.ticks, self.pairs.wrench, self.pairs.contact, self.pairs.touches):
            array[indices] = 0
        self.pairs.caught[indices] = np.nan
        self._wind.reset(indices, now)
        self._memory[indices] = 0.0
        self.records.reset(indices)

    def _deviate(self, indices: Integers, i: int) -> None:
        """Give worlds the vehicles that their seeds draw."""
        spec, bodies = self.scenario.vehicles[self._vehicles[i]], self._between.bodies
        assembly = self._starts[i].assembly
        rotor = spec.platform.aircraft.rotor
        for b in indices.tolist():
            seeded = self.scenario.model_copy(update={"seed": int(self.seeds[b])})
            deviation = drawn_deviation(seeded, spec)
            body = deviation.assembly(assembly).bodies[0]
            bodies.mass[b, i], bodies.J[b, i] = body.mass, body.inertia
            bodies.J_inv[b, i] = np.linalg.inv(body.inertia)
            thrust, slow = deviation.of_rotors(0)
            delay = round(deviation.delay * self.scenario.rates.control_hz)
            self.commands.set_delay(b, i, delay)
            set_aircraft(
                self._flight,
                b,
                i,
                body.mass,
                J=body.inertia,
                J_inv=bodies.J_inv[b, i],
                linear=np.asarray(body.drag.linear),
                quadratic=np.asarray(body.drag.quadratic),
                thrust_coefficient=np.asarray(thrust * rotor.c_f),
                up=np.asarray(lag(self.dt, slow * rotor.time_constant_up)),
                down=np.asarray(lag(self.dt, slow * rotor.time_constant_down)),
            )

    @property
    def times(self) -> Array:
        """(B,) simulation time since each world's reset [s]."""
        return np.multiply(self.pairs.ticks, self.dt, dtype=np.float64)

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
    def rpm(self) -> Array:
        """(B, 2, 4) rotor speeds of target and chaser [rpm]."""
        return self._flight.rotors.rpm

    @property
    def tilt(self) -> Array:
        """(B, 2, 4) tilts of rotors of target and chaser [rad]."""
        return self._flight.rotors.tilt

    def measured(self, worlds: Integers | None = None) -> Array:
        """(n, 2, 13) state rows of worlds, or of all, as measured; to be asked for once in every control period."""
        x = self.pairs.x if worlds is None else self.pairs.x[worlds]
        rows = [n(x[:, i], worlds) for i, n in enumerate(self._noise)]
        return np.stack(rows, axis=1)

    def advance(self, thrust: Array, w_WB_B: Array) -> None:
        """Fly one control period of every running world under thrusts (B, 2) [N] and body rates (B, 2, 3) [rad/s]."""
        self.commands.send(thrust, w_WB_B)
        self._wind.advance(self._flight.inputs.air_W, self._substeps * self.dt)
        self._threads.run(self._advance, len(self.seeds))
        ports = (self._between.mechanism.probe, self._between.mechanism.socket)
        follow_all(
            self.pairs, self.records, ports, self.limits, self._ground_clearance, self.times
        )

    def _advance(self, first: int, last: int) -> None:
        """Fly the period of worlds first to last - 1."""
        room = kernel.Room.empty()
        advance_pairs(first, last, self._flight, self.pairs, self._between, room, self._substeps)

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

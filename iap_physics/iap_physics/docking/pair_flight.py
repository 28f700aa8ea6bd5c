# SPDX-License-Identifier: BSD-3-Clause
"""Control periods of a plant in whose worlds two aircraft dock: free flight, with contact and latch of their ports."""

from collections.abc import Sequence

import numpy as np

from iap_description.errors import BadInput
from iap_description.math.lanes import LANES, zero_blocks
from iap_description.world.world import World
from iap_physics.air.batch_air import GUSTS, Air
from iap_physics.air.drag import drag_coefficients
from iap_physics.air.wind import generators
from iap_physics.batch.layout import BODY_SIZE, SHARED_SIZE, VEHICLE_SIZE, rows_of
from iap_physics.batch.records import BatchVehicle, FreeFlightState, PeriodInputs
from iap_physics.batch.threads import Threads
from iap_physics.batch.vehicle_numbers import fill_bodies, fill_fleet
from iap_physics.docking.batch_loop import MASS, advance_pairs
from iap_physics.docking.mechanism import Mechanism
from iap_physics.docking.pairs import PairBodies, PairContact, Pairs
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.rigid_model import RigidModel
from iap_physics.latching.kernel import LatchParameters
from iap_physics.plant.period_flight import PlantOptions
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.estimates import AutopilotEstimates
from iap_physics.propulsion.last_command import FleetArrays
from iap_physics.propulsion.propulsion import Airframe, Propulsion
from iap_physics.propulsion.rotors import RotorStates

ONLY = np.zeros(1, np.int64)  # number of the only aircraft of each vehicle


class PairFlight:
    """Target and chaser in all worlds of a batch.

    Args:
        engine: loaded with both, the target first, each of one body.
        airframes: of both; their autopilots have one rate.
        ports: probe and socket.
        latch: between these.
        rates: of the physics.
        has_drag: whether bodies feel the air.
        threads: that share the worlds.

    Attributes:
        pairs: what moves on besides rotors and clock.
        fleet: commands and rotors of both, (B, 2, ...).
        propulsion: of both, whose arrays these are.
    """

    def __init__(
        self,
        engine: ClosedFormEngine,
        airframes: Sequence[Airframe],
        ports: Mechanism,
        latch: LatchParameters,
        rates: LoopRates,
        *,
        has_drag: bool,
        threads: Threads,
    ) -> None:
        batch, hz = engine.batch, rates.physics_hz
        self._engine, self._threads, self._dt = engine, threads, 1.0 / hz
        self.pairs = Pairs.of(engine.state(), engine.status)
        self.fleet = FleetArrays.empty(batch, 2)
        self.propulsion = [
            Propulsion(
                airframe,
                slice(i, i + 1),
                batch,
                physics_hz=hz,
                arrays=self.fleet.of_aircraft(i),
            )
            for i, airframe in enumerate(airframes)
        ]
        self._between = PairContact(PairBodies.empty(batch), ports, latch, engine.gravity)
        self._blocks, self._shared = zero_blocks(batch, rows_of(2)), np.zeros((2, SHARED_SIZE))
        for i, (airframe, propulsion) in enumerate(zip(airframes, self.propulsion, strict=True)):
            self._write(i, airframe, slice(None), slice(None), slice(None), has_drag=has_drag)
            fill_fleet(self._shared[i : i + 1], ONLY, propulsion)
        every = self.propulsion[0].every
        self._vehicle = BatchVehicle(np.ones(2, bool), np.arange(2), every, has_drag, False)  # noqa: FBT003 - of a record
        self._failed = np.full(batch, -1)
        self._known = AutopilotEstimates(np.zeros(batch, bool), np.zeros((batch, 2, 13)))
        self._external_W = np.zeros((batch, 6))  # of which there is none

    def _write(
        self,
        i: int,
        airframe: Airframe,
        worlds: int | slice,
        blocks: slice,
        lanes: slice,
        *,
        has_drag: bool,
    ) -> None:
        """Write the numbers of one of both into some worlds, which are lanes of blocks."""
        (alone,) = airframe.assembly.bodies
        model, inertia = RigidModel.of_body(alone), self._between.bodies
        inertia.mass[worlds, i] = model.mass
        inertia.J[worlds, i], inertia.J_inv[worlds, i] = model.J[0], model.J_inv[0]
        first = VEHICLE_SIZE + i * BODY_SIZE
        rows = self._blocks.reshape(len(self._blocks), -1, LANES)[blocks, first:, lanes]
        body = rows[:, :BODY_SIZE].swapaxes(0, 1)[None]
        drag = drag_coefficients([airframe.assembly]) if has_drag else None
        fill_bodies(body, ONLY, model, airframe.rotor_numbers, drag, self._dt)
        body[0, MASS] = model.mass

    def deviate(self, world: int, airframes: Sequence[Airframe], place: World) -> None:  # noqa: ARG002 - nothing is met but each other
        """Give one world a target and a chaser of its own, like those of all worlds but for their numbers."""
        block, lane = divmod(world, LANES)
        where = (world, slice(block, block + 1), slice(lane, lane + 1))
        for i, airframe in enumerate(airframes):
            self._write(i, airframe, *where, has_drag=self._vehicle.has_drag)

    def _state(self, inputs: PeriodInputs) -> FreeFlightState:
        """All that moves on."""
        engine, fleet, rotors = self._engine, self.fleet, self.propulsion[0].rotors
        return FreeFlightState(
            self._blocks,
            self._shared,
            engine.state(),
            engine.status,
            self._failed,
            engine.step_counts,
            fleet.command,
            RotorStates(*fleet[1:], rotors.records, rotors.servos),
            self._known,
            PeriodInputs(inputs.air_W, self._external_W, inputs.ticks),
            self._vehicle,
            self._dt,
        )

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay."""
        state = self._state(inputs)
        self._threads.run(
            lambda first, last: advance_pairs(
                first, last, state, self.pairs, self._between, steps
            ),
            self._engine.batch,
        )


def pair_plant(
    spec: PlantSpec, ports: Mechanism, batch: int, threads: Threads
) -> tuple[Plant, PairFlight]:
    """The plant of a target and a chaser, in this order, at its start in all worlds; and what moves them on.

    Args:
        spec: of both, with one latch.
        ports: of both.
        batch: number of worlds.
        threads: that share them.

    Raises:
        BadInput: their autopilots have different rates, or a rate loop.
    """
    if len({vehicle.autopilot.rate_hz for vehicle in spec.vehicles}) > 1:
        raise BadInput("docking: both autopilots have one rate_hz in worlds side by side")
    if any(vehicle.autopilot.rate_loop is not None for vehicle in spec.vehicles):
        raise BadInput(
            "docking: autopilots have no rate_loop in worlds side by side (set it to null)"
        )
    engine = ClosedFormEngine(batch=batch, raises=False)
    assemblies = [vehicle.assembly for vehicle in spec.vehicles]
    engine.load(spec.world, assemblies, np.repeat(spec.start, batch, axis=0))
    each = zip(spec.vehicles, assemblies, strict=True)
    airframes = [vehicle.airframe(assembly) for vehicle, assembly in each]
    (latch,) = spec.latches.values()
    flight = PairFlight(
        engine,
        airframes,
        ports,
        LatchParameters.of(latch),
        spec.rates,
        has_drag=spec.has_drag,
        threads=threads,
    )
    air = Air(spec.wind, generators(spec.rng(GUSTS), batch), has_drag=spec.has_drag)
    options = PlantOptions(raises=False, flight=flight)
    plant = Plant(engine, flight.propulsion, air, spec.rates, options=options)
    plant.begin(spec)
    return plant, flight

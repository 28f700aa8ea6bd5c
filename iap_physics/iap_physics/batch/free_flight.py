# SPDX-License-Identifier: BSD-3-Clause
"""Whole control periods of free flight of many worlds, in blocks: `Plant`'s shortcut where nobody looks in between."""

from collections.abc import Sequence
from typing import Self, get_args

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.lanes import (
    DOUBLE,
    LANES,
    Precision,
    lanes_from,
    next_block,
    zero_blocks,
)
from iap_description.math.rows import fill
from iap_description.world.world import World
from iap_physics.air.drag import DragCoefficients, drag_coefficients
from iap_physics.batch.batch_loop import advance_period
from iap_physics.batch.layout import (
    BODY_SIZE,
    SHARED,
    SHARED_SIZE,
    VEHICLE,
    VEHICLE_SIZE,
    rows_of,
)
from iap_physics.batch.load_store import begin_period, end_period, load, store
from iap_physics.batch.records import BatchVehicle, FreeFlightState, PeriodInputs
from iap_physics.batch.threads import Threads, VectorTime
from iap_physics.batch.vehicle_numbers import fill_bodies, fill_fleet, fill_shares
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import Engine
from iap_physics.engines.rigid_model import RigidModel
from iap_physics.propulsion.propulsion import Airframe, Propulsion


class FreeFlight:
    """One vehicle in all worlds of a batch.

    Args:
        engine: that flies nothing else.
        propulsion: of the vehicle.
        drag: coefficients of its bodies, linear and quadratic; None without drag.
        dt: physics step [s].
        threads: that share the worlds.
        precision: of the numbers in blocks.
    """

    def __init__(
        self,
        engine: ClosedFormEngine,
        propulsion: Propulsion,
        drag: DragCoefficients | None,
        dt: float,
        threads: Threads,
        precision: Precision = DOUBLE,
    ) -> None:
        self._threads, self._pace = threads, VectorTime()
        ((assembly, _, model),) = engine.parts
        self._engine, self._propulsion, self._dt = engine, propulsion, dt
        bodies = np.array(assembly.aircraft, dtype=np.int64)
        self._name = assembly.name
        how = (propulsion.every, drag is not None, propulsion.is_tilting)
        self._vehicle = BatchVehicle(model.turns, bodies, *how)
        self._blocks = zero_blocks(engine.batch, rows_of(len(model.turns)), precision)
        self._shared = np.zeros((len(model.turns), SHARED_SIZE), precision)
        self._failed = np.zeros(engine.batch, dtype=np.int64)
        self._write(self._of_worlds, model, propulsion.airframe.rotor_numbers, drag)
        fill(self._shared, SHARED, gravity=engine.gravity, q_PB=model.q_PB)
        fill_fleet(self._shared, bodies, propulsion)
        self._weakened = propulsion.weakened

    @classmethod
    def of(
        cls,
        engine: Engine,
        propulsion: Sequence[Propulsion],
        drag: DragCoefficients | None,
        dt: float,
        threads: Threads,
        precision: Precision = DOUBLE,
    ) -> Self | None:
        """The flight of the only vehicle of a closed-form engine; None for others, and for autopilots with a rate loop.

        Raises:
            BadInput: there is no such precision.
        """
        if precision not in get_args(Precision):
            choices = " or ".join(get_args(Precision))
            raise BadInput(f"precision '{precision}': {choices} is expected")
        if type(engine) is not ClosedFormEngine:  # one that is made of it may step as it likes
            return None
        if len(propulsion) != 1 or engine.has_resistance or propulsion[0].has_rate_loop:
            return None
        return cls(engine, propulsion[0], drag, dt, threads, precision)

    @property
    def _of_worlds(self) -> Array:
        """(blocks, rows, LANES) a view of the blocks; one that is kept would be a copy of its own in a deep copy."""
        return self._blocks.reshape(len(self._blocks), -1, LANES)

    def deviate(self, world: int, airframes: Sequence[Airframe], place: World) -> None:  # noqa: ARG002 - nothing is met here
        """Give one world a vehicle of its own, the only one, like that of all worlds but for its numbers."""
        (airframe,) = airframes
        model = self._engine.set_assembly(world, airframe.assembly)
        has_drag, (block, lane) = self._vehicle.has_drag, divmod(world, LANES)
        drag = drag_coefficients([airframe.assembly]) if has_drag else None
        lanes = self._of_worlds[block : block + 1, :, lane : lane + 1]
        self._write(lanes, model, airframe.rotor_numbers, drag)

    def _write(
        self, lanes: Array, model: RigidModel, rotors: Array, drag: DragCoefficients | None
    ) -> None:
        """Write a vehicle's numbers into some lanes (blocks, rows, lanes)."""
        count = len(model.turns)
        bodies = lanes[:, VEHICLE_SIZE:].reshape(len(lanes), count, BODY_SIZE, -1)
        bodies = bodies.transpose(1, 2, 0, 3)
        fill_bodies(bodies, self._vehicle.bodies, model, rotors, drag, self._dt)
        lanes[:, VEHICLE.mass] = model.mass

    def state(self, inputs: PeriodInputs) -> FreeFlightState:
        """The state under inputs, for compiled loops that advance it themselves and call `pass_time` when they have."""
        engine, p = self._engine, self._propulsion
        engine.check_flies()
        if self._weakened != p.weakened:
            self._weakened = p.weakened
            fill_shares(self._shared, self._vehicle.bodies, p)
        worlds = (engine.state(), engine.status, self._failed, engine.step_counts)
        dt = self._blocks.dtype.type(self._dt)
        return FreeFlightState(
            self._blocks,
            self._shared,
            *worlds,
            p.command,
            p.rotors,
            p.known,
            inputs,
            self._vehicle,
            dt,
        )

    def pass_time(self, steps: int) -> None:
        """Advance the engine's clock by some physics steps."""
        self._engine.pass_time(steps, self._dt)

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay.

        Raises:
            FlightFailed: the state of the only world would no longer be a number.
        """
        engine, state = self._engine, self.state(inputs)
        self._threads.run(
            lambda first, last: advance_worlds(first, last, state, steps),
            engine.batch,
            self._pace,
        )
        failed = int(self._failed[0]) if engine.raises else -1
        if failed >= 0:
            engine.pass_time(failed, self._dt)
            engine.fail(self._name, self._dt)
        engine.pass_time(steps, self._dt)


@njit(cache=True, nogil=True)
def advance_worlds(begin: int, end: int, state: FreeFlightState, steps: int) -> None:
    """Advance worlds by some physics steps, block by block.

    Args:
        begin: the first of them, that of a vector.
        end: the one behind the last of them: the first of a vector, or their number.
        state: all that moves on.
        steps: how many.
    """
    first = begin
    while first < end:
        block = state.blocks[first // LANES, first % LANES :]
        lanes = lanes_from(first, end)
        load(block, first, state, lanes)
        begin_period(block, first, state, lanes)
        advance_period(block, state.shared, state.vehicle, lanes, steps, state.dt)
        end_period(block, first, state, steps, lanes)
        store(block, first, state, lanes)
        first = next_block(first)

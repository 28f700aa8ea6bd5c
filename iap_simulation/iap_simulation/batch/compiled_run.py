# SPDX-License-Identifier: BSD-3-Clause
"""Control periods of a single run flown at once: by the compiled loop of `Worlds`, as a batch of one.

What a recording holds of each control instant is kept on the way. No bit differs from the loop in Python.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.batch.controllers import ControllerOfOne, are_known
from iap_control.batch.load_store import load_references, store_commands
from iap_control.batch.records import BatchCommand, Setpoints
from iap_control.controllers.controller import PlatformController
from iap_description.arrays import Array, Integers
from iap_description.errors import FlightFailed
from iap_description.math.kernels import formula
from iap_description.math.lanes import get, lanes_from
from iap_description.states import STATE_SIZE, Command
from iap_io.runs.columns import COMMAND_SIZE, Columns, put_command
from iap_physics.batch.layout import BODY, body_row
from iap_physics.batch.load_store import load, store
from iap_physics.batch.records import FreeFlightState
from iap_physics.engines.engine import RUNNING
from iap_physics.plant.plant import Plant
from iap_simulation.batch.batch_loop import fly_period
from iap_simulation.batch.load_store import hold_commands, sense
from iap_simulation.batch.records import SETPOINT, BatchState, Goal
from iap_simulation.vehicles.endings import MAX_DISTANCE, failure_of
from iap_simulation.vehicles.vehicle import Vehicle

FIRST = np.uint64(0)  # lane of the only world
MAX_PERIODS = 50  # control periods that are flown at once, and whose rows are kept


class RecordedRows(NamedTuple):
    """Rows of T control instants, as a recording has them.

    Attributes:
        x: (T, bodies, 13) states.
        rpm: (T, N, 4) rotor speeds.
        tilt: (T, N, 4) angles of the rotors about their arms [rad].
        commanded: T commands.
    """

    x: Array
    rpm: Array
    tilt: Array
    commanded: BatchCommand


class CompiledRun:
    """Flies the only vehicle of a plant for some control periods at once.

    Args:
        plant: steady, see `Plant.is_steady`.
        vehicle: that goes by its true state.
        controller: of the vehicle.
    """

    def __init__(self, plant: Plant, vehicle: Vehicle, controller: ControllerOfOne) -> None:
        self._plant, self._timeline, self._name = plant, vehicle.timeline, vehicle.name
        self._controller = controller
        bodies, count = plant.state().shape[1], len(plant.propulsion[0].fleet)
        rpm, tilt = np.zeros((2, MAX_PERIODS, count, 4))
        commanded = BatchCommand.empty(MAX_PERIODS, count)
        self._recorded = RecordedRows(
            np.zeros((MAX_PERIODS, bodies, STATE_SIZE)), rpm, tilt, commanded
        )
        self._aircraft = np.zeros((MAX_PERIODS, count, COMMAND_SIZE))
        self._no_wrenches_P = np.zeros((MAX_PERIODS, 6))
        self._row, self._level = np.zeros((1, self._timeline.width)), np.zeros(1, dtype=np.int64)

    @classmethod
    def of(cls, plant: Plant, vehicle: Vehicle) -> Self | None:
        """The compiled run of a flight; None where the compiled loop does not have all that acts in it.

        The vehicle's controller becomes one that the loop knows, with the same gains, unless it has flown already.
        """
        parts = (
            vehicle.interaction,
            vehicle.lever,
            vehicle.arm,
            vehicle.push,
            vehicle.wrench_follower,
        )
        is_true = vehicle.sense.is_zero and not vehicle.faults.losses
        if not plant.is_steady or not is_true or any(part is not None for part in parts):
            return None
        controller = vehicle.controller
        if type(controller) is PlatformController and controller.is_fresh:
            if not are_known(controller.model):
                return None
            vehicle.controller = controller = ControllerOfOne.like(controller)
        return cls(plant, vehicle, controller) if type(controller) is ControllerOfOne else None

    def fly(self, k: int, periods: int) -> tuple[Columns, FlightFailed | None]:
        """Fly from a control instant on.

        Args:
            k: its number.
            periods: largest number of periods to fly.

        Returns:
            Rows of the control instants, overwritten by the next call; and what has ended the flight after the last of
            them, None while it goes on.
        """
        plant, recorded = self._plant, self._recorded
        references = self._timeline.ahead(k, min(periods, MAX_PERIODS))
        levels = self._timeline.levels(k, k + len(references))
        begin, air_W = int(plant.ticks[0]), plant.advance_wind(len(references))
        flight = self._flight(air_W)
        count, state = fly_rows(references, levels, flight, recorded), flight.flight
        steps = int(state.step_counts[0])
        failure = failure_of(int(state.status[0]), self._name, steps, plant.dt)
        plant.pass_time(count if failure is None else count - 1)
        kept, instants = slice(count), np.arange(count)
        commanded = [each[kept] for each in recorded.commanded]
        aircraft, mode = self._aircraft[kept], self._controller.mode
        put_command(aircraft, Command(mode, *commanded))
        rows = Columns(
            k=(k + instants).astype(np.uint64),
            t=(begin + instants * plant.substeps) * plant.dt,
            x=recorded.x[kept],
            reference=references[kept],
            level=levels[kept].astype(np.uint8),
            reference_wrench_P=self._no_wrenches_P[kept],
            mode=np.full(count, mode, dtype=np.uint8),
            wrench_P=commanded[0],
            aircraft=aircraft,
            rpm=recorded.rpm[kept],
            tilt=recorded.tilt[kept],
            wrench_record=None,
        )
        return rows, failure

    def _flight(self, air_W: Array) -> BatchState:
        """Inputs of the compiled loop, in air that moves (periods, 1, 3) [m/s]; it writes references there."""
        plant, state = self._plant, self._plant.free_flight
        assert state is not None  # noqa: S101 - `of` has looked
        setpoints = Setpoints(plant.state(), self._row, self._level, self._no_wrenches_P[:1])
        values, table = self._no_wrenches_P[:1], (self._row, self._level)
        goal = Goal(
            SETPOINT, values, *table, air_W, plant.air.is_gusty, MAX_DISTANCE, plant.substeps
        )
        settings, blocks = self._controller.parts
        return BatchState(goal, setpoints, settings, blocks, state, settings.law)


@njit(cache=True, error_model="numpy", nogil=True)
def fly_rows(
    references: Array, levels: Integers, flight: BatchState, recorded: RecordedRows
) -> int:
    """Fly the first world for some control periods, and keep what is seen of each.

    Args:
        references: (T, 19 + N) of each period.
        levels: (T,) what is tracked of them.
        flight: all that flies; its references are `SETPOINT`, and written here.
        recorded: of as many instants or more, overwritten.

    Returns:
        The number of instants: of all, or up to the one at which the flight has ended.
    """
    setpoints, settings, state, law = flight.setpoints, flight.settings, flight.flight, flight.law
    block, controller = state.blocks[0], flight.controllers[0]
    lanes, count = lanes_from(0, 1), 0
    load(block, 0, state, lanes)
    while count < len(references) and state.status[0] == RUNNING:
        sense(block, controller, 0, count, flight, lanes)
        _record_state(block, count, state, recorded)
        for i in range(references.shape[1]):
            setpoints.rows[0, i] = references[count, i]
        setpoints.levels[0] = levels[count]
        load_references(controller, 0, setpoints, settings, lanes)
        fly_period(block, controller, 0, count, law, flight, lanes)
        store_commands(
            controller, count, settings, recorded.commanded, (FIRST, FIRST + np.uint64(1))
        )
        count += 1
    store(block, 0, state, lanes)
    hold_commands(controller, 0, law, settings, state.command, lanes)
    return count


@formula
def _record_state(block: Array, k: int, state: FreeFlightState, recorded: RecordedRows) -> None:
    """Keep the states that the first world has."""
    for i in range(len(state.vehicle.turns)):
        for m in range(STATE_SIZE):
            recorded.x[k, i, m] = get(block, body_row(i), BODY.p + m, FIRST)
    bodies = state.vehicle.bodies
    for n in range(len(bodies)):
        for r in range(4):
            recorded.rpm[k, n, r] = get(block, body_row(bodies[n]), BODY.rpm + r, FIRST)
            if state.vehicle.is_tilting:
                recorded.tilt[k, n, r] = get(block, body_row(bodies[n]), BODY.tilt + r, FIRST)

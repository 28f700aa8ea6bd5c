# SPDX-License-Identifier: BSD-3-Clause
"""Whole control periods of free flight of many worlds, in blocks: `Plant`'s shortcut where nobody looks in between."""

from collections.abc import Mapping, Sequence
from typing import Self, get_args

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.kernels import Packed
from iap_description.math.lanes import (
    DOUBLE,
    LANES,
    Precision,
    lanes_from,
    next_block,
    zero_blocks,
)
from iap_physics.batch import layout
from iap_physics.batch.batch_loop import advance_period
from iap_physics.batch.flight_state import BatchVehicle, FreeFlightState, PeriodInputs
from iap_physics.batch.layout import body_row, rows_of
from iap_physics.batch.load_store import begin_period, end_period, load, store
from iap_physics.batch.threads import Threads, VectorTime
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import Engine
from iap_physics.engines.rigid_motion import RigidModel
from iap_physics.propulsion.propulsion import Propulsion
from iap_physics.propulsion.rotors import lag


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
        drag: tuple[Array, Array] | None,
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
        self._alike = np.zeros((len(model.turns), layout.ALIKE), precision)
        self._failed = np.zeros(engine.batch, dtype=np.int64)
        self._fill(model, propulsion.rotors.records, drag)
        self._fill_alike(model)
        self._weaken()

    @classmethod
    def of(
        cls,
        engine: Engine,
        propulsion: Sequence[Propulsion],
        drag: tuple[Array, Array] | None,
        dt: float,
        threads: Threads,
        precision: Precision = DOUBLE,
    ) -> Self | None:
        """The flight of the only vehicle of a closed-form engine; None for other engines, vehicles and joints.

        Raises:
            BadInput: there is no such precision.
        """
        if precision not in get_args(Precision):
            choices = " or ".join(get_args(Precision))
            raise BadInput(f"precision '{precision}': {choices} is expected")
        if type(engine) is not ClosedFormEngine:  # one that is made of it may step as it likes
            return None
        if len(propulsion) != 1 or engine.has_resistance:
            return None
        return cls(engine, propulsion[0], drag, dt, threads, precision)

    @property
    def _of_worlds(self) -> Array:
        """(blocks, rows, LANES) a view of the blocks; one that is kept would be a copy of its own in a deep copy."""
        return self._blocks.reshape(len(self._blocks), -1, LANES)

    def set_vehicle(
        self, world: int, model: RigidModel, rotors: Array, drag: tuple[Array, Array] | None
    ) -> None:
        """Let one world hold a vehicle of its own, like that of all worlds but for its numbers.

        Args:
            world: its number.
            model: of the vehicle.
            rotors: (N, 3) see `Airframe.rotor_numbers`.
            drag: coefficients of its bodies, linear and quadratic; None without drag.
        """
        block, lane = divmod(world, LANES)
        nothing = np.zeros((len(model.turns), 3))
        numbers = (model.mass, model.arms, model.J, model.J_inv)
        air = (nothing, nothing) if drag is None else drag
        own = self._of_worlds[block, :, lane]
        _write_vehicle(own, *numbers, *air, self._vehicle.bodies, rotors, self._dt)

    def _fill(self, model: RigidModel, rotors: Packed, drag: tuple[Array, Array] | None) -> None:
        """Write what stays in a world, the same in all of them."""
        lanes, nothing = self._of_worlds, np.zeros((len(model.turns), 3))
        lanes[:, layout.MASS] = model.mass
        linear, quadratic = (nothing, nothing) if drag is None else drag
        for i in range(len(model.turns)):
            of_body = {
                layout.ARM: model.arms[i],
                layout.J: model.J[i],
                layout.J_INV: model.J_inv[i],
                layout.LINEAR: linear[i],
                layout.QUADRATIC: quadratic[i],
            }
            _write(lanes, int(body_row(i)), of_body)
        for n, rotor in enumerate(rotors):
            of_aircraft = {
                layout.THRUST_COEFFICIENT: rotor["thrust_coefficient"],
                layout.UP: lag(self._dt, rotor["time_constant_up"]),
                layout.DOWN: lag(self._dt, rotor["time_constant_down"]),
            }
            _write(lanes, int(body_row(self._vehicle.bodies[n])), of_aircraft)

    def _fill_alike(self, model: RigidModel) -> None:
        """Write what all worlds have alike."""
        of_bodies: dict[int, Array | float] = {
            layout.GRAVITY: self._engine.gravity,
            layout.Q_PB: model.q_PB,
        }
        _write_columns(self._alike, of_bodies)
        autopilots, bodies = self._propulsion.autopilots, self._vehicle.bodies
        torques = self._propulsion.rotors.records["wrench_of_thrusts"][:, 3:]
        servos = self._propulsion.rotors.servos
        of_aircraft = {
            layout.ATTITUDE_GAIN: autopilots["attitude"],
            layout.RATE_GAIN: autopilots["rate"],
            layout.AUTOPILOT_J: autopilots["J"],
            layout.MIX: autopilots["mix"][:, :, 1:],
            layout.LIFT: autopilots["lift"],
            layout.C_F: autopilots["thrust_coefficient"],
            layout.RPM_MIN: autopilots["rpm_min"],
            layout.RPM_MAX: autopilots["rpm_max"],
            layout.LEAD: autopilots["lead"],
            layout.TORQUES: torques,
            layout.SERVO: np.column_stack(
                [servos[name] for name in ("limit", "rate", "time_constant")]
            ),
            layout.UPWARD: servos["up"],
            layout.SIDEWAYS: servos["sideways"],
        }
        _write_columns(self._alike, of_aircraft, bodies)

    def _weaken(self) -> None:
        """Write what faults have left of the rotors."""
        self._weakened = self._propulsion.weakened
        rotors = self._propulsion.rotors.records
        health = {
            layout.THRUST_SHARE: rotors["thrust_share"],
            layout.SPEED_SHARE: rotors["speed_share"],
        }
        _write_columns(self._alike, health, self._vehicle.bodies)

    def flown(self, inputs: PeriodInputs) -> FreeFlightState:
        """What moves on under inputs, for compiled loops that advance it themselves, and `pass_time` when they have."""
        engine, p = self._engine, self._propulsion
        engine.check_flies()
        if self._weakened != p.weakened:
            self._weaken()
        worlds = (engine.state(), engine.status, self._failed, engine.step_counts)
        dt = self._blocks.dtype.type(self._dt)
        return FreeFlightState(
            self._blocks,
            self._alike,
            *worlds,
            p.command,
            p.rotors,
            p.known,
            inputs,
            self._vehicle,
            dt,
        )

    def pass_time(self, steps: int) -> None:
        """Let the engine's clock go on by some physics steps."""
        for _ in range(steps):
            self._engine.t += self._dt

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay.

        Raises:
            FlightFailed: the state of the only world would no longer be a number.
        """
        engine, flown = self._engine, self.flown(inputs)
        self._threads.run(
            lambda first, last: advance_worlds(first, last, flown, steps),
            engine.batch,
            self._pace,
        )
        for step in range(steps):
            if engine.raises and self._failed[0] == step:
                engine.fail(self._name, self._dt)
            engine.t += self._dt


@njit(cache=True)
def _write_vehicle(
    lane: Array,
    mass: float,
    arms: Array,
    J: Array,
    J_inv: Array,
    linear: Array,
    quadratic: Array,
    bodies: Integers,
    rotors: Array,
    dt: float,
) -> None:
    """Write the numbers by which a vehicle may differ from that of all worlds into its lane (rows,) of a block."""
    lane[layout.MASS] = mass
    for i in range(len(arms)):
        row = np.int64(body_row(i))
        for k in range(3):
            lane[row + layout.ARM + k] = arms[i, k]
            lane[row + layout.LINEAR + k] = linear[i, k]
            lane[row + layout.QUADRATIC + k] = quadratic[i, k]
            for m in range(3):
                lane[row + layout.J + 3 * k + m] = J[i, k, m]
                lane[row + layout.J_INV + 3 * k + m] = J_inv[i, k, m]
    for n in range(len(bodies)):
        row = np.int64(body_row(bodies[n]))
        lane[row + layout.THRUST_COEFFICIENT] = rotors[n, 0]
        up, down = lag(dt, rotors[n, 1]), lag(dt, rotors[n, 2])
        for k in range(3):
            lane[row + layout.UP + k] = up[k]
            lane[row + layout.DOWN + k] = down[k]


def _write_columns(
    alike: Array, values: Mapping[int, Array | float], rows: Integers | slice = slice(None)
) -> None:
    """Write numbers of some bodies from a column on."""
    for k, value in values.items():
        flat = (
            np.reshape(value, (len(alike[rows]), -1)) if np.ndim(value) else np.full((1, 1), value)
        )
        alike[rows, k : k + flat.shape[1]] = flat


def _write(lanes: Array, row: int, values: dict[int, Array]) -> None:
    """Write numbers into rows of blocks (blocks, rows, lanes), the same in all worlds."""
    for k, value in values.items():
        flat = np.ravel(value)
        lanes[:, row + k : row + k + len(flat)] = flat[:, None]


@njit(cache=True, nogil=True)
def advance_worlds(begin: int, end: int, flown: FreeFlightState, steps: int) -> None:
    """Advance worlds by some physics steps, block by block.

    Args:
        begin: the first of them, that of a vector.
        end: the one behind the last of them: the first of a vector, or their number.
        flown: all that moves on.
        steps: how many.
    """
    first = begin
    while first < end:
        block = flown.blocks[first // LANES, first % LANES :]
        lanes = lanes_from(first, end)
        load(block, first, flown, lanes)
        begin_period(block, first, flown, lanes)
        advance_period(block, flown.alike, flown.vehicle, lanes, steps, flown.dt)
        end_period(block, first, flown, steps, lanes)
        store(block, first, flown, lanes)
        first = next_block(first)

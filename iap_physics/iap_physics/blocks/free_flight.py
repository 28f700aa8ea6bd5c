# SPDX-License-Identifier: BSD-3-Clause
"""Whole control periods of free flight of many worlds, in blocks: `Plant`'s shortcut where nobody looks in between."""

from collections.abc import Sequence
from typing import NamedTuple, Self, get_args

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.kernels import Packed, formula, put4, qnormalize, quat_at
from iap_description.states import Mode
from iap_physics.blocks import layout
from iap_physics.blocks.layout import (
    DOUBLE,
    LANES,
    VECTOR,
    VEHICLE,
    Index,
    Precision,
    body_row,
    get,
    get3,
    get4,
    rows_of,
    set1,
)
from iap_physics.blocks.period import advance_block
from iap_physics.blocks.threads import Threads
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import DIVERGED, RUNNING, Engine
from iap_physics.engines.rigid_motion import RigidModel, is_sound
from iap_physics.held_commands import Held
from iap_physics.propulsion import Known, Propulsion, Rotors
from iap_physics.rotors import lag

_RPM = int(Mode.RPM)

SINGLE_BYTES = 4  # of a number in single precision


class Inputs(NamedTuple):
    """What acts on every world in a period.

    Attributes:
        air_W: (B, 3) velocity of the air [m/s].
        external_W: (B, 6) wrench on the central body [N, N m].
        ticks: (B,) physics steps before it.
    """

    air_W: Array
    external_W: Array
    ticks: Integers


class Vehicle(NamedTuple):
    """The vehicle as the loop over blocks takes it.

    Attributes:
        turns: (bodies,) as in `RigidModel`.
        bodies: (N,) the aircraft's bodies.
        every: physics steps of an autopilot's period.
        has_drag: whether bodies feel the air.
    """

    turns: Booleans
    bodies: Integers
    every: int
    has_drag: bool


class Flown(NamedTuple):
    """All that moves on when worlds do, as compiled loops take it; arrays are the flight's own.

    Attributes:
        blocks: (blocks, rows * LANES).
        x: (B, bodies, 13) states.
        status: (B,) of the worlds.
        failed: (B,) the step at which one diverged, else -1.
        step_counts: (B,) physics steps since each world's reset.
        command: that aircraft hold.
        rotors: see there.
        known: see there.
        inputs: see there.
        vehicle: see there.
        lanes: of a block that are filled.
        dt: physics step, in the blocks' precision [s].
    """

    blocks: Array
    x: Array
    status: Integers
    failed: Integers
    step_counts: Integers
    command: Held
    rotors: Rotors
    known: Known
    inputs: Inputs
    vehicle: Vehicle
    lanes: int
    dt: float


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
        self._threads = threads
        ((assembly, _, model),) = engine.parts
        self._engine, self._propulsion, self._dt = engine, propulsion, dt
        bodies = np.array(assembly.aircraft, dtype=np.int64)
        self._name = assembly.name
        self._vehicle = Vehicle(model.turns, bodies, propulsion.every, drag is not None)
        self._lanes = min(LANES, -(-engine.batch // VECTOR) * VECTOR)
        count = -(-engine.batch // LANES)
        rows = rows_of(len(model.turns))
        self._blocks = np.zeros((count, rows * LANES), precision)
        self._failed = np.zeros(engine.batch, dtype=np.int64)
        rotors = propulsion.rotors.records
        self._fill(self._of_worlds, model, rotors, drag)
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

    def _fill(
        self, lanes: Array, model: RigidModel, rotors: Packed, drag: tuple[Array, Array] | None
    ) -> None:
        """Write what stays, the same in all worlds, into blocks (blocks, rows, lanes)."""
        lanes[:, layout.MASS], lanes[:, layout.GRAVITY] = model.mass, self._engine.gravity
        for i in range(len(model.turns)):
            linear, quadratic = (
                (np.zeros(3), np.zeros(3)) if drag is None else (drag[0][i], drag[1][i])
            )
            of_body = {
                layout.ARM: model.arms[i],
                layout.Q_PB: model.q_PB[i],
                layout.J: model.J[i],
                layout.J_INV: model.J_inv[i],
                layout.LINEAR: linear,
                layout.QUADRATIC: quadratic,
            }
            _write(lanes, int(body_row(i)), of_body)
        autopilots = self._propulsion.autopilots
        for n, (rotor, autopilot) in enumerate(zip(rotors, autopilots, strict=True)):
            of_aircraft = {
                layout.ATTITUDE_GAIN: autopilot["attitude"],
                layout.RATE_GAIN: autopilot["rate"],
                layout.AUTOPILOT_J: autopilot["J"],
                layout.MIX: autopilot["mix"][:, 1:],
                layout.C_F: autopilot["thrust_coefficient"],
                layout.RPM_MIN: autopilot["rpm_min"],
                layout.RPM_MAX: autopilot["rpm_max"],
                layout.LEAD: autopilot["lead"],
                layout.THRUST_COEFFICIENT: rotor["thrust_coefficient"],
                layout.UP: lag(self._dt, rotor["time_constant_up"]),
                layout.DOWN: lag(self._dt, rotor["time_constant_down"]),
                layout.TORQUES: rotor["wrench_of_thrusts"][3:],
            }
            _write(lanes, int(body_row(self._vehicle.bodies[n])), of_aircraft)

    def _weaken(self) -> None:
        """Write what faults have left of the rotors."""
        self._weakened = self._propulsion.weakened
        for n, rotor in enumerate(self._propulsion.rotors.records):
            health = {
                layout.THRUST_SHARE: rotor["thrust_share"],
                layout.SPEED_SHARE: rotor["speed_share"],
            }
            _write(self._of_worlds, int(body_row(self._vehicle.bodies[n])), health)

    def flown(self, inputs: Inputs) -> Flown:
        """What moves on under inputs, for compiled loops that advance it themselves, and `pass_time` when they have."""
        engine, p = self._engine, self._propulsion
        engine.check_flies()
        if self._weakened != p.weakened:
            self._weaken()
        worlds = (self._blocks, engine.state(), engine.status, self._failed, engine.step_counts)
        state = (p.command, p.rotors, p.known, inputs, self._vehicle)
        return Flown(*worlds, *state, self._lanes, self._blocks.dtype.type(self._dt))

    def pass_time(self, steps: int) -> None:
        """Let the engine's clock go on by some physics steps."""
        for _ in range(steps):
            self._engine.t += self._dt

    def advance(self, inputs: Inputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay.

        Raises:
            FlightFailed: the state of the only world would no longer be a number.
        """
        engine, p = self._engine, self._propulsion
        engine.check_flies()
        if self._weakened != p.weakened:
            self._weaken()
        flew = engine.status == RUNNING
        worlds = (self._blocks, engine.state(), engine.status, self._failed)
        state = (p.command, p.rotors, p.known, inputs, self._vehicle)
        dt = self._blocks.dtype.type(self._dt)

        def work(first: int, last: int) -> None:
            advance_worlds(first, last, *worlds, *state, self._lanes, steps, dt)

        self._threads.run(work, engine.batch)
        for step in range(steps):
            if engine.raises and self._failed[0] == step:
                engine.fail(self._name, self._dt)
            engine.t += self._dt
        engine.step_counts[flew] += np.where(self._failed[flew] < 0, steps, self._failed[flew])


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


def _write(lanes: Array, row: int, values: dict[int, Array]) -> None:
    """Write numbers into rows of blocks (blocks, rows, lanes), the same in all worlds."""
    for k, value in values.items():
        flat = np.ravel(value)
        lanes[:, row + k : row + k + len(flat)] = flat[:, None]


@njit(cache=True, nogil=True)
def advance_worlds(
    begin: int,
    end: int,
    blocks: Array,
    x: Array,
    status: Integers,
    failed: Integers,
    command: Held,
    rotors: Rotors,
    known: Known,
    inputs: Inputs,
    vehicle: Vehicle,
    lanes: int,
    steps: int,
    dt: float,
) -> None:
    """Advance worlds by some physics steps, block by block.

    Args:
        begin: the first of them, that of a block.
        end: the one behind the last of them: that of a block, or their number.
        blocks: (blocks, rows * LANES) with what stays.
        x: (B, bodies, 13) states; changed in place.
        status: (B,) of the worlds; changed where one diverges.
        failed: (B,) the step at which it did, -1 where it did not; written.
        command: see there.
        rotors: see there; changed in place.
        known: see there.
        inputs: see there.
        vehicle: see there.
        lanes: of a block that are filled.
        steps: how many.
        dt: length of one, in the blocks' precision [s].
    """
    how = (vehicle.turns, vehicle.bodies, vehicle.every, vehicle.has_drag)
    for first in range(begin, end, LANES):
        block = blocks[first // LANES]
        flies = _all_fly(first, status, lanes)
        whole = vehicle.has_drag or not flies
        _load(block, first, x, status, command, rotors, known, inputs, vehicle, lanes, whole)
        advance_block(block, *how, not flies, np.uint64(lanes), steps, dt)
        if flies and not _is_sound(block, vehicle.turns, lanes):
            # from the start again, looking at every step
            _load(block, first, x, status, command, rotors, known, inputs, vehicle, lanes, True)
            advance_block(block, *how, True, np.uint64(lanes), steps, dt)
        _store(block, first, x, status, failed, rotors, vehicle)


@njit(cache=True)
def _load(
    block: Array,
    first: int,
    x: Array,
    status: Integers,
    command: Held,
    rotors: Rotors,
    known: Known,
    inputs: Inputs,
    vehicle: Vehicle,
    lanes: int,
    whole: bool,
) -> None:
    """Write what changes into a block; the last world fills lanes that are left.

    Unless it is to be `whole`, places and velocities of the outer bodies and the air are left out: they follow from the
    central body, or nothing feels them.
    """
    # what is taken out of a tuple inside of a loop costs more than the copy
    external_W, air_W, ticks = inputs.external_W, inputs.air_W, inputs.ticks
    modes, thrust, command_q, command_w, command_rpm = command
    rpm, target, is_used, known_x = rotors.rpm, rotors.target, known.is_used, known.x
    bodies, every, count = vehicle.bodies, vehicle.every, len(vehicle.turns)
    for lane in range(lanes):
        world, at = min(first + lane, len(x) - 1), np.uint64(lane)
        set1(block, VEHICLE, layout.FLIES, at, 1.0 if status[world] == RUNNING else 0.0)
        set1(block, VEHICLE, layout.FAILED, at, -1.0)
        for k in range(6):
            set1(block, VEHICLE, layout.EXTERNAL + k, at, external_W[world, k])
        for i in range(count):
            if i == 0 or whole:
                _put(block, body_row(i), layout.STATE, at, x, world, i, 0, 13)
                for k in range(3):
                    set1(block, body_row(i), layout.AIR + k, at, air_W[world, k])
            else:
                _put(block, body_row(i), layout.Q, at, x, world, i, 3, 4)
                _put(block, body_row(i), layout.W, at, x, world, i, 10, 3)
        tick, mode, is_estimated = float(ticks[world] % every), modes[world], is_used[world]
        for n in range(len(bodies)):
            row = body_row(bodies[n])
            set1(block, row, layout.TICK, at, tick)
            set1(block, row, layout.MODE, at, float(mode))
            if mode == _RPM:
                _put(block, row, layout.COMMAND_RPM, at, command_rpm, world, n, 0, 4)
            else:
                set1(block, row, layout.THRUST, at, thrust[world, n])
                _put(block, row, layout.COMMAND_Q, at, command_q, world, n, 0, 4)
                _put(block, row, layout.COMMAND_W, at, command_w, world, n, 0, 3)
            _put(block, row, layout.RPM, at, rpm, world, n, 0, 4)
            _put(block, row, layout.TARGET, at, target, world, n, 0, 4)
            set1(block, row, layout.ESTIMATED, at, 1.0 if is_estimated else 0.0)
            if is_estimated:
                _put(block, row, layout.KNOWN_Q, at, known_x, world, bodies[n], 3, 4)
                _put(block, row, layout.KNOWN_W, at, known_x, world, bodies[n], 10, 3)


@formula
def _put(
    block: Array,
    row: Index,
    k: int,
    lane: Index,
    values: Array,
    world: int,
    i: int,
    begin: int,
    count: int,
) -> None:
    """Write some numbers of values (B, ..., ...) of one world from row + k on."""
    for m in range(count):
        set1(block, row, k + m, lane, values[world, i, begin + m])


@njit(cache=True)
def _all_fly(first: int, status: Integers, lanes: int) -> bool:
    """Whether all worlds of a block run."""
    for lane in range(lanes):
        if status[min(first + lane, len(status) - 1)] != RUNNING:
            return False
    return True


@njit(cache=True)
def _is_sound(block: Array, turns: Booleans, lanes: int) -> bool:
    """Whether the motion of every world is one."""
    for i in range(len(turns)):
        row = body_row(i)
        for lane in range(lanes):
            at = np.uint64(lane)
            q, v = get4(block, row, layout.Q, at), get3(block, row, layout.V, at)
            if not is_sound(get3(block, row, layout.P, at), q, v, get3(block, row, layout.W, at)):
                return False
    return True


@njit(cache=True)
def _store(
    block: Array,
    first: int,
    x: Array,
    status: Integers,
    failed: Integers,
    rotors: Rotors,
    vehicle: Vehicle,
) -> None:
    """Read the worlds of a block."""
    count, bodies, rpm, target = len(vehicle.turns), vehicle.bodies, rotors.rpm, rotors.target
    is_single = block.itemsize == SINGLE_BYTES
    for world in range(first, min(first + LANES, len(x))):
        at = np.uint64(world - first)
        failed[world] = int(get(block, VEHICLE, layout.FAILED, at))
        if failed[world] >= 0:
            status[world] = DIVERGED
        for i in range(count):
            for k in range(13):
                x[world, i, k] = get(block, body_row(i), layout.STATE + k, at)
            if is_single:  # to which a quaternion's length is 1 within 1e-7, and controllers take that for a force
                put4(x[world, i, 3:7], qnormalize(quat_at(x[world, i], 3)))
        for n in range(len(bodies)):
            row = body_row(bodies[n])
            for r in range(4):
                rpm[world, n, r] = get(block, row, layout.RPM + r, at)
                target[world, n, r] = get(block, row, layout.TARGET + r, at)

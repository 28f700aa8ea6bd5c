# SPDX-License-Identifier: BSD-3-Clause
"""Whole control periods of many worlds in MuJoCo, each world's by one compiled call: `Plant`'s shortcut.

It calls in each physics step what `Plant` and `MuJoCoEngine` call one after another, in their order, and gives the
same bits.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import quat, vec
from iap_description.math.pointers import borrowed
from iap_description.world.world import World
from iap_physics.air.drag import DragCoefficients, add_drag_in, drag_coefficients
from iap_physics.batch.records import PeriodInputs
from iap_physics.engines.engine import RUNNING, Engine
from iap_physics.engines.mujoco.native import begin_world, end_world, step_world
from iap_physics.engines.mujoco.native_worlds import NativeWorlds
from iap_physics.engines.mujoco.worlds import MuJoCoWorlds
from iap_physics.propulsion.autopilot import FleetState, steer
from iap_physics.propulsion.propulsion import Airframe, Propulsion
from iap_physics.propulsion.rotors import Lag, RotorParameters, lag, spin_aircraft
from iap_physics.propulsion.tilting_rotors import tilt_aircraft


class VehicleArrays(NamedTuple):
    """One vehicle in B worlds as compiled code takes it.

    Attributes:
        fleet: its aircraft.
        numbers: (B, N, 3) of its rotors, see `Airframe.rotor_numbers`.
        is_tilting: whether its rotors tilt.
        base: state row of its central body.
    """

    fleet: FleetState
    numbers: Array
    is_tilting: bool
    base: int


class OtherLoads(NamedTuple):
    """Loads on vehicles besides their rotors and contacts, in B worlds.

    Attributes:
        air_W: (B, 3) velocity of the air [m/s].
        external_W: (B, vehicles, 6) wrenches on central bodies [N, N m].
        drag: (B, bodies, 3) coefficients, see `DragCoefficients`; without bodies where there is no drag.
        ticks: (B,) physics steps before the period.
        late_W: (B, bodies, 6) wrenches on bodies that come last; without bodies where there are none.
    """

    air_W: Array
    external_W: Array
    drag: DragCoefficients
    ticks: Integers
    late_W: Array


@runtime_checkable
class StepPart(Protocol):
    """A part of many worlds that acts in each of their physics steps."""

    def before_steps(self, x: Array, wrenches: Array, times: Array, dt: float) -> None:
        """Act in a step that comes, see `PlantPart.before_step` of one world."""

    def end_steps(self, before: Array, times: Array) -> None:
        """A step has ended, see `PlantPart.end_step` of one world."""


class ContactFlight:
    """All vehicles of a batch of MuJoCo's worlds.

    Args:
        engine: that they fly in.
        propulsion: of each vehicle.
        external_W: (B, vehicles, 6) wrenches on central bodies that hold over a control period, which others write.
        drag: coefficients of all bodies; None without drag.
        dt: physics step [s].
        parts: that act in each step.
    """

    def __init__(
        self,
        engine: MuJoCoWorlds,
        propulsion: Sequence[Propulsion],
        external_W: Array,
        drag: DragCoefficients | None,
        dt: float,
        parts: Sequence[StepPart] = (),
    ) -> None:
        self._engine, self._propulsion, self._dt = engine, tuple(propulsion), dt
        self._external_W, batch = external_W, engine.batch
        self._parts = tuple(parts)
        bodies = propulsion[-1].rows.stop if parts else 0
        self._late_W = np.zeros((batch, bodies, 6))
        coefficients = drag or DragCoefficients(*np.zeros((2, 0, 3)))
        self._drag = DragCoefficients(
            *(np.repeat(each[None], batch, axis=0) for each in coefficients)
        )
        self._numbers = [
            np.repeat(each.airframe.rotor_numbers[None], batch, axis=0) for each in propulsion
        ]

    @classmethod
    def of(
        cls,
        engine: Engine,
        propulsion: Sequence[Propulsion],
        external_W: Array,
        drag: DragCoefficients | None,
        dt: float,
        parts: Sequence[StepPart] = (),
    ) -> Self | None:
        """The flight of vehicles in a batch of MuJoCo's; None in other engines."""
        if not isinstance(engine, MuJoCoWorlds):
            return None
        return cls(engine, propulsion, external_W, drag, dt, parts)

    def deviate(self, world: int, airframes: Sequence[Airframe], place: World) -> None:
        """Give one world vehicles and a place of its own, like those of all worlds but for their numbers.

        Raises:
            BadInput: the place has more or fewer bodies or pieces.
        """
        assemblies = [airframe.assembly for airframe in airframes]
        self._engine.set_world(world, place, assemblies)
        for numbers, airframe in zip(self._numbers, airframes, strict=True):
            numbers[world] = airframe.rotor_numbers
        if self._drag.linear.shape[1]:
            coefficients = drag_coefficients(assemblies)
            for each, value in zip(self._drag, coefficients, strict=True):
                each[world] = value

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay.

        Raises:
            FlightFailed: the state of the only world would no longer be a number.
        """
        engine, dt, ticks = self._engine, self._dt, inputs.ticks
        others = (inputs.air_W, self._external_W, self._drag, ticks, self._late_W)
        vehicles, loads = self._vehicles, OtherLoads(*others)
        is_running = engine.status == RUNNING
        at_once = 1 if engine.has_motion or self._parts else steps
        for first in range(0, steps, at_once):
            times: Array = np.multiply(ticks, dt, dtype=np.float64) + first * dt
            before = self._begin_step(times) if self._parts else None
            engine.begin(dt)
            window = (first, first + at_once)
            engine.run(partial(_fly, engine.native, vehicles, loads, window, dt))
            engine.end(at_once)
            if before is not None:
                for part in self._parts:
                    part.end_steps(before, times + dt)
        np.add(ticks, steps, out=ticks, where=is_running)

    def _begin_step(self, times: Array) -> Array:
        """Let parts act in a step that begins at times (B,) [s]; returns the states (B, bodies, 13)."""
        before = self._engine.state().copy()
        self._late_W.fill(0.0)
        for part in self._parts:
            part.before_steps(before, self._late_W, times, self._dt)
        return before

    @property
    def _vehicles(self) -> tuple[VehicleArrays, ...]:
        pairs = zip(self._propulsion, self._numbers, strict=True)
        return tuple(
            VehicleArrays(p.fleet_state, numbers, p.is_tilting, p.rows.start)
            for p, numbers in pairs
        )


@njit(cache=True, nogil=True)
def _fly(
    worlds: NativeWorlds,
    vehicles: tuple[VehicleArrays, ...],
    loads: OtherLoads,
    window: tuple[int, int],
    dt: float,
    begin: int,
    end: int,
    data: int,
) -> None:
    """Fly the running ones of some worlds through some steps of a control period.

    Args:
        worlds: all of them.
        vehicles: of every world.
        loads: what else acts.
        window: the first of the steps, and the one behind the last.
        dt: length of a step [s].
        begin: the first of the worlds that fly.
        end: the one behind the last of them.
        data: address of MuJoCo's data.
    """
    worlds, vehicles, loads = borrowed(worlds), borrowed(vehicles), borrowed(loads)
    bodies = worlds.x.shape[1]
    before, wrenches, lags = np.empty((bodies, 13)), np.empty((bodies, 6)), np.empty((bodies, 6))
    for w in range(begin, end):
        if worlds.status[w] != RUNNING:
            continue
        begin_world(worlds, data, w)
        for vehicle in vehicles:
            _set_lags(vehicle, w, dt, lags)
        for step in range(window[0], window[1]):
            wrenches[:] = 0.0
            for number in range(len(vehicles)):
                _actuate(
                    worlds.x[w], w, vehicles[number], lags, loads.ticks[w] + step, wrenches, dt
                )
            _add_loads(worlds.x[w], w, vehicles, loads, wrenches)
            if not step_world(worlds, data, w, wrenches, before, dt):
                break
        end_world(worlds, data, w)


@njit(cache=True)
def _add_loads(
    x: Array, w: int, vehicles: tuple[VehicleArrays, ...], loads: OtherLoads, wrenches: Array
) -> None:
    """Add what else acts on bodies (bodies, 13) of a world to their wrenches (bodies, 6)."""
    for number in range(len(vehicles)):
        for k in range(6):
            wrenches[vehicles[number].base, k] += loads.external_W[w, number, k]
    if loads.drag.linear.shape[1]:
        add_drag_in(
            x, vec(loads.air_W[w]), wrenches, loads.drag.linear[w], loads.drag.quadratic[w]
        )
    if loads.late_W.shape[1]:
        wrenches += loads.late_W[w]


@njit(cache=True)
def _set_lags(vehicle: VehicleArrays, w: int, dt: float, lags: Array) -> None:
    """Write the lags of a vehicle's rotors in a world into the rows (6,) of its aircraft."""
    for n in range(vehicle.numbers.shape[1]):
        row = vehicle.fleet.rotors.records[n].body
        up, down = lag(dt, vehicle.numbers[w, n, 1]), lag(dt, vehicle.numbers[w, n, 2])
        for k in range(3):
            lags[row, k], lags[row, 3 + k] = up[k], down[k]


@njit(cache=True)
def _actuate(
    x: Array,
    w: int,
    vehicle: VehicleArrays,
    lags: Array,
    tick: int,
    wrenches: Array,
    dt: float,
) -> None:
    """Autopilots and rotors of one vehicle in a world over a step, as `Propulsion.actuate` has them."""
    fleet = vehicle.fleet
    rotors = fleet.rotors
    if tick % fleet.every == 0:
        steer(x, w, fleet)
    for n in range(rotors.rpm.shape[1]):
        p, row = _own_rotors(vehicle, w, n), rotors.records[n].body
        up = Lag(lags[row, 0], lags[row, 1], lags[row, 2])
        down = Lag(lags[row, 3], lags[row, 4], lags[row, 5])
        rpm, target, q_WB = rotors.rpm[w, n], rotors.target[w, n], quat(x[row, 3:7])
        if vehicle.is_tilting:
            command = (target, fleet.command.tilt[w, n])
            t, lagging = rotors.servos[n], (up, down)
            force, torque = tilt_aircraft(rpm, rotors.tilt[w, n], command, q_WB, p, t, lagging, dt)
        else:
            force, torque = spin_aircraft(rpm, target, q_WB, p, up, down)
        for k in range(3):
            wrenches[row, k] += force[k]
            wrenches[row, 3 + k] += torque[k]


@njit(cache=True)
def _own_rotors(vehicle: VehicleArrays, w: int, n: int) -> RotorParameters:
    """Rotors of an aircraft with the numbers that a world has of them."""
    p, numbers = vehicle.fleet.rotors.records[n], vehicle.numbers[w, n]
    return RotorParameters(
        p.body,
        p.wrench_of_thrusts,
        numbers[0],
        p.rpm_min,
        p.rpm_max,
        numbers[1],
        numbers[2],
        p.thrust_share,
        p.speed_share,
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Whole control periods of one vehicle in PyBullet by one compiled call: `Plant`'s shortcut.

It calls in each physics step what `Plant` and `PyBulletEngine` call one after another, in their order, and gives the
same bits; what it saves is Python's time between the calls, which is more than the physics'.
"""

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_physics.air.drag import DragCoefficients, add_drag
from iap_physics.batch.records import PeriodInputs
from iap_physics.engines.engine import Engine
from iap_physics.engines.pybullet.native import OK, NativeWorld, step_world
from iap_physics.propulsion.autopilot import FleetState, autopilot_step
from iap_physics.propulsion.propulsion import Propulsion
from iap_physics.propulsion.rotors import step_rotors

NO_DRAG = DragCoefficients(np.zeros((0, 3)), np.zeros((0, 3)))


@runtime_checkable
class NativeEngine(Protocol):
    """An engine whose steps compiled code can make: PyBullet's, see there."""

    native: NativeWorld | None

    def begin(self, dt: float) -> None:
        """Make ready for steps of `dt` [s]."""

    def end(self, steps: int, failed: int) -> None:
        """Take note of steps that were made."""

    def state(self) -> Array:
        """(1, bodies, 13) the present states."""


class NativeFlight:
    """The only vehicle of a world of PyBullet's.

    Args:
        engine: that it flies in.
        propulsion: of the vehicle, whose rotors stand still on their arms.
        drag: coefficients of its bodies, linear and quadratic; None without drag.
        dt: physics step [s].
    """

    def __init__(
        self,
        engine: NativeEngine,
        propulsion: Propulsion,
        drag: DragCoefficients | None,
        dt: float,
    ) -> None:
        self._engine, self._propulsion, self._dt = engine, propulsion, dt
        self._drag = drag or NO_DRAG

    @classmethod
    def of(
        cls,
        engine: Engine,
        propulsion: Sequence[Propulsion],
        drag: DragCoefficients | None,
        dt: float,
    ) -> Self | None:
        """The flight of the only vehicle of an engine; None where single steps in Python are needed."""
        if not isinstance(engine, NativeEngine) or engine.native is None:
            return None
        if len(propulsion) != 1 or propulsion[0].is_tilting:
            return None
        return cls(engine, propulsion[0], drag, dt)

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay.

        Raises:
            FlightFailed: the state would no longer be a number.
        """
        engine, p = self._engine, self._propulsion
        if engine.native is None:
            raise AssertionError("a world is loaded for compiled code or it is not")
        engine.begin(self._dt)
        x = engine.state()
        how = (p.fleet_state, inputs, self._drag)
        engine.end(*_fly(engine.native, x, *how, steps, self._dt))
        inputs.ticks[:] += steps


@njit(cache=True)
def _fly(
    world: NativeWorld,
    x: Array,
    fleet: FleetState,
    inputs: PeriodInputs,
    drag: DragCoefficients,
    steps: int,
    dt: float,
) -> tuple[int, int]:
    """Number of steps begun, and what the last of them returned."""
    rotors, wrenches = fleet.rotors, np.zeros((1, x.shape[1], 6))
    is_due, is_disturbed = np.ones(1, np.bool_), np.any(inputs.external_W != 0.0)
    for step in range(steps):
        wrenches[:] = 0.0
        is_due[0] = (inputs.ticks[0] + step) % fleet.every == 0
        autopilot_step(x, is_due, fleet)
        step_rotors(rotors.rpm, rotors.target, x, wrenches, rotors.records, dt)
        if is_disturbed:
            for k in range(6):
                wrenches[0, 0, k] += inputs.external_W[0, k]
        if len(drag.linear):
            add_drag(x, inputs.air_W, wrenches, drag.linear, drag.quadratic)
        failed = step_world(world, wrenches[0], x[0])
        if failed != OK:
            return step + 1, failed
    return steps, OK

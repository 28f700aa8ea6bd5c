# SPDX-License-Identifier: BSD-3-Clause
"""Records of many worlds in free flight: inputs, vehicle and state."""

from typing import NamedTuple

from iap_description.arrays import Array, Booleans, Integers
from iap_physics.propulsion.estimates import AutopilotEstimates
from iap_physics.propulsion.last_command import LastCommand
from iap_physics.propulsion.rotors import RotorStates


class PeriodInputs(NamedTuple):
    """Air, external wrench and clock of every world in a period.

    Attributes:
        air_W: (B, 3) velocity of the air [m/s].
        external_W: (B, 6) wrench on the central body [N, N m].
        ticks: (B,) physics steps before it.
    """

    air_W: Array
    external_W: Array
    ticks: Integers


class BatchVehicle(NamedTuple):
    """The vehicle as the loop over blocks takes it.

    Attributes:
        turns: (bodies,) as in `RigidModel`.
        bodies: (N,) the aircraft's bodies.
        every: physics steps of an autopilot's period.
        has_drag: whether bodies feel the air.
        is_tilting: whether rotors tilt.
    """

    turns: Booleans
    bodies: Integers
    every: int
    has_drag: bool
    is_tilting: bool


class FreeFlightState(NamedTuple):
    """All that moves on when worlds do, as compiled loops take it; arrays are the flight's own.

    Attributes:
        blocks: (blocks, rows * LANES) see `iap_physics.batch.layout`.
        shared: (bodies, ALIKE) what bodies have in all worlds shared.
        x: (B, bodies, 13) states.
        status: (B,) of the worlds.
        failed: (B,) the step at which one diverged, else -1.
        step_counts: (B,) physics steps since each world's reset.
        command: that aircraft hold.
        rotors: see there.
        known: see there.
        inputs: see there.
        vehicle: see there.
        dt: physics step, in the blocks' precision [s].
    """

    blocks: Array
    shared: Array
    x: Array
    status: Integers
    failed: Integers
    step_counts: Integers
    command: LastCommand
    rotors: RotorStates
    known: AutopilotEstimates
    inputs: PeriodInputs
    vehicle: BatchVehicle
    dt: float

# SPDX-License-Identifier: BSD-3-Clause
"""Records of the loop over many worlds: what they are to do, and all that flies."""

from typing import NamedTuple

from iap_control.batch.records import ControlSettings, Setpoints
from iap_description.arrays import Array, Integers
from iap_physics.batch.records import FreeFlightState

# Sources of references: the scenario's, those made of an action's values, or those in `Setpoints`.
TRACK, POSE, VELOCITY, ACCELERATION, WRENCH, SETPOINT = range(6)
HOLD = -1  # in place of a law: the commands that aircraft hold


class Goal(NamedTuple):
    """Task of B worlds for some control periods.

    Attributes:
        what: source of the references.
        values: (B, columns) of an action, see `iap_simulation.batch.actions`.
        rows: (T, 19 + N) the scenario's references at all control instants.
        levels: (T,) what is tracked of them.
        air_W: (T, B, 3) velocity of the air in each control period, where there are gusts [m/s].
        is_gusty: whether there are.
        far: from its reference a world has failed, along any axis [m].
        substeps: physics steps of a control period.
    """

    what: int
    values: Array
    rows: Array
    levels: Integers
    air_W: Array
    is_gusty: bool
    far: float
    substeps: int


class BatchState(NamedTuple):
    """All that flies, in B worlds.

    Attributes:
        goal: what they are to do.
        setpoints: states, and references that count where they are `SETPOINT`.
        settings: of the controllers.
        controllers: (blocks, rows * LANES) see `iap_control.batch.layout`.
        flight: what moves on.
        law: of the controllers, or `HOLD`.
    """

    goal: Goal
    setpoints: Setpoints
    settings: ControlSettings
    controllers: Array
    flight: FreeFlightState
    law: int

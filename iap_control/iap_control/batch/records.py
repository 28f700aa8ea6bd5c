# SPDX-License-Identifier: BSD-3-Clause
"""Records of many worlds' controllers: what they are asked for, how they are set, and what they command."""

from typing import NamedTuple, Self

import numpy as np

from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.vectored_allocation import VectoredTables
from iap_description.arrays import Array, Integers

FULL, COLLINEAR, RIGID, VECTORED = range(4)  # laws


class Setpoints(NamedTuple):
    """Inputs of B worlds.

    Attributes:
        x: (B, bodies, 13) states as they are known, the central body's first.
        rows: (B, 19 + N) reference rows.
        levels: (B,) what is tracked of them.
        wrenches_P: (B, 6) active wrenches about P's origin in P, which count at level WRENCH [N, N m].
    """

    x: Array
    rows: Array
    levels: Integers
    wrenches_P: Array


class ControlSettings(NamedTuple):
    """Settings of controllers, the same in all worlds.

    Attributes:
        law: `FULL`, `COLLINEAR`, `RIGID` or `VECTORED`.
        first: row of a block where the first aircraft's begin.
        tables: of the allocation.
        vectored: of the allocation to rotors that tilt.
        mount_yaw: (N,) heading of each aircraft in P at rest [rad].
        yaw_mode: of the headings, a value of `YAW_MODES`.
        dt: control period [s].
    """

    law: int
    first: int
    tables: AllocationTables
    vectored: VectoredTables
    mount_yaw: Array
    yaw_mode: int
    dt: float


class BatchCommand(NamedTuple):
    """The last commands of B controllers, as `iap_description.states.Command` has them.

    Attributes:
        wrench_P: (B, 6) active wrenches about P's origin in P [N, N m].
        thrust: (B, N) [N].
        q_WB: (B, N, 4).
        w_WB_B: (B, N, 3) [rad/s].
        rpm: (B, N, 4).
        tilt: (B, N, 4) [rad].
    """

    wrench_P: Array
    thrust: Array
    q_WB: Array
    w_WB_B: Array
    rpm: Array
    tilt: Array

    @classmethod
    def empty(cls, batch: int, count: int) -> Self:
        """Commands of controllers that have not run yet."""
        sizes = ((6,), (count,), (count, 4), (count, 3), (count, 4), (count, 4))
        return cls(*(np.zeros((batch, *size)) for size in sizes))

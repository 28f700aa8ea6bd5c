# SPDX-License-Identifier: BSD-3-Clause
"""What is recorded of one vehicle at one instant."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_control.controller import Reference
from iap_description.force_task import ForceTask
from iap_description.states import Command

Array = NDArray[np.float64]


class WrenchRecord(NamedTuple):
    """Wrenches (6,) of the environment on a platform, about P's origin in P, and what answers them.

    Attributes:
        raw_P: mean contact wrench of the last period.
        filtered_P: the same, low-passed.
        estimated_P: the momentum observer's.
        tracked: the reference as revised by the admittance.
        task: of wrench control; None where nothing is pushed.
    """

    raw_P: Array
    filtered_P: Array
    estimated_P: Array
    tracked: Reference
    task: ForceTask | None


class Step(NamedTuple):
    """One vehicle at one instant; the loop's arrays are overwritten by its next step.

    Attributes:
        k: number of the instant.
        t: simulation time [s].
        x: (bodies, 13) state.
        reference: what was asked for.
        command: what was commanded on this state.
        rpm: (N, 4) rotor speeds.
        felt: None for a vehicle that has nothing to feel.
        believed: (bodies, 13) state that the command is based on; None where that is `x`.
    """

    k: int
    t: float
    x: Array
    reference: Reference
    command: Command
    rpm: Array
    felt: WrenchRecord | None = None
    believed: Array | None = None

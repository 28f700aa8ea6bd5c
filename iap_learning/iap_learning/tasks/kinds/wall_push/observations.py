# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of pushes."""

from typing import NamedTuple

from iap_description.arrays import Array, Booleans
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term


class PushInputs(NamedTuple):
    """Inputs of observations of B worlds, in the wall's axes: towards it, and along it.

    Attributes:
        force: (B,) of the wall on the platform, as it is measured, mean over a step [N].
        largest: (B,) such a force of a control period so far [N]; at a known speed it tells how hard the wall is.
        desired: that it shall be [N].
        integral: (B,) of what was missing since the wall was felt [N s].
        has_felt: (B,) whether it was.
        gap: (B,) of the tip from where the wall is believed to be [m].
        velocity: (B, 3) of the central body [m/s].
        drift: (B, 2) of the tip from its line of approach [m].
        action: (B, 1) the last one.
    """

    force: Array
    largest: Array
    desired: float
    integral: Array
    has_felt: Booleans
    gap: Array
    velocity: Array
    drift: Array
    action: Array


TERMS = TermTable.of(
    array_term("force", 1, lambda push: push.force[:, None]),
    array_term("largest", 1, lambda push: push.largest[:, None]),
    array_term("force_error", 1, lambda push: (push.desired - push.force)[:, None]),
    array_term("integral", 1, lambda push: push.integral[:, None]),
    array_term("gap", 1, lambda push: push.gap[:, None]),
    array_term("velocity", 3, lambda push: push.velocity),
    array_term("drift", 2, lambda push: push.drift),
    array_term("action", PER_ACTION, lambda push: push.action),
)

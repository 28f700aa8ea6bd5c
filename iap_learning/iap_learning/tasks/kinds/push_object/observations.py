# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of pushes of a loose object."""

from typing import NamedTuple

from iap_description.arrays import Array
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term


class ShoveInputs(NamedTuple):
    """Inputs of observations of B worlds, in level axes of the object at its start: forwards, and to the left.

    Attributes:
        force: (B, 2) on the platform, as it is measured [N].
        left: (B, 2) way from the object to its goal, as it is measured [m].
        heading: (B,) of the object, likewise, since the start [rad].
        tip: (B, 2) from the object, likewise [m].
        lag: (B, 2) the tip from its reference [m].
        velocity: (B, 2) of the central body [m/s].
        action: (B, 2) the last one.
    """

    force: Array
    left: Array
    heading: Array
    tip: Array
    lag: Array
    velocity: Array
    action: Array


TERMS = TermTable.of(
    array_term("force", 2, lambda shove: shove.force),
    array_term("left", 2, lambda shove: shove.left),
    array_term("heading", 1, lambda shove: shove.heading[:, None]),
    array_term("tip", 2, lambda shove: shove.tip),
    array_term("lag", 2, lambda shove: shove.lag),
    array_term("velocity", 2, lambda shove: shove.velocity),
    array_term("action", PER_ACTION, lambda shove: shove.action),
)

# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of pushes on what turns about a hinge."""

from typing import NamedTuple

from iap_description.arrays import Array
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term


class TurnInputs(NamedTuple):
    """Inputs of observations of B worlds, in polar axes of the tip about the axis as it is believed.

    Attributes:
        force: (B, 3) on the platform along the arc, away from the axis and along it, as it is measured [N].
        turn: (B,) of the tip about the axis since the start [rad].
        radius: (B,) of the tip over that at the start [m].
        lag: (B, 2) the tip from its reference, along the arc and away from the axis [m].
        heading: (B,) of the reference since the start [rad].
        velocity: (B, 3) of the central body along the arc, away from the axis and along it [m/s].
        action: (B, 3) or (B, 4) the last one.
        height: (B,) of the tip along the axis since the start [m].
        sag: (B,) the tip from its reference along the axis [m].
    """

    force: Array
    turn: Array
    radius: Array
    lag: Array
    heading: Array
    velocity: Array
    action: Array
    height: Array
    sag: Array


TERMS = TermTable.of(
    array_term("force", 3, lambda push: push.force),
    array_term("turn", 1, lambda push: push.turn[:, None]),
    array_term("radius", 1, lambda push: push.radius[:, None]),
    array_term("lag", 2, lambda push: push.lag),
    array_term("heading", 1, lambda push: push.heading[:, None]),
    array_term("velocity", 3, lambda push: push.velocity),
    array_term("height", 1, lambda push: push.height[:, None]),
    array_term("sag", 1, lambda push: push.sag[:, None]),
    array_term("action", PER_ACTION, lambda push: push.action),
)

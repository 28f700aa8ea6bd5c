# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of pegs."""

from typing import NamedTuple

from iap_description.arrays import Array
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term


class PegInputs(NamedTuple):
    """Inputs of observations of B worlds.

    Attributes:
        force_P: (B, 3) of the bore on the platform, as it is measured, axes of P [N].
        torque_P: (B, 3) about the tip, likewise [N m].
        mouth: (B, 3) the tip's reference in the bore as it is believed: its mouth in place, and level [m].
        lag_P: (B, 3) the tip from its reference, axes of P [m].
        lean: (B, 2) turns of the reference about y and z from the start [rad].
        velocity_P: (B, 3) of the central body [m/s].
        action: (B, 5) the last one.
    """

    force_P: Array
    torque_P: Array
    mouth: Array
    lag_P: Array
    lean: Array
    velocity_P: Array
    action: Array


TERMS = TermTable.of(
    array_term("force", 3, lambda peg: peg.force_P),
    array_term("torque", 3, lambda peg: peg.torque_P),
    array_term("mouth", 3, lambda peg: peg.mouth),
    array_term("lag", 3, lambda peg: peg.lag_P),
    array_term("lean", 2, lambda peg: peg.lean),
    array_term("velocity", 3, lambda peg: peg.velocity_P),
    array_term("action", PER_ACTION, lambda peg: peg.action),
)

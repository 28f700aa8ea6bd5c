# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of platforms that perch."""

from typing import NamedTuple

from iap_description.arrays import Array
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term


class PerchInputs(NamedTuple):
    """Inputs of observations of B worlds; no place is known.

    Attributes:
        range: (B,) of the patch from the wall, as it is measured [m].
        closing: (B,) rate at which that shrinks, as it is measured [m/s].
        tilt: (B, 2) roll and pitch of the central body [rad].
        rates: (B, 3) of the central body, its axes [rad/s].
        held: (B,) 1 where the latch holds the patch, else 0.
        action: (B, 1) the last one.
    """

    range: Array
    closing: Array
    tilt: Array
    rates: Array
    held: Array
    action: Array


TERMS = TermTable.of(
    array_term("range", 1, lambda perch: perch.range[:, None]),
    array_term("closing", 1, lambda perch: perch.closing[:, None]),
    array_term("tilt", 2, lambda perch: perch.tilt),
    array_term("rates", 3, lambda perch: perch.rates),
    array_term("held", 1, lambda perch: perch.held[:, None]),
    array_term("action", PER_ACTION, lambda perch: perch.action),
)

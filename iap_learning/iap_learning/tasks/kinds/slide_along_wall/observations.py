# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of slides."""

from typing import NamedTuple

from iap_description.arrays import Array
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term


class SlideInputs(NamedTuple):
    """Inputs of observations of B worlds, in the wall's axes: towards it, along the path, and across both.

    Attributes:
        force: (B, 3) on the platform, against these axes, as it is measured: positive where the wall pushes back [N].
        desired: force towards the wall [N].
        gap: (B,) of the tip from where the wall is believed to be [m].
        way: (B, 2) of the tip along the path, and off it [m].
        lag: (B, 3) the tip from its reference [m].
        velocity: (B, 3) of the central body [m/s].
        action: (B, 3) the last one.
    """

    force: Array
    desired: float
    gap: Array
    way: Array
    lag: Array
    velocity: Array
    action: Array


TERMS = TermTable.of(
    array_term("force", 3, lambda slide: slide.force),
    array_term("force_error", 1, lambda slide: slide.desired - slide.force[:, :1]),
    array_term("gap", 1, lambda slide: slide.gap[:, None]),
    array_term("way", 2, lambda slide: slide.way),
    array_term("lag", 3, lambda slide: slide.lag),
    array_term("velocity", 3, lambda slide: slide.velocity),
    array_term("action", PER_ACTION, lambda slide: slide.action),
)

# SPDX-License-Identifier: BSD-3-Clause
"""Faults in the description of a run: what a controller is told of them, and the lines that say what strikes when."""

from collections.abc import Sequence
from typing import NamedTuple

from iap_description.config.record import Record
from iap_description.config.values import Flag, NonNegative
from iap_description.vehicles.faults import AnyFault


class LossMeta(Record):
    """A report of a fault to a controller.

    Attributes:
        at: when [s].
        hover_load: largest share of its thrust that an aircraft gives in hover then; None where none would do.
        can_carry: whether what is left carries the platform with margin.
        text: a sentence for the user.
    """

    at: NonNegative
    hover_load: NonNegative | None
    can_carry: Flag
    text: str


class Notice(NamedTuple):
    """A line for the user.

    Attributes:
        t: when it counts [s].
        text: what happens.
        is_warning: whether the platform will come down.
    """

    t: float
    text: str
    is_warning: bool


def notices(name: str, faults: Sequence[AnyFault], losses: Sequence[LossMeta]) -> list[Notice]:
    """Notices of a vehicle's faults and of their reports to its controller, in the order of time."""
    struck = [Notice(f.at, f"t = {f.at:.3f} s: {name}: {f}", is_warning=False) for f in faults]
    reported = [
        Notice(
            each.at,
            f"t = {each.at:.3f} s: {name} re-allocates: {each.text}",
            is_warning=not each.can_carry,
        )
        for each in losses
    ]
    return sorted([*struck, *reported], key=lambda notice: notice.t)

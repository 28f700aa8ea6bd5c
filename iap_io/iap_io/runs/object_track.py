# SPDX-License-Identifier: BSD-3-Clause
"""States of the world's objects as they were recorded, where some of them move freely."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_io.wire.cdr import records_of
from iap_io.wire.message_views import StateMessage
from iap_io.wire.stamps import SECOND, stamps_of


@dataclass(frozen=True, eq=False)
class ObjectTrack:
    """The objects of a world over a flight.

    Attributes:
        names: of the objects.
        t: (K,) increasing times [s].
        rows: (K, n, 13) their states.
    """

    names: tuple[str, ...]
    t: Array
    rows: Array

    @classmethod
    def of_messages(cls, names: Sequence[str], messages: Sequence[bytes]) -> Self:
        """Of the messages on `iap_io.runs.topics.OBJECTS`, in order of time.

        Raises:
            ValueError: they are of other objects, not in order, or hold what is no number.
        """
        records = records_of(StateMessage.TYPE, messages)
        rows = np.concatenate([records["poses"], records["twists"]], axis=-1).astype(float)
        t = stamps_of(records["header"]) / SECOND
        if rows.shape[1:] != (len(names), 13):
            raise ValueError(f"objects: {rows.shape[1]} were recorded, the run has {len(names)}")
        if not (np.abs(rows) <= MAX_SI_NUMBER).all() or not (np.diff(t) > 0.0).all():
            raise ValueError("objects: their states are no path in time")
        return cls(tuple(names), t, rows)

    def at(self, t: float) -> Array:
        """(n, 13) states at the last instant up to a time [s]; the first ones where it is earlier."""
        row: Array = self.rows[max(0, int(np.searchsorted(self.t, t + 1e-6, side="right")) - 1)]
        return row

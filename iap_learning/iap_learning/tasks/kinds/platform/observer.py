# SPDX-License-Identifier: BSD-3-Clause
"""Makes a task's observations of worlds."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Integers
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.kinds.platform.observations import (
    NAMES,
    TERMS,
    ObservationInputs,
    Parts,
    observe,
)


class Observer:
    """Makes observations of worlds.

    Args:
        scales: of each term, by which its numbers are divided.
        aircraft: of a platform, N.
        actions: numbers of an action.

    Attributes:
        size: numbers of an observation.
        columns: where each term stands in it.
        layout: terms, their sizes and scales.
        parts: the same for compiled loops.
    """

    def __init__(self, scales: Mapping[str, float], *, aircraft: int, actions: int) -> None:
        self.columns: dict[str, slice] = {}
        self.size = 0
        for name in scales:
            size, per_aircraft, per_action = TERMS[name]
            last = self.size + size + aircraft * per_aircraft + actions * per_action
            self.columns[name], self.size = slice(self.size, last), last
        self.layout: TermLayout = tuple(
            (name, at.stop - at.start, scales[name]) for name, at in self.columns.items()
        )
        terms = [NAMES.index(name) for name in scales]
        first_columns = [at.start for at in self.columns.values()]
        self.parts = Parts(
            np.array(terms),
            np.array(first_columns, np.uint64),
            1.0 / np.array(list(scales.values())),
        )

    def __call__(
        self, given: ObservationInputs, chosen: Integers | None = None
    ) -> NDArray[np.float32]:
        """Observations (B, size) of all worlds, or (chosen, size) of some; new ones every time."""
        which = np.arange(len(given.x)) if chosen is None else chosen
        out = np.empty((len(which), self.size), np.float32)
        observe(which, given, self.parts, out)
        return out

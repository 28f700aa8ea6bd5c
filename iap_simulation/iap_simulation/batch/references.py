# SPDX-License-Identifier: BSD-3-Clause
"""References that the controllers of many worlds track, one for each world."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_control.references.timeline import Timeline
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.states import Level


class References(NamedTuple):
    """References of B worlds.

    Attributes:
        rows: (B, 19 + N) see `iap_description.states`.
        levels: (B,) what is tracked of them, a `Level`.
        wrenches_P: (B, 6) active wrenches about P's origin in P, which count at level WRENCH [N, N m].
    """

    rows: Array
    levels: Integers
    wrenches_P: Array

    @classmethod
    def of(
        cls, rows: ArrayLike, level: Level = Level.POSE, wrenches_P: ArrayLike | None = None
    ) -> Self:
        """References at one level; without a wrench at rows (B, 19 + N)."""
        array = np.asarray(rows, dtype=np.float64)
        levels = np.full(len(array), int(level), dtype=np.int64)
        wrenches = np.zeros((len(array), 6)) if wrenches_P is None else np.asarray(wrenches_P)
        return cls(array, levels, wrenches)

    def checked(self, shape: tuple[int, ...]) -> Self:
        """The same in memory as compiled loops take it.

        Raises:
            BadInput: rows are not of this shape (B, 19 + N), or the others do not fit it.
        """
        expected = (shape, shape[:1], (shape[0], 6))
        for name, array, each in zip(self._fields, self, expected, strict=True):
            if np.shape(array) != each:
                raise BadInput(
                    f"references: '{name}' has shape {np.shape(array)}; {each} is expected"
                )
        return type(self)(
            np.ascontiguousarray(self.rows, dtype=np.float64),
            np.ascontiguousarray(self.levels, dtype=np.int64),
            np.ascontiguousarray(self.wrenches_P, dtype=np.float64),
        )


MAX_TABLE_INSTANTS = 2**16  # control instants of which references are kept


class ReferenceTable(NamedTuple):
    """References at all control instants of a scenario, so that worlds may be at any of them.

    Attributes:
        rows: (T, 19 + N).
        levels: (T,) what is tracked of them.
    """

    rows: Array
    levels: Integers

    @classmethod
    def of(cls, timeline: Timeline) -> Self | None:
        """Table of a timeline's references; None where they are too many to keep."""
        if timeline.count > MAX_TABLE_INSTANTS:
            return None
        return cls(timeline.rows(0, timeline.count), timeline.levels(0, timeline.count))

    def look_up(self, instants: Integers, rows: Array, levels: Integers) -> None:
        """Write the references at instants (B,)."""
        np.take(self.rows, instants, axis=0, out=rows, mode="clip")
        np.take(self.levels, instants, out=levels, mode="clip")

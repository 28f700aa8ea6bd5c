# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of a user's own, by which tasks reward and judge."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from iap_description.arrays import Integers
from iap_learning.tasks.user_inputs import TermInputs, WorldArrays
from iap_learning.tasks.user_terms import UserTerm
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import INVALID_TERM

TermsInWorlds = Iterable[tuple[UserTerm, WorldArrays]]


class UserQuantities:
    """Values of a task's own quantities in B worlds, and the worlds in which a term of the user's gave no number.

    Args:
        task: name of it.
        keys: of the task that name the quantities, by their names.
        worlds: B.
        example: inputs of trial calls.

    Attributes:
        names: of the quantities.
        values: (B, quantities) at the present instant.
        unsound: (B,) 1 where a term of the user's has given no finite number in the present episode.

    Raises:
        BadInput: a function of the user's cannot be imported or compiled, or returns no float.
    """

    def __init__(
        self, task: str, keys: Mapping[str, str], worlds: int, example: TermInputs
    ) -> None:
        self._task, self.names = task, tuple(keys)
        self.terms = [UserTerm(name, key, example, is_tuple=False) for name, key in keys.items()]
        self.values = np.zeros((worlds, len(self.names)))
        self.unsound, self._warned = np.zeros(worlds, np.int64), np.zeros(worlds, np.int64)

    @property
    def is_needed(self) -> bool:
        """True if there are quantities."""
        return bool(self.names)

    def begin(self, indices: Integers) -> None:
        """Forget the last episodes of some worlds."""
        self.unsound[indices] = self._warned[indices] = 0

    def fill(
        self, which: Integers, inputs: WorldArrays, names: Collection[str] | None = None
    ) -> None:
        """Write the values of some worlds (n,), which are neighbours; all quantities, or these."""
        rows = slice(which[0], which[-1] + 1)
        for k, term in enumerate(self.terms):
            if names is None or term.name in names:
                out = self.values[rows, k : k + 1]
                term.fill(which, inputs, out, 1.0, math.inf, self.unsound)

    def fates(self, status: Integers) -> Integers:
        """(B,) status of worlds, of which those end whose terms gave no number."""
        return np.where((status == RUNNING) & (self.unsound > 0), INVALID_TERM, status)

    def warn(self, seeds: Integers, terms: Callable[[], TermsInWorlds]) -> None:
        """Name the terms that gave no number, and a world whose episode ends, once for each episode.

        Args:
            seeds: (B,) of the episodes.
            terms: gives all terms of the user's with the worlds that they have got.
        """
        new = np.flatnonzero(self.unsound > self._warned)
        self._warned[:] = self.unsound
        for b in new[:1].tolist():
            one = np.array([b])
            names = ", ".join(each.name for each, seen in terms() if not each.is_sound(one, seen))
            warnings.warn(
                f"task '{self._task}': {names or 'a term'} gave no finite number in world {b}"
                f" (seed {seeds[b]}): its episode ends as 'invalid_term'",
                stacklevel=2,
            )

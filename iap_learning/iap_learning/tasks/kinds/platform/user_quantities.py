# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of a user's own, by which tasks of one platform reward and judge."""

import math
import warnings
from collections.abc import Collection

import numpy as np

from iap_description.arrays import Integers
from iap_learning.tasks.kinds.platform.observations import ObservationInputs
from iap_learning.tasks.kinds.platform.observer import PlacedTerm
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.user_terms import TermInputs, UserTerm, is_user_function
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import INVALID_TERM


def user_quantities(task: PlatformTask) -> dict[str, str]:
    """Quantities of the user's own in a task, each with the key that names it."""
    terms = task.reward.terms.items()
    named = {factor.of: f"reward.terms.{name}" for name, term in terms for factor in term.factors}
    named |= dict.fromkeys(task.success.within, "success.within")
    named |= dict.fromkeys(task.fails_beyond, "fails_beyond")
    return {name: key for name, key in named.items() if is_user_function(name)}


class UserQuantities:
    """Values of a task's own quantities in B worlds, and the worlds in which a term of the user's gave no number.

    Args:
        task: what is to be done.
        worlds: B.
        example: inputs of trial calls.

    Attributes:
        names: of the quantities.
        values: (B, quantities) at the present instant.
        unsound: (B,) 1 where a term of the user's has given no finite number in the present episode.

    Raises:
        BadInput: a function of the user's cannot be imported or compiled, or returns no float.
    """

    def __init__(self, task: PlatformTask, worlds: int, example: TermInputs) -> None:
        keys = user_quantities(task)
        self._task, self.names = task, tuple(keys)
        self._terms = [UserTerm(name, key, example, is_tuple=False) for name, key in keys.items()]
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
        self, which: Integers, inputs: ObservationInputs, names: Collection[str] | None = None
    ) -> None:
        """Write the values of some worlds (n,), which are neighbours; all quantities, or these."""
        rows = slice(which[0], which[-1] + 1)
        for k, term in enumerate(self._terms):
            if names is None or term.name in names:
                out = self.values[rows, k : k + 1]
                term.fill(which, inputs.arrays, out, 1.0, math.inf, self.unsound)

    def fates(self, status: Integers) -> Integers:
        """(B,) status of worlds, of which those end whose terms gave no number."""
        return np.where((status == RUNNING) & (self.unsound > 0), INVALID_TERM, status)

    def warn(
        self, inputs: ObservationInputs, placed: Collection[PlacedTerm], seeds: Integers
    ) -> None:
        """Name the terms that gave no number, and the worlds whose episodes end, once for each episode."""
        if not (self._terms or placed):
            return
        new = np.flatnonzero(self.unsound > self._warned)
        self._warned[:] = self.unsound
        for b in new[:1].tolist():
            names = ", ".join(
                each.name
                for each in (*self._terms, *(one.term for one in placed))
                if not each.is_sound(np.array([b]), inputs.arrays)
            )
            warnings.warn(
                f"task '{self._task.name}': {names or 'a term'} gave no finite number in world {b}"
                f" (seed {seeds[b]}): its episode ends as 'invalid_term'",
                stacklevel=2,
            )

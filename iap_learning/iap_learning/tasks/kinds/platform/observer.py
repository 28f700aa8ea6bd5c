# SPDX-License-Identifier: BSD-3-Clause
"""Makes a task's observations of worlds."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Integers
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.kinds.platform.observations import ObservationInputs, Parts, observe
from iap_learning.tasks.kinds.platform.term_table import NAMES, TERMS
from iap_learning.tasks.terms import BOUND
from iap_learning.tasks.user_inputs import TermInputs
from iap_learning.tasks.user_terms import PlacedTerm, UserTerm, is_user_function


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
        parts: those of the suite for compiled loops.
        user_terms: those of the user.

    Raises:
        BadInput: a function of the user's cannot be imported or compiled, or returns no tuple of floats.
    """

    def __init__(self, scales: Mapping[str, float], *, aircraft: int, actions: int) -> None:
        self.columns: dict[str, slice] = {}
        self.user_terms: list[PlacedTerm] = []
        self.size = 0
        example = TermInputs.at_rest(aircraft, actions)
        for name, scale in scales.items():
            if is_user_function(name):
                term = UserTerm(name, f"observation.{name}", example, is_tuple=True)
                last = self.size + term.size
                self.user_terms.append(PlacedTerm(term, slice(self.size, last), 1.0 / scale))
            else:
                size, per_aircraft, per_action = TERMS[name]
                last = self.size + size + aircraft * per_aircraft + actions * per_action
            self.columns[name], self.size = slice(self.size, last), last
        self.layout: TermLayout = tuple(
            (name, at.stop - at.start, scales[name]) for name, at in self.columns.items()
        )
        self.parts = self._parts(scales)

    def _parts(self, scales: Mapping[str, float]) -> Parts:
        """The suite's terms for compiled loops."""
        names = [name for name in scales if not is_user_function(name)]
        return Parts(
            np.array([NAMES.index(name) for name in names], np.int64),
            np.array([self.columns[name].start for name in names], np.uint64),
            1.0 / np.array([scales[name] for name in names], np.float64),
        )

    def fill_user_terms(
        self,
        which: Integers,
        inputs: ObservationInputs,
        out: NDArray[np.float32],
        unsound: Integers,
    ) -> None:
        """Write the user's terms of some worlds.

        Args:
            which: (n,) the worlds.
            inputs: of all worlds.
            out: (n, size) written.
            unsound: (B,) set to 1 where a number is not finite.
        """
        for term, columns, factor in self.user_terms:
            term.fill(which, inputs.arrays, out[:, columns], factor, BOUND, unsound)

    def __call__(
        self,
        inputs: ObservationInputs,
        indices: Integers | None = None,
        unsound: Integers | None = None,
    ) -> NDArray[np.float32]:
        """Observations (B, size) of all worlds, or (indices, size) of some; new ones every time.

        Args:
            inputs: of all worlds.
            indices: (n,) the worlds; None for all.
            unsound: (B,) set to 1 where a number of the user's is not finite.
        """
        which = np.arange(len(inputs.x)) if indices is None else indices
        out = np.empty((len(which), self.size), np.float32)
        observe(which, inputs, self.parts, out)
        if self.user_terms:
            flags = np.zeros(len(inputs.x), np.int64) if unsound is None else unsound
            self.fill_user_terms(which, inputs, out, flags)
        return out

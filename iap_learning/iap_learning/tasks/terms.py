# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations: a table of each kind of tasks says what there is, and observers are made of some of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_learning.policies.layout import TermLayout

BOUND = 100.0  # that a number is clipped to, once divided by its term's scale
PER_ACTION = 0  # size of a term that has as many numbers as an action


class Term(NamedTuple):
    """A term.

    Attributes:
        name: of it.
        size: its numbers; `PER_ACTION` for as many as an action has.
        fill: writes it: inputs of all worlds, indices (n,) of some, and where their numbers (n, size) are written.
        actions: number of actions whose numbers a term of size `PER_ACTION` has.
    """

    name: str
    size: int
    fill: Callable[[Any, Integers, Array], None]
    actions: int = 1


class TermObserver:
    """Makes observations of the worlds of a task.

    Args:
        terms: one after the other.
        scales: of each, by which its numbers are divided.
        actions: numbers of an action.

    Attributes:
        layout: terms, their sizes and scales.
        size: numbers of an observation.
    """

    def __init__(self, terms: Sequence[Term], scales: Sequence[float], actions: int) -> None:
        sizes = [term.size or term.actions * actions for term in terms]
        parts = zip(terms, sizes, scales, strict=True)
        self.layout: TermLayout = tuple((term.name, size, scale) for term, size, scale in parts)
        ends = np.cumsum(sizes).tolist()
        self.size = int(ends[-1])
        self._fills = [
            (term.fill, slice(end - size, end))
            for term, size, end in zip(terms, sizes, ends, strict=True)
        ]
        self._factors = np.repeat(1.0 / np.array(scales), sizes)

    def __call__(self, inputs: Any, indices: Integers) -> NDArray[np.float32]:  # noqa: ANN401
        """Observations (n, size) of some worlds; new ones every time.

        Args:
            inputs: of all worlds, as the terms' kind has them.
            indices: (n,) of the worlds.
        """
        raw = np.empty((len(indices), self.size))
        for fill, columns in self._fills:
            fill(inputs, indices, raw[:, columns])
        out = np.empty(raw.shape, np.float32)
        _scale(raw, self._factors, out)
        return out


@njit(cache=True)
def _scale(raw: Array, factors: Array, out: NDArray[np.float32]) -> None:
    for n in range(len(raw)):
        for k in range(len(factors)):
            out[n, k] = min(max(raw[n, k] * factors[k], -BOUND), BOUND)


class TermTable(dict[str, Term]):
    """The terms of a kind of tasks, by their names."""

    @classmethod
    def of(cls, *terms: Term) -> "TermTable":
        """The table of some terms."""
        return cls({term.name: term for term in terms})

    def observer(self, scales: Mapping[str, float], actions: int) -> TermObserver:
        """The observer of some terms with their scales, where actions have so many numbers."""
        terms = [self[name] for name in scales]
        return TermObserver(terms, list(scales.values()), actions)


def array_term(name: str, size: int, array: Callable[[Any], Array], actions: int = 1) -> Term:
    """A term whose numbers are an array (B, size) of the inputs; of so many actions where it is `PER_ACTION`."""

    def fill(inputs: Any, indices: Integers, out: Array) -> None:  # noqa: ANN401
        out[:] = array(inputs)[indices]

    return Term(name, size, fill, actions)

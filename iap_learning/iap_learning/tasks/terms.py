# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations: a table of each kind of tasks says what there is, and observers are made of some of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_learning.policies.layout import TermLayout
from iap_learning.tasks.user_inputs import TermInputs, WorldArrays
from iap_learning.tasks.user_terms import PlacedTerm, UserTerm, is_user_function

BOUND = 100.0  # that a number is clipped to, once divided by its term's scale
PER_ACTION = 0  # size of a term that has as many numbers as an action
NO_USER_TERMS: Mapping[str, UserTerm] = {}


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

    def numbers(self, of_action: int) -> int:
        """Count of its numbers, where actions have so many."""
        return self.size or self.actions * of_action


class TermWorld:
    """Worlds as functions of the user's own get them: with the terms of a kind of tasks, see `user_inputs`.

    Args:
        terms: of the kind.
        rest: a world at rest, without them.
        actions: numbers of an action.

    Attributes:
        example: inputs of trial calls.
    """

    def __init__(self, terms: Sequence[Term], rest: TermInputs, actions: int) -> None:
        terms = [term for term in terms if term.name not in TermInputs._fields]
        sizes = [term.numbers(actions) for term in terms]
        ends = np.cumsum(sizes, dtype=np.int64).tolist()
        self.example = rest.with_terms(
            {term.name: n for term, n in zip(terms, sizes, strict=True)}
        )
        self._size = sum(sizes)
        self._fills = [
            (term.fill, slice(end - size, end))
            for term, size, end in zip(terms, sizes, ends, strict=True)
        ]

    def __call__(self, worlds: WorldArrays, inputs: Any, indices: Integers) -> WorldArrays:  # noqa: ANN401
        """Worlds with the terms of some of them.

        Args:
            worlds: B, without terms.
            inputs: of all worlds, as the terms' kind has them.
            indices: (n,) of those that functions are called for.
        """
        if not self._fills:
            return worlds
        some, terms = np.empty((len(indices), self._size)), np.zeros((len(worlds.x), self._size))
        for fill, columns in self._fills:
            fill(inputs, indices, some[:, columns])
        terms[indices] = some
        return worlds._replace(terms=terms)


class TermObserver:
    """Makes observations of the worlds of a task.

    Args:
        terms: one after the other.
        scales: of each, by which its numbers are divided.
        actions: numbers of an action.
        user: those of the terms that are functions of the user's own, by their names.
        world: that these get; None where there are none.

    Attributes:
        layout: terms, their sizes and scales.
        size: numbers of an observation.
        user_terms: those of the user's own.
        world: as given.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        scales: Sequence[float],
        actions: int,
        user: Mapping[str, UserTerm] = NO_USER_TERMS,
        world: TermWorld | None = None,
    ) -> None:
        sizes, self.world = [term.numbers(actions) for term in terms], world
        parts = list(zip(terms, sizes, scales, strict=True))
        self.layout: TermLayout = tuple((term.name, size, scale) for term, size, scale in parts)
        ends = np.cumsum(sizes).tolist()
        self.size = int(ends[-1])
        self._fills, self.user_terms = [], []
        for (term, size, scale), end in zip(parts, ends, strict=True):
            columns = slice(end - size, end)
            if term.name in user:
                self.user_terms.append(PlacedTerm(user[term.name], columns, 1.0 / scale))
            else:
                self._fills.append((term.fill, columns))
        self._factors = np.repeat(1.0 / np.array(scales), sizes)

    def __call__(
        self,
        inputs: Any,  # noqa: ANN401 - of the kind
        indices: Integers,
        worlds: Callable[[], WorldArrays] | None = None,
        unsound: Integers | None = None,
    ) -> NDArray[np.float32]:
        """Observations (n, size) of some worlds; new ones every time.

        Args:
            inputs: of all worlds, as the terms' kind has them.
            indices: (n,) of the worlds.
            worlds: gives all worlds, as functions of the user's own get them but for the kind's terms.
            unsound: (B,) set to 1 where a number of the user's is not finite.
        """
        raw = np.zeros((len(indices), self.size))
        for fill, columns in self._fills:
            fill(inputs, indices, raw[:, columns])
        out = np.empty(raw.shape, np.float32)
        _scale(raw, self._factors, out)
        if self.user_terms:
            assert worlds is not None  # noqa: S101 - as whoever lets functions be observed gives them
            assert self.world is not None  # noqa: S101 - likewise
            known = self.world(worlds(), inputs, indices)
            flags = np.zeros(len(known.x), np.int64) if unsound is None else unsound
            for term, columns, factor in self.user_terms:
                term.fill(indices, known, out[:, columns], factor, BOUND, flags)
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

    def observer(
        self, scales: Mapping[str, float], actions: int, rest: TermInputs | None = None
    ) -> TermObserver:
        """The observer of some terms with their scales.

        Args:
            scales: of terms by their names.
            actions: numbers of an action.
            rest: a world at rest, as functions of the user's own get it but for these terms; None where the kind takes
                no functions.

        Raises:
            BadInput: a function of the user's cannot be imported or compiled, or returns no tuple of floats.
        """
        names = [name for name in scales if is_user_function(name)]
        world = None if rest is None else TermWorld(list(self.values()), rest, actions)
        if world is None and names:
            raise BadInput(f"key 'observation.{names[0]}': this kind of task takes no functions")
        user = {
            name: UserTerm(name, f"observation.{name}", world.example, is_tuple=True)
            for name in names
            if world is not None
        }
        terms = [
            Term(name, user[name].size, _not_filled) if name in user else self[name]
            for name in scales
        ]
        return TermObserver(terms, list(scales.values()), actions, user, world)


def _not_filled(_inputs: Any, _indices: Integers, _out: Array) -> None:  # noqa: ANN401
    """Nothing: the observer calls the user's own terms."""


def array_term(name: str, size: int, array: Callable[[Any], Array], actions: int = 1) -> Term:
    """A term whose numbers are an array (B, size) of the inputs; of so many actions where it is `PER_ACTION`."""

    def fill(inputs: Any, indices: Integers, out: Array) -> None:  # noqa: ANN401
        out[:] = array(inputs)[indices]

    return Term(name, size, fill, actions)

# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of functions of the user's own: one world at the present instant, made of the arrays of many.

Beside the fields that all kinds of tasks have, a world has the terms of its kind by their names: a float where a term
has one number, else an array of them, in SI units.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.states import REF_FIXED, STATE_SIZE

NO_TERMS = np.zeros((0, 0))


class TermInputs(NamedTuple):
    """One world at the present instant.

    Attributes:
        x: (bodies, 13) states in `map`: position, attitude xyzw, velocity, angular velocity; the central body's first.
        goal: (19 + N,) reference row: position, attitude, velocity, angular velocity in P, acceleration, ...
        rpm: (N, 4) rotor speeds [rpm].
        action: (m,) the last one, in [-1, 1].
    """

    x: Array
    goal: Array
    rpm: Array
    action: Array

    @classmethod
    def at_rest(cls, aircraft: int, actions: int) -> Self:
        """A platform of N aircraft that rests at the origin, for trial calls."""
        x = resting(1 if aircraft == 1 else 1 + aircraft)
        goal = resting(1, REF_FIXED + aircraft)[0]
        return cls(x, goal, np.zeros((aircraft, 4)), np.zeros(actions))

    def with_terms(self, sizes: Mapping[str, int]) -> "TermInputs":
        """The same with terms of so many numbers each, all of them zero."""
        if not sizes:
            return self
        terms = (0.0 if size == 1 else np.zeros(size) for size in sizes.values())
        world: TermInputs = _world_type(tuple(sizes))(*self, *terms)
        return world


def resting(rows: int, size: int = STATE_SIZE) -> Array:
    """State or reference rows (rows, size) at rest at the origin."""
    out = np.zeros((rows, size))
    out[:, 6] = 1.0
    return out


class WorldArrays(NamedTuple):
    """B worlds at the present instant.

    Attributes:
        x: (B, bodies, 13) states.
        goals: (K, 19 + N) reference rows.
        at: (B,) row of each world's goal.
        rpm: (B, N, 4) rotor speeds [rpm].
        action: (B, m) the last ones.
        terms: (B, n) numbers of the kind's terms, one after the other.
    """

    x: Array
    goals: Array
    at: Integers
    rpm: Array
    action: Array
    terms: Array = NO_TERMS


def world_maker(example: TermInputs) -> Callable[[WorldArrays, int], Any]:
    """The compiled function that makes world b of arrays, with the fields of an example."""
    names = example._fields[len(TermInputs._fields) :]
    return _maker(names, tuple(np.size(getattr(example, name)) for name in names))


@cache
def _world_type(names: tuple[str, ...]) -> type[Any]:
    """The record of worlds with terms of such names; one type for all of them, as numba tells worlds apart by it."""
    return namedtuple("World", (*TermInputs._fields, *names))  # noqa: PYI024 - names are data


@cache
def _maker(names: tuple[str, ...], sizes: tuple[int, ...]) -> Callable[[WorldArrays, int], Any]:
    if not names:
        return _plain_world
    world, terms = _world_type(names), _nothing
    for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True):
        terms = _with_term(terms, end - size, end)

    @njit(nogil=True, error_model="numpy")
    def made(inputs: WorldArrays, b: int) -> Any:  # noqa: ANN401 - a record of the kind's fields
        x, goals, at, rpm, action, numbers = inputs
        return world(x[b], goals[at[b]], rpm[b], action[b], *terms(numbers[b]))

    return made


@njit(nogil=True, error_model="numpy")
def _plain_world(inputs: WorldArrays, b: int) -> TermInputs:
    x, goals, at, rpm, action, _ = inputs
    return TermInputs(x[b], goals[at[b]], rpm[b], action[b])


@njit(nogil=True, error_model="numpy")
def _nothing(_: Array) -> tuple[()]:
    return ()


def _with_term(before: Callable[..., Any], first: int, end: int) -> Callable[..., Any]:
    """The compiled function of a row of numbers that gives one term more, as a float where it has one number."""
    if end - first == 1:

        @njit(nogil=True, error_model="numpy")
        def one(row: Array) -> Any:  # noqa: ANN401 - a tuple of floats and arrays
            return (*before(row), row[first])

        return one

    @njit(nogil=True, error_model="numpy")
    def many(row: Array) -> Any:  # noqa: ANN401 - likewise
        return (*before(row), row[first:end])

    return many

# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the user's own that reward and end episodes of tasks of every kind, beside what their kind does."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple, Self

import numpy as np
from numba import njit
from pydantic import Field

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import FileName, NonNegative, Real
from iap_learning.tasks.shapes import (
    GAUSS,
    LINEAR,
    SHAPES,
    SQUARE,
    UserFactor,
    gauss,
    inverse,
    linear,
    square,
)
from iap_learning.tasks.user_terms import UserFunctionName


class OwnRewardTerm(Record):
    """A weighted product of shapes, see `iap_learning.tasks.shapes`."""

    weight: Real
    factors: Annotated[tuple[UserFactor, ...], Field(min_length=1)]


class OwnFunctions(Record):
    """The key `own` of a task.

    Attributes:
        reward: terms that are added to the reward of every step of an episode, but that in which a bound ends it.
        fails_beyond: quantities that end an episode as a failure, `out_of_bounds`, once they are above this.
    """

    reward: dict[FileName, OwnRewardTerm] = {}
    fails_beyond: dict[UserFunctionName, NonNegative] = {}

    @property
    def keys(self) -> dict[str, str]:
        """Quantities, each with the key that names it."""
        named = {
            factor.of: f"own.reward.{name}"
            for name, term in self.reward.items()
            for factor in term.factors
        }
        return named | dict.fromkeys(self.fails_beyond, "own.fails_beyond")


NOTHING_OWN = OwnFunctions.model_construct(reward={}, fails_beyond={})


class OwnReward(NamedTuple):
    """Terms of a reward as the compiled loop takes them.

    Attributes:
        weights: (terms,).
        counts: (terms,) factors of each.
        columns: (factors,) quantities of the factors, one term after another.
        shapes: (factors,) numbers in `SHAPES`.
        k: (factors,).
    """

    weights: Array
    counts: Integers
    columns: Integers
    shapes: Integers
    k: Array

    @classmethod
    def of(cls, terms: Mapping[str, OwnRewardTerm], quantities: Sequence[str]) -> Self:
        """Some terms, whose quantities are among these."""
        factors = [factor for term in terms.values() for factor in term.factors]
        return cls(
            np.array([term.weight for term in terms.values()], np.float64),
            np.array([len(term.factors) for term in terms.values()], np.int64),
            np.array([quantities.index(factor.of) for factor in factors], np.int64),
            np.array([SHAPES.index(factor.shape) for factor in factors], np.int64),
            np.array([factor.k for factor in factors], np.float64),
        )


@njit(cache=True)
def own_rewards(values: Array, terms: OwnReward, out: Array) -> None:
    """Write the sums (B,) of weighted products of quantities (B, n)."""
    for b in range(len(values)):
        out[b], first = 0.0, 0
        for i in range(len(terms.weights)):
            product = terms.weights[i]
            for j in range(first, first + terms.counts[i]):
                product *= _shaped(terms.shapes[j], terms.k[j], values[b, terms.columns[j]])
            out[b] += product
            first += terms.counts[i]


@njit(cache=True)
def _shaped(shape: int, k: float, m: float) -> float:
    if shape == LINEAR:
        return linear(k, m)
    if shape == SQUARE:
        return square(k, m)
    return gauss(k, m) if shape == GAUSS else inverse(k, m)

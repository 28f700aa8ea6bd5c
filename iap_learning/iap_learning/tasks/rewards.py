# SPDX-License-Identifier: BSD-3-Clause
r"""Rewards as data: a sum of weighted products of shapes of quantities (`iap_learning.tasks.quantities`).

.. math:: r = \sum_i w_i \prod_j s_{ij}(m_{ij})

| shape | s(m) |
|---|---|
| `linear` | k m |
| `square` | k m^2 |
| `gauss` | exp(-k m^2) |
| `inverse` | 1 / (1 + k m^2) |
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from numba import njit
from pydantic import Field

from iap_description.arrays import Array, Integers
from iap_description.config import FileName, Real, Record
from iap_description.kernels import formula
from iap_learning.tasks.quantities import QUANTITIES, Quantity

Shape = Literal["linear", "square", "gauss", "inverse"]
SHAPES: tuple[Shape, ...] = ("linear", "square", "gauss", "inverse")
LINEAR, SQUARE, GAUSS, INVERSE = range(4)


class Factor(Record):
    """A shape of a quantity."""

    of: Quantity
    shape: Shape
    k: Real = 1.0


class RewardTerm(Record):
    """A weighted product; without factors a constant for every step."""

    weight: Real
    factors: tuple[Factor, ...] = ()


class Reward(Record):
    """The reward of a step.

    Attributes:
        terms: that add up.
        failure: in place of them in the step in which an episode fails.
        arrival: besides them in the step in which it ends by success.
    """

    terms: Annotated[dict[FileName, RewardTerm], Field(min_length=1)]
    failure: Real
    arrival: Real


class Terms(NamedTuple):
    """A reward as the compiled loop takes it: each different factor once, and products of them.

    Attributes:
        weights: (terms,).
        counts: (terms,) factors of each.
        chosen: (products,) which factors they are, one term after another.
        columns: (factors,) quantities of the different factors.
        shapes: (factors,) numbers in `SHAPES`.
        k: (factors,).
    """

    weights: Array
    counts: Integers
    chosen: Integers
    columns: Integers
    shapes: Integers
    k: Array

    @classmethod
    def of(cls, reward: Reward) -> Self:
        """The terms of a reward."""
        terms = list(reward.terms.values())
        products = [factor for term in terms for factor in term.factors]
        factors = list(dict.fromkeys(products))
        return cls(
            np.array([term.weight for term in terms]),
            _numbers([len(term.factors) for term in terms]),
            _numbers([factors.index(factor) for factor in products]),
            _numbers([QUANTITIES.index(factor.of) for factor in factors]),
            _numbers([SHAPES.index(factor.shape) for factor in factors]),
            np.array([factor.k for factor in factors], dtype=np.float64),
        )


def _numbers(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


@formula
def shaped(m: float, shape: int, k: float) -> float:
    """A shape of a quantity."""
    if shape == LINEAR:
        return k * m
    if shape == SQUARE:
        return k * m * m
    if shape == GAUSS:
        return math.exp(-k * m * m)
    return 1.0 / (1.0 + k * m * m)


@njit(cache=True, nogil=True)
def add_up(begin: int, end: int, measures: Array, terms: Terms, out: Array) -> None:
    """Write the rewards of worlds `begin` to `end` - 1 into `out` (B,), of their quantities (B, quantities)."""
    weights, counts, chosen, columns, shapes, k = terms
    factors = np.empty(len(k))
    for b in range(begin, end):
        for i in range(len(factors)):
            factors[i] = shaped(measures[b, columns[i]], shapes[i], k[i])
        total, first = 0.0, 0
        for i in range(len(weights)):
            value = weights[i]
            for j in range(first, first + counts[i]):
                value *= factors[chosen[j]]
            total += value
            first += counts[i]
        out[b] = total

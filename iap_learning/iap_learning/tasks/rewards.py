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
    """A reward as the compiled loop takes it.

    Attributes:
        weights: (terms,).
        counts: (terms,) factors of each.
        columns: (factors,) quantities of all factors, one term after another.
        shapes: (factors,) numbers in `SHAPES`.
        k: (factors,).
    """

    weights: Array
    counts: Integers
    columns: Integers
    shapes: Integers
    k: Array

    @classmethod
    def of(cls, reward: Reward) -> Self:
        """The terms of a reward."""
        terms = list(reward.terms.values())
        factors = [factor for term in terms for factor in term.factors]
        return cls(
            np.array([term.weight for term in terms]),
            _numbers([len(term.factors) for term in terms]),
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


@njit(cache=True)
def add_up(
    measures: Array,
    weights: Array,
    counts: Integers,
    columns: Integers,
    shapes: Integers,
    k: Array,
    out: Array,
) -> None:
    """Write the rewards (B,) of quantities (B, quantities); the rest is `Terms`."""
    out[:] = 0.0
    first = 0
    for i in range(len(weights)):
        last = first + counts[i]
        for b in range(len(out)):
            value = weights[i]
            for j in range(first, last):
                value *= shaped(measures[b, columns[j]], shapes[j], k[j])
            out[b] += value
        first = last

# SPDX-License-Identifier: BSD-3-Clause
"""Rewards as data: a sum of weighted products of shapes (`iap_learning.tasks.shapes`) of quantities (`quantities`)."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import Field

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import FileName, Real
from iap_description.math.kernels import formula
from iap_description.math.lanes import Index, Lanes, get, set1
from iap_learning.tasks.kinds.platform.block import MEASURES, PRODUCT, REWARD
from iap_learning.tasks.kinds.platform.quantities import QUANTITIES, AnyQuantity
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

FACTORS = MEASURES + np.uint64(
    len(QUANTITIES)
)  # row from which quantities of the user's own and factors follow


class Factor(UserFactor):
    """A shape of a quantity, the suite's or the user's own."""

    of: AnyQuantity


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


class RewardTerms(NamedTuple):
    """A reward as the compiled loop takes it: each different factor once, and products of them.

    Attributes:
        weights: (terms,).
        counts: (terms,) factors of each.
        factor_of: (products,) which factors they are, one term after another.
        columns: (factors,) quantities of the different factors, those of the user's own behind all others.
        shapes: (factors,) numbers in `SHAPES`.
        k: (factors,).
        user: quantities of the user's own.
    """

    weights: Array
    counts: Integers
    factor_of: Integers
    columns: Integers
    shapes: Integers
    k: Array
    user: int

    @classmethod
    def of(cls, reward: Reward, user: Sequence[str] = ()) -> Self:
        """The terms of a reward, where there are such quantities of the user's own."""
        quantities = (*QUANTITIES, *user)
        terms = list(reward.terms.values())
        products = [factor for term in terms for factor in term.factors]
        factors = list(dict.fromkeys(products))
        return cls(
            np.array([term.weight for term in terms]),
            _numbers([len(term.factors) for term in terms]),
            _numbers([factors.index(factor) for factor in products]),
            _numbers([quantities.index(factor.of) for factor in factors]),
            _numbers([SHAPES.index(factor.shape) for factor in factors]),
            np.array([factor.k for factor in factors], dtype=np.float64),
            len(user),
        )


def _numbers(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


@formula
def rows_for(terms: RewardTerms) -> int:
    """Rows of a block that is rewarded."""
    return int(FACTORS) + terms.user + len(terms.k)


@formula
def add_up(block: Array, terms: RewardTerms, lanes: Lanes) -> None:
    """Write the rewards of the quantities into row `REWARD`."""
    weights, counts, factor_of, columns, shapes, k, user = terms
    for i in range(len(k)):
        _shape(block, MEASURES + np.uint64(columns[i]), shapes[i], k[i], _factor(i, user), lanes)
    _fill(block, REWARD, 0.0, lanes)
    first = 0
    for i in range(len(weights)):
        _fill(block, PRODUCT, weights[i], lanes)
        for j in range(first, first + counts[i]):
            for lane in range(lanes[0], lanes[1]):
                value = get(block, PRODUCT, 0, lane) * get(
                    block, _factor(factor_of[j], user), 0, lane
                )
                set1(block, PRODUCT, 0, lane, value)
        for lane in range(lanes[0], lanes[1]):
            total = get(block, REWARD, 0, lane) + get(block, PRODUCT, 0, lane)
            set1(block, REWARD, 0, lane, total)
        first += counts[i]


@formula
def _factor(i: int, user: int) -> Index:
    """Row of a factor, behind the quantities of the user's own."""
    return FACTORS + np.uint64(user + i)


@formula
def _fill(block: Array, row: Index, value: float, lanes: Lanes) -> None:
    for lane in range(lanes[0], lanes[1]):
        set1(block, row, 0, lane, value)


@formula
def _shape(block: Array, of: Index, shape: int, k: float, row: Index, lanes: Lanes) -> None:
    """Write a shape of a quantity."""
    if shape == LINEAR:
        for lane in range(lanes[0], lanes[1]):
            set1(block, row, 0, lane, linear(k, get(block, of, 0, lane)))
    elif shape == SQUARE:
        for lane in range(lanes[0], lanes[1]):
            set1(block, row, 0, lane, square(k, get(block, of, 0, lane)))
    elif shape == GAUSS:
        for lane in range(lanes[0], lanes[1]):
            set1(block, row, 0, lane, gauss(k, get(block, of, 0, lane)))
    else:
        for lane in range(lanes[0], lanes[1]):
            set1(block, row, 0, lane, inverse(k, get(block, of, 0, lane)))

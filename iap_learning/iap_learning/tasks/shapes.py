# SPDX-License-Identifier: BSD-3-Clause
r"""Shapes of quantities, of whose weighted products rewards are sums: :math:`r = \sum_i w_i \prod_j s_{ij}(m_{ij})`.

| shape | s(m) |
|---|---|
| `linear` | k m |
| `square` | k m^2 |
| `gauss` | exp(-k m^2) |
| `inverse` | 1 / (1 + k m^2) |
"""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import Real
from iap_description.math.elementary import exponential
from iap_description.math.kernels import formula
from iap_learning.tasks.user_terms import UserFunctionName

Shape = Literal["linear", "square", "gauss", "inverse"]
SHAPES: tuple[Shape, ...] = ("linear", "square", "gauss", "inverse")
LINEAR, SQUARE, GAUSS, INVERSE = range(4)


class UserFactor(Record):
    """A shape of a quantity of the user's own, ``module:function``."""

    of: UserFunctionName
    shape: Shape
    k: Real = 1.0


@formula
def linear(k: float, m: float) -> float:
    """The shape `linear`."""
    return k * m


@formula
def square(k: float, m: float) -> float:
    """The shape `square`."""
    return k * m * m


@formula
def gauss(k: float, m: float) -> float:
    """The shape `gauss`."""
    return exponential(-k * m * m)


@formula
def inverse(k: float, m: float) -> float:
    """The shape `inverse`."""
    return 1.0 / (1.0 + k * m * m)

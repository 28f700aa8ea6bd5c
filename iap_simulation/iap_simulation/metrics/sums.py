# SPDX-License-Identifier: BSD-3-Clause
"""Sums over rows that come piece by piece."""

import math

import numpy as np

from iap_description.arrays import Array, Booleans


class ErrorSums:
    """Root mean squares and largest values of error vectors (K, n); NaN where there are none.

    Args:
        size: n.

    Attributes:
        count: how many vectors there were.
    """

    def __init__(self, size: int = 3) -> None:
        self.count = 0
        self._squares, self._largest, self._lengths = np.zeros(size), np.zeros(size), 0.0

    def add(self, errors: Array) -> None:
        """Take vectors (K, n); none are fine."""
        if not len(errors):
            return
        squares = np.square(errors)
        self.count += len(errors)
        self._squares = self._squares + squares.sum(axis=0)
        self._lengths += float(squares.sum(axis=1).sum())
        self._largest = np.maximum(self._largest, np.abs(errors).max(axis=0))

    @property
    def rmse(self) -> Array:
        """Root mean square (n,) per axis."""
        if not self.count:
            return np.full(len(self._squares), math.nan)
        return np.asarray(np.sqrt(self._squares / self.count))

    @property
    def rmse_of_vectors(self) -> float:
        """Root mean square length."""
        return math.sqrt(self._lengths / self.count) if self.count else math.nan

    @property
    def maximum(self) -> Array:
        """Largest absolute value (n,) per axis."""
        return self._largest if self.count else np.full(len(self._largest), math.nan)


class Mean:
    """The mean of numbers; None where there are none."""

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0

    def add(self, values: Array | Booleans) -> None:
        """Take numbers (K,), or whether something was so."""
        self._sum += float(values.sum())
        self._count += len(values)

    @property
    def value(self) -> float | None:
        """The mean."""
        return self._sum / self._count if self._count else None

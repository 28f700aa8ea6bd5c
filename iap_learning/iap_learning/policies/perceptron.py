# SPDX-License-Identifier: BSD-3-Clause
"""The perceptron that a policy is, or ends with, in a compiled loop."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Integers

Numbers = NDArray[np.float32]


class Network(NamedTuple):
    r"""A multilayer perceptron: weights and biases in one array, as the compiled loop takes them.

    .. math::
        h_0 = (o - \mu) / \sigma, \qquad h_{i+1} = \tanh(h_i W_i + b_i), \qquad
        a = \mathrm{clip}(h_k W_k + b_k, -1, 1)

    A row has the same bits in every batch. A product of matrices by BLAS rounds a row as the number of rows and the
    processor want it; these loops do not.

    Attributes:
        mean: (n,) of observations.
        deviation: (n,) of observations.
        sizes: numbers before the first layer and after each.
        numbers: of one layer after the other, its weights row by row and its biases.
    """

    mean: Numbers
    deviation: Numbers
    sizes: Integers
    numbers: Numbers

    @classmethod
    def of(
        cls,
        mean: Numbers,
        deviation: Numbers,
        weights: Sequence[Numbers],
        biases: Sequence[Numbers],
    ) -> Self:
        """The network of weights (in, out) and biases (out,) of all layers."""
        parts = [
            part
            for pair in zip(weights, biases, strict=True)
            for part in (pair[0].ravel(), pair[1])
        ]
        sizes = [len(mean), *(len(each) for each in biases)]
        return cls(mean, deviation, np.array(sizes, dtype=np.int64), np.concatenate(parts))

    def __call__(self, observations: Numbers) -> Numbers:
        """Actions (B, size) at observations (B, n)."""
        actions = np.empty((len(observations), self.sizes[-1]), np.float32)
        evaluate(observations, *self, actions)
        return actions


@njit(cache=True)
def evaluate(
    observations: Numbers,
    mean: Numbers,
    deviation: Numbers,
    sizes: Integers,
    numbers: Numbers,
    actions: Numbers,
) -> None:
    """Write actions (B, size) at observations (B, n); the rest is `Network`."""
    before, after = np.empty((2, sizes.max()), np.float32)
    for b in range(len(observations)):
        for i in range(sizes[0]):
            before[i] = (observations[b, i] - mean[i]) / deviation[i]
        first = 0
        for layer in range(len(sizes) - 1):
            rows, columns = sizes[layer], sizes[layer + 1]
            _add_layer(before[:rows], numbers[first:], after[:columns])
            if layer < len(sizes) - 2:
                _bend(after[:columns])
            first += (rows + 1) * columns
            before, after = after, before
        _clip(before, actions[b])


@njit(cache=True)
def _add_layer(before: Numbers, numbers: Numbers, after: Numbers) -> None:
    rows, columns = len(before), len(after)
    for j in range(columns):
        after[j] = numbers[rows * columns + j]
    for i in range(rows):
        for j in range(columns):
            after[j] += before[i] * numbers[i * columns + j]


@njit(cache=True)
def _bend(values: Numbers) -> None:
    for j in range(len(values)):
        values[j] = np.tanh(values[j])


@njit(cache=True)
def _clip(values: Numbers, out: Numbers) -> None:
    """Write values within [-1, 1]; what is no number stays none, so that whoever flies it sees it."""
    for j in range(len(out)):
        out[j] = 1.0 if values[j] > 1.0 else -1.0 if values[j] < -1.0 else values[j]

# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that compiled code borrows: the owner's memory, and no references to it that are counted."""

import sys
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.math.pointers import borrowed


class Inner(NamedTuple):
    """Arrays and numbers of several types."""

    values: np.ndarray
    counts: np.ndarray
    size: int


class Outer(NamedTuple):
    """A tuple in a tuple."""

    inner: Inner
    tables: tuple[np.ndarray, np.ndarray]
    share: float


@njit
def scaled(outer):
    """Sum of all arrays, after the values have been scaled in place."""
    own = borrowed(outer)
    own.inner.values[1:] *= own.share
    total = own.inner.values.sum() + own.inner.counts.sum() + own.inner.size
    for table in own.tables:
        total += table[::2].sum()
    return total


def test_compiled_code_reads_and_writes_what_it_borrows():
    values, counts = np.arange(4.0), np.array([3, 4], dtype=np.int64)
    outer = Outer(Inner(values, counts, 5), (np.ones(4), np.full(3, 2.0)), 10.0)
    references = [sys.getrefcount(each) for each in (values, counts)]
    for power in range(1, 5):
        expected = 10.0**power * 6.0 + 7.0 + 5.0 + 2.0 + 4.0
        assert scaled(outer) == expected
    np.testing.assert_array_equal(values, np.arange(4.0) * 1e4)
    assert references == [sys.getrefcount(each) for each in (values, counts)]

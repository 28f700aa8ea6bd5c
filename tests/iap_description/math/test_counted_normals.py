# SPDX-License-Identifier: BSD-3-Clause
"""Normal numbers that are a function of a count: their moments, and that equal counts give equal ones."""

import math

import numpy as np
import pytest
from numba import njit

from iap_description.math.random_streams import four_normals

COUNT = 100_000


@njit
def drawn(count, key, source):
    out = np.empty((count, 4))
    for k in range(count):
        out[k] = four_normals(k, key, source)
    return out


def test_they_are_independent_standard_normal_numbers():
    values, deviation = drawn(COUNT, 12345, 7), 1.0 / math.sqrt(COUNT)
    np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=4.0 * deviation)
    np.testing.assert_allclose(values.var(axis=0), 1.0, atol=4.0 * math.sqrt(2.0) * deviation)
    np.testing.assert_allclose(np.corrcoef(values.T), np.eye(4), atol=4.0 * deviation)
    np.testing.assert_allclose((values[1:] * values[:-1]).mean(axis=0), 0.0, atol=4.0 * deviation)
    share = np.mean(np.abs(values) < 1.0)
    assert share == pytest.approx(math.erf(math.sqrt(0.5)), abs=2.0 * deviation)


def test_equal_counts_and_keys_give_equal_numbers_and_others_do_not():
    first = drawn(5, 3, 1)
    np.testing.assert_array_equal(first, drawn(9, 3, 1)[:5])
    assert not np.any(first == drawn(5, 4, 1)) and not np.any(first == drawn(5, 3, 2))

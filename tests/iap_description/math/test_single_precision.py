# SPDX-License-Identifier: BSD-3-Clause
"""Formulas compute in the precision of their numbers."""

import math

import numpy as np
import pytest
from numba import njit

from iap_description.math.kernels import formula

HALF = 0.5


@formula
def mean_of_roots(a, b):
    """Constants of both kinds: literals, and those of the module."""
    return HALF * (math.sqrt(a[0]) + math.sqrt(a[1])) + 0.1 * b


@njit
def doubled(values, out):
    for i in range(len(values)):
        out[i] = mean_of_roots((values[i], values[i] + values[0]), values[0])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_formula_rounds_as_its_numbers_do(kind):
    values = np.linspace(0.1, 3.0, 50).astype(kind)
    found = np.zeros(50)
    doubled(values, found)
    roots = np.sqrt(values) + np.sqrt(values + values[0])
    expected = kind(0.5) * roots + kind(0.1) * values[0]
    assert expected.dtype == kind
    np.testing.assert_array_equal(found, expected)


def test_one_double_among_them_makes_all_double():
    assert mean_of_roots((np.float32(0.25), np.float32(0.25)), 0.1) == 0.5 + 0.1 * 0.1


def test_no_double_is_left_in_a_loop_over_single_numbers():
    doubled(np.ones(4, np.float32), np.ones(4, np.float32))
    code = next(
        text for kinds, text in doubled.inspect_llvm().items() if "float32, 1" in str(kinds[1])
    )
    assert " float" in code
    assert " double" not in code

# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a block of worlds: their numbers, loads and stores follow from one declaration."""

from typing import NamedTuple

import numpy as np
import pytest

from iap_description.math.kernels import Quat, Vec
from iap_description.math.lanes import LANES
from iap_description.math.rows import (
    chooser,
    fill,
    loader,
    numbered,
    numbers_of,
    reader,
    size_of,
    storer,
    total,
)

ROW, LANE = np.uint64(2), np.uint64(5)


class Sizes(NamedTuple):
    mode: int = 1
    q: int = 4
    rpm: int = 4


class Numbers(NamedTuple):
    mass: float
    axes: tuple[Vec, Vec]
    q: Quat
    is_known: bool


class Arrays(NamedTuple):
    mode: np.ndarray
    q: np.ndarray
    rpm: np.ndarray


def arrays_of(rng):
    return Arrays(rng.normal(size=(3, 2)), rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4)))


def numbers(k):
    return Numbers(k + 0.0, ((1.0, 2.0, k + 3.0), (4.0, 5.0, 6.0)), (7.0, 8.0, 9.0, k), k > 0.0)


def test_rows_follow_each_other_in_the_order_of_the_declaration():
    assert numbered(Sizes(), 3) == Sizes(mode=3, q=4, rpm=8)
    assert total(Sizes()) == 9


def test_what_is_stored_is_what_was_loaded():
    source, target = arrays_of(np.random.default_rng(1)), arrays_of(np.random.default_rng(2))
    block = np.zeros(20 * LANES)
    loader(Sizes())(block, ROW, 3, LANE, source, 2, 1)
    storer(Sizes())(block, ROW, 3, LANE, target, 0, 1)
    for name in Sizes._fields:
        np.testing.assert_array_equal(getattr(target, name)[0, 1], getattr(source, name)[2, 1])


def test_some_quantities_can_be_left_out():
    source, block = arrays_of(np.random.default_rng(1)), np.zeros(20 * LANES)
    loader(Sizes(), "rpm")(block, ROW, 0, LANE, source, 2, 1)
    rows = block.reshape(-1, LANES)[:, int(LANE)]
    np.testing.assert_array_equal(rows[7:11], source.rpm[2, 1])
    assert np.count_nonzero(block) == 4


@pytest.mark.parametrize("which", [True, False])
def test_a_record_is_read_as_one_of_two_was_written(which):
    block, a, b = np.zeros(20 * LANES), numbers(0.0), numbers(1.0)
    chooser(Numbers)(block, ROW, 1, LANE, which, a, b)
    assert reader(Numbers)(block, ROW, 1, LANE) == (a if which else b)


def test_a_record_has_as_many_numbers_as_its_annotations_say():
    assert size_of(Numbers) == len(numbers_of(Numbers, numbers(1.0))) == 12


def test_bodies_have_the_same_numbers_along_all_further_axes():
    array = np.zeros((3, 9, 2))
    fill(array, numbered(Sizes()), np.array([0, 2]), mode=4.0, q=np.arange(8.0).reshape(2, 4))
    np.testing.assert_array_equal(array[2, :, 1], [4.0, 4.0, 5.0, 6.0, 7.0, 0.0, 0.0, 0.0, 0.0])
    assert not array[1].any()

# SPDX-License-Identifier: BSD-3-Clause
"""Functions of rows, elementary functions, random streams and single precision."""

import math
import zlib
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from iap_description.math import so3
from iap_description.math.elementary import angle_of, exponential, turn_of, turn_vector
from iap_description.math.kernels import Quat, Vec, formula, quat_at
from iap_description.math.lanes import LANES
from iap_description.math.random_streams import _philox, stream, uniform, uniforms
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
CLOSE = 5e-16
BOUNDS = [0, 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**63 - 1]
HALF = 0.5


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


@njit(error_model="numpy")
def exponentials(x, out):
    for i in range(len(x)):
        out[i] = exponential(x[i])


@njit(error_model="numpy")
def angles(sine, cosine, out):
    for i in range(len(sine)):
        out[i] = angle_of(sine[i], cosine[i])


def exponentials_of(*x):
    out = np.empty(np.size(x))
    exponentials(np.ravel(x).astype(float), out)
    return out


def test_exponential_is_numpys():
    x = np.concatenate([np.linspace(-707.9, 708.9, 200_001), -np.geomspace(1e-300, 1.0, 1000)])
    np.testing.assert_allclose(exponentials_of(x), np.exp(x), rtol=CLOSE, atol=0.0)


def test_exponential_at_its_ends():
    assert exponentials_of(0.0, -0.0, -708.1, -np.inf).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert np.all(exponentials_of(709.5, np.inf) == exponentials_of(709.0))
    assert np.isnan(exponentials_of(np.nan)).all()


def test_angle_is_numpys():
    rng, n = np.random.default_rng(0), 200_001
    angle, size = np.linspace(0.0, 0.5 * np.pi, n), 10.0 ** rng.uniform(-100.0, 100.0, n)
    sine, cosine, out = size * np.abs(np.sin(angle)), size * np.abs(np.cos(angle)), np.empty(n)
    angles(sine, cosine, out)
    np.testing.assert_allclose(out, np.arctan2(sine, cosine), rtol=CLOSE, atol=0.0)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 0.3, 1.0, 2.5, np.pi - 1e-9, 4.0])
def test_turn_of_a_quaternion(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    q = np.array([*np.sin(0.5 * angle) * axis, np.cos(0.5 * angle)])
    shorter = min(angle, 2.0 * np.pi - angle)
    assert turn_of(quat_at(q, 0)) == pytest.approx(shorter, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(turn_vector(quat_at(q, 0)), so3.quaternion_log(q), atol=1e-15)


@pytest.mark.parametrize("name", ["iap/start", "wind", "another vehicle/rotor_lag"])
def test_draws_are_those_of_numpy(name):
    seeds = np.concatenate([BOUNDS, np.random.default_rng(0).integers(0, 2**63 - 1, 300)])
    found = uniforms(seeds, name, 11)
    number = zlib.crc32(name.encode())
    for seed, row in zip(seeds.tolist(), found, strict=True):
        rng = np.random.Generator(np.random.Philox(key=seed + (number << 64)))
        np.testing.assert_array_equal(row, rng.uniform(-1.0, 1.0, 11))
        np.testing.assert_array_equal(row, uniform(seed, name, 11))


def test_rounds_are_those_of_random123():
    """Its known answer for a count and a key of zeros (kat_vectors, philox4x64 10)."""
    zero = np.uint64(0)
    expected = (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)
    assert tuple(int(word) for word in _philox(zero, zero, zero)) == expected


def test_a_draw_depends_neither_on_others_nor_on_how_many_are_drawn():
    seeds = np.arange(1000)
    every = uniforms(seeds, "iap/start", 6)
    np.testing.assert_array_equal(uniforms(seeds[::-7], "iap/start", 3), every[::-7, :3])
    assert np.unique(every).size == every.size
    assert not np.isin(uniforms(seeds, "iap/com", 6), every).any()


def test_draws_are_even_and_unrelated_between_seeds_and_names():
    """Means, variances and correlations of neighbours within five standard deviations of none."""
    n = 200_000
    a, b = uniforms(np.arange(n + 1), "iap/start", 2), uniforms(np.arange(n), "iap/com", 1)[:, 0]
    assert np.all(np.abs(a[:n].mean(axis=0)) < 5.0 / np.sqrt(3.0 * n))
    assert np.all(np.abs(np.square(a[:n]).mean(axis=0) - 1.0 / 3.0) < 5.0 * np.sqrt(4 / 45 / n))
    for other in (a[1:, 0], a[:n, 1], b):  # next seed, next number, another source
        assert abs((a[:n, 0] * other).mean()) < 5.0 / (3.0 * np.sqrt(n))
    assert -1.0 <= a.min() and a.max() < 1.0


def test_noise_of_a_source_is_that_of_its_seed_and_name():
    first = stream(1, "iap/imu").standard_normal(5)
    np.testing.assert_array_equal(stream(1, "iap/imu").standard_normal(5), first)
    assert not np.isin(stream(1, "iap/other").standard_normal(5), first).any()
    assert not np.isin(stream(2, "iap/imu").standard_normal(5), first).any()


def test_none_are_none():
    assert uniforms(np.zeros(0, dtype=np.int64), "wind", 3).shape == (0, 3)
    assert uniforms(np.array([1]), "wind", 0).shape == (1, 0)


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

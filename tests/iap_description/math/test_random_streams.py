# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of runs: draws are Philox's, as numpy and as its authors have them."""

import zlib

import numpy as np
import pytest

from iap_description.math.random_streams import _philox, stream, uniform, uniforms

BOUNDS = [0, 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**63 - 1]


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

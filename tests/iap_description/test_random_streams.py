# SPDX-License-Identifier: BSD-3-Clause
"""Random streams: numbers of many seeds at once are those of numpy's generators."""

import numpy as np
import pytest

from iap_description.random_streams import stream, uniforms

BOUNDS = [0, 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**63 - 1]


@pytest.mark.parametrize("name", ["iap/start", "wind", "another vehicle/rotor_lag"])
def test_numbers_are_those_of_the_generators(name):
    seeds = np.concatenate([BOUNDS, np.random.default_rng(0).integers(0, 2**63 - 1, 300)])
    found = uniforms(seeds, name, 7)
    expected = [stream(seed, name).uniform(-1.0, 1.0, 7) for seed in seeds.tolist()]
    np.testing.assert_array_equal(found, expected)


def test_none_are_none():
    assert uniforms(np.zeros(0, dtype=np.int64), "wind", 3).shape == (0, 3)
    assert uniforms(np.array([1]), "wind", 0).shape == (1, 0)

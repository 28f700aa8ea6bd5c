# SPDX-License-Identifier: BSD-3-Clause
"""Random bits of pixels are those of SplitMix64, and images have keys of their own."""

import numpy as np

from iap_sensors.pixel_noise import BITS, STEP, draw, mixed, normal_table
from iap_sensors.rays.noise import bases_of, frame_keys

SEED = 1234567
OUTPUTS = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]


def test_bits_are_those_of_split_mix_64():
    """The first numbers of the seed 1234567, as other implementations print them."""
    with np.errstate(over="ignore"):
        states = [np.uint64(SEED) + STEP * np.uint64(k) for k in range(1, 5)]
    assert [int(mixed(each)) for each in states] == OUTPUTS


def test_the_key_of_an_image_is_that_of_its_number_behind_its_sensors_first():
    base = np.full(4, SEED, np.uint64).view(np.float64)
    keys = frame_keys(base, np.arange(1, 5))
    assert keys.dtype == np.uint64 and keys.tolist() == OUTPUTS
    assert frame_keys(base[:2], np.array([3, 3])).tolist() == [OUTPUTS[2]] * 2
    bases = bases_of(np.array([1, 2, 1]), "lidar")
    assert bases[0] == bases[2] != bases[1] and (np.abs(bases) <= 1.0).all()
    assert bases_of(np.array([1]), "camera")[0] != bases[0]
    first = frame_keys(bases, np.zeros(3, np.int64))
    assert first[0] == first[2] != first[1]


def test_deviates_are_even_quantiles_of_a_normal_distribution_of_variance_one():
    table = normal_table()
    assert table.shape == (2**14,) and (np.diff(table) > 0.0).all()
    np.testing.assert_allclose([table.mean(), table.std()], [0.0, 1.0], atol=1e-5)
    np.testing.assert_allclose(np.interp(0.8413, np.linspace(0, 1, 2**14), table), 1.0, atol=2e-3)


def test_each_number_gives_four_draws_and_the_next_draws_go_on_from_the_last_state():
    table, out, rest = normal_table(), np.empty(8, np.float32), np.empty(4, np.float32)
    state = draw(np.uint64(SEED), table, out)
    draw(np.uint64(state), table, rest)
    indices = [n >> (k * BITS) & 2**BITS - 1 for n in OUTPUTS[:3] for k in range(4)]
    np.testing.assert_array_equal([*out, *rest], table[indices])

# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of pixels, drawn by their count from a key: the same in whatever order images are made."""

from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numba import njit

from iap_description.arrays import Singles

BITS = 14  # of each draw from the table of normal deviates
DRAWS = 4  # from one 64-bit number
AT_ONCE = 1024  # pixels, so that loops over them are of vector instructions; a multiple of that
STEP = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64's counter


@lru_cache(maxsize=1)
def normal_table() -> Singles:
    """Equally likely values (2^BITS,) of the standard normal distribution, of variance 1."""
    share = (np.arange(2**BITS) + 0.5) / 2**BITS
    values = np.array([NormalDist().inv_cdf(each) for each in share])
    return (values / values.std()).astype(np.float32)


@njit(cache=True)
def mixed(state: np.uint64) -> np.uint64:
    """The 64 random bits of a state of SplitMix64 (Steele, Lea, Flood, "Fast splittable generators", OOPSLA 2014)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def draw(state: np.uint64, table: Singles, out: Singles) -> np.uint64:
    """Fill `out` with draws from the table, by states of SplitMix64 behind one, and return the last state."""
    mask = np.uint64(table.size - 1)
    for first in range(0, out.size, DRAWS):
        state += STEP
        z = mixed(state)
        for k in range(DRAWS):
            out[first + k] = table[(z >> np.uint64(k * BITS)) & mask]
    return state

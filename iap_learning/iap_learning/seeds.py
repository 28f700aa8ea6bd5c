# SPDX-License-Identifier: BSD-3-Clause
"""Seeds of episodes: a function of an environment's seed and of the episode's number, and of nothing else."""

import numpy as np

from iap_description.arrays import Integers

_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
BITS = 53  # so that every seed is a number in JSON, too


def episode_seeds(bases: Integers, episodes: Integers) -> Integers:
    """Seeds of episodes of worlds that were seeded with `bases`; episode 0 has the base itself.

    Later ones are mixed by SplitMix64's finalizer (Steele, Lea and Flood, OOPSLA 2014), whose state is
    the base, mixed, plus the episode's number times the golden ratio.
    """
    with np.errstate(over="ignore"):
        state = _mixed(bases.astype(np.uint64)) + episodes.astype(np.uint64) * np.uint64(_GOLDEN)
        mixed = (_mixed(state) >> np.uint64(64 - BITS)).astype(np.int64)
    return np.where(episodes == 0, bases, mixed)


def _mixed(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_2)
    return np.asarray(z ^ (z >> np.uint64(31)))

# SPDX-License-Identifier: BSD-3-Clause
"""Seeds of episodes: a function of an environment's seed and of the episode's number, and of nothing else."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from iap_description.arrays import Integers
from iap_simulation.batch.starts import give_seeds

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
BITS = 53  # so that every seed is a number in JSON, too


def episode_seeds(bases: Integers, episodes: Integers) -> Integers:
    """Seeds of episodes of worlds that were seeded with `bases`; episode 0 has the base itself.

    Later ones are mixed by SplitMix64's finalizer (Steele, Lea and Flood, OOPSLA 2014), whose state is
    the base, mixed, plus the episode's number times the golden ratio.
    """
    out = np.empty(len(bases), np.int64)
    _fill_seeds(bases, episodes, out)
    return out


@njit(cache=True)
def _fill_seeds(bases: Integers, episodes: Integers, out: Integers) -> None:
    for i in range(len(bases)):
        state = _mixed(np.uint64(bases[i])) + np.uint64(episodes[i]) * _GOLDEN
        mixed = np.int64(_mixed(state) >> np.uint64(64 - BITS))
        out[i] = bases[i] if episodes[i] == 0 else mixed


def next_seeds(
    seeds: Integers, episodes: Integers, indices: Integers, new: Sequence[int] | None
) -> Integers:
    """Seeds (n,) with which the next episodes of some worlds fly.

    Args:
        seeds: (B,) that the worlds were given; written where there are new ones.
        episodes: (B,) number of each world's episode since then; counted on.
        indices: (n,) of the worlds.
        new: seeds for them; None goes on with their next episodes.

    Raises:
        BadInput: there are more or fewer seeds than chosen worlds.
    """
    if new is None:
        episodes[indices] += 1
    else:
        give_seeds(seeds, indices, new)
        episodes[indices] = 0
    return episode_seeds(seeds[indices], episodes[indices])


@njit(cache=True)
def _mixed(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))

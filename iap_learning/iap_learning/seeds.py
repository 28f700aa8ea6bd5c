# SPDX-License-Identifier: BSD-3-Clause
"""Seeds of episodes: a function of an environment's seed and of the episode's number, and of nothing else."""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Integers
from iap_simulation.parallel.starts import give_seeds

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


def begun(
    seeds: Integers, episodes: Integers, chosen: Integers, given: Sequence[int] | None
) -> Integers:
    """Seeds (chosen,) with which the next episodes of some worlds fly.

    Args:
        seeds: (B,) that the worlds were given; written where there are new ones.
        episodes: (B,) number of each world's episode since then; counted on.
        chosen: indices of the worlds.
        given: new seeds for them; None goes on with their next episodes.

    Raises:
        BadInput: there are more or fewer seeds than chosen worlds.
    """
    if given is None:
        episodes[chosen] += 1
    else:
        give_seeds(seeds, chosen, given)
        episodes[chosen] = 0
    return episode_seeds(seeds[chosen], episodes[chosen])


def _mixed(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_2)
    return np.asarray(z ^ (z >> np.uint64(31)))

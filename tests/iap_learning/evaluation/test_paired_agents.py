# SPDX-License-Identifier: BSD-3-Clause
"""Two agents in the same episodes: counts add up, and measures are of episodes in which both succeed."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.evaluation.pairing import Pairing
from iap_learning.evaluation.results import Results


def results(success: list[int], times: list[float], first_seed: int = 0) -> Results:
    outcomes = ["arrived" if each else "collided" for each in success]
    seeds = np.arange(first_seed, first_seed + len(success))
    return Results(seeds, np.array(success, bool), outcomes, {"time": np.array(times)})


def test_counts_add_up_and_measures_are_of_draws_that_both_solve() -> None:
    first = results([1, 1, 0, 1, 0], [1.0, 2.0, 9.0, np.nan, 9.0])
    other = results([1, 1, 1, 1, 0], [3.0, 1.5, 1.0, 1.0, 1.0])
    paired = Pairing.of(first, other)
    counts = (paired.both, paired.first_alone, paired.other_alone, paired.neither)
    assert counts == (3, 0, 1, 1)
    time = paired.measures["time"]
    assert time.episodes == 2  # one of the three has no time
    assert time.median_difference == pytest.approx((-2.0 + 0.5) / 2.0)
    assert time.less == 0.5
    assert time.less_low < 0.5 < time.less_high


def test_other_seeds_are_refused() -> None:
    with pytest.raises(BadInput, match="seeds differ"):
        Pairing.of(results([1], [1.0]), results([1], [1.0], first_seed=1))

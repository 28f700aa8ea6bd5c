# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a mask, at its ends and within."""

import numpy as np
import pytest

from iap_description.math.runs import true_runs


@pytest.mark.parametrize(
    ("mask", "runs"),
    [
        ([], []),
        ([0, 0], []),
        ([1, 1], [(0, 2)]),
        ([1, 0, 1, 1, 0, 1], [(0, 1), (2, 4), (5, 6)]),
    ],
)
def test_runs_begin_at_their_first_and_end_behind_their_last(
    mask: list[int], runs: list[tuple[int, int]]
) -> None:
    assert true_runs(np.array(mask, dtype=bool)) == runs

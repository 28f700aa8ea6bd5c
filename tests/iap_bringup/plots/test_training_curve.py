# SPDX-License-Identifier: BSD-3-Clause
"""The figure of a training."""

import pytest

pytest.importorskip("jax")

from iap_bringup.plots.training import MEDIAN, smooth


def test_a_curve_does_not_jump_where_few_episodes_are_over():
    rising = [float(i) for i in range(40)]
    broken = [-100.0 if i == 20 else value for i, value in enumerate(rising)]
    assert smooth(rising)[MEDIAN:-MEDIAN] == rising[MEDIAN:-MEDIAN]
    assert max(abs(a - b) for a, b in zip(smooth(broken), smooth(rising), strict=True)) <= 1.0

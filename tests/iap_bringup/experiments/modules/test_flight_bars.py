# SPDX-License-Identifier: BSD-3-Clause
"""Bars of modules that take flights of their own are reached: a push in an approach, an unequal force."""

import pytest

from iap_bringup.experiments.modules import flight_bars
from iap_bringup.experiments.modules.flight_bars import push_bars, unequal_bars


@pytest.mark.slow
def test_a_follower_that_is_pushed_aside_returns_to_alignment_and_docks():
    assert [bar for bar in push_bars() if not bar.passes] == []


@pytest.mark.slow
def test_a_force_on_one_end_of_three_stays_in_the_joints_as_theory_has_it(monkeypatch):
    """2/3 and 1/3 of 2 N, unless the joints measure."""
    monkeypatch.setattr(flight_bars, "LONG_HOVER_TIME", 24.0)
    assert [bar for bar in unequal_bars() if not bar.passes] == []

# SPDX-License-Identifier: BSD-3-Clause
"""Bars of modules that take flights of their own are reached: a push in an approach, an unequal force."""

from types import SimpleNamespace

import numpy as np
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


def test_engines_are_compared_at_every_place_and_in_the_wrenches_of_the_end(monkeypatch):
    """Places 1.5 mm off, forces of 2 N off by 5 %, torques of 0.5 N m by 10 %."""
    t = np.arange(0.0, flight_bars.SHORT_HOVER_TIME, 0.05)
    wrench = np.array([2.0, 0.0, 0.0, 0.0, 0.5, 0.0])
    off = np.array([0.0, 0.1, 0.0, 0.05, 0.0, 0.0])

    def hovered(settings):
        is_other = settings["engine.name"] == "mujoco"
        errors = np.zeros((len(t), 2, 6))
        errors[len(t) // 2, 1, 1], errors[..., 3:] = 0.0015 * is_other, 0.3 * is_other
        wrenches = np.tile(wrench + is_other * off, (len(t), 1, 1))
        return SimpleNamespace(columns={"t": t, "errors": errors, "joint_wrenches": wrenches})

    monkeypatch.setattr(flight_bars, "_hovered", hovered)
    values = {bar.what: bar.measured for bar in flight_bars._engine_bars()}
    assert list(values.values()) == pytest.approx([1.5, 1.5, 5.0, 10.0, 0.1])

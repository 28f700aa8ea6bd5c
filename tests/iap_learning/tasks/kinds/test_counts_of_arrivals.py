# SPDX-License-Identifier: BSD-3-Clause
"""Counts and outcomes of perches, shoves and turns, period by period, at the bounds of their rules."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.counted_periods import floats, flown, results

from iap_learning.tasks.kinds.hinge_turn import counts as turns
from iap_learning.tasks.kinds.perch_on_wall import counts as perches
from iap_learning.tasks.kinds.push_object import counts as shoves
from iap_physics.latching.kernel import CAUGHT, LOCKED
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FELL,
    HANDLE_SLIPPED,
    LATCH_HELD,
    LOST,
    MISSED,
    NEVER_TOUCHED,
    NOT_TURNED,
    OVERSHOT,
    REBOUNDED,
    RUNNING,
    SLID,
    SLIPPED_OFF,
    TIME_IS_UP,
    TOO_FORCEFUL,
    TOPPLED,
)

DT = 0.01

# perches: locked for three periods of six

PERCH = perches.PerchRules(20.0, 3, 6)


def perched(forces, phases, endings=None):
    endings = [RUNNING] * len(forces) if endings is None else endings
    series = floats(forces), phases, endings
    return flown(perches, perches.PerchCounts.of(2), PERCH, *series)


@pytest.mark.parametrize(
    ("forces", "phases", "endings", "outcome"),
    [
        ([0, 5, 5], [CAUGHT, LOCKED, LOCKED], None, RUNNING),
        ([0, 5, 5, 5], [CAUGHT, LOCKED, LOCKED, LOCKED], None, ARRIVED),
        ([5] * 5, [LOCKED, LOCKED, CAUGHT, LOCKED, LOCKED], None, RUNNING),
        ([5] * 6, [CAUGHT] * 6, None, TIME_IS_UP),
        ([0] * 6, [CAUGHT] * 6, None, NEVER_TOUCHED),
        ([5, 5], [LOCKED, LOCKED], [RUNNING, FELL], FELL),
        ([20.0, 20.1], [CAUGHT, CAUGHT], [RUNNING, FELL], TOO_FORCEFUL),
    ],
)
def test_a_perch_ends_by_its_rules(forces, phases, endings, outcome):
    assert perched(forces, phases, endings)[1] == outcome


def test_results_of_a_perch_are_the_speed_of_its_touch_and_the_time_to_its_lock():
    counts, _ = perched([0, 5, 7], [CAUGHT, LOCKED, LOCKED])
    found = results(perches.measures(counts, DT))
    assert found["force_peak"] == 7.0 and found["lock_time"] == pytest.approx(2 * DT)
    assert np.isnan(found["closing_speed"])
    counts.closing[:] = 0.4
    assert results(perches.measures(counts, DT))["closing_speed"] == 0.4
    counts.reset(np.array([1]))
    found = results(perches.measures(counts, DT))
    assert np.isnan([found["closing_speed"], found["lock_time"]]).all()
    assert found["force_peak"] == 0.0 and counts.closing[0] == 0.4


@pytest.mark.parametrize(
    ("what", "radius", "slip", "ending"),
    [
        ("lost", 0.0, 0.0, BOUNCED), ("broken", 0.0, 0.0, FELL), ("caught", 0.0, 0.0, RUNNING),
        ("missed", 0.051, 0.0, MISSED), ("missed", 0.05, 0.31, SLID), ("missed", 0.05, 0.3, BOUNCED),
    ],
)  # fmt: skip
def test_events_of_a_latch_end_a_perch(what, radius, slip, ending):
    latch = SimpleNamespace(radius=0.05, face=SimpleNamespace(slip=0.3))
    event = SimpleNamespace(what=what, probe=SimpleNamespace(radius=radius), slip=slip)
    assert perches.ending_of(event, latch) == ending
    latch.face = None
    assert perches.ending_of(event, latch) == (RUNNING if what == "missed" else ending)


# shoves: within a decimetre, 0.2 rad and 0.1 m/s for two of five periods

SHOVE = shoves.ShoveRules(0.1, 0.2, 0.1, 0.5, 20.0, 2, 5)
THERE = [0.05, -0.08, 0.19, 0.09, 0.0, 0.0]


def shoved(forces, *measures):
    series = floats(forces), [np.array(each, float) for each in measures]
    return flown(shoves, shoves.ShoveCounts.of(2), SHOVE, *series)


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({}, ARRIVED), ({0: 0.07}, RUNNING), ({0: -0.059}, ARRIVED), ({2: 0.21}, RUNNING), ({3: 0.11}, RUNNING),
        ({4: 0.49}, ARRIVED), ({4: 0.51}, TOPPLED), ({5: 0.049}, ARRIVED), ({5: 0.051}, LOST), ({0: -0.101}, OVERSHOT),
        ({0: -0.099, 1: 0.0}, ARRIVED),
    ],
)  # fmt: skip
def test_a_shove_ends_by_its_rules(change, outcome):
    there = [change.get(i, each) for i, each in enumerate(THERE)]
    assert shoved([5, 5], there, there)[1] == outcome
    assert shoved([5], there)[1] == (RUNNING if outcome == ARRIVED else outcome)


@pytest.mark.parametrize(
    ("forces", "outcome"),
    [([0] * 5, NEVER_TOUCHED), ([0, 5, 5, 5, 5], TIME_IS_UP), ([5, 5, 5, 5, 0], SLIPPED_OFF), ([20.1], TOO_FORCEFUL)],
)  # fmt: skip
def test_a_shove_that_does_not_arrive_says_why(forces, outcome):
    assert shoved(forces, *[[0.5, 0.0, 0.0, 0.0, 0.0, 0.0]] * len(forces))[1] == outcome


def test_results_of_a_shove_are_the_distance_and_turn_at_its_end():
    far = [0.3, 0.4, 0.1, 0.0, 0.0, 0.0]
    counts, _ = shoved([6, 5], far, THERE)
    assert results(shoves.measures(counts, DT)) == pytest.approx(
        {"force_peak": 6.0, "goal_distance": np.hypot(0.05, 0.08), "angle": np.rad2deg(0.19), "goal_time": 2 * DT}
    )  # fmt: skip
    counts.reset(np.array([1]))
    found = results(shoves.measures(counts, DT))
    assert np.isnan(found["goal_time"]) and found["goal_distance"] == found["force_peak"] == 0.0


# turns: by a radian, for two of four periods


def turned(angles, forces, has_latch=False):
    rules = turns.TurnRules(1.0, 20.0, 2, 4, has_latch)
    return flown(turns, turns.TurnCounts.of(2), rules, floats(forces), floats(angles))


@pytest.mark.parametrize(
    ("angles", "forces", "has_latch", "outcome"),
    [
        ([0.5, 1.0], [5, 5], False, RUNNING),
        ([0.5, 1.0, 1.0], [5, 5, 0], False, ARRIVED),
        ([1.0, 0.99, 1.0], [5, 5, 5], False, RUNNING),
        ([0.0, 0.0, 0.0, 0.049], [5] * 4, False, NOT_TURNED),
        ([0.0, 0.0, 0.0, 0.051], [5] * 4, False, TIME_IS_UP),
        ([0.0, 0.0, 0.0, 0.051], [5, 5, 5, 0], False, SLIPPED_OFF),
        ([0.0, 0.0, 0.0, 0.049], [5] * 4, True, LATCH_HELD),
        ([0.0, 0.0, 0.0, 0.049], [5, 5, 5, 0], True, HANDLE_SLIPPED),
        ([0.0] * 4, [0] * 4, True, NEVER_TOUCHED),
        ([0.5, 1.0, 0.99, 0.0], [5] * 4, False, REBOUNDED),
        ([0.5, 0.9, 0.99, 0.0], [5] * 4, False, NOT_TURNED),
        ([1.0, 1.0], [5, 20.1], False, TOO_FORCEFUL),
    ],
)
def test_a_turn_ends_by_its_rules(angles, forces, has_latch, outcome):
    assert turned(angles, forces, has_latch)[1] == outcome


def test_results_of_a_turn_are_its_angle_and_the_time_to_the_one_asked_for():
    counts, _ = turned([0.5, 0.9, 1.0], [5, 7, 5])
    assert results(turns.measures(counts, DT)) == pytest.approx(
        {"force_peak": 7.0, "angle": np.rad2deg(1.0), "turn_time": 3 * DT}
    )
    counts, _ = turned([1.0], [5])
    assert results(turns.measures(counts, DT))["turn_time"] == pytest.approx(DT)
    counts.reset(np.array([1]))
    found = results(turns.measures(counts, DT))
    assert np.isnan(found["turn_time"]) and found["angle"] == found["force_peak"] == 0.0

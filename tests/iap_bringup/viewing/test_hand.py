# SPDX-License-Identifier: BSD-3-Clause
"""A reference that was led by hand and is given back: it goes to the vehicle's own one without a leap."""

from types import SimpleNamespace

import numpy as np
import pytest

import iap_bringup.viewing.hand as hand_module
from iap_bringup.viewing.hand import LIMITS, Hand
from iap_description.math import so3
from iap_description.states import REF_A, REF_FIXED, REF_P, REF_Q, REF_V, REF_W

DT = 0.005
TURN = np.array([0.0, 0.0, 0.4])  # of the vehicle's own reference [rad/s]


def own(t):
    """A vehicle's own reference, which circles at 0.5 m/s and turns."""
    row = np.zeros(REF_FIXED + 3)
    phase = 0.5 * t
    row[REF_P] = np.cos(phase), np.sin(phase), 1.0
    row[REF_V] = 0.5 * np.array([-np.sin(phase), np.cos(phase), 0.0])
    row[REF_A] = 0.25 * np.array([-np.cos(phase), -np.sin(phase), 0.0])
    row[REF_Q], row[REF_W] = so3.quaternion_exp(t * TURN), TURN
    return row


@pytest.fixture(scope="module")
def flight():
    """References of 3 s to a goal that is dragged, and of 12 s after it was given back; with the vehicle's own."""
    hand = Hand(own(0.0))
    hand.goal = np.array([2.5, -1.0, 2.0, *so3.quaternion_exp(np.array([0.1, 0.0, -1.5]))])
    times = DT * np.arange(1, 3001)
    rows = []
    for k, t in enumerate(times):
        if k == 600:
            hand.give_back()
        rows.append(hand.reference(own(t), DT).copy())
        if hand.is_over:
            break
    assert hand.is_over
    count = len(rows)
    return np.array(rows), np.array([own(t) for t in times[:count]])


def test_a_reference_that_is_given_back_comes_to_the_vehicles_own(flight):
    rows, mine = flight
    assert np.linalg.norm(rows[600, REF_P] - mine[600, REF_P]) > 1.0
    assert rows[-1] == pytest.approx(mine[-1], abs=1e-4)


def test_a_goal_flies_along_its_heading_and_turns_for_the_time_of_a_key(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(hand_module, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    hand, pitched = Hand(own(0.0)), so3.quaternion_exp(np.array([0.0, 0.1, 0.0]))
    east = so3.quaternion_exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    hand.goal = np.array([2.0, 0.0, 1.0, *so3.multiply(east, pitched)])
    hand.fly(np.array([1.0, 0.5, 0.2, 2.0]))  # ahead, to the left, upwards [m/s], yaw rate [rad/s]
    hand.reference(own(0.0), 0.1)
    clock[0] = hand_module.KEY_TIME
    hand.reference(own(0.0), 0.1)
    turned = so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, 0.5 * np.pi + 0.2])), pitched)
    np.testing.assert_allclose(hand.goal, [1.95, 0.1, 1.02, *turned], atol=1e-12)


def test_a_reference_that_is_given_back_leaps_nowhere(flight):
    rows, _ = flight
    p, v = rows[:, REF_P], rows[:, REF_V]
    assert np.diff(p, axis=0) / DT == pytest.approx(0.5 * (v[1:] + v[:-1]), abs=0.02)
    accelerations = np.linalg.norm(np.diff(v, axis=0), axis=1) / DT
    assert accelerations.max() < 1.3 * LIMITS.acceleration + 0.25


def test_the_attitude_that_is_given_back_turns_at_the_rates_that_the_reference_names(flight):
    rows, _ = flight
    q, w = rows[:, REF_Q], rows[:, REF_W]
    turned = so3.quaternion_log(so3.multiply(so3.conjugate(q[:-1]), q[1:])) / DT
    assert turned == pytest.approx(0.5 * (w[1:] + w[:-1]), abs=0.03)
    assert (
        np.linalg.norm(np.diff(w, axis=0), axis=1).max() / DT
        < 1.3 * LIMITS.angular_acceleration + 0.5
    )

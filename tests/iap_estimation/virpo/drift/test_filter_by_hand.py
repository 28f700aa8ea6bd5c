# SPDX-License-Identifier: BSD-3-Clause
"""The drift filter over odometries that stand: when it updates, whom it waits for, and when a drift has jumped."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.virpo.drift.filter import DriftFilter
from iap_estimation.virpo.drift.spec import load_spec
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Estimate, Ranges, Tilt

SPEC = load_spec()
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
D = np.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
MIDDLE = np.array([1.0, 2.0, 3.0])


def crew(count=2, is_joined=True):
    models = tuple(AircraftModel(f"{a}", None, np.zeros(5)) for a in range(count))
    return Fleet(models, D[:count] if is_joined else None)


def odometry(t, a, off=(0.0, 0.0, 0.0), q=LEVEL):
    zero = np.zeros(3)
    return Estimate(t, MIDDLE + D[a] + off, q, zero, zero, zero, 1e-6 * np.eye(15), zero)


def level(t, q=LEVEL, w=(0.0, 0.0, 0.0)):
    return Tilt(t, q, np.array(w), np.array([0.0, 0.0, 9.81]))


def test_an_update_waits_for_all_odometries_and_for_the_tilt():
    made = DriftFilter(crew(), SPEC)
    assert not made.is_running and made.estimates() == [] and made.centre() is None
    assert not made.odometry(0, odometry(0.0, 0)) and not made.odometry(1, odometry(0.0, 1))
    assert made.tilt(level(0.0)) and made.is_running and made.t == 0.0
    np.testing.assert_allclose([one.p_WB_W for one in made.estimates()], MIDDLE + D[:2])
    centre = made.centre()
    np.testing.assert_allclose(centre.p_WB_W, MIDDLE, atol=1e-9)
    np.testing.assert_allclose(so3.quaternion_log(centre.q_WB), 0.0, atol=1e-9)
    made.odometry(0, odometry(0.1, 0))
    made.tilt(level(0.1))
    assert made.t == 0.0 and made.odometry(1, odometry(0.1, 1)) and made.t == pytest.approx(0.1)
    assert made.refused == 0
    made.odometry(1, odometry(0.1, 1))
    assert made.refused == 1


def test_who_is_waited_for_in_vain_is_not_waited_for_again_until_it_comes():
    made = DriftFilter(crew(is_joined=False), SPEC)
    assert not made.odometry(0, odometry(0.0, 0)) and not made.odometry(0, odometry(0.79, 0))
    assert made.odometry(0, odometry(0.81, 0)), "after patience of 0.8 s"
    assert made.t == pytest.approx(0.79) and len(made.estimates()) == 1 and made.centre() is None
    assert made.odometry(0, odometry(0.95, 0)), "at once"
    made.odometry(1, odometry(0.95, 1))
    assert not made.odometry(0, odometry(1.05, 0)) and made.odometry(1, odometry(1.05, 1))
    assert len(made.estimates()) == 2
    assert made.state._off.shape == (2, 0, 3)
    seven = np.array([[5.0, 0.0, 0.0]])
    made.ranges(0, Ranges(1.1, np.array([7]), seven, np.array([4.5]), np.array([0.1])))
    for a in range(2):
        made.odometry(a, odometry(1.15, a))
    assert made.state._off.shape == (2, 8, 3), "anchors from 0 to 7"


def test_updates_come_no_faster_than_their_rate():
    made, times = DriftFilter(crew(1, is_joined=False), SPEC), []
    for k in range(41):
        if made.odometry(0, odometry(0.025 * k, 0)):
            times.append(made.t)
    np.testing.assert_allclose(times, np.arange(11) * 0.1, atol=1e-9)


def test_ranges_of_one_are_passed_on_by_the_joints():
    made = DriftFilter(crew(), SPEC)
    anchors = np.array([[8.0, 6.0, 0.5], [-8.0, 6.0, 5.0], [-8.0, -6.0, 0.5], [8.0, -6.0, 5.0]])
    off = np.array([0.04, -0.03, 0.02])
    ways = np.linalg.norm(anchors - (MIDDLE + D[0]), axis=1)
    for k in range(60):
        t = 0.1 * k
        made.tilt(level(t))
        made.ranges(0, Ranges(t - 0.01, np.arange(4), anchors, ways, np.full(4, 0.05)))
        for a in range(2):
            made.odometry(a, odometry(t, a, off))
    found = np.array([one.p_WB_W for one in made.estimates()])
    np.testing.assert_allclose(found[0], MIDDLE + D[0], atol=0.005)
    np.testing.assert_allclose(found[1], MIDDLE + D[1], atol=0.03)
    np.testing.assert_allclose(made.centre().p_WB_W, MIDDLE, atol=0.02)
    assert made.reopened == 0 and made.left_out == []


@pytest.mark.parametrize(("seconds", "reopened"), [(0.9, 0), (1.4, 1)])
def test_a_drift_that_nothing_agrees_with_for_a_second_has_jumped(seconds, reopened):
    made = DriftFilter(crew(3), SPEC)
    for k in range(10 + round(10 * seconds)):
        made.tilt(level(0.1 * k))
        for a in range(3):
            made.odometry(
                a, odometry(0.1 * k, a, (4.0, 0.0, 0.0) if k >= 10 and a == 2 else (0.0, 0.0, 0.0))
            )
    assert made.reopened == reopened


@pytest.mark.parametrize(("age", "leans"), [(0.049, True), (0.052, False)])
def test_a_tilt_holds_for_a_twentieth_of_a_second(age, leans):
    made = DriftFilter(crew(), SPEC)
    lean = so3.quaternion_exp(np.array([0.02, 0.0, 0.0]))  # about the line of the joints
    for k in range(8):
        t = 0.1 * k
        made.tilt(level(t - age, lean))
        for a in range(2):
            made.odometry(a, odometry(t, a))
        made.tilt(Tilt(t + 0.002, np.full(4, np.nan), np.zeros(3), np.zeros(3)))
    roll = so3.quaternion_log(made.centre().q_WB)[0]
    assert (roll > 0.005) == leans


def test_the_centre_turns_with_its_gyroscope_between_updates():
    made = DriftFilter(crew(), SPEC)
    for k in range(11):
        made.tilt(level(0.01 * k, w=(0.0, 0.0, 0.4)))
    for t in (0.0, 0.1):
        for a in range(2):
            made.odometry(a, odometry(t, a))
    assert made.t == pytest.approx(0.1)
    np.testing.assert_allclose(made.centre().w_B, [0.0, 0.0, 0.4], atol=0.02)


def test_an_aircraft_that_falls_silent_is_where_the_others_hold_it():
    made = DriftFilter(crew(3), SPEC)
    for k in range(40):
        made.tilt(level(0.1 * k))
        for a in range(3):
            if a != 1 or k < 10:
                made.odometry(a, odometry(0.1 * k, a))
    one = made.estimates()[1]
    assert one.t == made.t
    np.testing.assert_allclose(one.p_WB_W, MIDDLE + D[1], atol=0.01)
    assert one.covariance[3, 3] > made.estimates()[0].covariance[3, 3]


def test_the_centre_begins_by_joints_that_stand_aside_of_their_aircraft():
    arms = np.array([[0.0, 0.3, 0.1], [0.1, -0.2, 0.2]])
    models = [AircraftModel(f"{a}", None, np.zeros(5), p_BJ_B=arms[a]) for a in range(2)]
    made = DriftFilter(Fleet(tuple(models), D[:2]), SPEC)
    made.tilt(level(0.0))
    for a in range(2):
        made.odometry(a, odometry(0.0, a, -arms[a]))
    np.testing.assert_allclose(so3.quaternion_log(made.centre().q_WB), 0.0, atol=1e-9)
    np.testing.assert_allclose(made.centre().p_WB_W, MIDDLE, atol=1e-9)

# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of the drift filter and their covariances, against differences of its states."""

from dataclasses import replace

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.virpo.drift import outputs, updates
from iap_estimation.virpo.drift.outputs import Middle, OdometrySample
from iap_estimation.virpo.drift.spec import load_spec
from iap_estimation.virpo.drift.state import DriftState, joints_of
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Estimate

UP = np.array([0.0, 0.0, 1.0])
SPEC = load_spec()
D = np.array([[0.5, 0.1, 0.0], [-0.4, 0.3, 0.2]])
FLEET = Fleet(
    tuple(AircraftModel(f"{a}", None, np.zeros(5), p_BJ_B=np.array([0.1, 0.2 + a, 0.3])) for a in range(2)), d=D
)  # fmt: skip
W_B0 = np.array([0.3, -0.2, 0.5])


def estimate(t, p, q, v, w, C):
    return Estimate(t, p, q, v, np.full(3, 0.1), np.full(3, 0.2), C, w)


def state():
    made = DriftState(FLEET, SPEC)
    rng = np.random.default_rng(3)
    made.x[:], made.pivots[:] = rng.normal(size=(2, 4)), rng.normal(size=(2, 3))
    made.centre[:4] = so3.quaternion_exp(np.array([0.1, -0.2, 0.7]))
    root = rng.normal(size=(14, 14))
    made.P[:] = 0.01 * root @ root.T
    return made


def sample(seed, t=2.0, covariance=0.04):
    rng = np.random.default_rng(seed)
    p, q, v, w = (
        rng.normal(size=3),
        so3.quaternion_exp(rng.normal(size=3)),
        rng.normal(size=3),
        rng.normal(size=3),
    )
    C = (
        np.full((15, 15), np.nan)
        if covariance is None
        else covariance * np.diag(np.arange(1.0, 16.0))
    )
    return OdometrySample(t, np.r_[t, p, q, v, w], estimate(t, p, q, v, w, C))


def moved(made, error):
    """States after an error (14,) of the filter."""
    other = state()
    other.x[:], other.centre[:] = made.x, made.centre
    updates.move(other.x, other.centre, error.copy())
    return other


def test_the_centre_moves_with_errors_of_the_filter_as_its_derivative_says():
    made, odometry = state(), {0: sample(1), 1: sample(2)}
    found = outputs.middle_of(made, FLEET, odometry, W_B0, SPEC)
    for i in range(14):
        ends = []
        for sign in (1.0, -1.0):
            other = moved(made, sign * 1e-6 * np.eye(14)[i])
            bias = other.centre[4:] - made.centre[4:]
            one = outputs.middle_of(other, FLEET, odometry, W_B0 - bias, SPEC)
            ends.append(np.r_[one.p, one.v])
        np.testing.assert_allclose(found.slope[:, i], (ends[0] - ends[1]) / 2e-6, atol=1e-7)
    extra = np.zeros((6, 6))
    extra[:3, :3] = SPEC.position_floor**2 * np.eye(3)
    extra[3:, 3:] = 2.0 * 0.04 * np.diag([7.0, 8.0, 9.0]) / 4.0
    np.testing.assert_allclose(found.C, found.slope @ made.P @ found.slope.T + extra)
    blind = outputs.middle_of(
        made, FLEET, {0: sample(1, covariance=None), 1: sample(2)}, W_B0, SPEC
    )
    np.testing.assert_allclose((blind.C - found.C)[3, 3], (SPEC.speed**2 - 0.28) / 4.0)


def test_an_aircraft_is_its_odometry_without_the_drift():
    made, one = state(), sample(1)
    found = outputs.aircraft_estimate(made, 1, one, 0.3)
    turn = so3.quaternion_exp(made.x[1, 3] * UP)
    np.testing.assert_allclose(
        found.p_WB_W, made.x[1, :3] + so3.rotate(turn, one.pose[1:4] - made.pivots[1])
    )
    np.testing.assert_allclose(found.v_WB_W, so3.rotate(turn, one.pose[8:11]))
    np.testing.assert_allclose(found.q_WB, so3.multiply(turn, one.pose[4:8]))
    np.testing.assert_allclose(found.w_B, one.measured.w_B)
    C, block = found.covariance, made.P[4:8, 4:8]
    np.testing.assert_allclose(C[:3, :3], block[:3, :3] + 0.09 * np.eye(3))
    up_B = so3.rotate(so3.conjugate(found.q_WB), UP)
    assert up_B @ C[3:6, 3:6] @ up_B == pytest.approx(block[3, 3])
    across = np.cross(up_B, [1.0, 0.0, 0.0])
    assert across @ C[3:6, 3:6] @ across == pytest.approx(
        across @ one.measured.covariance[3:6, 3:6] @ across
    )
    R, swing = so3.matrix_from_quaternion(turn), np.cross(UP, found.v_WB_W)
    expected = R @ one.measured.covariance[6:9, 6:9] @ R.T + block[3, 3] * np.outer(swing, swing)
    np.testing.assert_allclose(C[6:9, 6:9], expected)
    np.testing.assert_allclose(C[9:, 9:], one.measured.covariance[9:, 9:])
    unknown = outputs.aircraft_estimate(made, 1, sample(1, covariance=None), 0.3).covariance
    np.testing.assert_allclose(unknown[:3, :3], C[:3, :3])
    assert np.isnan(unknown[3:]).all() and np.isnan(unknown[:, 3:]).all()


def test_an_angular_velocity_is_as_received_or_of_the_path():
    one = sample(1)
    late = OdometrySample(2.0, one.pose, replace(one.measured, t=1.9985))
    np.testing.assert_array_equal(one.w_B, one.measured.w_B)
    assert one.w_B is one.measured.w_B
    np.testing.assert_array_equal(late.w_B, one.pose[11:14])
    silent = OdometrySample(2.0, one.pose, replace(one.measured, w_B=np.array([0.0, np.nan, 0.0])))
    np.testing.assert_array_equal(silent.w_B, one.pose[11:14])


def test_a_doubt_is_what_the_variances_of_place_and_yaw_grew_or_fell_by():
    before, now = sample(1, covariance=0.04), sample(1, covariance=0.01)
    found = outputs.doubt_between(before, now)
    np.testing.assert_allclose(found[:3], [0.03, 0.06, 0.09])
    up_B = so3.rotate(so3.conjugate(now.pose[4:8]), UP)
    assert found[3] == pytest.approx(0.03 * np.sum(up_B**2 * [4.0, 5.0, 6.0]))
    assert outputs.doubt_between(before, sample(1, covariance=None)).tolist() == [0.0] * 4


def test_the_centre_and_an_aircraft_that_it_holds_have_covariances():
    made = state()
    middle = outputs.middle_of(made, FLEET, {0: sample(1)}, W_B0, SPEC)
    centre = outputs.centre_estimate(3.0, made, middle, W_B0)
    assert centre.t == 3.0 and centre.p_WB_W is middle.p and centre.w_B is W_B0
    C = centre.covariance
    np.testing.assert_allclose(C[np.ix_([0, 1, 2, 6, 7, 8], [0, 1, 2, 6, 7, 8])], middle.C)
    np.testing.assert_allclose(C[3:6, 3:6], made.P[8:11, 8:11])
    np.testing.assert_allclose(C[9:12, 9:12], made.P[11:, 11:])
    np.testing.assert_allclose(C[3:6, 9:12], made.P[8:11, 11:])
    np.testing.assert_allclose(C[:3, 3:6], middle.slope[:3] @ made.P[:, 8:11])
    assert np.isnan(C[12:]).all()
    last = sample(2, t=1.5)
    held = outputs.joined_estimate(3.0, made, FLEET, 1, last, middle, W_B0)
    R_0, turn = so3.matrix_from_quaternion(made.centre[:4]), so3.quaternion_exp(made.x[1, 3] * UP)
    arm = so3.rotate(turn, so3.rotate(last.pose[4:8], FLEET.aircraft[1].p_BJ_B))
    np.testing.assert_allclose(held.p_WB_W, middle.p + R_0 @ D[1] - arm)
    np.testing.assert_allclose(held.v_WB_W, middle.v + R_0 @ np.cross(W_B0, D[1]))
    np.testing.assert_allclose(held.covariance[3:6, 3:6], (0.5 * 1.5) ** 2 * np.eye(3))
    soon = outputs.joined_estimate(1.5, made, FLEET, 1, last, middle, W_B0).covariance
    np.testing.assert_allclose((held.covariance - soon)[0, 0], (0.5 * 1.5) ** 2 * (arm @ arm))
    late = outputs.joined_estimate(9.0, made, FLEET, 1, last, middle, W_B0).covariance
    np.testing.assert_allclose(late[3:6, 3:6], np.eye(3))
    assert np.isnan(late[9:]).all()


def test_what_the_others_hold_errs_by_the_centres_turn_at_its_own_joint():
    made = state()
    middle = Middle(np.zeros(3), np.zeros(3), np.zeros((6, 14)), np.zeros((6, 6)))
    made.P[:] = 0.0
    made.P[10, 10] = 0.01  # a turn about the centre's z axis
    held = outputs.joined_estimate(2.0, made, FLEET, 0, sample(2, t=2.0), middle, W_B0)
    swing = so3.matrix_from_quaternion(made.centre[:4]) @ np.cross(UP, D[0])
    np.testing.assert_allclose(held.covariance[:3, :3], 0.01 * np.outer(swing, swing), atol=1e-12)


def test_a_fleet_that_nothing_joins_has_no_joints():
    assert joints_of(FLEET) is D
    with pytest.raises(ValueError, match="nothing joins this fleet"):
        joints_of(FLEET.alone(0))

# SPDX-License-Identifier: BSD-3-Clause
"""Centres of rigid fleets and paths of odometries, with places and velocities worked out by hand."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.virpo.drift import outputs
from iap_estimation.virpo.drift.outputs import OdometrySample
from iap_estimation.virpo.drift.path import OdometryPath
from iap_estimation.virpo.drift.spec import load_spec
from iap_estimation.virpo.drift.state import DriftState
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Estimate

UP = np.array([0.0, 0.0, 1.0])
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
SPEC = load_spec()
D = np.array([[0.5, 0.1, 0.0], [-0.4, 0.3, 0.2], [0.2, -0.6, -0.1]])
ARMS = np.array([[0.1, 0.2, 0.3], [0.0, -0.2, 0.1], [0.3, 0.0, -0.05]])
FLEET = Fleet(
    tuple(AircraftModel(f"{a}", None, np.zeros(5), p_BJ_B=ARMS[a]) for a in range(3)), d=D
)
W_B0, W = np.array([0.3, -0.2, 0.5]), np.array([[0.4, 0.1, -0.7], [-0.3, 0.8, 0.2], [0.6, 0.5, 0.9]])  # fmt: skip
P_0, V_0 = np.array([1.0, 2.0, 3.0]), np.array([0.7, -0.4, 0.2])


def estimate(t, p, q=LEVEL, v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0)):
    return Estimate(
        t, np.array(p), q, np.array(v), np.full(3, 0.1), np.full(3, 0.2), np.eye(15), np.array(w)
    )


def rigid():
    """A filter's state that knows the truth, and the odometries of aircraft on a body that moves."""
    made, rng = DriftState(FLEET, SPEC), np.random.default_rng(5)
    made.x[:], made.pivots[:] = rng.normal(size=(3, 4)), rng.normal(size=(3, 3))
    made.centre[:4] = so3.quaternion_exp(np.array([0.1, -0.2, 0.7]))
    R_0, told, true = so3.matrix_from_quaternion(made.centre[:4]), {}, []
    for a in range(3):
        q = so3.quaternion_exp(rng.normal(size=3))
        R = so3.matrix_from_quaternion(q)
        p = P_0 + R_0 @ D[a] - R @ ARMS[a]
        v = V_0 + R_0 @ np.cross(W_B0, D[a]) - R @ np.cross(W[a], ARMS[a])
        true.append((p, q, v))
        back = so3.quaternion_exp(-made.x[a, 3] * UP)
        p_O = made.pivots[a] + so3.rotate(back, p - made.x[a, :3])
        q_O, v_O = so3.multiply(back, q), so3.rotate(back, v)
        told[a] = OdometrySample(
            2.0, np.r_[2.0, p_O, q_O, v_O, W[a]], estimate(2.0, p_O, q_O, v_O, W[a])
        )
    return made, told, true


@pytest.mark.parametrize("heard", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_a_rigid_fleets_centre_is_where_each_of_its_aircraft_says(heard):
    made, told, _ = rigid()
    found = outputs.middle_of(made, FLEET, {a: told[a] for a in heard}, W_B0, SPEC)
    np.testing.assert_allclose(found.p, P_0, atol=1e-12)
    np.testing.assert_allclose(found.v, V_0, atol=1e-12)


def test_aircraft_of_a_rigid_fleet_are_where_they_are_with_and_without_odometry():
    made, told, true = rigid()
    middle = outputs.middle_of(made, FLEET, {0: told[0], 2: told[2]}, W_B0, SPEC)
    for a, (p, q, v) in enumerate(true):
        own = outputs.aircraft_estimate(made, a, told[a], 0.0)
        np.testing.assert_allclose(own.p_WB_W, p, atol=1e-12)
        np.testing.assert_allclose(own.v_WB_W, v, atol=1e-12)
        np.testing.assert_allclose(own.q_WB, q, atol=1e-12)
        held = outputs.joined_estimate(2.0, made, FLEET, a, told[a], middle, W_B0)
        np.testing.assert_allclose(held.p_WB_W, p, atol=1e-12)
        np.testing.assert_allclose(held.q_WB, q, atol=1e-12)
        joint = V_0 + so3.rotate(made.centre[:4], np.cross(W_B0, D[a]))
        np.testing.assert_allclose(held.v_WB_W, joint, atol=1e-12)
        assert held.gyro_bias.tolist() == [0.1] * 3 and held.accel_bias.tolist() == [0.2] * 3


def test_a_body_that_nothing_measures_may_have_gone_as_far_as_its_speed():
    last = estimate(1.0, [1.0, 2.0, 3.0], v=(9.0, 9.0, 9.0))
    for t, age in ((0.5, 0.0), (1.0, 0.0), (3.0, 2.0)):
        found = outputs.forgotten(t, last, 4.0)
        C = np.diag(found.covariance)
        np.testing.assert_allclose(C[:3], 1.0 + (4.0 * age) ** 2)
        np.testing.assert_allclose(C[3:6], 1.0 + (outputs.UNSEEN_RATE * age) ** 2)
        np.testing.assert_allclose(C[6:9], 1.0 + 16.0)
        assert np.isnan(found.covariance[9:]).all() and np.isnan(found.covariance[:, 9:]).all()
        assert found.t == t and not found.v_WB_W.any() and found.p_WB_W.tolist() == [1, 2, 3]


# paths


def cubic(t):
    """Place and velocity of a path that is a cubic of time."""
    c = np.array([[1.0, 2.0, -1.0], [0.5, -0.3, 0.2], [3.0, 1.0, -2.0], [-4.0, 2.0, 5.0]])
    return c[0] + c[1] * t + c[2] * t**2 + c[3] * t**3, c[1] + 2.0 * c[2] * t + 3.0 * c[3] * t**2


def path(*times, gap=0.5):
    made = OdometryPath(gap)
    for t in times:
        p, v = cubic(t)
        made.add(estimate(t, p, so3.quaternion_exp(2.0 * t * UP), v))
    return made


@pytest.mark.parametrize("t", [0.1, 0.13, 0.25, 0.4, 0.55])
def test_a_cubic_way_with_a_steady_turn_is_met_between_odometries(t):
    made = path(0.1, 0.4, 0.6)
    found = made.at(t)
    np.testing.assert_allclose(found[1:4], cubic(t)[0], atol=1e-12)
    np.testing.assert_allclose(found[4:8], so3.quaternion_exp(2.0 * t * UP), atol=1e-12)
    np.testing.assert_allclose(found[11:], [0.0, 0.0, 2.0], atol=1e-9)
    a, b = (0.1, 0.4) if t <= 0.4 else (0.4, 0.6)
    share = (t - a) / (b - a)
    expected = (1.0 - share) * cubic(a)[1] + share * cubic(b)[1]
    np.testing.assert_allclose(found[8:11], expected, atol=1e-12)
    tip, pivot = np.array([0.3, 0.1, 0.2]), np.array([1.0, 0.0, 4.0])
    (point,) = made.points(np.array([t]), tip, pivot)
    np.testing.assert_allclose(point, found[1:4] - pivot + so3.rotate(found[4:8], tip), atol=1e-12)


@pytest.mark.parametrize(("apart", "is_known"), [(0.49, True), (0.51, False)])
def test_a_path_is_not_known_in_a_gap_but_at_its_ends(apart, is_known):
    made = path(0.2, 0.2 + apart)
    assert (made.at(0.3) is not None) == is_known
    assert np.isfinite(made.points(np.array([0.3]), np.zeros(3), np.zeros(3))).all() == is_known
    for end in (0.2, 0.2 + apart):
        assert made.at(end) is not None and (made.at(end)[13] > 0.0) == is_known
    for outside in (0.198, 0.202 + apart):
        assert made.at(outside) is None
    for near in (0.1991, 0.2009 + apart):
        assert made.at(near) is not None


def test_a_lone_odometry_is_a_pose_without_a_turn():
    row, (p, v) = path(0.3).at(0.3005), cubic(0.3)
    np.testing.assert_allclose(row[:11], [0.3, *p, *so3.quaternion_exp(0.6 * UP), *v])
    assert row[11:].tolist() == [0.0] * 3
    assert path(0.3).at(0.298) is None and path(0.3).at(0.302) is None and path().at(0.0) is None


@pytest.mark.parametrize(
    ("off", "refused"), [(0.0009, 1), (-0.0009, 1), (0.0011, 0), (-0.0011, 0)]
)
def test_odometries_within_a_millisecond_are_one(off, refused):
    assert path(0.1, 0.2, 0.3, 0.2 + off).refused == refused


def test_a_path_forgets_what_is_before_the_last_odometry_that_is_needed():
    made = path(0.1, 0.2, 0.3, 0.4)
    assert made.newest == 0.4 and path().newest == -np.inf
    assert (made.after(0.2), made.after(0.05), made.after(0.4)) == (0.3, 0.1, None)
    for t, newest in (
        (0.0, 0.1),
        (0.2, 0.2),
        (0.1991, 0.2),
        (0.1989, 0.1),
        (0.29, 0.2),
        (9.0, 0.4),
    ):
        assert made.measured(t).t == newest
    made.forget(0.25)
    assert made.at(0.21) is not None and made.at(0.15) is None and made.measured(0.0).t == 0.2
    made.add(estimate(0.24, [0.0] * 3))
    assert made.refused == 1
    made.add(estimate(0.26, [0.0] * 3))
    made.add(estimate(0.5, [np.nan, 0.0, 0.0]))
    assert made.refused == 2 and made.after(0.25) == 0.26

# SPDX-License-Identifier: BSD-3-Clause
"""The filter of the central body, on few numbers worked out by hand and against differences."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Estimate, Tilt
from iap_estimation.virpo.methods.centre import CentreFilter, _is_whole
from iap_estimation.virpo.spec import load_spec

SPEC = load_spec()
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # about z


def told(t, p=(0.0, 0.0, 0.0), q=LEVEL, v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0), C=None):
    C = np.eye(15) if C is None else C
    return Estimate(t, np.array(p), q, np.array(v), np.zeros(3), np.zeros(3), C, np.array(w))


D = np.array([[0.5, 0.1, -0.1], [-0.4, 0.3, 0.2], [0.1, -0.6, 0.0]])
CREW = Fleet(
    tuple(AircraftModel(f"{a}", None, np.zeros(5), p_BJ_B=np.array([0.1 * a, 0.2, 0.0])) for a in range(3)),
    D, force_noise=np.array([0.02, 0.3]), p_B0I_B0=np.array([0.0, 0.0, 0.4]),
)  # fmt: skip
VARIANCES = np.array([0.01, 0.04, 0.09])


def centre_filter():
    made = CentreFilter(CREW, SPEC)
    made._c[:] = np.r_[so3.quaternion_exp(np.array([0.2, -0.1, 0.5])), 0.01, 0.02, 0.03]
    return made


def test_joints_are_at_the_tips_with_the_mean_of_their_variances():
    C = np.diag([1.0, 2.0, 6.0, *[7.0] * 12])
    told_ = [
        told(0.0, (1.0, 0.0, 0.0), QUARTER, C=C),
        told(0.0, C=np.full((15, 15), np.nan)),
        told(0.0, C=1e-12 * C),
    ]
    p, variances = centre_filter()._joints(told_)
    np.testing.assert_allclose(p, [[0.8, 0.0, 0.0], [0.1, 0.2, 0.0], [0.2, 0.2, 0.0]], atol=1e-12)
    np.testing.assert_allclose(variances, [3.0, 1.0, 1e-8])


def test_velocities_of_joints_have_the_swing_of_their_arms_and_the_unit_that_of_its_own():
    made = centre_filter()
    told_ = [told(0.0, v=(3.0, 0.0, 0.0), w=(0.0, 0.0, 1.5)), told(0.0), told(0.0)]
    np.testing.assert_allclose(made._velocity(told_), [(3.0 - 0.3) / 3.0, 0.0, 0.0])
    tilt = Tilt(0.0, LEVEL, np.array([0.01, 0.02, 1.03]), np.zeros(3))
    v, variance = made._unit(told_, tilt)
    arm = np.array([0.0, 0.0, 0.4]) - D.mean(axis=0)
    np.testing.assert_allclose(
        v - [0.9, 0.0, 0.0], so3.rotate(made._c[:4], np.cross([0.0, 0.0, 1.0], arm))
    )
    assert variance == pytest.approx(9.0 / (3.0 * 9.0))
    assert made._unit([told(0.0, C=np.full((15, 15), np.nan))] * 3, tilt)[1] == 1.0


def residuals(made, of, error):
    """Residuals at a state that is off by an error (9,)."""
    kept = made._c.copy(), made._accel_bias.copy()
    made._c[:4] = so3.multiply(made._c[:4], so3.quaternion_exp(error[:3]))
    made._c[4:] += error[3:6]
    made._accel_bias += error[6:]
    r = of(made)[1]
    made._c[:], made._accel_bias[:] = kept
    return r


def samples_of(count=20):
    rng = np.random.default_rng(5)
    return np.column_stack(
        [
            np.full(count, 0.01),
            0.3 * rng.normal(size=(count, 3)),
            rng.normal(size=(count, 3)) + [0.0, 0.0, 9.81],
        ]
    )


@pytest.mark.parametrize(
    ("of", "tolerance"),
    [
        (lambda made: made._by_joints(np.random.default_rng(1).normal(size=(3, 3)), VARIANCES), 1e-6),
        (lambda made: made._by_force(samples_of(), 0.2, np.array([0.5, 0.2, 0.1]), 0.01), 2e-2),
    ],
    ids=["joints", "force"],
)  # fmt: skip
def test_derivatives_by_attitude_and_bias_are_differences(of, tolerance):
    made = centre_filter()
    J, _ = of(made)
    for i in (0, 1, 2, 6, 7, 8):
        step = 1e-6 * np.eye(9)[i]
        slope = (residuals(made, of, step) - residuals(made, of, -step)) / 2e-6
        np.testing.assert_allclose(J[:, i], slope, atol=tolerance * np.abs(slope).max())
    assert not J[:, 3:6].any()


def test_joints_where_the_centre_has_them_leave_nothing_wherever_it_is():
    made = centre_filter()
    joints = np.array([5.0, 6.0, 7.0]) + so3.rotate(np.tile(made._c[:4], (3, 1)), D)
    J, r = made._by_joints(joints, VARIANCES)
    np.testing.assert_allclose(r, 0.0, atol=1e-12)
    assert J.shape == (9, 9)
    joints[2] += [0.0, 0.0, 0.6]
    share = (1.0 / VARIANCES) / np.sum(1.0 / VARIANCES)
    _, r = made._by_joints(joints, VARIANCES)
    np.testing.assert_allclose(r[[2, 5, 8]] * np.sqrt(VARIANCES), 0.6 * (np.eye(3)[2] - share[2]))


def test_a_force_that_only_carries_the_weight_leaves_nothing():
    made = centre_filter()
    made._c[4:] = 0.0
    up = so3.rotate(so3.conjugate(made._c[:4]), np.array([0.0, 0.0, 9.81]))
    still = np.tile(np.r_[0.01, 0.0, 0.0, 0.0, up], (20, 1))
    made._v[:], made._v_variance = [1.0, 2.0, 3.0], 0.03
    J, r = made._by_force(still, 0.2, np.array([1.0, 2.0, 3.0]), 0.01)
    np.testing.assert_allclose(r, 0.0, atol=1e-9)
    _, r = made._by_force(still, 0.2, np.array([1.1, 2.0, 3.0]), 0.01)
    np.testing.assert_allclose(
        r, [-0.1 / np.sqrt(0.01 + 0.03 + 0.2 * 0.02**2), 0.0, 0.0], atol=1e-9
    )
    assert J.shape == (3, 9)


@pytest.mark.parametrize(("size", "weight"), [(1.0, 1.0), (5.0, 1.0), (20.0, 0.25)])
def test_a_correction_is_one_of_information_with_hubers_weight(size, weight):
    made = centre_filter()
    made._P[:] = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0])
    before = made._c.copy()
    J = np.zeros((1, 9))
    J[0, 6] = 0.5
    made._correct(J, np.array([size]))
    # The variance 4 with information 0.25 w more; the limit is 5 deviations.
    P = 1.0 / (0.25 + 0.25 * weight)
    assert made._P[6, 6] == pytest.approx(P)
    assert made._accel_bias[0] == pytest.approx(-P * weight * 0.5 * size)
    np.testing.assert_allclose(made._c, before)
    J = np.zeros((2, 9))
    J[0, 2], J[1, 4] = 1.0, 1.0
    made._correct(J, np.array([0.2, 0.4]))
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(before[:4]), made._c[:4]))
    np.testing.assert_allclose(turn, [0.0, 0.0, -0.1], atol=1e-12)
    np.testing.assert_allclose(made._c[4:] - before[4:], [0.0, -0.2, 0.0], atol=1e-12)
    made._correct(np.zeros((1, 9)), np.zeros(1))


@pytest.mark.parametrize(
    ("lengths", "is_whole"),
    [([0.1, 0.1], True), ([0.1, 0.0992], True), ([0.1, 0.0988], False), ([0.101, 0.099], False)],
)
def test_samples_are_whole_without_a_gap_or_a_long_one(lengths, is_whole):
    samples = np.zeros((2, 7))
    samples[:, 0] = lengths
    assert _is_whole(samples, 0.2) is is_whole

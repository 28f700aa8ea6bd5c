# SPDX-License-Identifier: BSD-3-Clause
"""A reference whose pose is corrected: it is turned as said, and its rates are the derivatives of what comes out."""

import numpy as np
import pytest

from iap_control.interaction.pose_correction import Correction, revise, revise_euler
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W

H = 1e-4
START = so3.quaternion_exp(np.array([0.2, -0.3, 0.5]))
W, ALPHA = np.array([0.4, -0.6, 0.3]), np.array([0.2, 0.5, -0.7])  # of the uncorrected reference
E, DE, DDE = np.random.default_rng(4).normal(size=(3, 6)) * 0.4


def row_at(t):
    """A moving reference: its rotation vector from the start is w t + alpha t^2 / 2."""
    row = np.zeros(19)
    phi, dphi = t * W + 0.5 * t * t * ALPHA, W + t * ALPHA
    row[REF_P] = [1.0 + 0.3 * t, 2.0 - t * t, 3.0]
    row[REF_V], row[REF_A] = [0.3, -2.0 * t, 0.0], [0.0, -2.0, 0.0]
    row[REF_Q] = so3.multiply(START, so3.quaternion_exp(phi))
    J = so3.right_jacobian(phi)
    row[REF_W] = J @ dphi
    later, before = (
        so3.right_jacobian((t + s) * W + 0.5 * (t + s) ** 2 * ALPHA) @ (W + (t + s) * ALPHA)
        for s in (1e-5, -1e-5)
    )
    row[REF_ALPHA] = (later - before) / 2e-5
    return row


def correction_at(t, size):
    e, de, dde = size * E, size * DE, size * DDE
    return Correction(e + t * de + 0.5 * t * t * dde, de + t * dde, dde)


def revised(function, t, size):
    out = np.zeros(19)
    function(row_at(t), correction_at(t, size), out)
    return out


@pytest.mark.parametrize("function", [revise, revise_euler])
@pytest.mark.parametrize("size", [0.0, 1e-3, 0.02, 1.0, 2.5])
def test_rates_and_accelerations_are_the_derivatives_of_the_revised_pose(function, size):
    before, now, after = (revised(function, t, size) for t in (-H, 0.0, H))
    np.testing.assert_allclose(now[REF_V], (after - before)[REF_P] / (2 * H), atol=1e-6)
    np.testing.assert_allclose(now[REF_A], (after - before)[REF_V] / (2 * H), atol=1e-6)
    turn = so3.multiply(so3.conjugate(before[REF_Q]), after[REF_Q])
    np.testing.assert_allclose(now[REF_W], so3.quaternion_log(turn) / (2 * H), atol=2e-6)
    np.testing.assert_allclose(now[REF_ALPHA], (after - before)[REF_W] / (2 * H), atol=2e-6)


def test_a_turn_is_about_axes_of_the_world_and_a_shift_along_them():
    out = revised(revise, 0.0, 1.0)
    expected = so3.exp(E[3:]) @ so3.matrix_from_quaternion(START)
    np.testing.assert_allclose(so3.matrix_from_quaternion(out[REF_Q]), expected, atol=1e-12)
    np.testing.assert_allclose(out[REF_P], row_at(0.0)[REF_P] + E[:3], atol=1e-12)


def test_corrections_of_euler_angles_add_to_them():
    out = revised(revise_euler, 0.0, 1.0)
    angles = [so3.euler_from_matrix(so3.matrix_from_quaternion(q)) for q in (START, out[REF_Q])]
    np.testing.assert_allclose(angles[1] - angles[0], E[3:], atol=1e-9)


@pytest.mark.parametrize("pitch", [90.0, -90.0, 89.5])
def test_upright_the_rates_of_euler_angles_are_those_beside(pitch):
    """A yaw of 1 rad/s about the vertical is one of Euler angles, too; there is no division by zero."""
    row = np.zeros(19)
    row[REF_Q] = so3.quaternion_from_matrix(so3.matrix_from_euler(np.radians([0.0, pitch, 0.0])))
    row[REF_W] = [0.0, 0.2, 0.01]
    out = np.zeros(19)
    revise_euler(row, Correction.none(), out)
    assert np.isfinite(out).all() and np.abs(out[REF_ALPHA]).max() < 0.2
    assert abs(out[REF_W][1]) == pytest.approx(0.2, abs=1e-3)

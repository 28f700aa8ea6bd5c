# SPDX-License-Identifier: BSD-3-Clause
"""Terms of the central body in a joint window: first information, tilts, and its covariance against differences."""

import numpy as np
import pytest
from synthetic_fleet import fleet_of

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States, retract
from iap_estimation.virpo.spec import load_spec
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.rigid_terms import RigidTerms

SPEC = load_spec()
FLEET = fleet_of(2, joint=(0.1, -0.05, 0.2))
W_B0 = np.array([0.3, -0.2, 0.5])
TILTED = so3.quaternion_exp(np.array([0.2, -0.3, 0.4]))


def joined():
    """States of one keyframe of two aircraft whose joints are where the centre has them, up to a little."""
    states, rng = States.empty(1, 2, centre=True), np.random.default_rng(2)
    states.x[0, :, 7:] = rng.normal(size=(2, 9))
    states.x[0, :, 3:7] = so3.quaternion_exp(rng.normal(size=(2, 3)))
    arms = so3.rotate(states.x[0, :, 3:7], np.array([model.p_BJ_B for model in FLEET.aircraft]))
    tips = so3.rotate(np.tile(TILTED, (2, 1)), FLEET.d) + [1.0, 2.0, 3.0]
    states.x[0, :, :3] = tips - arms
    return states


def begun(states):
    terms = RigidTerms(FLEET, SPEC)
    terms.set_attitude(TILTED)
    H = np.zeros((states.size, states.size))
    terms.begin(states, SPEC.restart, H)
    return terms, H


def test_the_centre_begins_at_the_joints_with_its_tilt_and_yaw_about_the_worlds_axes():
    states = joined()
    terms, H = begun(states)
    off = so3.multiply(so3.conjugate(TILTED), states.centre[0, 0, :4])
    np.testing.assert_allclose(so3.quaternion_log(off), 0.0, atol=1e-9)
    at = states.stride - 6
    block = H[at : at + 3, at : at + 3]
    up = so3.rotate(so3.conjugate(TILTED), np.array([0.0, 0.0, 1.0]))
    across = np.cross(up, [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    rigid = SPEC.rigid
    assert up @ block @ up == pytest.approx(np.deg2rad(rigid.yaw_start_deg) ** -2)
    assert across @ block @ across == pytest.approx(np.deg2rad(rigid.tilt_start_deg) ** -2)
    np.testing.assert_allclose(np.diag(H)[at + 3 : at + 6], SPEC.restart.gyro_bias**-2)
    assert not H[:at, :at].any() and terms.count() == 2


def test_a_keyframe_brings_its_turn_and_its_tilt_once():
    states = joined()
    terms, _ = begun(states)
    turns = np.array([[0.1, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0, 1.0]])
    samples = (np.array([[0.2, *[0.0] * 6]]),) * 2
    none = (np.zeros((0, 7)),) * 2
    one = Interval(samples, frozenset(), none, turns, TILTED[None], np.zeros((0, 1)))
    longer = states.extended()
    terms.enter(0, one, longer)
    turn = so3.multiply(so3.conjugate(longer.centre[0, 0, :4]), longer.centre[1, 0, :4])
    np.testing.assert_allclose(so3.quaternion_log(turn), [0.0, 0.0, 0.2], atol=1e-9)
    assert terms.count() == 4
    terms.enter(0, one, longer)  # the same keyframe again, as where intervals are joined
    assert terms.count() == 4


def test_the_centres_covariance_is_that_of_its_states_by_the_derivative():
    states = joined()
    terms, _ = begun(states)
    states.alignment[:] = [[0.1, -0.2, 0.3, 0.4], [0.0, 0.2, -0.1, -0.6]]
    states.centre[0, 0, 4:] = [0.02, 0.01, -0.03]
    rng, size = np.random.default_rng(7), states.size
    root = rng.normal(size=(size, size))
    covariance = 0.01 * root @ root.T
    found = terms.centre(4.0, states, W_B0, covariance)
    J = np.zeros((9, size))
    for i in range(size):
        ends = []
        for sign in (1.0, -1.0):
            other = states.copy()
            retract(other, sign * 1e-6 * np.eye(size)[i])
            bias = other.centre[0, 0, 4:] - states.centre[0, 0, 4:]
            one = terms.centre(4.0, other, W_B0 + bias, covariance)
            turn = so3.multiply(so3.conjugate(states.centre[0, 0, :4]), one.q_WB)
            ends.append(np.r_[one.p_WB_W, so3.quaternion_log(turn), one.v_WB_W])
        J[:, i] = (ends[0] - ends[1]) / 2e-6
    # Of the velocity the centre's swing is left out: what turns it is known better than what moves it.
    swing = slice(states.stride - 6, states.stride)
    J[6:, swing] = 0.0
    np.testing.assert_allclose(
        found.covariance[:9, :9], J @ covariance @ J.T, rtol=1e-5, atol=1e-7
    )
    at = states.stride - 3
    np.testing.assert_allclose(found.covariance[9:12, 9:12], covariance[at : at + 3, at : at + 3])
    assert np.isnan(found.covariance[12:]).all() and found.t == 4.0
    np.testing.assert_allclose(found.w_B, W_B0 - [0.02, 0.01, -0.03])


def test_the_centre_is_the_mean_of_what_every_joint_says():
    states = joined()
    terms, _ = begun(states)
    states.x[0, :, 7:10] = [[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]
    states.x[0, 0, 2] += 0.02
    states.alignment[:, 0] = 0.5
    found = terms.centre(0.0, states, W_B0, np.eye(states.size))
    np.testing.assert_allclose(found.p_WB_W, [1.5, 2.0, 3.01], atol=1e-9)
    swing = so3.rotate(TILTED, np.cross(W_B0, FLEET.d.mean(axis=0)))
    np.testing.assert_allclose(found.v_WB_W, [2.0, 0.0, 0.0] - swing, atol=1e-9)

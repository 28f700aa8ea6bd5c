# SPDX-License-Identifier: BSD-3-Clause
"""The constraints of a joint window: what joins the aircraft, and how the central body turns."""

import numpy as np
import pytest
from centre_samples import NOISE, measured, rng, turned
from jacobians import along, assert_slopes
from rigid_motion import STAR

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import CENTRE, States, retract
from iap_estimation.virpo.factors.gyro_preintegration import Turn, preintegrate_turn
from iap_estimation.virpo.factors.joint_constraints import (
    JointPositions,
    add_rigid,
    attitude_of_joints,
    contrast_jacobians,
    contrasts,
    rigid_cost,
)
from iap_estimation.virpo.factors.preintegration import interval_at, stack

ALL, OPEN = -1, np.inf
LINE = np.array([[0.0, 0.6, -0.07], [0.0, 0.0, -0.07], [0.0, -0.6, -0.07]])
ARMS = np.array([[0.02, -0.01, 0.05], [0.0, 0.03, 0.04], [-0.02, 0.0, 0.06]])
FRAMES = 4


def rigid_motion(d, neighbours=0):
    """States of keyframes at which all joints are in place, the aircraft's frames laid anywhere."""
    random = rng()
    states = States.empty(FRAMES, 3, neighbours, centre=True)
    states.centre[:, 0, :4] = turned(FRAMES)
    states.alignment[:] = random.normal(size=(3, 4))
    p_0 = random.normal(size=(FRAMES, 3))
    for a, (x, y, z, psi) in enumerate(states.alignment):
        q = so3.quaternion_exp(random.normal(size=(FRAMES, 3)))
        p_WJ = p_0 + so3.rotate(states.centre[:, 0, :4], d[a])
        p_WB = p_WJ - so3.rotate(q, ARMS[a])
        back = so3.quaternion_exp(np.array([0.0, 0.0, -psi]))
        states.x[:, a, :3] = so3.rotate(back, p_WB - [x, y, z])
        states.x[:, a, 3:7] = so3.multiply(back, q)
    return states


def shaken(states, size=0.05):
    """States not quite at their places."""
    out = states.copy()
    retract(out, size * np.random.default_rng(1).normal(size=out.size))
    return out


def no_turns():
    """Intervals so long that they say next to nothing."""
    turns = stack(Turn.empty(), FRAMES - 1)
    turns.root[:] = 0.0
    return turns


def joint_places(states, k):
    """Places of the columns of `contrast_slopes`."""
    aircraft = states.x.shape[1]
    own = [k * states.stride + 15 * a + i for a in range(aircraft) for i in range(6)]
    centre = (k + 1) * states.stride - CENTRE + np.arange(3)
    return np.r_[own, centre, np.arange(FRAMES * states.stride, states.size)]


@pytest.mark.parametrize("d", [STAR, LINE], ids=["star", "line"])
def test_joints_of_a_rigid_motion_leave_no_residual(d):
    states, joints = rigid_motion(d), JointPositions(d, ARMS)
    r = np.empty(6)
    for k in range(FRAMES):
        contrasts(states, k, joints, r)
        assert np.abs(r).max() < 1e-9


@pytest.mark.parametrize("d", [STAR, LINE], ids=["star", "line"])
def test_joint_slopes_are_central_differences(d):
    joints, states = JointPositions(d, ARMS), shaken(rigid_motion(d, neighbours=1))

    def residual(moved):
        r = np.full(6, np.nan)
        contrasts(moved, 1, joints, r)
        return r

    J = np.empty((6, 33))
    contrast_jacobians(states, 1, joints, J)
    whole = np.zeros((6, states.size))
    whole[:, joint_places(states, 1)] = J
    assert_slopes(whole, along(states, residual))


def test_contrasts_weigh_as_independent_errors_of_every_joint():
    joints, states = JointPositions(STAR, ARMS, 0.01), shaken(rigid_motion(STAR))
    r = np.empty(6)
    contrasts(states, 2, joints, r)
    y = []
    for a, (*place, psi) in enumerate(states.alignment):
        x = states.x[2, a]
        about = so3.quaternion_exp(np.array([0.0, 0.0, psi]))
        p_WJ = so3.rotate(about, x[:3] + so3.rotate(x[3:7], ARMS[a])) + place
        y.append(p_WJ - so3.rotate(states.centre[2, 0, :4], STAR[a]))
    off = np.array(y) - np.mean(y, axis=0)
    assert r @ r == pytest.approx(np.sum(off * off) / 0.01**2)


def test_a_line_leaves_the_rotation_about_it_free_and_a_star_none():
    J = np.empty((6, 33))
    for d, rank in ((STAR, 3), (LINE, 2)):
        contrast_jacobians(rigid_motion(d), 0, JointPositions(d, ARMS), J)
        assert np.linalg.matrix_rank(J[:, 18:21], tol=1e-6) == rank


def test_yaw_of_the_joints_with_a_known_tilt_is_the_attitude():
    told = so3.quaternion_exp(np.array([0.1, -0.2, 0.0]))
    q = so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, 2.5])), told)
    for d in (STAR, LINE):
        found = attitude_of_joints(so3.rotate(q, d) + [1.0, 2.0, 3.0], d, told)
        assert abs(found @ q) == pytest.approx(1.0, abs=1e-12)


def everything(d=STAR, width=OPEN):
    """States off their places, and all factors on them."""
    states = shaken(rigid_motion(d, neighbours=1))
    turns = stack(Turn.empty(), FRAMES - 1)
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    for k in range(FRAMES - 1):
        preintegrate_turn(samples, 0.4, np.zeros(3), NOISE, interval_at(turns, k))
    tilts = np.array([np.r_[k, turned(1)[0], 0.02] for k in range(FRAMES)])
    return states, (JointPositions(d, ARMS), turns, tilts, width)


@pytest.mark.parametrize("width", [OPEN, 2.0])
def test_the_gradient_is_that_of_the_cost(width):
    states, factors = everything(width=width)
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = add_rigid(states, *factors, ALL, H, g)
    assert cost == pytest.approx(rigid_cost(states, *factors))
    numeric = along(states, lambda moved: np.array([rigid_cost(moved, *factors)]))[0]
    assert np.abs(g - numeric).max() < 1e-6 * np.abs(numeric).max()


def test_factors_of_all_keyframes_are_those_of_each():
    states, factors = everything(LINE)
    sums = [np.zeros((states.size, states.size)), np.zeros(states.size), 0.0]
    for k in range(FRAMES):
        H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
        cost = add_rigid(states, *factors, k, H, g)
        sums = [total + part for total, part in zip(sums, (H, g, cost), strict=True)]
        beyond = slice((k + 2) * states.stride, FRAMES * states.stride)
        assert not g[beyond].any()
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = add_rigid(states, *factors, ALL, H, g)
    assert np.allclose(sums[0], H, rtol=1e-12)
    assert np.allclose(sums[1], g, rtol=1e-9)
    assert sums[2] == pytest.approx(cost)


def test_the_shaken_attitude_comes_back():
    states, factors = rigid_motion(STAR), everything()[1]
    lost = states.copy()
    step = np.zeros(states.size)
    places = np.array(
        [(k + 1) * states.stride - CENTRE + i for k in range(FRAMES) for i in range(3)]
    )
    step[places] = 0.2 * rng().normal(size=len(places))
    retract(lost, step)
    only_joints = (factors[0], no_turns(), np.zeros((0, 6)), OPEN)
    for _ in range(6):
        H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
        add_rigid(lost, *only_joints, ALL, H, g)
        H += np.tril(H, -1).T
        step = np.zeros(states.size)
        step[places] = -np.linalg.solve(H[np.ix_(places, places)], g[places])
        retract(lost, step)
    assert (
        np.abs(np.sum(lost.centre[:, 0, :4] * states.centre[:, 0, :4], axis=1)).min() > 1 - 1e-12
    )

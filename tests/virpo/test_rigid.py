# SPDX-License-Identifier: BSD-3-Clause
"""The constraints of a joint window: what joins the aircraft, and how the central body turns."""

import numpy as np
import pytest
from synthetic import Flight
from synthetic_crew import NONE, crew_of

from iap_description import so3
from iap_estimation.virpo.rigid import (
    Joints,
    add_rigid,
    attitude_of_joints,
    contrast_slopes,
    contrasts,
    rigid_cost,
)
from iap_estimation.virpo.states import CENTRE, States, retract
from iap_estimation.virpo.turning import (
    Turn,
    Turns,
    predict_turn,
    preintegrate_turn,
    tilting,
    told_deviation,
    turning,
)

ALL, OPEN = -1, np.inf
NOISE = np.array([0.0015, 0.0002])
STAR = np.array([[0.48, 0.0, -0.07], [-0.24, 0.416, -0.07], [-0.24, -0.416, -0.07]])
LINE = np.array([[0.0, 0.6, -0.07], [0.0, 0.0, -0.07], [0.0, -0.6, -0.07]])
ARMS = np.array([[0.02, -0.01, 0.05], [0.0, 0.03, 0.04], [-0.02, 0.0, 0.06]])
FRAMES = 4


def rng():
    return np.random.default_rng(5)


def turned(n):
    """Random attitudes (n, 4)."""
    return so3.quaternion_exp(rng().normal(size=(n, 3)))


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


def everywhere():
    return np.ones((FRAMES, 3), dtype=bool)


def no_turns():
    """Intervals so long that they say next to nothing."""
    turns = Turns.empty(FRAMES - 1)
    turns.root[:] = 0.0
    return turns


def slopes_of(residual, states):
    """Derivative of a residual by a step in all states, central differences."""
    h, columns = 1e-6, []
    for i in range(states.size):
        ends = []
        for sign in (h, -h):
            step = np.zeros(states.size)
            step[i] = sign
            moved = states.copy()
            retract(moved, step)
            ends.append(residual(moved))
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.array(columns).T


def joint_places(states, k):
    """Places of the columns of `contrast_slopes`."""
    crafts = states.x.shape[1]
    own = [k * states.stride + 15 * a + i for a in range(crafts) for i in range(6)]
    centre = (k + 1) * states.stride - CENTRE + np.arange(3)
    return np.r_[own, centre, np.arange(FRAMES * states.stride, states.size)]


def agree(analytic, numeric):
    assert np.abs(analytic - numeric).max() < 1e-6 * np.abs(numeric).max()


@pytest.mark.parametrize("d", [STAR, LINE], ids=["star", "line"])
def test_joints_of_a_rigid_motion_leave_no_residual(d):
    states, joints = rigid_motion(d), Joints(d, ARMS)
    r = np.empty(6)
    for k in range(FRAMES):
        assert contrasts(states, k, joints, everywhere()[k], r) == 6
        assert np.abs(r).max() < 1e-9


@pytest.mark.parametrize("d", [STAR, LINE], ids=["star", "line"])
@pytest.mark.parametrize("there", [(1, 1, 1), (1, 0, 1), (0, 1, 1)])
def test_joint_slopes_are_central_differences(d, there):
    joints, present = Joints(d, ARMS), np.array(there, dtype=bool)
    states, n = shaken(rigid_motion(d, neighbours=1)), 3 * (sum(there) - 1)

    def residual(moved):
        r = np.zeros(6)
        assert contrasts(moved, 1, joints, present, r) == n
        return r[:n]

    J = np.empty((6, 33))
    contrast_slopes(states, 1, joints, present, J)
    whole = np.zeros((n, states.size))
    whole[:, joint_places(states, 1)] = J[:n]
    agree(whole, slopes_of(residual, states))


def test_contrasts_weigh_as_independent_errors_of_every_joint():
    joints, states = Joints(STAR, ARMS, 0.01), shaken(rigid_motion(STAR))
    r = np.empty(6)
    contrasts(states, 2, joints, everywhere()[2], r)
    y = []
    for a, (*place, psi) in enumerate(states.alignment):
        x = states.x[2, a]
        about = so3.quaternion_exp(np.array([0.0, 0.0, psi]))
        p_WJ = so3.rotate(about, x[:3] + so3.rotate(x[3:7], ARMS[a])) + place
        y.append(p_WJ - so3.rotate(states.centre[2, 0, :4], STAR[a]))
    off = np.array(y) - np.mean(y, axis=0)
    assert r @ r == pytest.approx(np.sum(off * off) / 0.01**2)


def test_one_aircraft_alone_says_nothing():
    present = np.array([False, True, False])
    assert contrasts(shaken(rigid_motion(STAR)), 0, Joints(STAR, ARMS), present, np.empty(6)) == 0


def test_a_line_leaves_the_rotation_about_it_free_and_a_star_none():
    J = np.empty((6, 33))
    for d, rank in ((STAR, 3), (LINE, 2)):
        contrast_slopes(rigid_motion(d), 0, Joints(d, ARMS), everywhere()[0], J)
        assert np.linalg.matrix_rank(J[:, 18:21], tol=1e-6) == rank


def test_yaw_of_the_joints_with_a_told_tilt_is_the_attitude():
    told = so3.quaternion_exp(np.array([0.1, -0.2, 0.0]))
    q = so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, 2.5])), told)
    for d in (STAR, LINE):
        found = attitude_of_joints(so3.rotate(q, d) + [1.0, 2.0, 3.0], d, told)
        assert abs(found @ q) == pytest.approx(1.0, abs=1e-12)


def measured(begin, span, bias):
    """Samples of the centre's gyroscope on a flight, with a bias, and its attitude at both ends."""
    flight = Flight.of(duration=2.0, crew=crew_of(1), noise=NONE, points=1)
    told = [t for t in flight.tilt() if begin + 1e-9 < t.t <= begin + span + 1e-9]
    samples = np.array([[0.005, *(t.w_B0 + bias)] for t in told])
    return samples, flight.truth(-1, begin).q_WB, flight.truth(-1, begin + span).q_WB


def test_the_gyroscope_carries_the_attitude_from_one_keyframe_to_the_next():
    bias = np.array([0.01, -0.02, 0.03])
    samples, q_i, q_j = measured(0.5, 0.4, bias)
    z, out = Turn.empty(), np.empty(7)
    preintegrate_turn(samples, 0.4, bias, NOISE, z)
    predict_turn(np.r_[q_i, bias], z, out)
    assert np.linalg.norm(so3.quaternion_log(so3.multiply(so3.conjugate(q_j), out[:4]))) < 1e-5
    r, J, raw = np.empty(6), np.empty((6, 12)), np.empty((6, 13))
    turning(np.r_[q_i, bias], np.r_[q_j, bias], z, r, J, raw)
    assert np.abs(r).max() < 0.02  # deviations


def test_another_bias_is_corrected_for_to_first_order():
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    old, new, out = Turn.empty(), Turn.empty(), np.empty(7)
    bias = np.array([0.004, -0.003, 0.002])
    preintegrate_turn(samples, 0.4, np.zeros(3), NOISE, old)
    preintegrate_turn(samples, 0.4, bias, NOISE, new)
    predict_turn(np.r_[0, 0, 0, 1, bias], old, out)
    off = so3.quaternion_log(so3.multiply(so3.conjugate(new.delta), out[:4]))
    assert np.linalg.norm(off) < 1e-3 * np.linalg.norm(bias * 0.4)


def test_turn_slopes_are_central_differences():
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    z = Turn.empty()
    preintegrate_turn(samples, 0.4, np.array([0.01, 0.0, -0.01]), NOISE, z)
    states = States.empty(2, 1, centre=True)
    states.centre[0, 0] = np.r_[turned(1)[0], 0.02, -0.03, 0.01]
    predict_turn(states.centre[0, 0], z, states.centre[1, 0])
    retract(states, 0.1 * rng().normal(size=states.size))

    def residual(moved):
        r = np.empty(6)
        turning(moved.centre[0, 0], moved.centre[1, 0], z, r, np.empty((6, 12)), np.empty((6, 13)))
        return r

    J = np.empty((6, 12))
    turning(states.centre[0, 0], states.centre[1, 0], z, np.empty(6), J, np.empty((6, 13)))
    numeric = slopes_of(residual, states)
    agree(J, numeric[:, np.r_[15:21, 36:42]])
    assert not numeric[:, np.r_[:15, 21:36, 42:46]].any()


def test_covariance_of_a_turn_is_that_of_many_noisy_ones():
    random, (samples, _, _) = rng(), measured(0.5, 0.2, np.zeros(3))
    noise, span, n = np.array([0.02, 0.3]), 0.2, len(measured(0.5, 0.2, np.zeros(3))[0])
    exact, noisy, errors = Turn.empty(), Turn.empty(), []
    preintegrate_turn(samples, span, np.zeros(3), noise, exact)
    for _ in range(4000):
        walk = np.cumsum(noise[1] * 0.005**0.5 * random.normal(size=(n, 3)), axis=0)
        bias = np.vstack([np.zeros(3), walk])
        told = samples.copy()
        told[:, 1:] += bias[:-1] + noise[0] / 0.005**0.5 * random.normal(size=(n, 3))
        preintegrate_turn(told, span, np.zeros(3), noise, noisy)
        off = so3.quaternion_log(so3.multiply(so3.conjugate(noisy.delta), exact.delta))
        errors.append(exact.root @ np.r_[off, bias[-1]])
    assert np.abs(np.cov(np.array(errors).T) - np.eye(6)).max() < 0.12


def test_what_no_sample_tells_makes_a_turn_uncertain_and_keeps_it_defined():
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    deviations = []
    for part in (samples, samples[:40], samples[:0]):
        z = Turn.empty()
        preintegrate_turn(part, 0.4, np.zeros(3), NOISE, z)
        assert np.isfinite(z.root).all()
        deviations.append(z.covariance[0, 0] ** 0.5)
        assert z.covariance[3, 3] == pytest.approx(NOISE[1] ** 2 * 0.4)
    assert deviations[0] < 0.002
    assert deviations[1] == pytest.approx(0.1, rel=0.01)
    assert deviations[2] == pytest.approx(0.2, rel=0.01)


def tilt_row(q, deviation=0.01):
    return np.r_[0.0, q, deviation]


def test_tilt_is_blind_to_what_both_say_of_the_yaw():
    q = turned(1)[0]
    r, J = np.empty(2), np.empty((2, 3))
    for yaw in (0.0, 1.0, -2.0):
        about = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
        tilting(np.r_[so3.multiply(about, q), 0, 0, 0], tilt_row(q), r, J)
        assert np.abs(r).max() < 1e-12
        vertical = so3.rotate(so3.conjugate(q), np.array([0.0, 0.0, 1.0]))
        assert np.abs(J @ vertical).max() < 1e-12


def test_tilt_measures_angles():
    tipped = so3.quaternion_exp(np.array([0.003, -0.004, 0.0]))
    r, J = np.empty(2), np.empty((2, 3))
    tilting(np.r_[tipped, 0, 0, 0], tilt_row(np.array([0, 0, 0, 1.0])), r, J)
    assert np.linalg.norm(r) == pytest.approx(0.5, rel=1e-4)  # deviations


def test_tilt_slopes_are_central_differences():
    states = States.empty(1, 1, centre=True)
    states.centre[0, 0, :4] = turned(1)[0]
    row = tilt_row(so3.multiply(turned(1)[0], so3.quaternion_exp(np.array([0.1, 0.2, 0.3]))))

    def residual(moved):
        r = np.empty(2)
        tilting(moved.centre[0, 0], row, r, np.empty((2, 3)))
        return r

    J = np.empty((2, 3))
    tilting(states.centre[0, 0], row, np.empty(2), J)
    numeric = slopes_of(residual, states)
    agree(J, numeric[:, 15:18])


def test_a_tilt_told_more_often_counts_less():
    assert told_deviation(0.01, 0.1) == pytest.approx(0.01 * 10**0.5)
    assert told_deviation(0.01, 5.0) == 0.01


def everything(d=STAR, width=OPEN):
    """States off their places, and all factors on them."""
    states = shaken(rigid_motion(d, neighbours=1))
    turns = Turns.empty(FRAMES - 1)
    samples, _, _ = measured(0.5, 0.4, np.zeros(3))
    for k in range(FRAMES - 1):
        preintegrate_turn(samples, 0.4, np.zeros(3), NOISE, turns.at(k))
    tilts = np.array([np.r_[k, turned(1)[0], 0.02] for k in range(FRAMES)])
    return states, (Joints(d, ARMS), everywhere(), turns, tilts, width)


@pytest.mark.parametrize("width", [OPEN, 2.0])
def test_the_gradient_is_that_of_the_cost(width):
    states, factors = everything(width=width)
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = add_rigid(states, *factors, ALL, H, g)
    assert cost == pytest.approx(rigid_cost(states, *factors))
    numeric = slopes_of(lambda moved: np.array([rigid_cost(moved, *factors)]), states)[0]
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
    only_joints = (*factors[:2], no_turns(), np.zeros((0, 6)), OPEN)
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

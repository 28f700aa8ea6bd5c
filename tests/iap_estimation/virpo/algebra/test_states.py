# SPDX-License-Identifier: BSD-3-Clause
"""States, matrices and solutions of the window."""

import numpy as np
import pytest
from jacobians import some_states

from iap_description.math import so3
from iap_description.math.kernels import mv
from iap_estimation.virpo.algebra import matrices as tuples
from iap_estimation.virpo.algebra.normal_equations import accumulate, run
from iap_estimation.virpo.algebra.solution import solve
from iap_estimation.virpo.algebra.states import (
    ALIGNMENT,
    States,
    covariance_in_world,
    difference,
    in_world,
    retract,
    vertical,
)

SHAPES = [(3, 1, 0, False), (2, 3, 0, True), (4, 1, 2, True), (2, 2, 1, False)]
RNG = np.random.default_rng(0)
M, N = RNG.normal(size=(2, 3, 3))
A = RNG.normal(size=3)
SIZES = [0.0, 1e-9, 0.9e-4, 1.1e-4, 0.9e-3, 1.1e-3, 0.1, 1.0, 3.0]  # series end between them
NONE = np.zeros((0, 9), dtype=np.int64)


def states_of(shape: tuple) -> States:
    frames, aircraft, neighbours, centre = shape
    return some_states(frames, aircraft, neighbours=neighbours, centre=centre)


@pytest.mark.parametrize("shape", SHAPES)
def test_difference_tells_the_step_that_was_taken(shape):
    base = states_of(shape)
    step = 0.3 * np.random.default_rng(1).normal(size=base.size)
    there, told = base.copy(), np.empty(base.size)
    retract(there, step)
    difference(there, base, told)
    assert np.allclose(told, step, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_difference_leads_from_one_to_the_other(shape):
    base, goal = states_of(shape), states_of(shape)
    retract(goal, np.random.default_rng(2).normal(size=base.size))
    step = np.empty(base.size)
    difference(goal, base, step)
    retract(base, step)
    for mine, theirs in zip(base, goal, strict=True):
        assert np.allclose(np.abs(mine), np.abs(theirs), atol=1e-12)
    again = np.empty(base.size)
    difference(goal, base, again)
    assert np.abs(again).max() < 1e-12


def test_a_rotation_turns_in_the_body():
    states = states_of((1, 1, 0, False))
    before = states.x[0, 0, 3:7].copy()
    step = np.zeros(states.size)
    step[3:6] = 0.1, -0.2, 0.3
    retract(states, step)
    turned = so3.multiply(before, so3.quaternion_exp(step[3:6]))
    assert np.allclose(states.x[0, 0, 3:7], turned, atol=1e-14)


def test_places_are_in_the_order_that_the_docstring_says():
    states = states_of((2, 2, 1, True))
    assert states.stride == 2 * 15 + 4 + 6
    assert states.size == 2 * states.stride + 2 * 4
    places = {
        0: states.x[0, 0, 0:1],
        15 + 6: states.x[0, 1, 7:8],
        states.stride + 9: states.x[1, 0, 10:11],
        states.stride + 15 + 12: states.x[1, 1, 13:14],
        30: states.drift[0, 0, 0:1],
        states.stride + 34 + 3: states.centre[1, 0, 4:5],
        2 * states.stride + 4 + 3: states.alignment[1, 3:4],
    }
    for place, view in places.items():
        step = np.zeros(states.size)
        step[place] = 0.25
        before = view.copy()
        retract(states, step)
        assert np.allclose(view - before, 0.25), place


def test_longer_states_are_compared_over_what_both_have():
    long = states_of((4, 1, 1, True))
    base = long.first(2).copy()
    step = 0.1 * np.random.default_rng(3).normal(size=base.size)
    retract(long.first(2), step)
    told = np.empty(base.size)
    difference(long, base, told)
    assert np.allclose(told, step, atol=1e-12)


def test_the_first_keyframes_are_views_and_copies_are_not():
    states = states_of((3, 2, 0, True))
    states.first(2).x[1, 1, 0] = 7.0
    assert states.x[1, 1, 0] == 7.0
    states.copy().x[0, 0, 0] = 9.0
    assert states.x[0, 0, 0] != 9.0


def test_without_a_keyframe_the_others_move_up():
    states = states_of((3, 2, 1, True))
    left = states.without(1)
    for mine, theirs in zip(left[:3], states[:3], strict=True):
        assert np.array_equal(mine, theirs[[0, 2]])
    assert np.array_equal(left.alignment, states.alignment)
    left.alignment[:] = 0.0
    assert states.alignment.any()


def test_values_are_taken_over_in_place():
    states, other = (
        states_of((2, 1, 1, True)),
        some_states(2, 1, neighbours=1, centre=True, seed=5),
    )
    view = states.first(1)
    states.assign(other)
    assert np.array_equal(view.x[0], other.x[0])


def tup(a: np.ndarray) -> tuple:
    return tuple(a.ravel().tolist())


def arr(M: tuple) -> np.ndarray:
    return np.array(M).reshape(3, 3)


def turn(size: float) -> np.ndarray:
    return size * np.array([0.6, -0.48, 0.64])


def test_products():
    assert np.allclose(mv(tup(M), tup(A)), M @ A)
    assert np.allclose(tuples.mtv(tup(M), tup(A)), M.T @ A)
    assert np.allclose(arr(tuples.mm(tup(M), tup(N))), M @ N)
    assert np.allclose(arr(tuples.mtm(tup(M), tup(N))), M.T @ N)
    assert np.allclose(arr(tuples.ma(tup(M), tuples.ms(2.0, tup(N)))), M + 2.0 * N)
    assert np.allclose(arr(tuples.skew(tup(A))), so3.hat(A))
    assert np.allclose(arr(tuples.mskew(tup(M), tup(A))), M @ so3.hat(A))
    assert np.allclose(arr(tuples.transpose(tup(M))), M.T)
    assert np.allclose(arr(tuples.about_z(0.3)), so3.exp(np.array([0, 0, 0.3])))


def test_blocks():
    J = np.zeros((5, 6))
    tuples.put_block(J, 1, 2, tup(M), -2.0)
    assert np.allclose(J[1:4, 2:5], -2.0 * M) and np.count_nonzero(J) == 9
    assert np.allclose(arr(tuples.block(J, 1, 2)), -2.0 * M)
    assert np.allclose(arr(tuples.block(M, 0, 0)), M)


@pytest.mark.parametrize("size", SIZES)
def test_exponential(size):
    q = np.array(tuples.qexp(tup(turn(size))))
    assert np.allclose(q, so3.quaternion_exp(turn(size)), rtol=0.0, atol=1e-15)
    assert np.allclose(arr(tuples.matrix(tup(q))), so3.exp(turn(size)), rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("size", SIZES)
def test_jacobians_on_both_sides_of_their_series(size):
    """J_r by its integral: the mean of exp(-s a) over s from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    means = so3.exp(-0.5 * (nodes[:, None] + 1.0) * turn(size))
    expected = np.einsum("k,kij->ij", 0.5 * weights, means)
    ours = arr(tuples.right_jacobian(tup(turn(size))))
    inverse = arr(tuples.right_jacobian_inverse(tup(turn(size))))
    assert np.allclose(ours, expected, rtol=0.0, atol=1e-11)
    assert np.allclose(inverse @ expected, np.eye(3), rtol=0.0, atol=1e-11)


def test_factors_add_up_and_are_solved_and_damped():
    rng = np.random.default_rng(0)
    J, r = rng.normal(size=(20, 6)), rng.normal(size=20)
    H, g, places = np.zeros((8, 8)), np.zeros(8), np.empty(6, dtype=np.int64)
    run(1, 3, places, 0)
    run(5, 3, places, 3)
    accumulate(H, g, places, J, r)
    assert np.array_equal(H, np.tril(H)) and not H[4].any() and not g[4]
    inner = H[np.ix_(places, places)]
    step, root = solve(inner.copy(), g[places], 0.0, NONE)
    assert np.allclose(step, -np.linalg.lstsq(J, r, rcond=None)[0])
    assert np.allclose(root @ root.T, J.T @ J)
    damped, _ = solve(inner, g[places], 0.5, NONE)
    full = J.T @ J + 0.5 * np.diag(np.diag(J.T @ J))
    assert np.allclose(damped, -np.linalg.solve(full, J.T @ r))


def window_information(shape: tuple, is_dense: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H, g and the early blocks of a window whose motions touch their neighbours only, or all."""
    states = some_states(shape[0], shape[1], neighbours=shape[2], centre=shape[3])
    rng, stride = np.random.default_rng(1), states.stride
    J = rng.normal(size=(3 * states.size, states.size))
    if not is_dense:  # a row is of one pair of keyframes, and of the poses and alignments
        of_motion = np.zeros(states.size, dtype=bool)
        of_motion[states.inner_motions()] = True
        for k, row in enumerate(J):
            begin = (k % (shape[0] - 1)) * stride
            there = np.arange(states.size)
            row[of_motion & ((there < begin) | (there >= begin + 2 * stride))] = 0.0
    J *= 10.0 ** rng.uniform(-1, 1, states.size)
    return J.T @ J, J.T @ rng.normal(size=len(J)), states.inner_motions()


@pytest.mark.parametrize("is_dense", [False, True])
@pytest.mark.parametrize(
    "shape", [(5, 1, 0, False), (4, 3, 0, True), (4, 1, 2, False), (2, 1, 0, False)]
)
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_blocks_that_go_first_change_neither_step_nor_marginals(shape, is_dense, damping):
    H, g, early = window_information(shape, is_dense)
    full = H + damping * np.diag(np.diag(H))
    step, root = solve(np.tril(H), g.copy(), damping, early)
    assert np.allclose(step, -np.linalg.solve(full, g), rtol=1e-8)
    late = np.delete(np.arange(len(g)), early.ravel())
    marginal = np.linalg.inv(full)[np.ix_(late, late)]
    assert np.allclose(np.linalg.inv(root @ root.T), marginal, rtol=1e-6, atol=1e-12)
    assert len(late) == len(g) - 9 * shape[1] * max(0, shape[0] - 2)


@pytest.mark.parametrize("early", [NONE, np.array([[1]])])
def test_equations_without_a_solution_are_refused(early):
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.diag([1.0, -1e-3]), np.ones(2), 0.0, early)


def in_world_step(state: np.ndarray, base: np.ndarray) -> np.ndarray:
    """The step (15,) between two states (16,) of one aircraft."""
    step, one = np.empty(15 + ALIGNMENT), States.empty(1, 1)
    both = [States(row[None, None], one.drift, one.centre, one.alignment) for row in (state, base)]
    difference(*both, step)
    return step[:15]


@pytest.mark.parametrize("a", [0, 2])
def test_a_covariance_goes_into_the_map_by_the_derivative_of_the_state_there(a):
    aircraft, h = 3, 1e-6
    states = some_states(1, aircraft)
    size, rng = states.size, np.random.default_rng(5)
    half = rng.normal(size=(size, size))
    C = half @ half.T
    base, J = in_world(states.x[0, a], states.alignment[a]), np.empty((15, size))
    for k in range(size):
        sides = []
        for sign in (h, -h):
            moved, step = states.copy(), np.zeros(size)
            step[k] = sign
            retract(moved, step)
            sides.append(in_world_step(in_world(moved.x[0, a], moved.alignment[a]), base))
        J[:, k] = (sides[0] - sides[1]) / (2.0 * h)
    found = covariance_in_world(C, a, states.x[0], states.alignment[a])
    np.testing.assert_allclose(found, J @ C @ J.T, atol=1e-6)


def test_a_state_in_the_map_is_turned_about_the_vertical_and_shifted():
    row, place = some_states(1, 1).x[0, 0], np.array([1.0, -2.0, 3.0, 0.7])
    there, turn = in_world(row, place), so3.quaternion_exp(np.array([0.0, 0.0, 0.7]))
    np.testing.assert_allclose(there[:3], so3.rotate(turn, row[:3]) + place[:3], atol=1e-12)
    np.testing.assert_allclose(there[3:7], so3.multiply(turn, row[3:7]), atol=1e-12)
    np.testing.assert_allclose(there[7:10], so3.rotate(turn, row[7:10]), atol=1e-12)
    np.testing.assert_array_equal(there[10:], row[10:])
    up = so3.rotate(so3.conjugate(row[3:7]), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(vertical(row[3:7]), up, atol=1e-12)

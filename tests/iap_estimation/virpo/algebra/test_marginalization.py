# SPDX-License-Identifier: BSD-3-Clause
"""Marginalization: the information that states leave behind when they go."""

import numpy as np
import pytest
from jacobians import along, some_states

from iap_estimation.virpo.algebra.marginalization import Prior, eliminate, mirror
from iap_estimation.virpo.algebra.states import States, difference, retract


def information(n: int, seed: int = 0) -> np.ndarray:
    """Positive definite, its places of as different size as metres and biases are."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 2 * n)) * 10.0 ** rng.uniform(-1, 3, (n, 1))
    return A @ A.T


@pytest.mark.parametrize("out", [slice(0, 4), slice(3, 7), slice(8, 11)])
def test_what_remains_has_the_marginal_mean_and_covariance(out):
    H, g = information(11), np.random.default_rng(1).normal(size=11)
    stay = np.r_[0 : out.start, out.stop : 11]
    left, slope = eliminate(H, g, out)
    whole = np.linalg.inv(H)
    size = np.sqrt(np.diag(whole))[stay]
    assert np.allclose(
        np.linalg.inv(left) / np.outer(size, size),
        whole[np.ix_(stay, stay)] / np.outer(size, size),
        atol=1e-9,
    )
    mean = -whole @ g
    assert np.allclose(-np.linalg.solve(left, slope) / size, mean[stay] / size, atol=1e-9)
    assert np.array_equal(left, left.T)


def test_the_remaining_cost_is_the_least_over_what_went():
    H, g = information(8), np.random.default_rng(2).normal(size=8)
    left, slope = eliminate(H, g, slice(0, 3))
    constant = -0.5 * g[:3] @ np.linalg.solve(H[:3, :3], g[:3])
    for seed in range(3):
        stay = np.random.default_rng(seed).normal(size=5)
        gone = -np.linalg.solve(H[:3, :3], g[:3] + H[:3, 3:] @ stay)
        x = np.r_[gone, stay]
        least = g @ x + 0.5 * x @ H @ x
        assert slope @ stay + 0.5 * stay @ left @ stay + constant == pytest.approx(least, rel=1e-9)


def test_in_any_order_and_at_once_the_same_remains():
    H, g = information(10), np.random.default_rng(3).normal(size=10)
    once = eliminate(H, g, slice(0, 6))
    twice = eliminate(*eliminate(H, g, slice(3, 6)), slice(0, 3))
    assert all(np.allclose(a, b, rtol=1e-8) for a, b in zip(once, twice, strict=True))


def test_directions_of_which_nothing_is_known_leave_nothing():
    """Four of the places that go, of which only one combination of two is told, and one not at all."""
    rng = np.random.default_rng(4)
    J = rng.normal(size=(6, 8))
    J[:, 3] = 0.0
    J[:, 2] = 2.0 * J[:, 1]
    r = rng.normal(size=6)
    H, g = J.T @ J, J.T @ r
    left, slope = eliminate(H, g, slice(0, 4))
    told = [0, 1, 4, 5, 6, 7]
    expected = eliminate(H[np.ix_(told, told)], g[told], slice(0, 2))
    assert np.allclose(left, expected[0], atol=1e-9)
    assert np.allclose(slope, expected[1], atol=1e-9)


@pytest.mark.parametrize("rounding", [1e-13, -1e-13, 0.0])
def test_rounding_where_nothing_is_known_does_not_become_knowledge(rounding):
    """A place whose information was taken away again, to the last digits."""
    H, g = information(8), np.random.default_rng(5).normal(size=8)
    H[2], H[:, 2], g[2] = 1e-13, 1e-13, 1e-13
    H[2, 2] = rounding
    left, slope = eliminate(H, g, slice(0, 4))
    told = [0, 1, 3, 4, 5, 6, 7]
    expected = eliminate(H[np.ix_(told, told)], g[told], slice(0, 3))
    assert np.allclose(left, expected[0], rtol=1e-6) and np.allclose(slope, expected[1], rtol=1e-6)


def test_the_lower_triangle_is_copied_up():
    H = np.tril(np.random.default_rng(0).normal(size=(5, 5)))
    expected = H + np.tril(H, -1).T
    mirror(H)
    assert np.array_equal(H, expected)


SHAPES = [(2, 1, 0, False), (2, 3, 0, True), (1, 1, 2, True)]


def some_prior(shape: tuple, seed: int = 0) -> Prior:
    """Around some states, its minimum elsewhere."""
    frames, aircraft, neighbours, centre = shape
    base = some_states(frames, aircraft, neighbours=neighbours, centre=centre)
    g = 100.0 * np.random.default_rng(seed).normal(size=base.size)
    return Prior.of(information(base.size, seed), g, base)


def later(prior: Prior, frames: int, size: float) -> States:
    """States with more keyframes, moved away from the prior's."""
    _, aircraft, neighbours = (
        prior.base.x.shape[0],
        prior.base.x.shape[1],
        prior.base.drift.shape[1],
    )
    centre = prior.base.centre.shape[1] > 0
    states = some_states(frames, aircraft, neighbours=neighbours, centre=centre, seed=8)
    n = len(prior.base.x)
    states.first(n).assign(prior.base)
    retract(states, size * np.random.default_rng(7).normal(size=states.size))
    return states


def added(prior: Prior, states: States) -> tuple[np.ndarray, np.ndarray, float]:
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = prior.add(states, H, g)
    return np.tril(H) + np.tril(H, -1).T, g, cost


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [0.0, 1e-8, 0.01, 0.3])
def test_the_gradient_of_a_prior_is_the_derivative_of_its_cost(shape, size):
    """States have moved since, and keyframes have come."""
    prior = some_prior(shape)
    states = later(prior, shape[0] + 2, size)
    _, g, cost = added(prior, states)
    assert cost == pytest.approx(prior.cost(states), rel=1e-12, abs=1e-12)
    numerical = along(states, lambda there: np.array([prior.cost(there)]), 1e-3)[0]
    assert np.allclose(g, numerical, rtol=0.0, atol=1e-6 * np.abs(g).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_the_information_of_a_prior_is_the_curvature_of_its_cost(shape):
    """Of the quadratic, in what a step changes: with J the derivative of xi, J^T H J."""
    prior = some_prior(shape)
    states = later(prior, shape[0] + 1, 0.2)
    H, _, _ = added(prior, states)
    flat = Prior.of(prior.H, np.zeros_like(prior.g), prior.base)
    root = np.linalg.cholesky(prior.H).T

    def residual(there: States) -> np.ndarray:
        xi = np.empty(len(prior.g))
        difference(there, prior.base, xi)
        return root @ xi

    J = along(states, residual)
    assert flat.cost(states) == pytest.approx(0.5 * residual(states) @ residual(states))
    size = np.sqrt(np.maximum(np.diag(J.T @ J), 1e-12))
    assert np.abs((H - J.T @ J) / np.outer(size, size)).max() < 1e-8


def test_states_that_have_not_moved_get_the_prior_as_it_is():
    prior = some_prior((2, 2, 0, True))
    H, g, cost = added(prior, prior.base.copy())
    assert np.allclose(H, prior.H, rtol=1e-14) and np.allclose(g, prior.g, rtol=1e-12)
    assert abs(cost) < 1e-12


def test_without_a_keyframe_a_prior_says_the_same_of_the_others():
    """The least of its cost over the one that went: seen by solving for all, or for what remains."""
    prior = some_prior((3, 2, 0, True))
    left, stride = prior.without(1), prior.base.stride
    stay = np.r_[0:stride, 2 * stride : len(prior.g)]
    mean = -np.linalg.solve(prior.H, prior.g)
    assert np.allclose(-np.linalg.solve(left.H, left.g), mean[stay], rtol=1e-6)
    assert len(left.base.x) == 2 and np.array_equal(left.base.x, prior.base.x[[0, 2]])


def test_a_window_that_has_lost_its_oldest_keyframe_has_the_same_least_squares():
    """Linear measurements, some of the first keyframe: solved with it, or with the prior that it left."""
    states = some_states(3, 1)
    rng = np.random.default_rng(6)
    J = rng.normal(size=(80, states.size)) * 10.0 ** rng.uniform(-1, 2, states.size)
    J[:40, 30:45] = 0.0  # of keyframes 0 and 1 and the alignment
    J[40:, :15] = 0.0  # of the others only
    r = rng.normal(size=80)
    whole = -np.linalg.solve(J.T @ J, J.T @ r)
    past, past_r, now, now_r = J[:40], r[:40], J[40:, 15:], r[40:]
    # keyframe 2 is not in the past, whose places are 0..30 and the alignment
    told = np.r_[0:30, 45:49]
    H, g = past[:, told].T @ past[:, told], past[:, told].T @ past_r
    past_states = states.first(2)
    prior = Prior.of(H, g, past_states).without(0)
    here = states.without(0)
    full, slope, _ = added(prior, here)
    step = -np.linalg.solve(full + now.T @ now, slope + now.T @ now_r)
    assert np.allclose(step, whole[15:], rtol=1e-6, atol=1e-9)


def test_a_prior_keeps_the_places_that_it_speaks_of():
    """Of keyframes 0 and 2, no word of velocities and biases; of one of a rotation's places it is zero by chance."""
    base = some_states(3, 2, centre=True)
    H = information(base.size)
    silent = np.r_[6:15, 66 + 21 : 66 + 36]
    chance = 3
    H[silent], H[:, silent], H[chance], H[:, chance] = 0.0, 0.0, 0.0, 0.0
    prior = Prior.of(H, np.diag(H).copy(), base)
    assert np.array_equal(prior.indices, np.delete(np.arange(base.size), np.r_[6:15, 87:102]))
    states = later(prior, 4, 0.1)
    full, g, cost = added(prior, states)
    whole = Prior(H, np.diag(H).copy(), base, np.arange(base.size))
    assert all(
        np.allclose(mine, dense, rtol=1e-12)
        for mine, dense in zip((full, g, cost), added(whole, states), strict=True)
    )
    left, dense = prior.without(1), whole.without(1)
    assert np.allclose(left.H, dense.H[np.ix_(left.indices, left.indices)], rtol=1e-8)
    others = np.delete(np.arange(len(dense.g)), left.indices)
    assert len(others) == 24 and not dense.H[others].any()

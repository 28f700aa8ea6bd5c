# SPDX-License-Identifier: BSD-3-Clause
"""A whole small window: six keyframes, some forty landmarks in view, inertial samples and four anchors."""

import gtsam
import numpy as np
import pytest
from small_window import ALIGNMENT, APART, FRAMES, A, B, SmallWindow, V, X

from iap_description.math import so3
from iap_estimation.virpo.algebra.marginalization import Prior, mirror
from iap_estimation.virpo.algebra.states import States, difference


@pytest.fixture(scope="module", params=[0, 1])
def solved(request) -> tuple[SmallWindow, gtsam.NonlinearFactorGraph, gtsam.Values, list[float]]:
    """Our optimum, the graph, gtsam's optimum of it and the costs on our way."""
    window = SmallWindow.of(request.param)
    graph, values = window.graph()
    params = gtsam.LevenbergMarquardtParams()
    params.setRelativeErrorTol(1e-12)
    params.setAbsoluteErrorTol(1e-12)
    theirs = gtsam.LevenbergMarquardtOptimizer(graph, values, params).optimize()
    return window, graph, theirs, window.descend()


def test_gauss_newton_comes_to_rest(solved):
    costs = solved[3]
    assert costs[-1] < 0.2 * costs[0]
    assert costs[-1] == pytest.approx(costs[-2], rel=1e-9)


def test_the_optimum_is_that_of_gtsam(solved):
    window, _, theirs, _ = solved
    for k, x in enumerate(window.states.x[:, 0]):
        there = theirs.atPose3(X + k)
        turn = so3.log(so3.matrix_from_quaternion(x[3:7]).T @ there.rotation().matrix())
        told = theirs.atConstantBias(B + k)
        assert np.linalg.norm(x[:3] - there.translation()) < 1e-4
        assert np.linalg.norm(turn) < 1e-4
        assert np.linalg.norm(x[7:10] - theirs.atVector(V + k)) < 1e-3
        assert np.linalg.norm(x[10:13] - told.gyroscope()) < 1e-4
        assert np.linalg.norm(x[13:16] - told.accelerometer()) < 2e-3
    assert np.allclose(window.states.alignment[0], theirs.atVector(A), atol=1e-4)


def test_so_is_its_cost(solved):
    window, graph, theirs, costs = solved
    assert costs[-1] == pytest.approx(graph.error(theirs), rel=2e-3)


def test_so_is_the_covariance(solved):
    window, graph, theirs, _ = solved
    marginals, ours = gtsam.Marginals(graph, theirs), window.covariance()
    for k in range(FRAMES):
        at = 15 * k
        R = theirs.atPose3(X + k).rotation().matrix()
        cov = marginals.marginalCovariance(X + k)
        deviations = np.sqrt(np.diag(cov[:3, :3])), np.sqrt(np.diag(R @ cov[3:, 3:] @ R.T))
        assert np.allclose(np.sqrt(np.diag(ours)[at + 3 : at + 6]), deviations[0], rtol=0.02)
        assert np.allclose(np.sqrt(np.diag(ours)[at : at + 3]), deviations[1], rtol=0.02)
    cov = marginals.marginalCovariance(A)
    assert np.allclose(np.sqrt(np.diag(ours)[-4:]), np.sqrt(np.diag(cov)), rtol=0.02)


def test_the_truth_is_within_the_covariance(solved):
    """Of all states together: the squared distance of 94 normal numbers is 94 +- 14."""
    window, truth = solved[0], States.empty(FRAMES, 1)
    for k in range(FRAMES):
        truth.x[k, 0] = window.flight.state(0, k * APART, ALIGNMENT)
    truth.alignment[0] = ALIGNMENT
    xi = np.empty(truth.size)
    difference(truth, window.states, xi)
    assert 45.0 < xi @ np.linalg.solve(window.covariance(), xi) < 145.0


def test_what_a_keyframe_takes_along_is_all_that_tells_of_it(solved):
    window = solved[0]
    (H, g, _, _), (part, slope, _, _) = window.linearised(), window.linearised(0)
    assert np.abs((H - part)[:, :15]).max() < 1e-9 * np.abs(H).max()
    assert np.abs((g - slope)[:15]).max() < 1e-9 * np.abs(slope).max()


def test_without_the_oldest_keyframe_the_optimum_and_its_covariance_stay(solved):
    """A prior in place of the first keyframe with its landmarks, samples and ranges."""
    window = solved[0]
    (H, g, _, _), (part, slope, _, _) = window.linearised(), window.linearised(0)
    left = Prior.of(part, slope, window.states).without(0)
    rest, gradient = (H - part)[15:, 15:], (g - slope)[15:]
    rest, gradient = np.tril(rest), gradient.copy()
    left.add(window.states.without(0), rest, gradient)
    rest = np.tril(rest)
    mirror(rest)
    covariance = np.linalg.inv(rest)
    deviations = np.sqrt(np.diag(covariance))
    assert np.abs(covariance @ gradient / deviations).max() < 1e-6
    assert np.allclose(deviations, np.sqrt(np.diag(window.covariance())[15:]), rtol=1e-6)

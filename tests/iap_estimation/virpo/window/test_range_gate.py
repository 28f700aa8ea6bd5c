# SPDX-License-Identifier: BSD-3-Clause
"""The window's gates and failures, and the window against GTSAM."""

import gtsam
import numpy as np
import pytest
from small_window import ALIGNMENT, APART, FRAMES, A, B, SmallWindow, V, X
from synthetic_fleet import fleet_of

from iap_description.math import so3
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.algebra.marginalization import Prior, mirror
from iap_estimation.virpo.algebra.states import States, difference
from iap_estimation.virpo.spec import load_spec
from iap_estimation.virpo.window.failure_checks import check
from iap_estimation.virpo.window.range_gate import RangeGate
from iap_estimation.virpo.window.window import EstimateLost

ANCHORS = np.array([[-8.2, -4.4, 1.4], [2.9, -6.7, 3.3], [8.8, 6.1, 1.6], [-4.5, 1.2, 1.1]])
SPAN, RATE, NOISE = 0.1, 200, 0.7071
P = np.diag([0.02, 0.02, 0.03]) ** 2
SPEC = load_spec()
LIMITS = load_settings().estimator.failure
FLEET = fleet_of(1)


class Aircraft:
    """One that flies a circle; its estimate errs by as much as P says, for some seconds in the same way."""

    def __init__(self, seed: int, noise: float = NOISE) -> None:
        self.rng, self.noise, self.t = np.random.default_rng(seed), noise, 0.0
        self.off = self.rng.normal(size=3) * np.sqrt(np.diag(P))
        self.gate = RangeGate(1, SPEC.range_gate, SPEC.huber.ranges)

    def fly(
        self, seconds: float, bias=(0.0, 0.0, 0.0, 0.0), beside=(0.0, 0.0, 0.0), places=ANCHORS
    ):
        """All anchors that were left out meanwhile."""
        ever: set[int] = set()
        for _ in range(round(seconds / SPAN)):
            self.t += SPAN
            kept = np.exp(-SPAN / 3.0)
            fresh = self.rng.normal(size=3) * np.sqrt(np.diag(P))
            self.off = kept * self.off + np.sqrt(1.0 - kept**2) * fresh
            p = np.array([2.0 * np.cos(0.5 * self.t), 2.0 * np.sin(0.5 * self.t), 2.0])
            told = self.told(p, p + self.off + beside, np.asarray(bias), places)
            self.gate.check(0, told, SPAN, P)
            ever |= self.gate.refused[0]
        return ever

    def told(self, true, foreseen, bias, places):
        way = foreseen - places
        length = np.linalg.norm(way, axis=1)
        off = np.linalg.norm(true - places, axis=1) + bias[: len(places)] - length
        rounds = round(RATE * SPAN)
        noisy = off + self.noise * self.rng.normal(size=(rounds, len(places)))
        names = np.tile(np.arange(float(len(places))), rounds)
        ways = np.tile(way / length[:, None], (rounds, 1))
        sigma = np.full(len(names), self.noise)
        return np.column_stack([names, noisy.ravel(), sigma, ways])


def biased(anchor: int, size: float) -> np.ndarray:
    return size * (np.arange(4) == anchor)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, NOISE])
def test_an_honest_anchor_is_never_left_out(noise):
    assert not any(Aircraft(seed, noise).fly(60.0) for seed in range(10))


@pytest.mark.parametrize("anchor", range(4))
@pytest.mark.parametrize("size", [-0.5, 0.5, 1.0, 3.0])
def test_a_biased_anchor_is_left_out_and_no_other(anchor, size):
    craft = Aircraft(anchor)
    assert not craft.fly(3.0)
    assert craft.fly(1.5, biased(anchor, size)) == {anchor}
    assert craft.fly(10.0, biased(anchor, size)) == {anchor} == craft.gate.refused[0]


@pytest.mark.parametrize("size", [1.0, 3.0])
def test_one_that_is_biased_from_the_beginning_is_out_at_once(size):
    craft = Aircraft(5)
    assert craft.fly(0.3, biased(2, size)) == {2}


def test_two_of_four_may_be_left_out():
    craft = Aircraft(6)
    craft.fly(5.0, biased(0, 1.0) + biased(3, 1.0))
    assert craft.gate.refused[0] == {0, 3}


def test_it_counts_again_when_the_wall_is_passed():
    craft = Aircraft(7)
    craft.fly(5.0, biased(1, 1.0))
    assert craft.gate.refused[0] == {1}
    craft.fly(8.0)
    assert craft.gate.refused[0] == set()
    assert not craft.fly(20.0), "and it stays"


@pytest.mark.parametrize("way", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.7, 0.5, -0.5]])
def test_an_estimate_that_is_off_keeps_all_anchors(way):
    craft = Aircraft(8)
    craft.fly(5.0, beside=way)
    assert craft.gate.refused[0] == set()


def test_the_only_anchor_is_kept():
    craft = Aircraft(9)
    assert not craft.fly(5.0, np.array([1.0]), places=ANCHORS[:1])


def test_what_was_off_before_a_new_beginning_does_not_count():
    craft = Aircraft(10)
    craft.fly(0.1, biased(0, 0.5))
    craft.gate.begin()
    assert not craft.fly(10.0)


def test_an_anchor_that_falls_silent_is_forgotten():
    craft = Aircraft(11)
    craft.fly(5.0, biased(3, 1.0))
    assert craft.gate.refused[0] == {3}
    assert not craft.fly(2.0, places=ANCHORS[:3]) - {3}
    assert not craft.fly(30.0, places=ANCHORS[:3]) - {3}
    assert craft.gate.refused[0] == set()
    craft.gate.check(0, np.zeros((0, 6)), 3600.0, P)
    assert craft.gate.refused[0] == set()


def jump(size, doubt):
    predicted = np.zeros((1, 16))
    found = predicted.copy()
    found[0, 0] = size
    check(found, predicted, np.array([doubt]), FLEET, LIMITS)


def test_a_jump_of_an_estimate_that_is_sure_is_a_failure():
    jump(0.9 * LIMITS.jump, 0.01)
    with pytest.raises(EstimateLost, match="jump"):
        jump(1.1 * LIMITS.jump, 0.01)


def test_one_that_was_in_doubt_by_metres_may_come_back_by_as_many():
    jump(LIMITS.jump + 3.0, 1.4)
    with pytest.raises(EstimateLost, match="jump"):
        jump(LIMITS.jump + 7.0, 1.4)
    with pytest.raises(EstimateLost, match="jump"):
        jump(np.nan, 1.4)


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

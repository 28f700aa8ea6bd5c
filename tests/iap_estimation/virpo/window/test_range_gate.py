# SPDX-License-Identifier: BSD-3-Clause
"""An anchor behind a wall is found by the mean of its ranges; chance and an estimate that is off are no walls."""

import numpy as np
import pytest

from iap_estimation.virpo.spec import load_spec
from iap_estimation.virpo.window.range_gate import RangeGate

ANCHORS = np.array([[-8.2, -4.4, 1.4], [2.9, -6.7, 3.3], [8.8, 6.1, 1.6], [-4.5, 1.2, 1.1]])
SPAN, RATE, NOISE = 0.1, 200, 0.7071
P = np.diag([0.02, 0.02, 0.03]) ** 2
SPEC = load_spec()


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

# SPDX-License-Identifier: BSD-3-Clause
"""Worlds that hold something, in any order, reset in part or restored: each is the single run of its seed, bit for bit.

Hypothesis chooses seeds and their order, threads, who starts anew and when, and the snapshot that they go on from.
"""

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.held_flights import PAIR, PLAIN, SCENARIO, SETTINGS
from support.world_flights import ends_of, flown_alone

from iap_physics.arm.batch_grippers import BatchGrippers
from iap_physics.engines.make import is_installed
from iap_physics.latching.batch_latches import BatchLatches
from iap_physics.latching.kernel import LOCKED
from iap_simulation.batch.worlds import Worlds

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
FAR = 10**9  # of seeds


class Order(NamedTuple):
    """Seeds of worlds in some order; when some start anew, with which seeds; and when a snapshot is taken, if it is."""

    seeds: list[int]
    threads: int
    restarts: int
    anew: dict[int, int]
    kept: int | None


@st.composite
def orders(draw, periods, most=4):
    """Some worlds, of which at least one flies from begin to end."""
    seeds = draw(st.lists(st.integers(0, FAR), min_size=2, max_size=most, unique=True))
    seeds = draw(st.permutations(seeds))
    goes_on = draw(st.integers(0, len(seeds) - 1))
    others = [i for i in range(len(seeds)) if i != goes_on]
    which = draw(st.lists(st.sampled_from(others), unique=True))
    anew = {i: draw(st.integers(0, FAR)) for i in which}
    restarts, kept = draw(st.integers(1, periods - 1)), draw(st.integers(0, periods - 1))
    is_restored = draw(st.booleans())
    return Order(seeds, draw(st.integers(1, 3)), restarts, anew, kept if is_restored else None)


def fly(worlds, order, begin, end, holds):
    """Fly from a period to another, and return a snapshot if one is taken on the way."""
    snapshot, has_held = None, False
    for k in range(begin, end):
        if k == order.restarts and order.anew:
            worlds.reset(list(order.anew), seeds=list(order.anew.values()))
        if k == order.kept:
            snapshot = worlds.snapshot()
        worlds.advance()
        has_held |= holds(worlds)
    return snapshot, has_held


def assert_single_runs(made, order, periods, holds):
    """Compare every world at the end with the single run of its seed, which has flown for as long."""
    worlds = made(order.seeds, threads=order.threads)
    snapshot, has_held = fly(worlds, order, 0, periods, holds)
    ends = ends_of(worlds)
    if snapshot is not None:
        worlds.restore(snapshot)
        again = order._replace(restarts=order.restarts if order.restarts > order.kept else -1)
        fly(worlds, again, order.kept, periods, holds)
        assert ends_of(worlds) == ends
    for i, end in enumerate(ends):
        flown = periods - order.restarts if i in order.anew else periods
        assert flown_alone(worlds.world(i), flown) == end
    assert has_held


def is_locked(worlds):
    """True if a latch of any world is locked."""
    return bool((worlds.plant.part(BatchLatches).phase_numbers == LOCKED).any())


def is_gripped(worlds):
    """True if the gripper of any world holds its box."""
    return bool(worlds.plant.part(BatchGrippers).holds.any())


def perching(seeds: Any, **how: Any) -> Worlds:
    """Worlds in which a patch comes to a wall."""
    return Worlds.of(SCENARIO, seeds, settings=SETTINGS, **how)


def docking(seeds: Any, **how: Any) -> Worlds:
    """Worlds in which a probe goes into a socket, and is let go."""
    return Worlds.of("docking", seeds, settings=PAIR, **how)


def picking(seeds: Any, **how: Any) -> Worlds:
    """Worlds in which a gripper takes a box."""
    return Worlds.of("arm_pick", seeds, settings=PLAIN, sensors="none", **how)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=3)
@given(order=orders(300))
def test_worlds_that_perch_are_single_runs_in_any_order(order):
    assert_single_runs(perching, order, 300, is_locked)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=2)
@given(order=orders(340))
def test_pairs_that_latch_and_part_are_single_runs_in_any_order(order):
    assert_single_runs(docking, order, 340, is_locked)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=4)
@given(order=orders(160))
def test_worlds_with_grippers_are_single_runs_in_any_order(order):
    assert_single_runs(picking, order, 160, is_gripped)

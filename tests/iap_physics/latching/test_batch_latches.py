# SPDX-License-Identifier: BSD-3-Clause
"""Latches of many worlds: only those that are near or held act, and what bodies feel of them is summed up."""

import numpy as np
import pytest
from docking_pairs import assemblies, latch, platform, start

from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.latching.batch_latches import BatchLatches
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN, SPENT

DT = 1e-3
PULL = np.array([1.0, -2.0, 3.0, 0.0, 0.0, 0.0])  # of a lock on the probe's body


class World:
    """A world whose bodies are where the test puts them."""

    batch = 1

    def __init__(self, x):
        self.x, self.joints, self.removed = x, [], []

    def state(self):
        return self.x[None]

    def object_states(self):
        return np.zeros((0, 13))

    def add_joint(self, *bodies, **how):
        self.joints.append(bodies[:2])
        return len(self.joints) + 6

    def remove_joint(self, handle):
        self.removed.append(handle)

    def joint_wrench(self, handle):
        return PULL.copy()


class Worlds:
    """Worlds in which both vehicles' bodies are measured, the chaser's first."""

    def __init__(self, *starts):
        self.x = np.concatenate(starts)
        self.status = np.full(len(starts), RUNNING)
        self.measured = np.array([1, 0])
        self.felt = np.zeros((len(starts), 2, 6))
        self.each = [World(x) for x in self.x]

    def world(self, number):
        return self.each[number]


def latched(*starts, **changes):
    """Latches of worlds that begin so, and the worlds."""
    worlds = Worlds(*starts)
    latches = BatchLatches(
        worlds, {"dock": latch(**changes)}, assemblies(), [platform().ports] * 2, {}
    )
    latches.reset(worlds.x, np.arange(len(starts)))
    return latches, worlds


def step(latches, worlds, k=0, felt=0.0):
    """Wrenches (B, 2, 6) that latches add in the k-th step, in which contacts do so much."""
    wrenches = np.zeros((len(worlds.x), 2, 6))
    times = np.full(len(worlds.x), k * DT)
    latches.before_steps(worlds.x, wrenches, times, DT)
    assert not worlds.felt.any()
    worlds.felt[:] = felt
    latches.end_steps(worlds.x, times + DT)
    return wrenches


def test_what_is_deep_is_caught_and_damped_and_felt_and_nothing_happens_elsewhere():
    fast = {"speed": 0.3}
    latches, worlds = latched(start(depth=0.116, **fast), start(depth=0.05, **fast))
    latches.begin_period(0, 0.0)
    wrenches = step(latches, worlds, felt=1.0)
    assert latches.phase_numbers.tolist() == [[CAUGHT], [OPEN]]
    assert wrenches[0, 1, 1] < -1.0 and not wrenches[1].any()
    np.testing.assert_allclose(wrenches[0, 0, :3], -wrenches[0, 1, :3])
    np.testing.assert_allclose(worlds.felt[0], 1.0 + wrenches[0, [1, 0]], atol=1e-12)
    np.testing.assert_array_equal(worlds.felt[1], np.ones((2, 6)))
    once = worlds.felt[0].copy()
    step(latches, worlds, 1, felt=1.0)
    np.testing.assert_allclose(worlds.felt[0], 2.0 * once, atol=1e-9)
    latches.begin_period(1, 2 * DT)
    step(latches, worlds, 2, felt=1.0)
    np.testing.assert_allclose(worlds.felt[0], once, atol=1e-9)
    assert [event.what for event in latches.of_world(0).events] == ["caught"]
    assert latches.of_world(1).events == []


def test_what_is_slow_is_locked_and_the_locks_load_is_felt():
    latches, worlds = latched(start(depth=0.05), start(depth=0.116))
    latches.begin_period(0, 0.0)
    wrenches = step(latches, worlds)
    assert latches.phase_numbers.tolist() == [[OPEN], [LOCKED]] and not wrenches.any()
    assert worlds.each[1].joints == [(1, 0)] and worlds.each[0].joints == []
    np.testing.assert_allclose(worlds.felt[1, :, :3], [PULL[:3], -PULL[:3]])
    assert not worlds.felt[0].any()
    lever = worlds.x[1, 1, :3] - worlds.x[1, 0, :3]
    total = worlds.felt[1, 0, 3:] + worlds.felt[1, 1, 3:] + np.cross(lever, PULL[:3])
    np.testing.assert_allclose(total, 0.0, atol=1e-9)  # both about one point


def test_a_lock_opens_at_its_time_or_where_it_bears_too_much():
    latches, worlds = latched(start(depth=0.116), release=2.5 * DT)
    phases = []
    for k in range(5):
        step(latches, worlds, k)
        phases.append(int(latches.phase_numbers[0, 0]))
    assert phases == [LOCKED, LOCKED, LOCKED, SPENT, SPENT]
    assert worlds.each[0].removed == [7]
    weak, worlds = latched(start(depth=0.116), max_force=3.7)  # of a load of 3.74 N
    step(weak, worlds)
    assert weak.phase_numbers.tolist() == [[SPENT]] and worlds.each[0].removed == [7]
    np.testing.assert_allclose(worlds.felt[0, 0, :3], PULL[:3])  # of that step still
    step(weak, worlds, 1)
    step(weak, worlds, 2)
    assert not (worlds.felt[0, 0, :3] > PULL[:3]).any()
    worlds.x[0] = start(depth=0.0)[0]
    step(weak, worlds, 3)
    assert weak.phase_numbers.tolist() == [[OPEN]]


def test_a_world_that_has_ended_is_left_alone():
    latches, worlds = latched(start(depth=0.116), start(depth=0.116))
    worlds.status[0] = DIVERGED
    step(latches, worlds)
    assert latches.phase_numbers.tolist() == [[OPEN], [LOCKED]]
    worlds.status[1] = DIVERGED
    step(latches, worlds, 1)
    assert not worlds.felt[1].any() or latches.phase_numbers[1, 0] == LOCKED


@pytest.mark.parametrize(("depth", "is_near"), [(0.1149, False), (0.1151, True)])
def test_a_latch_is_looked_at_from_its_depth_on_wherever_the_pair_is(depth, is_near):
    there = start(depth=depth, speed=0.3)
    turned = there.copy()
    turned[..., :3] += [3.0, -2.0, 1.0]
    latches, worlds = latched(start(), turned)
    step(latches, worlds)
    assert latches.phase_numbers.tolist() == [[OPEN], [CAUGHT if is_near else OPEN]]


def test_a_world_may_have_latches_of_its_own_from_its_reset_on():
    latches, worlds = latched(*[start(depth=0.116, speed=0.3)] * 3)
    step(latches, worlds)
    latches.set_world(1, {"dock": latch(depth=0.2)}, assemblies())
    latches.reset(worlds.x, np.array([1, 2]))
    assert latches.phase_numbers.tolist() == [[CAUGHT], [OPEN], [OPEN]]
    step(latches, worlds, 1)
    assert latches.phase_numbers.tolist() == [[CAUGHT], [OPEN], [CAUGHT]]


def test_sums_fit_the_rows_that_are_measured_now():
    latches, worlds = latched(start(depth=0.116, speed=0.3))
    worlds.felt, worlds.measured = np.zeros((1, 1, 6)), np.array([0])
    latches.begin_period(0, 0.0)
    wrenches = step(latches, worlds)
    np.testing.assert_allclose(worlds.felt[0, 0], wrenches[0, 0])

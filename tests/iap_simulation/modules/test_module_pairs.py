# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of modules side by side: who leads, who follows, and the coordinator of both."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_control.modules.exchange import JointState
from iap_description.errors import BadInput
from iap_physics.engines.engine import RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_simulation.modules.in_flight import aligned_by_policy, partners
from iap_simulation.modules.monitor import window_of
from iap_simulation.modules.pairs import ModulePairs


@pytest.fixture(scope="module")
def pairs():
    perfect = {"vehicles.*.sensors": "none", "vehicles.*.control.state_source": "truth"}
    return ModulePairs.of("module_docking", 2, settings=perfect)


def test_the_coordinator_of_a_pair_begins_with_both_modules_apart(pairs):
    coordinator = pairs.coordinator()
    assert [set(each.modules) for each in coordinator.structures] == [{0}, {1}]
    assert {each.state for each in coordinator.machines.values()} == {JointState.APART}
    assert set(coordinator.machines) == {pairs.joint}


def test_worlds_begin_at_their_seeds_and_modules_in_the_order_of_the_scenario(pairs):
    names = [vehicle.name for vehicle in pairs.scenario.vehicles]
    leads = pairs.spec.joints[pairs.joint].leader
    assert pairs.both[names.index(leads)] is pairs.leader
    starts = pairs.state
    assert starts.shape == (2, 2, 13)
    away = starts[:, :, :3] - [[-1.25, 0.0, 1.5], [0.0, 0.0, 1.5]]
    assert np.abs(away[:, 0]).max() <= 0.25  # as drawn
    assert np.ptp(away[:, 0], axis=0).min() > 0.0
    np.testing.assert_allclose(away[:, 1], 0.0, atol=1e-12)  # its start is fixed
    np.testing.assert_array_equal(pairs.seeds, [0, 1])


def test_a_pair_s_views_are_those_of_both_modules(pairs):
    both = pairs.both
    np.testing.assert_array_equal(pairs.tilt, np.concatenate([each.tilt for each in both], axis=1))
    np.testing.assert_array_equal(pairs.times, [0.0, 0.0])
    for row, worlds in zip(pairs.shared, (pairs.leader, pairs.follower), strict=True):
        assert row.shape == (2, 13)
        np.testing.assert_array_equal(row[:, :3], worlds.measured[:, :3] - worlds.position_bias)
    rates = pairs.scenario.rates.control_hz
    assert pairs.every * pairs.spec.rate == rates


def test_a_follower_s_failure_counts_before_its_leader_s(pairs):
    assert (pairs.status == RUNNING).all()
    pairs.leader.status[:] = TOO_FAR
    pairs.follower.status[1] = UPSIDE_DOWN
    np.testing.assert_array_equal(pairs.status, [TOO_FAR, UPSIDE_DOWN])
    pairs.reset([1], seeds=[9])
    np.testing.assert_array_equal(pairs.status, [TOO_FAR, RUNNING])
    np.testing.assert_array_equal(pairs.seeds, [0, 9])
    np.testing.assert_array_equal(pairs.leader.seeds, [0, 9])
    pairs.reset(seeds=[0, 1])
    assert (pairs.status == RUNNING).all()


def test_at_least_one_pair_is_flown():
    with pytest.raises(BadInput, match="^worlds: at least one seed is expected$"):
        ModulePairs.of("module_docking", 0)


def test_a_policy_aligns_in_place_of_the_machine(pairs):
    spec = pairs.spec
    machine = aligned_by_policy(spec).machine
    assert machine.alignment.hold == pytest.approx(1.0 / spec.rate)
    assert machine.alignment.offset == machine.approach.offset == spec.machine.approach.offset
    assert machine.approach == spec.machine.approach and spec.machine.alignment.hold > 0.1
    ((_, joint),) = spec.joints.items()
    assert partners(spec) == {frozenset((joint.leader, joint.follower))}
    assert partners(None) == frozenset()


def test_a_mission_lasts_from_the_first_take_off_to_the_last_landing():
    vehicles = [
        SimpleNamespace(timeline=SimpleNamespace(window=w)) for w in ((3.0, 20.0), (2.0, 15.0))
    ]
    assert window_of(vehicles) == (2.0, 20.0)

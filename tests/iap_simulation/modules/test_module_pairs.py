# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of modules side by side: who leads, who follows, and the coordinator of both."""

import numpy as np
import pytest

from iap_control.modules.exchange import JointState
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

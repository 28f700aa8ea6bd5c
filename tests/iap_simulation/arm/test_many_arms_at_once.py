# SPDX-License-Identifier: BSD-3-Clause
"""Flights on an identified plant side by side: starts, seeds, steps and limits are those of single flights."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_physics.engines.engine import RUNNING
from iap_simulation.arm.worlds import ArmWorlds
from iap_simulation.flights.state_log import StateLog
from iap_simulation.simulation.simulation import Simulation

SPREAD = {"draw.position": [0.2, 0.3, 0.1], "seed": 5}


def test_worlds_begin_with_the_scenario_s_seed_and_count_on():
    worlds = ArmWorlds.of("arm_path", 3, settings=SPREAD)
    assert worlds.seeds.tolist() == [5, 6, 7] and (worlds.status == RUNNING).all()
    for i in range(3):
        with Simulation.of("arm_path", settings={**SPREAD, "seed": 5 + i}) as simulation:
            simulation.begin()
            log = simulation.plant.part(StateLog)
            np.testing.assert_array_equal(worlds.plants.pose[i], log.pose[0])
            np.testing.assert_array_equal(worlds.plants.q[i], log.q[0])
    assert np.ptp(worlds.plants.pose[:, :3], axis=0).min() > 0.0


def test_a_reset_world_has_the_start_of_its_seed_and_others_fly_on():
    worlds, fresh = (ArmWorlds.of("arm_path", 3, settings=SPREAD) for _ in range(2))
    fast = np.full((3, 7), 50.0)
    worlds.fly(fast)
    fresh.fly(fast)
    assert worlds.cut.all() and not np.array_equal(worlds.plants.pose[1], worlds.plants.pose[0])
    worlds.reset([1], seeds=[7])
    assert worlds.seeds.tolist() == [5, 7, 7]
    assert worlds.cut.tolist() == [[True] * 3, [False] * 3, [True] * 3]
    other = ArmWorlds.of("arm_path", 1, settings={**SPREAD, "seed": 7})
    np.testing.assert_array_equal(worlds.plants.pose[1], other.plants.pose[0])
    np.testing.assert_array_equal(worlds.plants.pose[[0, 2]], fresh.plants.pose[[0, 2]])
    assert not worlds.plants.v[1].any() and worlds.plants.v[0].any()


def test_a_control_period_has_as_many_steps_of_physics_and_commands_of_joints_are_cut():
    worlds, by_hand = (ArmWorlds.of("arm_path", 2, settings=SPREAD) for _ in range(2))
    rates = worlds.scenario.rates
    slow = np.tile([0.1, -0.2, 0.05, 0.02, 0.01, -0.01, 0.02], (2, 1))
    worlds.fly(slow)
    assert not worlds.cut.any()
    for _ in range(rates.substeps):
        by_hand.plants.step(slow, 1.0 / rates.physics_hz)
    for name in ("pose", "q", "v"):
        np.testing.assert_array_equal(getattr(worlds.plants, name), getattr(by_hand.plants, name))
    worlds.fly(slow + np.array([0, 0, 0, 0, 0, 9.0, 0]))
    assert worlds.cut.tolist() == [[False, True, False]] * 2


def test_a_scenario_without_an_identified_plant_is_refused():
    said = (
        "^scenario 'hover': an end effector on an identified plant is expected, as arm_path has$"
    )
    with pytest.raises(BadInput, match=said):
        ArmWorlds.of("hover", 2)

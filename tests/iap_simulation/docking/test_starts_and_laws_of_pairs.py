# SPDX-License-Identifier: BSD-3-Clause
"""Starts of docking worlds, which are those of single runs, and the constants of a pair's laws."""

import numpy as np
import pytest
from flying import scenario_of

from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import inertia_matrix
from iap_physics.engines.engine import RUNNING, TOO_FAR
from iap_simulation.docking.outcome import START
from iap_simulation.docking.pair_laws import docked_positions, pair_laws
from iap_simulation.docking.worlds import DockingWorlds
from iap_simulation.flights.flight import Flight


def test_pairs_start_where_single_runs_do_to_the_last_bit():
    worlds = DockingWorlds.of("docking", [3, 8, 5])
    for i, seed in enumerate((3, 8, 5)):
        flight = Flight.of(worlds.scenario.model_copy(update={"seed": seed}))
        for n, vehicle in enumerate(flight.vehicles):
            np.testing.assert_array_equal(worlds.state[i, n], vehicle.start[0])


def test_a_reset_world_has_no_records_and_the_seed_that_it_is_given():
    worlds = DockingWorlds.of("docking", 3)
    fresh = [array.copy() for array in worlds.records]
    for array, value in zip(fresh, (*START, RUNNING), strict=True):
        np.testing.assert_array_equal(array, np.full(3, value))
    for array in worlds.records:
        array[:] = 1
    worlds.records.outcome[:] = TOO_FAR
    assert worlds.is_over.all()
    worlds.reset([False, True, True], seeds=[11, 12])
    np.testing.assert_array_equal(worlds.seeds, [0, 11, 12])
    np.testing.assert_array_equal(worlds.is_over, [True, False, False])
    for array, value in zip(worlds.records, fresh, strict=True):
        np.testing.assert_array_equal(array[1:], value[1:])
        assert array[0] == (TOO_FAR if array is worlds.records.outcome else 1)
    worlds.reset([], seeds=[])
    assert worlds.is_over[0]
    worlds.reset([0])
    assert not worlds.is_over.any()


def test_a_touch_is_a_force_of_more_than_half_a_newton_and_a_lock_a_catch_too():
    worlds = DockingWorlds.of("docking", 3)
    worlds.pairs.contact[:, 2] = [0.49, -0.51, 0.0]
    worlds.pairs.contact[:, 4] = 9.0  # a torque
    np.testing.assert_array_equal(worlds.is_touched, [False, True, False])
    assert not worlds.is_caught.any()
    _, chaser = worlds.last_command
    assert chaser.shape == (3, 2, 3) and worlds.tilt.shape == worlds.rpm.shape == (3, 2, 4)
    np.testing.assert_array_equal(worlds.times, np.zeros(3))


def test_a_pair_s_laws_know_mass_gravity_period_and_what_is_turned_with_the_lock():
    scenario = scenario_of("docking", "docking.script.assumed_delay=0.02", engine="mujoco")
    laws = pair_laws(scenario)
    target = scenario.vehicles[0]
    aircraft, rate = target.platform.aircraft, np.array(target.control.gains.autopilot.rate)
    docked = docked_positions(scenario)
    assert (laws.pair.mass, laws.pair.gravity) == (aircraft.mass, scenario.world.gravity)
    assert laws.pair.dt == scenario.dt and laws.pair.ahead == round(0.02 / scenario.dt)
    np.testing.assert_array_equal(laws.pair.rate_gain, rate)
    d, J = 0.5 * np.linalg.norm(docked[0] - docked[1]), np.diag(inertia_matrix(aircraft.inertia))
    across = J / (J + aircraft.mass * d * d)  # the probe points along y
    shares = [across[0], 1.0, across[2]]
    np.testing.assert_allclose(laws.pair.coupled_rate_gain, rate * shares)
    np.testing.assert_allclose(laws.coupled.place, docked.mean(axis=0))
    np.testing.assert_allclose(docked[0], [0.0, 0.0, 5.0])


def test_states_are_predicted_over_a_bounded_delay():
    scenario = scenario_of("docking", "docking.script.assumed_delay=0.15", engine="mujoco")
    with pytest.raises(BadInput, match=r"assumed_delay': 0.15 s is more than \d+ control periods"):
        pair_laws(scenario)

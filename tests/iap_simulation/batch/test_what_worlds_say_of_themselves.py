# SPDX-License-Identifier: BSD-3-Clause
"""Worlds side by side say what they are: descriptions of runs, names, numbers, and what they lack."""

from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput, IapError
from iap_physics.engines.engine import RUNNING, TOO_FAR
from iap_simulation.batch.references import References
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight

SEEDS = [7, 3, 12]


@pytest.fixture(scope="module")
def drawn() -> Worlds:
    return Worlds.of("hover", SEEDS, settings={"draw.thrust": 0.05})


@pytest.fixture(scope="module")
def plain() -> Worlds:
    return Worlds.of("hover", 2)


def test_a_world_is_described_as_the_single_run_of_its_seed(drawn, plain):
    factors = []
    for i, meta in enumerate(drawn.metas):
        alone = Flight.of(drawn.world(i)).meta
        assert meta.seed == SEEDS[i] == alone.seed
        assert meta.vehicles == alone.vehicles
        factors.append(meta.vehicles[0].thrust_factors)
    assert len(set(factors)) == 3 and len(factors[0]) == 3
    assert all(0.95 <= each <= 1.05 for row in factors for each in row)
    assert [each.vehicles for each in plain.metas] == [plain.flight.meta.vehicles] * 2
    assert [each.seed for each in plain.metas] == [0, 1]


def test_the_last_world_has_the_last_seed_and_there_is_none_after_it(drawn):
    assert drawn.world(-1).seed == SEEDS[2]
    with pytest.raises(IndexError):
        drawn.world(3)


def test_names_find_vehicles_and_others_are_refused(plain):
    assert plain.name == plain.names[0] and plain.number_of(plain.name) == 0
    said = f"worlds: no vehicle 'ap' \\(vehicles: {plain.name}\\)"
    for look in (plain.number_of, plain.vehicle):
        with pytest.raises(BadInput, match=said):
            look("ap")


def test_worlds_say_what_they_lack(plain):
    with pytest.raises(IapError, match="worlds: there are no inertial units without sensors.imu"):
        _ = plain.imu
    with pytest.raises(IapError, match="worlds: no object 'door'"):
        plain.object_angles("door")
    with pytest.raises(IapError, match="turn about hinges with engine.name: mujoco alone"):
        _ = plain._object_engine


def test_time_goes_on_by_control_periods_until_a_world_fails():
    worlds = Worlds.of("hover", 2)
    period = 1.0 / worlds.scenario.rates.control_hz
    for _ in range(3):
        worlds.advance()
    np.testing.assert_array_equal(worlds.instants, [3, 3])
    np.testing.assert_allclose(worlds.times, 3 * period)
    assert worlds.ended(1) == pytest.approx(3 * period)
    assert not worlds.is_done.any() and worlds.failure(1) is None
    worlds.status[1] = TOO_FAR
    np.testing.assert_array_equal(worlds.is_done, [False, True])
    failure = worlds.failure(1)
    assert failure is not None and failure.outcome == "diverged"
    assert failure.t == pytest.approx(3 * period) and worlds.status[0] == RUNNING


def test_an_only_vehicle_is_commanded_with_its_name_or_without(plain):
    action = plain.references()
    for given, taken in (
        (action, action),
        ({plain.name: action}, action),
        ({}, None),
        (None, None),
    ):
        (found,) = plain._actions_of(given)
        assert found is taken
    asked, command = plain.control({plain.name: References.of(action.rows + 0.25)})
    np.testing.assert_array_equal(asked.rows, action.rows + 0.25)
    assert command is not None
    wrong: Any = "hover"
    with pytest.raises(
        BadInput, match="^worlds: an action is References, a Command or MixedActions;"
    ):
        plain._actions_of(wrong)

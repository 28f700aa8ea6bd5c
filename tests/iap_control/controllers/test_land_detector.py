# SPDX-License-Identifier: BSD-3-Clause
"""What counts as standing on the ground, and how fast references may fall to it."""

import math

import numpy as np
import pytest

from iap_control.controllers.land_detector import Flare, LandDetector
from iap_description.signals import Reference
from iap_description.states import REF_A, REF_FIXED, REF_P, REF_V

DT, STANDING, MASS = 0.01, 0.3, 5.0
WEIGHT = MASS * 9.81


def at_height(z):
    row = np.zeros(REF_FIXED + 3)
    row[REF_P.stop - 1], row[6] = z, 1.0
    return Reference(row)


def state(z, v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0)):
    return np.array([0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0, *v, *w])


def landed_after(excess, duration=3.0, lift=0.0, **motion):
    """Time at which the rotors end, for a state so far above a reference that is in the ground; None if never."""
    detector = LandDetector(STANDING, MASS)
    detector.reference(-DT, state(1.0), at_height(STANDING + 0.5))
    detector._means[:] = 0.0  # at rest for long
    z = STANDING - 0.1
    wrench_P = np.array([0.0, 0.0, lift * WEIGHT, 0.0, 0.0, 0.0])
    for k in range(round(duration / DT)):
        detector._flare.reset()  # the reference is where it is asked for
        detector.reference(k * DT, state(z + excess, **motion), at_height(z), wrench_P)
        if detector.has_landed:
            return k * DT
    return None


@pytest.mark.parametrize(
    ("above", "speed"),
    [(0.58, math.sqrt(0.075**2 + 2.0 * 0.5)), (0.0799, 0.075), (0.0, 0.075), (-0.1, 0.075)],
)
def test_a_reference_falls_as_fast_as_it_can_be_stopped_before_the_touch_speed(above, speed):
    flare = Flare(STANDING, 0.075)
    flare(0.0, at_height(STANDING + above))
    row = flare(DT, at_height(STANDING - 5.0)).row
    assert row[REF_P.stop - 1] == pytest.approx(STANDING + above - speed * DT)
    assert row[REF_V.stop - 1] == pytest.approx(-speed)
    assert row[REF_A.stop - 1] == pytest.approx(1.0 if speed > 0.08 else 0.0)


def test_a_reference_ends_a_quarter_of_a_metre_below_standing():
    flare = Flare(STANDING, 0.075)
    for k in range(2000):
        row = flare(k * DT, at_height(STANDING - 5.0 if k else STANDING + 0.1)).row
    assert row[REF_P.stop - 1] == pytest.approx(STANDING - 0.25)


@pytest.mark.parametrize(
    ("lands", "doing"),
    [
        (True, {"excess": 0.032}),
        (False, {"excess": 0.028}),
        (True, {"excess": 0.0, "lift": 0.073}),
        (False, {"excess": 0.0, "lift": 0.067}),
        (True, {"excess": 0.05, "v": (0.0, 0.0, 0.029)}),
        (False, {"excess": 0.05, "v": (0.031, 0.0, 0.0)}),
        (True, {"excess": 0.05, "w": (0.0, 0.048, 0.0)}),
        (False, {"excess": 0.05, "w": (0.0, 0.0, 0.052)}),
    ],
)
def test_a_vehicle_stands_that_is_borne_and_does_not_move(lands, doing):
    assert (landed_after(**doing) is not None) == lands


def test_rotors_end_a_second_after_the_touch_which_shows_after_the_low_pass():
    """Of 4 cm more than 3 cm are there once (1/1.1)^k < 1/4, for 10 ms under a time constant of 0.1 s: k = 15."""
    assert landed_after(0.04) == pytest.approx(14 * DT + 1.0, abs=1.01 * DT)


def test_rotors_go_on_once_the_reference_climbs_by_five_centimetres():
    detector = LandDetector(STANDING, MASS)
    detector.has_landed = True
    for z, has_landed in ((0.2, True), (0.248, True), (0.252, False)):
        detector._flare.reset()
        detector.reference(0.0, state(STANDING), at_height(z))
        assert detector.has_landed == has_landed

# SPDX-License-Identifier: BSD-3-Clause
"""Motions that are given in NED, as formulas of place and Euler angles; rows have them in ENU and FLU."""

import numpy as np
import pytest

from iap_control.references.ned_motions import Circle, FigureEight, Ramps
from iap_description.math import so3
from iap_description.states import REF_A, REF_P, REF_Q, REF_V, REF_W

AMPLITUDE = (0.8, 1.1, 0.5)
CIRCLE = Circle(
    type="circle", duration=20.0, period=8.0, altitude=2.1, amplitude=AMPLITUDE,
    pitch_amplitude=0.25, yaw_amplitude=0.3,
)  # fmt: skip
RAMPS = Ramps(
    type="ramps", rate=0.05, ramp=4.0, pause=3.0, period=16.0, ease=2.0, altitude=1.5, amplitude=AMPLITUDE
)  # fmt: skip
EIGHT = FigureEight(
    type="figure_eight", half_lap=24.0, laps=2, altitude=4.1, amplitude=(4.5, 4.5, 2.4), ramp_deg=(22.5, -22.5, 45.0)
)  # fmt: skip
FLIP = np.diag([1.0, -1.0, -1.0])  # FRD and FLU
NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])  # and ENU


def in_ned(rows):
    """Places [m], and roll, pitch and yaw [rad] in NED and FRD, of rows."""
    R = NED @ so3.matrix_from_quaternion(rows[:, REF_Q]) @ FLIP
    return rows[:, REF_P] @ NED, so3.euler_from_matrix(R)


def lap(phase, amplitude, altitude):
    a, b, c = amplitude
    return np.stack(
        [a * np.sin(phase), b * (np.cos(phase) - 1.0), c * np.sin(phase) - altitude], -1
    )


def test_a_circle_is_its_formula():
    t = np.linspace(0.0, 20.0, 81)
    phase = 2.0 * np.pi * t / 8.0
    place, angles = in_ned(CIRCLE.rows(t))
    np.testing.assert_allclose(place, lap(phase, AMPLITUDE, 2.1), atol=1e-12)
    expected = np.stack([0.0 * t, 0.25 * np.sin(phase), 0.3 * (np.cos(phase) - 1.0)], -1)
    np.testing.assert_allclose(angles, expected, atol=1e-9)


@pytest.mark.parametrize(
    ("t", "roll", "pitch", "turned"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (2.0, 0.1, 0.0, 0.0),
        (5.5, 0.2, 0.0, 0.0),  # held
        (9.0, 0.1, 0.0, 0.0),
        (12.0, 0.0, 0.0, 0.0),
        (16.0, 0.0, 0.1, 0.0),
        (19.5, 0.0, 0.2, 0.0),
        (23.0, 0.0, 0.1, 0.0),
        (28.0, 0.0, 0.0, 0.0),  # two ramps of 2 (4 + 3) s
        (28.0 + 9.0, 0.0, 0.0, np.pi),  # half of the period and half of the ease
        (28.0 + 18.0, 0.0, 0.0, 2.0 * np.pi),
        (46.0 + 2.0, 0.1, 0.1, None),
        (46.0 + 5.0, 0.2, 0.2, 2.5 * np.pi),  # a quarter of the period and half of the ease
        (46.0 + 9.0, 0.1, 0.1, 3.0 * np.pi),
        (64.0, 0.0, 0.0, 4.0 * np.pi),
    ],
)
def test_ramps_of_one_axis_each_then_a_circle_then_both(t, roll, pitch, turned):
    assert RAMPS.duration == 64.0
    place, angles = in_ned(RAMPS.rows(np.array([t, t])))
    np.testing.assert_allclose(angles[0], [roll, pitch, 0.0], atol=1e-9)
    if turned is not None:
        np.testing.assert_allclose(place[0], lap(turned, AMPLITUDE, 1.5), atol=1e-9)


@pytest.mark.parametrize(
    ("t", "side", "share"),
    [(0.0, 1, 0.0), (6.0, 1, 0.5), (12.0, 1, 1.0), (20.0, 1, 1 / 3), (24.0, -1, 0.0), (30.0, -1, -0.5),
     (36.0, -1, -1.0), (45.0, -1, -0.25), (50.0, 1, 1 / 6), (60.0, 1, 1.0), (95.0, -1, -1 / 12)],
)  # fmt: skip
def test_an_eight_mirrors_its_second_half_and_its_attitude(t, side, share):
    assert EIGHT.duration == 96.0
    place, angles = in_ned(EIGHT.rows(np.array([t, t])))
    expected = lap(2.0 * np.pi * t / 24.0, (4.5, 4.5, 2.4), 4.1) * [1.0, side, 1.0]
    np.testing.assert_allclose(place[0], expected, atol=1e-9)
    np.testing.assert_allclose(
        np.degrees(angles[0]), share * np.array([22.5, -22.5, 45]), atol=1e-7
    )


@pytest.mark.parametrize("motion", [CIRCLE, RAMPS, EIGHT])
def test_velocities_and_rates_are_the_derivatives(motion):
    h = 1e-5
    t = np.array([1.3, 2.9, 30.1, 41.3, 49.0])  # at no corner
    before, now, after = (motion.rows(t + k * h) for k in (-1, 0, 1))
    difference = (after - before) / (2.0 * h)
    np.testing.assert_allclose(now[:, REF_V], difference[:, REF_P], atol=1e-6)
    np.testing.assert_allclose(now[:, REF_A], difference[:, REF_V], atol=1e-6)
    turn = so3.multiply(so3.conjugate(before[:, REF_Q]), after[:, REF_Q])
    np.testing.assert_allclose(now[:, REF_W], so3.quaternion_log(turn) / (2.0 * h), atol=1e-6)

# SPDX-License-Identifier: BSD-3-Clause
"""Jumps of estimates that fade, and the centre's attitude between estimates, of few numbers worked out by hand."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.navigation.attitude_predictor import SAMPLE_MEMORY, AttitudePredictor
from iap_estimation.navigation.jump_blend import JumpBlend
from iap_estimation.navigation.vision_log import VisionLog
from iap_estimation.virpo.messages import Estimate, Tilt

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
X = np.array([1.0, 0.0, 0.0])


def row(x, v):
    out = np.zeros(13)
    out[0], out[7] = x, v
    return out


def test_a_jump_of_velocity_fades_with_that_of_the_place():
    blend = JumpBlend()
    blend(0.0, row(0.0, 1.0))
    second = row(0.6, 3.0)  # 0.5 m too far, 2 m/s too fast
    blend(0.1, second)
    np.testing.assert_allclose(second[[0, 7]], [0.1, 1.0])
    third = row(0.9, 3.0)  # as foreseen
    blend(0.2, third)
    fading = np.exp(-0.2)
    np.testing.assert_allclose(third[[0, 7]], [0.9 - 0.5 * fading, 3.0 - 2.0 * fading])
    fourth = row(1.2, 4.0)  # faster, but where it was foreseen: nothing is added
    blend(0.3, fourth)
    np.testing.assert_allclose(fourth[[0, 7]], [1.2 - 0.5 * fading**2, 4.0 - 2.0 * fading**2])
    older = row(9.0, 9.0)
    blend(0.25, older)
    np.testing.assert_allclose(older[[0, 7]], [9.0 - 0.5 * fading**2, 9.0 - 2.0 * fading**2])


@pytest.mark.parametrize(("jump", "is_blended"), [(0.0099, False), (0.0101, True)])
def test_a_centimetre_is_a_jump(jump, is_blended):
    blend = JumpBlend()
    blend(0.0, row(0.0, 0.0))
    found = row(-jump, 0.0)
    blend(0.1, found)
    assert (found[0] == 0.0) == is_blended


def tilt(t, w):
    return Tilt(t, LEVEL, w * X, np.zeros(3))


def estimate(t, turn=0.0, bias=0.0):
    q = so3.quaternion_exp(turn * X)
    return Estimate(t, np.zeros(3), q, np.zeros(3), bias * X, np.zeros(3), np.eye(15))


def angle(made):
    return so3.quaternion_log(made.q_WB)[0]


def test_samples_turn_the_centre_and_those_that_come_late_do_not():
    made = AttitudePredictor()
    assert made.t == -np.inf and not made.is_known
    for t, w in ((0.0, 9.0), (0.1, 0.5), (0.1, 7.0), (0.05, 7.0), (0.3, 1.0)):
        made.turn(tilt(t, w))
    assert made.t == 0.3 and angle(made) == pytest.approx(0.5 * 0.1 + 1.0 * 0.2)
    made.correct(estimate(0.2, turn=0.4, bias=0.1))
    assert made.is_known and made.t_estimate == 0.2
    assert angle(made) == pytest.approx(0.4 + 0.1 * 0.9), "half of the last sample is newer"
    made.correct(estimate(0.2, turn=5.0))
    assert angle(made) == pytest.approx(0.49)
    made.correct(estimate(0.3, turn=0.7, bias=0.1))
    assert angle(made) == pytest.approx(0.7)


def test_an_angular_velocity_follows_with_a_time_constant_of_16_ms():
    made = AttitudePredictor()
    made.turn(tilt(0.0, 1.0))
    assert made.w_B[0] == 1.0
    made.turn(tilt(0.016, 3.0))
    assert made.w_B[0] == pytest.approx(3.0 - 2.0 * np.exp(-1.0))
    made.correct(estimate(0.016, bias=0.25))
    assert made.w_B[0] == pytest.approx(2.75 - 2.0 * np.exp(-1.0))


@pytest.mark.parametrize(("late", "turned"), [(1.9, 0.95), (2.4, 1.05)])
def test_samples_of_two_seconds_are_kept_for_an_estimate_that_comes_late(late, turned):
    made = AttitudePredictor()
    for k in range(41):
        made.turn(tilt(0.1 * k, 0.5))
    made.correct(estimate(4.0 - late))
    assert SAMPLE_MEMORY == 2.0
    assert angle(made) == pytest.approx(turned, abs=0.051)


def test_blindness_is_told_by_aircraft_where_there_are_several():
    for count, words in ((1, "vision lost"), (2, "vision lost by aircraft 1, 2")):
        log = VisionLog(count)
        log.see(0, 0.3)
        log.see(0, 0.1)
        log.note(0.4)
        assert log.events == []
        log.note(0.9)
        assert log.events[-1][1] == words
        assert log.events[0][0] == (0.3 if count == 1 else 0.0)

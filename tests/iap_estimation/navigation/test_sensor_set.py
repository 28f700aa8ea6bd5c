# SPDX-License-Identifier: BSD-3-Clause
"""Sensors that an estimator hears, and how estimates reach controllers."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import RangeReading, SensorSource
from iap_description.sensors.sensor_info import UwbInfo
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_types import joint_type
from iap_estimation.navigation.attitude_predictor import AttitudePredictor
from iap_estimation.navigation.jump_blend import FADING, MIN_BLENDED_JUMP, JumpBlend
from iap_estimation.navigation.reading_adapter import ReadingAdapter
from iap_estimation.navigation.sensor_set import (
    SensorSet,
    UnitMount,
    centre_row,
    check_joint,
    move_on,
)
from iap_estimation.virpo.messages import Estimate, Tilt
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import sensor_infos

RNG = np.random.default_rng(5)
NONE = np.full((15, 15), np.nan)
ANCHORS = ("a0", "a1", "a2")
DT, SPEED = 0.005, np.array([1.0, -0.5, 0.2])


def attitude():
    return so3.quaternion_exp(RNG.uniform(-1.0, 1.0, 3))


def state():
    return np.concatenate([RNG.uniform(-2.0, 2.0, 3), attitude(), RNG.uniform(-1.0, 1.0, 6)])


def unit_on(row, mount, q_BI, t=0.0):
    """A perfect estimate for the unit on a body."""
    x = mount.unit(row)
    w_I = so3.rotate(so3.conjugate(x[3:7]), row[W])
    return Estimate(t, x[:3], x[3:7], x[7:10], np.zeros(3), np.zeros(3), NONE, w_I)


def test_a_body_is_where_its_unit_says_whatever_the_mount():
    row, q_BI = state(), attitude()
    mount = UnitMount(np.array([0.03, -0.05, 0.02]), q_BI)
    out = np.empty(13)
    mount.body(unit_on(row, mount, q_BI), 0.0, out)
    np.testing.assert_allclose(np.abs(out[Q] @ row[Q]), 1.0, atol=1e-12)
    for part in (P, V, W):
        np.testing.assert_allclose(out[part], row[part], atol=1e-12)


def test_an_older_estimate_is_carried_on_by_its_twist():
    row, mount = state(), UnitMount(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    out = np.empty(13)
    mount.body(unit_on(row, mount, None), 0.1, out)
    np.testing.assert_allclose(out[P], row[P] + 0.1 * row[V], atol=1e-12)
    turn = so3.multiply(so3.quaternion_exp(0.1 * row[W]), row[Q])
    np.testing.assert_allclose(np.abs(out[Q] @ turn), 1.0, atol=1e-12)
    move_on(out, -1.0)  # never back
    np.testing.assert_allclose(out[P], row[P] + 0.1 * row[V], atol=1e-12)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_the_centre_follows_from_its_joints_and_its_attitude(count):
    centre, d = state(), RNG.uniform(-0.5, 0.5, (count, 3))
    arms_W = so3.rotate(centre[Q], d)
    aircraft = np.array([state() for _ in range(count)])
    aircraft[:, P] = centre[P] + arms_W
    aircraft[:, V] = centre[V] + np.cross(centre[W], arms_W)
    w_P = so3.rotate(so3.conjugate(centre[Q]), centre[W])
    np.testing.assert_allclose(centre_row(aircraft, d, centre[Q], w_P), centre, atol=1e-12)


def told(t, w):
    return Tilt(t, np.array([0.0, 0.0, 0.0, 1.0]), w, np.array([0.0, 0.0, 9.81]))


def turned(q_WB, w, span):
    return so3.multiply(q_WB, so3.quaternion_exp(w * span))


def centre_at(t, q_WB, bias):
    nothing = np.full(3, np.nan)
    return Estimate(t, np.zeros(3), q_WB, np.zeros(3), bias, nothing, NONE)


def test_the_centres_attitude_goes_on_with_its_gyroscope_less_the_bias():
    head, bias, w = AttitudePredictor(), np.array([0.1, -0.2, 0.05]), np.array([0.3, 0.2, -0.4])
    q = attitude()
    assert not head.is_known
    for k in range(21):
        head.turn(told(0.01 * k, w + bias))
    head.correct(centre_at(0.055, q, bias))  # between two samples, and late
    assert head.is_known
    np.testing.assert_allclose(np.abs(head.q_WB @ turned(q, w, 0.145)), 1.0, atol=1e-9)
    head.turn(told(0.21, w + bias))
    np.testing.assert_allclose(np.abs(head.q_WB @ turned(q, w, 0.155)), 1.0, atol=1e-9)
    np.testing.assert_allclose(head.w_B, w, atol=1e-12)


def test_an_estimate_without_bias_keeps_the_last_one_and_an_older_one_does_not_count():
    head, q = AttitudePredictor(), attitude()
    head.turn(told(0.0, np.zeros(3)))
    head.correct(centre_at(0.0, q, np.full(3, np.nan)))
    head.turn(told(0.1, np.array([1.0, 0.0, 0.0])))
    expected = turned(q, np.array([1.0, 0.0, 0.0]), 0.1)
    head.correct(centre_at(-1.0, attitude(), np.ones(3)))
    np.testing.assert_allclose(np.abs(head.q_WB @ expected), 1.0, atol=1e-9)


def test_the_centres_angular_velocity_loses_most_of_its_noise_and_nothing_of_its_mean():
    head, w = AttitudePredictor(), np.array([0.3, 0.0, -0.2])
    noise = 0.02 * np.random.default_rng(1).standard_normal((2000, 3))
    felt = []
    for k, each in enumerate(noise):
        head.turn(told(0.005 * k, w + each))
        felt.append(head.w_B)
    np.testing.assert_allclose(np.mean(felt, axis=0), w, atol=2e-3)
    steps = np.diff(felt, axis=0).std() / np.diff(noise, axis=0).std()
    assert steps < 0.25


def test_a_joint_off_the_com_is_refused_by_its_key():
    spherical = joint_type("spherical")
    check_joint("vehicle 'iap'", 0, spherical, (0.0, 0.0, 0.0))
    with pytest.raises(BadInput, match=r"vehicle 'iap': key 'platform\.joints\.1\.offset'"):
        check_joint("vehicle 'iap'", 1, spherical, (0.0, 0.0, 0.02))
    with pytest.raises(BadInput, match=r"platform.joints.2.type': .* spherical and fixed joints"):
        check_joint("vehicle 'iap'", 2, joint_type("revolute"), (0.0, 0.0, 0.0))


@pytest.mark.parametrize(("said", "believed"), [(0.0, 1e-3), (1e-200, 1e-3), (0.2, 0.2)])
def test_the_deviation_of_a_range_has_a_least_value(said, believed):
    scenario, _ = resolve("figure_eight", Options(sensors="stereo,uwb,imu"))
    vehicle = scenario.vehicles[0]
    infos = sensor_infos(scenario, vehicle.name)
    own = SensorSet.of(Assembly.of(vehicle.platform, vehicle.name), infos, 9.81)
    tag = next(each for each in infos if isinstance(each, UwbInfo))
    places = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [np.nan, np.nan, np.nan]])
    reading = RangeReading(
        SensorSource(tag.topic, tag.frame),
        0.1,
        ANCHORS,
        places,
        np.array([1.0, 2.0, 3.0]),
        np.full(3, said),
        np.array([True, True, True]),
    )
    aircraft, ranges = ReadingAdapter(own.carried, own.central)(reading)
    assert aircraft == 0
    np.testing.assert_array_equal(ranges.deviations, [believed, believed])
    np.testing.assert_array_equal(ranges.ranges, [1.0, 2.0])  # a tag that flies has no known place


def flown(jump, at=0.5, duration=5.0):
    """Times, places as estimated, and rows as blended, of a straight flight whose estimate jumps once."""
    blend, ts = JumpBlend(), np.arange(0.0, duration, DT)
    places, rows = [], []
    for t in ts:
        row = np.zeros(13)
        row[P], row[V] = SPEED * t + (t >= at) * np.array([jump, 0.0, 0.0]), SPEED
        places.append(row[P].copy())
        blend(t, row)
        rows.append(row)
    return ts, np.array(places), np.array(rows)


def test_a_large_correction_makes_no_jump_and_is_there_in_the_end():
    t, places, rows = flown(0.07)
    steps = np.diff(rows[:, P], axis=0) - DT * SPEED
    assert np.abs(steps).max() <= 0.07 * DT / FADING + 1e-9
    assert np.abs(rows[-1, P] - places[-1]).max() < 1e-4
    later = t >= 0.5 + FADING
    assert np.linalg.norm(rows[later][0, P] - places[later][0]) == pytest.approx(
        0.07 / np.e, rel=0.03
    )


def test_a_small_correction_passes_as_it_is():
    _, places, rows = flown(0.9 * MIN_BLENDED_JUMP)
    np.testing.assert_array_equal(rows[:, P], places)
    np.testing.assert_array_equal(rows[:, V], np.tile(SPEED, (len(rows), 1)))


def test_the_same_time_gives_the_same_state_again():
    blend = JumpBlend()
    first, second, again = np.zeros((3, 13))
    blend(0.0, first)
    second[0] = again[0] = 0.5
    blend(DT, second)
    blend(DT, again)
    np.testing.assert_array_equal(second, again)
    assert second[0] == pytest.approx(0.0)

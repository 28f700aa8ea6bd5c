# SPDX-License-Identifier: BSD-3-Clause
"""The drift filter: what it makes of odometries that drift, of ranges and of how the aircraft are joined."""

from dataclasses import replace

import numpy as np
import pytest
from drifting import (
    NOISE,
    WALKS,
    Drift,
    ErrorLog,
    assert_attitude,
    fed,
    messages,
    off,
    turned_off,
    wide,
)
from synthetic import CENTRE, Flight
from synthetic_fleet import figure_eight, fleet_of

from iap_description.math import so3
from iap_estimation.virpo.drift.filter import DriftFilter
from iap_estimation.virpo.drift.spec import PRESETS, load_spec

LINE = np.array([[0.0, 0.6, -0.07], [0.0, 0.0, -0.07], [0.0, -0.6, -0.07]])


@pytest.mark.slow
def test_offset_and_yaw_of_one_odometry_are_found_from_ranges():
    one = Flight.of(30.0, fleet=fleet_of(1), noise=NOISE, seed=1, points=1)
    drift = Drift(yaw=0.12, place=(0.6, -0.4, 0.3))
    drift_filter = fed(DriftFilter(one.fleet, wide()), messages(one, [drift]))
    told = drift_filter.estimates()[0]
    assert np.linalg.norm(off(one, told, 0)) < 0.15
    assert abs(turned_off(one, told, 0)[2]) < 0.03
    v = told.v_WB_W - one.truth(0, told.t).v_WB_W
    assert np.linalg.norm(v) < 0.1
    assert drift_filter.centre() is None


@pytest.mark.slow
def test_the_joints_pass_on_what_ranges_say_of_others(ranged_flight):
    drifts = [Drift(), Drift(yaw_rate=0.004, speed=(0.02, 0.01, -0.01)), Drift()]
    only = messages(ranged_flight, drifts, ranged=[0, 2])
    joined = fed(DriftFilter(ranged_flight.fleet, load_spec()), only).estimates()[1]
    apart = fed(DriftFilter(replace(ranged_flight.fleet, d=None), load_spec()), only).estimates()[
        1
    ]
    assert np.linalg.norm(off(ranged_flight, apart, 1)) > 0.5
    assert np.linalg.norm(off(ranged_flight, joined, 1)) < 0.15
    assert abs(turned_off(ranged_flight, joined, 1)[2]) < 0.04


@pytest.mark.slow
def test_an_offset_of_one_odometry_is_found_in_spite_of_the_joints(ranged_flight):
    drifts = [Drift(), Drift(0.1, (0.3, 0.2, -0.2)), Drift()]
    watch = ErrorLog(ranged_flight)
    drift_filter = fed(
        DriftFilter(ranged_flight.fleet, wide(1.0, 10.0)), messages(ranged_flight, drifts), watch
    )
    assert watch.rms(10.0).max() < 0.1
    assert_attitude(ranged_flight, drift_filter.centre())


@pytest.mark.slow
def test_drift_that_walks_is_followed(ranged_flight, walking):
    drift_filter, watch = walking
    raw = [
        np.sqrt(
            np.mean(
                [np.sum(off(ranged_flight, m, a) ** 2) for m in drift.odometry(ranged_flight, a)]
            )
        )
        for a, drift in enumerate(WALKS)
    ]
    assert watch.rms().max() < 0.08
    assert watch.rms()[:3].max() < 0.7 * np.mean(raw)
    assert len(watch.t) == 301
    assert drift_filter.reopened == 0


def test_what_it_says_of_its_errors_is_so(walking):
    nees = np.mean(walking[1].nees, axis=0)
    assert (nees > 0.3).all() and (nees < 2.0).all()


@pytest.mark.slow
def test_errors_are_known_under_a_drift_at_constant_rate():
    nees = []
    for seed in range(2):
        flown = Flight.of(30.0, noise=NOISE, seed=10 + seed, points=1, range_rate=50.0)
        drifts = [
            Drift(yaw_rate=0.003 * s, speed=0.012 * np.roll([s, 1, -1], seed + k), seed=seed)
            for k, s in enumerate((1, -1, 1))
        ]
        watch = ErrorLog(flown)
        fed(DriftFilter(flown.fleet, load_spec()), messages(flown, drifts, jitter=0.005), watch)
        nees.append(np.mean(watch.nees, axis=0))
    assert 0.5 < np.mean(nees) < 2.0


def test_the_centre_moves_and_turns_as_it_does(ranged_flight, walking):
    told = walking[0].centre()
    true = ranged_flight.truth(CENTRE, told.t)
    assert_attitude(ranged_flight, told)
    assert np.linalg.norm(told.v_WB_W - true.v_WB_W) < 0.05
    assert np.isfinite(told.covariance[:12, :12]).all()
    assert np.isnan(told.covariance[12:]).all()
    known = told.covariance[:12, :12]
    assert np.linalg.eigvalsh(0.5 * (known + known.T)).min() > 0.0


def test_covariance_of_an_aircraft_is_one(walking):
    for told in walking[0].estimates():
        assert np.linalg.eigvalsh(0.5 * (told.covariance + told.covariance.T)).min() > 0.0
        assert (told.gyro_bias == 0.01).all()


@pytest.mark.slow
@pytest.mark.parametrize("d", [None, LINE], ids=["star", "line"])
def test_arms_and_antennas_off_the_bodies_do_no_harm(d):
    fleet = fleet_of(3, antenna=(0.05, 0.0, 0.1), joint=(0.02, 0.0, 0.06))
    fleet = fleet if d is None else replace(fleet, d=d)
    flown = Flight.of(10.0, fleet=fleet, noise=NOISE, seed=4, points=1, range_rate=50.0)
    watch = ErrorLog(flown)
    drift_filter = fed(DriftFilter(fleet, load_spec()), messages(flown, WALKS), watch)
    assert watch.rms().max() < 0.08
    told = drift_filter.centre()
    assert_attitude(flown, told)
    assert np.linalg.norm(told.v_WB_W - flown.truth(CENTRE, told.t).v_WB_W) < 0.1


def test_the_tilt_levels_what_a_line_leaves_open():
    fleet = replace(fleet_of(3), d=LINE)
    flown = Flight.of(5.0, fleet=fleet, noise=NOISE, seed=4, points=1)
    drift_filter = fed(DriftFilter(fleet, load_spec()), messages(flown, [Drift()] * 3))
    assert np.abs(turned_off(flown, drift_filter.centre(), CENTRE)[:2]).max() < 0.02
    C = drift_filter.centre().covariance[3:6, 3:6]
    assert 0.005 < np.sqrt(C[1, 1]) < 0.03


def test_the_yaw_of_the_autopilot_is_not_used(ranged_flight, arrivals):
    about = so3.quaternion_exp(np.array([0.0, 0.0, 2.0]))
    heard = []
    for t, order, kind, a, message in arrivals:
        if t < 5.0:
            if kind == "tilt":
                message = replace(message, q_WB0=so3.multiply(about, message.q_WB0))
            heard.append((t, order, kind, a, message))
    told = fed(DriftFilter(ranged_flight.fleet, load_spec()), heard).centre()
    assert_attitude(ranged_flight, told)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [10.0, 20.0])
def test_odometries_at_times_of_their_own(rate):
    """Nothing is measured at the stamps of another."""
    flown = Flight.of(10.0, noise=NOISE, seed=6, points=1, range_rate=50.0)
    arrivals = messages(flown, [Drift(walk=(0.02, 0.004), seed=s) for s in range(3)], 100.0)
    every = round(100.0 / rate)
    own = [
        one
        for one in arrivals
        if one[2] != "odometry" or round(100 * one[0]) % every == (0, 2, 3)[one[3]]
    ]
    watch = ErrorLog(flown)
    fed(DriftFilter(flown.fleet, load_spec()), own, watch)
    assert watch.rms(since=1.0).max() < 0.08


def test_settings_are_records_with_a_preset():
    assert "default" in PRESETS.names()
    assert load_spec().walk.yaw == 0.004
    assert PRESETS.tree("default")["rate"] == 10.0


def test_a_platform_at_rest_stays_there():
    flown = Flight.of(5.0, centre=figure_eight(rest=100.0), noise=NOISE, seed=2, points=1)
    watch = ErrorLog(flown)
    fed(DriftFilter(flown.fleet, load_spec()), messages(flown, [Drift()] * 3), watch)
    assert watch.rms().max() < 0.06

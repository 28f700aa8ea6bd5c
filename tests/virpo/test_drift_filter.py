# SPDX-License-Identifier: BSD-3-Clause
"""The drift filter: what it makes of odometries that drift, of ranges and of how the aircraft are joined."""

import time
from dataclasses import replace

import numpy as np
import pytest
from drifting import (
    WALKS,
    Drift,
    Watch,
    assert_attitude,
    fed,
    lost,
    messages,
    off,
    turned_off,
    wide,
)
from synthetic import CENTRE, Flight
from synthetic_crew import Noise, crew_of, figure_eight

from iap_description import so3
from iap_description.errors import BadInput
from iap_estimation.virpo.drift.filter import DriftFilter
from iap_estimation.virpo.drift.spec import PRESETS, load_spec

NOISE = Noise(gyro=0.0015, gyro_bias=0.003, range=0.7071, tilt=0.01)
LINE = np.array([[0.0, 0.6, -0.07], [0.0, 0.0, -0.07], [0.0, -0.6, -0.07]])


@pytest.fixture(scope="module")
def flight():
    return Flight.of(30.0, noise=NOISE, seed=3, points=1, range_rate=50.0)


@pytest.fixture(scope="module")
def arrivals(flight):
    """Of three odometries that drift as the filter believes."""
    return messages(flight, WALKS)


@pytest.fixture(scope="module")
def walking(flight, arrivals):
    """A filter that has heard them in time, and its errors."""
    watch = Watch(flight)
    return fed(DriftFilter(flight.crew, load_spec()), arrivals, watch), watch


def test_offset_and_yaw_of_one_odometry_are_found_from_ranges():
    one = Flight.of(30.0, crew=crew_of(1), noise=NOISE, seed=1, points=1)
    drift = Drift(yaw=0.12, place=(0.6, -0.4, 0.3))
    drift_filter = fed(DriftFilter(one.crew, wide()), messages(one, [drift]))
    told = drift_filter.estimates()[0]
    assert np.linalg.norm(off(one, told, 0)) < 0.15
    assert abs(turned_off(one, told, 0)[2]) < 0.03
    v = told.v_WB_W - one.truth(0, told.t).v_WB_W
    assert np.linalg.norm(v) < 0.1
    assert drift_filter.centre() is None


def test_the_joints_pass_on_what_ranges_say_of_others(flight):
    drifts = [Drift(), Drift(yaw_rate=0.004, speed=(0.02, 0.01, -0.01)), Drift()]
    only = messages(flight, drifts, ranged=[0, 2])
    joined = fed(DriftFilter(flight.crew, load_spec()), only).estimates()[1]
    apart = fed(DriftFilter(replace(flight.crew, d=None), load_spec()), only).estimates()[1]
    assert np.linalg.norm(off(flight, apart, 1)) > 0.5
    assert np.linalg.norm(off(flight, joined, 1)) < 0.15
    assert abs(turned_off(flight, joined, 1)[2]) < 0.04


def test_an_offset_of_one_odometry_is_found_in_spite_of_the_joints(flight):
    drifts = [Drift(), Drift(0.1, (0.3, 0.2, -0.2)), Drift()]
    watch = Watch(flight)
    drift_filter = fed(DriftFilter(flight.crew, wide(1.0, 10.0)), messages(flight, drifts), watch)
    assert watch.rms(10.0).max() < 0.1
    assert_attitude(flight, drift_filter.centre())


def test_drift_that_walks_is_followed(flight, walking):
    drift_filter, watch = walking
    raw = [
        np.sqrt(np.mean([np.sum(off(flight, m, a) ** 2) for m in drift.odometry(flight, a)]))
        for a, drift in enumerate(WALKS)
    ]
    assert watch.rms().max() < 0.08
    assert watch.rms()[:3].max() < 0.7 * np.mean(raw)
    assert len(watch.t) == 301
    assert drift_filter.reopened == 0


def test_what_it_says_of_its_errors_is_so(walking):
    nees = np.mean(walking[1].nees, axis=0)
    assert (nees > 0.3).all() and (nees < 2.0).all()


def test_errors_are_known_under_a_drift_at_constant_rate():
    nees = []
    for seed in range(2):
        flown = Flight.of(30.0, noise=NOISE, seed=10 + seed, points=1, range_rate=50.0)
        drifts = [
            Drift(yaw_rate=0.003 * s, speed=0.012 * np.roll([s, 1, -1], seed + k), seed=seed)
            for k, s in enumerate((1, -1, 1))
        ]
        watch = Watch(flown)
        fed(DriftFilter(flown.crew, load_spec()), messages(flown, drifts, jitter=0.005), watch)
        nees.append(np.mean(watch.nees, axis=0))
    assert 0.5 < np.mean(nees) < 2.0


def test_the_centre_moves_and_turns_as_it_does(flight, walking):
    told = walking[0].centre()
    true = flight.truth(CENTRE, told.t)
    assert_attitude(flight, told)
    assert np.linalg.norm(told.v_WB_W - true.v_WB_W) < 0.05
    assert np.isfinite(told.covariance[:12, :12]).all()
    assert np.isnan(told.covariance[12:]).all()
    known = told.covariance[:12, :12]
    assert np.linalg.eigvalsh(0.5 * (known + known.T)).min() > 0.0


def test_covariance_of_an_aircraft_is_one(walking):
    for told in walking[0].estimates():
        assert np.linalg.eigvalsh(0.5 * (told.covariance + told.covariance.T)).min() > 0.0
        assert (told.gyro_bias == 0.01).all()


@pytest.mark.parametrize("d", [None, LINE], ids=["star", "line"])
def test_arms_and_antennas_off_the_bodies_do_no_harm(d):
    crew = crew_of(3, antenna=(0.05, 0.0, 0.1), joint=(0.02, 0.0, 0.06))
    crew = crew if d is None else replace(crew, d=d)
    flown = Flight.of(10.0, crew=crew, noise=NOISE, seed=4, points=1, range_rate=50.0)
    watch = Watch(flown)
    drift_filter = fed(DriftFilter(crew, load_spec()), messages(flown, WALKS), watch)
    assert watch.rms().max() < 0.08
    told = drift_filter.centre()
    assert_attitude(flown, told)
    assert np.linalg.norm(told.v_WB_W - flown.truth(CENTRE, told.t).v_WB_W) < 0.1


def test_the_tilt_levels_what_a_line_leaves_open():
    crew = replace(crew_of(3), d=LINE)
    flown = Flight.of(5.0, crew=crew, noise=NOISE, seed=4, points=1)
    drift_filter = fed(DriftFilter(crew, load_spec()), messages(flown, [Drift()] * 3))
    assert np.abs(turned_off(flown, drift_filter.centre(), CENTRE)[:2]).max() < 0.02
    C = drift_filter.centre().covariance[3:6, 3:6]
    assert 0.005 < np.sqrt(C[1, 1]) < 0.03


def test_what_the_autopilot_says_of_its_yaw_is_not_believed(flight, arrivals):
    about = so3.quaternion_exp(np.array([0.0, 0.0, 2.0]))
    heard = []
    for t, order, kind, a, message in arrivals:
        if t < 5.0:
            if kind == "tilt":
                message = replace(message, q_WB0=so3.multiply(about, message.q_WB0))
            heard.append((t, order, kind, a, message))
    told = fed(DriftFilter(flight.crew, load_spec()), heard).centre()
    assert_attitude(flight, told)


def test_odometry_that_comes_late_changes_nothing_but_the_time_it_takes(flight, arrivals):
    heard = [one for one in arrivals if one[0] < 15.0]
    late = [
        (t + 0.15 if kind == "odometry" and a == 1 else t, *rest, kind, a, message)
        for t, *rest, kind, a, message in heard
    ]
    late.sort(key=lambda one: (round(one[0], 4), one[1], one[3]))
    crew, spec = flight.crew, load_spec()
    watches = [Watch(flight), Watch(flight)]
    fed(DriftFilter(crew, spec), heard, watches[0])
    fed(DriftFilter(crew, spec), late, watches[1])
    same = min(len(watch.t) for watch in watches)
    assert same > 145
    first, second = (np.array(watch.errors)[:same] for watch in watches)
    assert np.abs(first - second).max() < 0.02


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
    watch = Watch(flown)
    fed(DriftFilter(flown.crew, load_spec()), own, watch)
    assert watch.rms(since=1.0).max() < 0.08


def test_an_aircraft_unheard_is_where_the_others_hold_it(flight, arrivals, walking):
    watch = Watch(flight)
    heard = lost(arrivals, [1], 10.0, 20.0)
    drift_filter = fed(DriftFilter(flight.crew, load_spec()), heard, watch)
    assert watch.rms(10.5, 20.0)[1] < 0.1
    assert watch.rms(21.0).max() < 2.0 * walking[1].rms(21.0).max()
    assert np.mean(watch.nees, axis=0).max() < 2.0
    assert len(watch.t) > 295
    assert drift_filter.reopened == 0


def test_all_unheard_grow_uncertain_and_come_back(flight, arrivals):
    watch, deviations = Watch(flight), {}

    def look(drift_filter):
        watch(drift_filter)
        told = drift_filter.estimates()[0]
        deviations[round(told.t, 1)] = np.sqrt(told.covariance[0, 0])

    heard = lost(arrivals, [0, 1, 2], 10.0, 15.0)
    fed(DriftFilter(flight.crew, load_spec()), heard, look)
    assert deviations[14.0] > 5.0 > deviations[10.0]
    assert watch.rms(20.0).max() < 0.12


def test_a_centre_unheard_for_a_while_finds_its_attitude_again(flight, arrivals):
    heard = lost(arrivals, [CENTRE], 10.0, 15.0, kinds=("tilt",))
    watch = Watch(flight)
    told = fed(DriftFilter(flight.crew, load_spec()), heard, watch).centre()
    assert watch.rms().max() < 0.1
    assert_attitude(flight, told)


def test_outliers_of_ranges_are_refused(flight, arrivals, walking):
    rng, heard = np.random.default_rng(0), []
    for t, order, kind, a, message in arrivals:
        if kind == "ranges":
            told = message.ranges + 8.0 * (rng.random(4) < 0.2)
            told[2] += 1.5 * (10.0 < t < 20.0)  # no line of sight
            message = replace(message, ranges=told)
        heard.append((t, order, kind, a, message))
    watch = Watch(flight)
    fed(DriftFilter(flight.crew, load_spec()), heard, watch)
    assert watch.rms().max() < 2.0 * walking[1].rms().max()


def test_an_odometry_that_jumps_is_found_again(flight, arrivals):
    heard = []
    for t, order, kind, a, message in arrivals:
        if kind == "odometry" and a == 2 and t > 12.0:
            message = replace(message, p_WB_W=message.p_WB_W + [1.5, -1.0, 0.5])
        heard.append((t, order, kind, a, message))
    watch = Watch(flight)
    drift_filter = fed(DriftFilter(flight.crew, load_spec()), heard, watch)
    assert drift_filter.reopened > 0
    assert watch.rms(20.0).max() < 0.15
    assert watch.rms(12.0, 20.0)[:2].max() < 0.3


@pytest.mark.parametrize("who", [(1,), (0, 1, 2)])
def test_an_odometry_that_goes_wrong_and_says_so_does_no_harm(flight, arrivals, who):
    """As without images: metres within seconds, all of it corrected when it sees again."""

    def wrong(arrival):
        t, order, kind, a, told = arrival
        age = t - 10.0
        if kind != "odometry" or a not in who or not 0.0 < age < 5.0:
            return arrival
        off, C = 0.08 * age**2 * np.array([1.0, -0.7, 0.4]), told.covariance.copy()
        C[range(3), range(3)] += (0.08 * age**2) ** 2
        return t, order, kind, a, replace(told, p_WB_W=told.p_WB_W + off, covariance=C)

    watch = Watch(flight)
    fed(DriftFilter(flight.crew, load_spec()), [wrong(one) for one in arrivals], watch)
    assert watch.rms(10.0, 16.0).max() < (0.15 if len(who) == 1 else 0.5)
    assert watch.rms(20.0).max() < 0.15


def test_ranges_from_where_nobody_knows_it_was_are_dropped(flight, arrivals):
    """Unheard for 10 s, with ranges all the while, and then heard far from where it is."""

    def far(arrival):
        t, order, kind, a, told = arrival
        if kind != "odometry" or a != 1 or t < 18.0:
            return arrival
        C = told.covariance + np.diag([4.0] * 3 + [0.0] * 12) * (t < 20.0)
        return (
            t,
            order,
            kind,
            a,
            replace(told, p_WB_W=told.p_WB_W + [2.0, -1.0, 0.5], covariance=C),
        )

    watch = Watch(flight)
    heard = [far(one) for one in lost(arrivals, [1], 8.0, 18.0)]
    drift_filter = fed(DriftFilter(flight.crew, load_spec()), heard, watch)
    assert watch.rms(18.0).max() < 0.15
    assert drift_filter.reopened == 0


def test_an_anchor_behind_a_wall_is_left_out_and_told_of(flight, arrivals):
    def lengthen(arrival):
        t, order, kind, a, told = arrival
        if kind != "ranges" or t < 5.0:
            return arrival
        return t, order, kind, a, replace(told, ranges=told.ranges + (told.anchors == 1))

    watch = Watch(flight)
    drift_filter = fed(
        DriftFilter(flight.crew, load_spec()), [lengthen(one) for one in arrivals], watch
    )
    first = {one.aircraft: one for one in reversed(drift_filter.left_out)}
    assert all(first[a].anchor == 1 and 5.0 < first[a].t < 7.0 for a in range(3))
    assert all(drift_filter.state.refused(a) == {1} for a in range(3))
    assert watch.rms(5.0).max() < 0.15


def test_what_is_not_finite_is_left_out(flight, arrivals):
    heard = [one for one in arrivals if one[0] < 3.0]
    drift_filter = fed(DriftFilter(flight.crew, load_spec()), heard)
    bad = replace(drift_filter.estimates()[2], t=3.0, p_WB_W=np.full(3, np.nan))
    drift_filter.odometry(2, bad)
    assert drift_filter.refused == 1
    assert np.isfinite(drift_filter.state.P).all()


def test_it_takes_little_of_a_core(walking):
    flown = Flight.of(10.0, noise=NOISE, seed=5, points=1, range_rate=200.0)
    arrivals = messages(flown, WALKS)
    begun = time.process_time()
    fed(DriftFilter(flown.crew, load_spec()), arrivals)
    assert time.process_time() - begun < 0.1 * flown.duration


def test_settings_are_records_with_a_preset():
    assert "default" in PRESETS.names()
    assert load_spec().walk.yaw == 0.004
    assert PRESETS.tree("default")["rate"] == 10.0
    with pytest.raises(BadInput, match="no drift filter 'none'"):
        load_spec("none")


def test_a_platform_at_rest_stays_there():
    flown = Flight.of(5.0, centre=figure_eight(rest=100.0), noise=NOISE, seed=2, points=1)
    watch = Watch(flown)
    fed(DriftFilter(flown.crew, load_spec()), messages(flown, [Drift()] * 3), watch)
    assert watch.rms().max() < 0.06

# SPDX-License-Identifier: BSD-3-Clause
"""The drift filter where something is late, lost, wrong or says so of itself."""

from dataclasses import replace

import numpy as np
import pytest
from drifting import ErrorLog, assert_attitude, fed, lost
from synthetic import CENTRE

from iap_estimation.virpo.drift.filter import DriftFilter
from iap_estimation.virpo.drift.spec import load_spec

pytestmark = pytest.mark.slow


def test_odometry_that_comes_late_changes_nothing_but_the_time_it_takes(ranged_flight, arrivals):
    heard = [one for one in arrivals if one[0] < 15.0]
    late = [
        (t + 0.15 if kind == "odometry" and a == 1 else t, *rest, kind, a, message)
        for t, *rest, kind, a, message in heard
    ]
    late.sort(key=lambda one: (round(one[0], 4), one[1], one[3]))
    fleet, spec = ranged_flight.fleet, load_spec()
    watches = [ErrorLog(ranged_flight), ErrorLog(ranged_flight)]
    fed(DriftFilter(fleet, spec), heard, watches[0])
    fed(DriftFilter(fleet, spec), late, watches[1])
    same = min(len(watch.t) for watch in watches)
    assert same > 145
    first, second = (np.array(watch.errors)[:same] for watch in watches)
    assert np.abs(first - second).max() < 0.02


def test_an_aircraft_unheard_is_where_the_others_hold_it(ranged_flight, arrivals, walking):
    watch = ErrorLog(ranged_flight)
    heard = lost(arrivals, [1], 10.0, 20.0)
    drift_filter = fed(DriftFilter(ranged_flight.fleet, load_spec()), heard, watch)
    assert watch.rms(10.5, 20.0)[1] < 0.1
    assert watch.rms(21.0).max() < 2.0 * walking[1].rms(21.0).max()
    assert np.mean(watch.nees, axis=0).max() < 2.0
    assert len(watch.t) > 290  # of 301: updates wait for it at first
    assert drift_filter.reopened == 0


def test_all_unheard_grow_uncertain_and_come_back(ranged_flight, arrivals):
    watch, deviations = ErrorLog(ranged_flight), {}

    def look(drift_filter):
        watch(drift_filter)
        told = drift_filter.estimates()[0]
        deviations[round(told.t, 1)] = np.sqrt(told.covariance[0, 0])

    heard = lost(arrivals, [0, 1, 2], 10.0, 15.0)
    fed(DriftFilter(ranged_flight.fleet, load_spec()), heard, look)
    assert deviations[14.0] > 5.0 > deviations[10.0]
    assert watch.rms(20.0).max() < 0.12


def test_a_centre_unheard_for_a_while_finds_its_attitude_again(ranged_flight, arrivals):
    heard = lost(arrivals, [CENTRE], 10.0, 15.0, kinds=("tilt",))
    watch = ErrorLog(ranged_flight)
    told = fed(DriftFilter(ranged_flight.fleet, load_spec()), heard, watch).centre()
    assert watch.rms().max() < 0.1
    assert_attitude(ranged_flight, told)


def test_outliers_of_ranges_are_refused(ranged_flight, arrivals, walking):
    rng, heard = np.random.default_rng(0), []
    for t, order, kind, a, message in arrivals:
        if kind == "ranges":
            told = message.ranges + 8.0 * (rng.random(4) < 0.2)
            told[2] += 1.5 * (10.0 < t < 20.0)  # no line of sight
            message = replace(message, ranges=told)
        heard.append((t, order, kind, a, message))
    watch = ErrorLog(ranged_flight)
    fed(DriftFilter(ranged_flight.fleet, load_spec()), heard, watch)
    assert watch.rms().max() < 2.0 * walking[1].rms().max()


def test_an_odometry_that_jumps_is_found_again(ranged_flight, arrivals):
    heard = []
    for t, order, kind, a, message in arrivals:
        if kind == "odometry" and a == 2 and t > 12.0:
            message = replace(message, p_WB_W=message.p_WB_W + [1.5, -1.0, 0.5])
        heard.append((t, order, kind, a, message))
    watch = ErrorLog(ranged_flight)
    drift_filter = fed(DriftFilter(ranged_flight.fleet, load_spec()), heard, watch)
    assert drift_filter.reopened > 0
    assert watch.rms(20.0).max() < 0.15
    assert watch.rms(12.0, 20.0)[:2].max() < 0.3


@pytest.mark.parametrize("who", [(1,), (0, 1, 2)])
def test_an_odometry_that_goes_wrong_and_says_so_does_no_harm(ranged_flight, arrivals, who):
    """As without images: metres within seconds, all of it corrected when it sees again."""

    def wrong(arrival):
        t, order, kind, a, told = arrival
        age = t - 10.0
        if kind != "odometry" or a not in who or not 0.0 < age < 5.0:
            return arrival
        off, C = 0.08 * age**2 * np.array([1.0, -0.7, 0.4]), told.covariance.copy()
        C[range(3), range(3)] += (0.08 * age**2) ** 2
        return t, order, kind, a, replace(told, p_WB_W=told.p_WB_W + off, covariance=C)

    watch = ErrorLog(ranged_flight)
    fed(DriftFilter(ranged_flight.fleet, load_spec()), [wrong(one) for one in arrivals], watch)
    assert watch.rms(10.0, 16.0).max() < (0.15 if len(who) == 1 else 0.5)
    assert watch.rms(20.0).max() < 0.15


def test_ranges_from_where_nobody_knows_it_was_are_dropped(ranged_flight, arrivals):
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

    watch = ErrorLog(ranged_flight)
    heard = [far(one) for one in lost(arrivals, [1], 8.0, 18.0)]
    drift_filter = fed(DriftFilter(ranged_flight.fleet, load_spec()), heard, watch)
    assert watch.rms(18.0).max() < 0.15
    assert drift_filter.reopened == 0


def test_an_anchor_behind_a_wall_is_left_out_and_warned_of(ranged_flight, arrivals):
    def lengthen(arrival):
        t, order, kind, a, told = arrival
        if kind != "ranges" or t < 5.0:
            return arrival
        return t, order, kind, a, replace(told, ranges=told.ranges + (told.anchors == 1))

    watch = ErrorLog(ranged_flight)
    drift_filter = fed(
        DriftFilter(ranged_flight.fleet, load_spec()), [lengthen(one) for one in arrivals], watch
    )
    first = {one.aircraft: one for one in reversed(drift_filter.left_out)}
    assert all(first[a].anchor == 1 and 5.0 < first[a].t < 7.0 for a in range(3))
    assert all(drift_filter.state.refused(a) == {1} for a in range(3))
    assert watch.rms(5.0).max() < 0.15


def test_what_is_not_finite_is_left_out(ranged_flight, arrivals):
    heard = [one for one in arrivals if one[0] < 3.0]
    drift_filter = fed(DriftFilter(ranged_flight.fleet, load_spec()), heard)
    bad = replace(drift_filter.estimates()[2], t=3.0, p_WB_W=np.full(3, np.nan))
    drift_filter.odometry(2, bad)
    assert drift_filter.refused == 1
    assert np.isfinite(drift_filter.state.P).all()

# SPDX-License-Identifier: BSD-3-Clause
"""Health of an estimator: tracks, blind times, deviations and ages, and the worst of a flight."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_up_measurements import tracks

from iap_description.signals import EstimateHealth
from iap_estimation.navigation.health import LOOK_EVERY, HealthWatch, Worst
from iap_estimation.navigation.vision_log import FEWEST_TRACKS
from iap_estimation.virpo.messages import CENTRE, Ranges


def ranges(t: float, count: int) -> Ranges:
    return Ranges(t, np.arange(count), np.zeros((count, 3)), np.ones(count), np.ones(count))


def estimate(*variances: float) -> Any:
    R = np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0]
    covariance = np.full((15, 15), 99.0)
    covariance[:3, :3] = R @ np.diag(variances) @ R.T
    return SimpleNamespace(covariance=covariance)


def estimator(t: float, faults: int = 0, is_running: bool = True) -> Any:
    return SimpleNamespace(t=t, faults=[None] * faults, is_running=is_running)


def test_a_flight_is_blind_since_the_last_tracks_or_ranges_that_suffice() -> None:
    for method, seen_at in (("joint", 3.0), ("vio", 1.0)):  # vio uses no ranges
        watch = HealthWatch(method, 2)
        watch.see(0, tracks(1.0, FEWEST_TRACKS))
        watch.see(1, tracks(2.0, FEWEST_TRACKS - 1))
        watch.see(CENTRE, tracks(2.5, 100))
        watch.see(0, ranges(3.0, 1))
        watch.see(0, ranges(4.0, 0))
        watch.see(0, ranges(0.5, 3))  # comes late
        health = watch.look(5.0, [], list)
        assert health.blind == pytest.approx(5.0 - seen_at)
        assert health.tracks == FEWEST_TRACKS - 1  # of the aircraft that has fewest


def test_the_deviation_is_along_the_least_known_axis_and_looked_at_every_fifth_of_a_second() -> (
    None
):
    watch = HealthWatch("joint", 1)
    assert np.isnan(watch.look(0.0, [], list).deviation)
    assert watch.look(
        0.1, [], lambda: [estimate(1.0, 9.0, 4.0), estimate(0.1, 0.1, 0.1)]
    ).deviation == pytest.approx(3.0)
    later = [estimate(16.0, 1.0, 1.0)]
    for t, deviation in ((0.1 + 0.95 * LOOK_EVERY, 3.0), (0.1 + 1.01 * LOOK_EVERY, 4.0)):
        assert watch.look(t, [], lambda: later).deviation == pytest.approx(deviation)
    assert LOOK_EVERY == 0.2


def test_the_age_is_that_of_the_oldest_estimator_that_runs() -> None:
    watch = HealthWatch("joint", 1)
    estimators = [estimator(4.0, 2), estimator(3.0, 1), estimator(1.0, 3, is_running=False)]
    health = watch.look(5.0, estimators, list)
    assert (health.age, health.faults) == (2.0, 6)
    assert watch.look(6.0, [], list).age == 6.0
    assert watch.worst.age == 6.0


def test_the_worst_of_a_flight_is_kept_in_each_respect() -> None:
    worst = Worst()
    for each in (
        EstimateHealth(7, 0.1, np.nan, 0.3, 0),
        EstimateHealth(9, 0.5, 0.2, 0.1, 0),
        EstimateHealth(8, 0.2, 0.1, 0.2, 0),
    ):
        worst = worst.with_one(each)
    assert worst == (7, 0.5, 0.2, 0.3)
    assert worst.keys() == {
        "tracks_min": 7,
        "blind_max_s": 0.5,
        "deviation_max_m": 0.2,
        "age_max_s": 0.3,
    }

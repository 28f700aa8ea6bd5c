# SPDX-License-Identifier: BSD-3-Clause
"""Figures of many episodes: shares with intervals, times of successes alone, failures by their causes."""

import numpy as np
import pytest

from iap_bringup.terminal.evaluation import histogram, success_text
from iap_learning.evaluation.results import Results


def results() -> Results:
    """Ten episodes, of which two have been too forceful and one too slow."""
    success = np.array([True] * 7 + [False] * 3)
    outcomes = ["arrived"] * 7 + ["too_forceful", "time", "too_forceful"]
    time = np.array([2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, np.nan, np.nan, 9.0])
    force = np.arange(10.0, 110.0, 10.0)
    measures = {"time": time, "force_peak": force}
    return Results(np.arange(20, 30), success, outcomes, measures)


def test_times_are_those_of_successes_and_forces_those_of_all() -> None:
    figures = results().figures
    assert figures["successes"] == 7
    assert figures["time_mean"] == pytest.approx(2.3)
    assert figures["force_peak_mean"] == pytest.approx(55.0)
    assert figures["force_peak_95"] == pytest.approx(95.5)


def test_three_failures_of_a_thousand_keep_the_lower_bound_above_99_percent() -> None:
    for failures, is_above in ((3, True), (4, False)):
        success = np.arange(1000) >= failures
        words = ["arrived" if good else "time" for good in success]
        many = Results(np.arange(1000), success, words, {"time": np.ones(1000)})
        assert (float(many.figures["success_low"] or 0.0) >= 0.99) == is_above


def test_failures_are_sorted_by_cause_and_the_first_seed_of_each_is_known() -> None:
    assert results().causes == {"too_forceful": 2, "time": 1}
    assert results().first_failures == {"too_forceful": 27, "time": 28}


def test_what_no_episode_has_is_none() -> None:
    alone = Results(np.arange(1), np.array([False]), ["time"], {"time": np.array([np.nan])})
    assert alone.figures["time_mean"] is None
    assert alone.figures["time_95"] is None


def test_joined_parts_are_the_whole() -> None:
    whole = Results.joined([results(), results()])
    assert whole.figures["successes"] == 14
    assert len(whole.rows) == 20
    assert whole.rows[7]["outcome"] == "too_forceful"


def test_a_histogram_has_every_value_and_its_longest_bar_is_full() -> None:
    lines = histogram(np.array([1.0, 1.0, 1.0, 2.0, 3.0]), "s")
    assert sum(int(line.split()[-1]) for line in lines) == 5
    assert max(line.count("#") for line in lines) == 40
    assert histogram(np.full(9, 5.0), "s") == []
    assert success_text(results()).startswith("70.0 % (39.7 to 89.2), 7 of 10")

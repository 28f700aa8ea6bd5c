# SPDX-License-Identifier: BSD-3-Clause
"""Counts and outcomes of pushes, slides and pegs, period by period, at the bounds of their rules."""

import numpy as np
import pytest
from support.counted_periods import floats, flown, results

from iap_learning.tasks.kinds.peg_in_hole import counts as pegs
from iap_learning.tasks.kinds.slide_along_wall import counts as slides
from iap_learning.tasks.kinds.wall_push import counts as pushes
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FORCE_OFF,
    JAMMED,
    MISSED,
    NEVER_TOUCHED,
    OFF_PATH,
    RUNNING,
    SLIPPED,
    STUCK,
    TOO_FORCEFUL,
)

DT = 0.01
NAN = np.nan

# pushes on a wall: 10 N within 1 N over the last two of five periods, half of each period in the smoothed force

PUSH = pushes.PushRules(10.0, 1.0, 20.0, 1, 0.05, 2, 5, 0.5)
STILL = [[0.1, 0.2]] * 5


def pushed(forces, places=STILL):
    series = floats(forces), [np.array(each) for each in places[: len(forces)]]
    return flown(pushes, pushes.PushCounts.of(2), PUSH, *series)


@pytest.mark.parametrize(
    ("forces", "outcome"),
    [
        ([0, 10, 10, 10], RUNNING),
        ([0, 10, 10, 10, 10], ARRIVED),
        ([0, 99 / 9, 10, 10.99, 9.01], ARRIVED),
        ([0, 10, 10, 11.02, 8.98], FORCE_OFF),
        ([0, 0, 0, 0, 0], NEVER_TOUCHED),
        ([0, 20.0, 10, 10, 10], ARRIVED),
        ([0, 20.01], TOO_FORCEFUL),
        ([10, 0, 10, 10, 10], ARRIVED),
        ([10, 0, 10, 0], BOUNCED),
    ],
)
def test_a_push_ends_by_its_rules(forces, outcome):
    assert pushed(forces)[1] == outcome


@pytest.mark.parametrize(
    ("last", "outcome"), [((0.129, 0.239), ARRIVED), ((0.131, 0.241), SLIPPED)]
)
def test_a_push_slips_five_centimetres_from_its_first_touch(last, outcome):
    places = [[9.0, 9.0], [0.1, 0.2], [0.12, 0.2], last, [0.1, 0.2]]
    counts, found = pushed([0, 10, 10, 10, 10], places)
    assert found == outcome
    np.testing.assert_allclose(counts.place[1], [0.1, 0.2])


def test_results_of_a_push_are_of_its_end():
    """Smoothed by halves: 0, 5, 7.5, 8.75 and 9.375 N, of which the last one is near."""
    counts, _ = pushed([0, 10, 10, 10, 10])
    assert results(pushes.measures(PUSH, counts, DT)) == pytest.approx(
        {"force_peak": 10.0, "force_error": 0.0, "settling_time": 4 * DT}
    )
    counts, _ = pushed([0, 10, 10, 7.0, 9.0])
    found = results(pushes.measures(PUSH, counts, DT))
    assert found["force_error"] == pytest.approx(np.sqrt((9.0 + 1.0) / 2.0))
    assert np.isnan(found["settling_time"])  # 7.25 and 8.125 N at the end
    counts, _ = pushed([0, 10])
    assert np.isnan(results(pushes.measures(PUSH, counts, DT))["force_error"])
    counts.reset(np.array([1]))
    assert not any(np.any(each[1]) for each in (*counts.contact, *counts[1:]))


# slides: 10 N within 1 N on a path of a metre within a decimetre, the first 20 cm of which do not count

SLIDE = slides.SlideRules(10.0, 1.0, 0.2, 1.0, 0.1, 20.0, 1, 6, 1.0, 2)
WAY = [0.0, 0.0, 0.2, 0.4, 0.6, 1.0]


def slid(forces, ways=WAY, off=0.0):
    places = [np.array([x, off]) for x in ways[: len(forces)]]
    return flown(slides, slides.SlideCounts.of(2), SLIDE, floats(forces), places)


@pytest.mark.parametrize(
    ("forces", "ways", "off", "outcome"),
    [
        ([0, 10, 10, 10, 10], WAY, 0.0, RUNNING),
        ([0, 10, 10, 10, 10, 10], WAY, 0.099, ARRIVED),
        ([0, 10, 10, 10, 10, 10], WAY, -0.101, OFF_PATH),
        ([0, 15, 15, 10.99, 9.01, 10.99], WAY, 0.0, ARRIVED),
        ([0, 10, 10, 11.01, 8.99, 11.01], WAY, 0.0, FORCE_OFF),
        ([0, 10, 10, 10, 10, 10], [0, 0, 0.3, 0.5, 0.99, 0.99], 0.0, STUCK),
        ([0, 0, 0, 0, 0, 0], [0.0] * 6, 0.0, NEVER_TOUCHED),
        ([10, 0, 10, 0], [0.0] * 6, 0.0, BOUNCED),
        ([10, 0, 10], [0.0] * 6, 0.0, RUNNING),
        ([20.01], WAY, 0.0, TOO_FORCEFUL),
        ([20.0], WAY, 0.0, RUNNING),
    ],
)
def test_a_slide_ends_by_its_rules(forces, ways, off, outcome):
    assert slid(forces, ways, off)[1] == outcome


def test_results_of_a_slide_are_those_beyond_its_run_in():
    """Periods four to six; the force has been near from the third on, for two more."""
    counts, _ = slid([0, 8.9, 9.01, 11.0, 8.0, 12.0], [0, 0, 0.2, 0.4, 0.3, 0.9], 0.03)
    assert results(slides.measures(counts, DT)) == pytest.approx(
        {
            "force_peak": 12.0,
            "force_error": np.sqrt(3.0),
            "path_error": 0.03,
            "settling_time": NAN,
        },
        nan_ok=True,
    )
    assert counts.progress[1] == 0.9 and counts.slid[1] == 3
    counts, _ = slid([0, 9.01, 10.9, 10.0, 0.1, 5.0])
    assert results(slides.measures(counts, DT))["settling_time"] == pytest.approx(2 * DT)
    counts, _ = slid([0, 9.0])
    found = results(slides.measures(counts, DT))
    assert np.isnan([found["force_error"], found["path_error"]]).all()
    counts.reset(np.array([1]))
    assert not any(np.any(each[1]) for each in (*counts.contact, *counts[1:]))


# pegs: 5 cm deep for the last two of five periods, with 5 N in the mean

PEG = pegs.PegRules(0.05, 5.0, 20.0, 2, 5)


@pytest.mark.parametrize(
    ("depths", "forces", "outcome"),
    [
        ([0, 0.02, 0.05, 0.06], [0, 3, 3, 5], RUNNING),
        ([0, 0.02, 0.05, 0.06, 0.06], [0, 9, 9, 4, 6], ARRIVED),
        ([0, 0.02, 0.05, 0.06, 0.06], [0, 3, 3, 5, 5.1], FORCE_OFF),
        ([0, 0.02, 0.049, 0.06, 0.06], [0, 3, 3, 5, 5], JAMMED),
        ([0, 0.06, 0.06, 0.06, 0.04], [0, 3, 3, 5, 5], JAMMED),
        ([0, 0, 0, 0, 0], [0, 3, 3, 5, 5], JAMMED),
        ([0, 0, 0, 0, -0.001], [0, 3, 3, 5, 5], MISSED),
        ([0], [20.1], TOO_FORCEFUL),
        ([0], [20.0], RUNNING),
    ],
)
def test_a_peg_ends_by_its_rules(depths, forces, outcome):
    series = floats(forces), floats(depths)
    assert flown(pegs, pegs.PegCounts.of(2), PEG, *series)[1] == outcome


def test_results_of_a_peg_are_its_depth_and_what_it_bears_at_the_end():
    series = floats([0, 3, 9, 4, 5]), [0.0, 0.02, 0.05, 0.06, 0.07]
    counts, _ = flown(pegs, pegs.PegCounts.of(2), PEG, *series)
    assert results(pegs.measures(PEG, counts, DT)) == pytest.approx(
        {"force_peak": 9.0, "force_steady": 4.5, "depth": 0.07, "depth_time": 3 * DT}
    )
    counts.reset(np.array([1]))
    found = results(pegs.measures(PEG, counts, DT))
    assert np.isnan([found["force_steady"], found["depth_time"]]).all() and found["depth"] == 0.0

# SPDX-License-Identifier: BSD-3-Clause
"""Cells of tables of localisation, and the flights that they are of."""

from types import SimpleNamespace

import pytest
from made_up_measurements import ranges, tracks

from iap_bringup.experiments.virpo import flights, runs
from iap_bringup.experiments.virpo.cases import CASES
from iap_bringup.experiments.virpo.scores import TableCell, ranked


def test_tracks_of_one_flight_stand_among_the_other_measurements_of_another():
    rendered = SimpleNamespace(events=[(0, tracks(0.2)), (0, ranges(0.1)), (1, tracks(0.4))])
    other = SimpleNamespace(events=[(0, ranges(0.3)), (1, ranges(0.5))])
    mixed = flights.with_noise_of(rendered, other)
    assert [m.t for _, m in mixed.events] == [0.2, 0.3, 0.4, 0.5] and len(other.events) == 2


def test_only_a_flight_with_a_renderer_has_cameras(monkeypatch):
    flown = []
    monkeypatch.setattr(flights, "Flight", SimpleNamespace(of=lambda scenario: scenario))

    def fly(flight, log, renderer, progress):
        flown.append((flight, renderer))

    monkeypatch.setattr(flights, "fly_unrecorded", fly)
    frontend = runs.load_settings().frontend
    log = flights.observe(CASES[0], 3, frontend, None, lambda _: None)
    flights.observe(CASES[0], 3, frontend, "renderer", lambda _: None)
    bare, seeing = (flight.vehicles[0].sensors.cameras for flight, _ in flown)
    assert bare == {} and len(seeing) == 2
    assert log.anchors.shape == (4, 3) and log.scenario.seed == 3


@pytest.mark.parametrize(
    ("cell", "passed", "text"),
    [
        (TableCell("", "", "", 0.1, None, 3, 0, 0.2, 0.1), True, "0.100 (0.200) ok"),
        (TableCell("", "", "", 0.101, None, 3, 0, None, 0.1), False, "0.101 MISSED"),
        (TableCell("", "", "", 30.0, None, 3, 0, None, 30.0, True, "%"), True, "30.0 ok"),
        (
            TableCell("", "", "", 29.9, None, 3, 0, 12.0, 30.0, True, "%"),
            False,
            "29.9 (12.0) MISSED",
        ),
        (TableCell("", "", "", 0.25, None, 1, 0, unit="deg"), None, "0.25"),
        (TableCell("", "", "", None, None, 2, 1, None, 0.1), False, "failed 1 of 3 MISSED"),
        (TableCell("", "", "", None, None, 0, 0, 0.3, 0.1), None, "(0.300)"),
    ],
)
def test_a_cell_passes_on_its_own_side_of_the_bar(cell, passed, text):
    assert cell.passed is passed and cell.text == text


def test_methods_rank_from_the_worst():
    assert ranked([("a", 0.1), ("b", 0.3), ("c", 0.2)]) == "b 0.300 > c 0.200 > a 0.100"

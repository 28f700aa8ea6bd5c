# SPDX-License-Identifier: BSD-3-Clause
"""Columns that are filled tick by tick or many at once: what is handed on, and when."""

import numpy as np
import pytest
from made_up_flights import random_flight

from iap_description.signals import Reference, Step
from iap_description.states import Level
from iap_io.recording.filled_columns import FilledColumns


class Kept:
    """Columns of vehicles, whose ticks are kept as they are handed on."""

    def __init__(self, vehicles=2, rows=4):
        self.flights = [random_flight("f450", 10, "ab"[i], seed=i) for i in range(vehicles)]
        self.pieces = []
        self.columns = FilledColumns(rows, [each.meta for each in self.flights], self._keep)

    def _keep(self, columns, ticks):
        self.pieces.append([each.rows(slice(ticks)) for each in columns])

    def step(self, k, vehicle):
        flight = self.flights[vehicle]
        reference = Reference(flight.reference[k], Level.POSE)
        row = (flight.x[k], reference, flight.commands[k], flight.rpm[k])
        return Step(k, flight.t[k], *row, None, tilt=flight.tilt[k])

    @property
    def ticks(self):
        return [[each.k.tolist() for each in piece] for piece in self.pieces]


@pytest.fixture
def singly():
    kept = Kept()
    for k in range(10):
        for vehicle in (0, 1):
            kept.columns.put(vehicle, kept.step(k, vehicle))
    kept.columns.flush()
    return kept


def test_full_columns_are_handed_on_and_the_rest_by_a_flush(singly):
    expected = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert singly.ticks == [[each, each] for each in expected]
    for vehicle, flight in enumerate(singly.flights):
        x = np.concatenate([piece[vehicle].x for piece in singly.pieces])
        np.testing.assert_array_equal(x, flight.x)
    singly.columns.flush()
    assert len(singly.pieces) == 3


@pytest.mark.parametrize("size", [1, 3, 4, 10])
def test_many_ticks_at_once_are_so_many_calls(size):
    kept, whole = Kept(1, rows=10), Kept(1)
    for k in range(10):
        kept.columns.put(0, kept.step(k, 0))
    kept.columns.flush()
    rows = kept.pieces[0][0]
    for begin in range(0, 10, size):
        whole.columns.put_rows(0, rows.rows(slice(begin, begin + size)))
    whole.columns.flush()
    assert whole.ticks == [[[0, 1, 2, 3]], [[4, 5, 6, 7]], [[8, 9]]]
    x = np.concatenate([piece[0].x for piece in whole.pieces])
    np.testing.assert_array_equal(x, whole.flights[0].x)


def test_a_tick_that_is_cut_off_is_dropped_and_one_without_a_vehicle_refused():
    kept = Kept()
    for vehicle in (0, 1, 0):
        kept.columns.put(vehicle, kept.step(0, vehicle))
    kept.columns.flush()
    assert kept.ticks == [[[0], [0]]]
    with pytest.raises(ValueError, match="every tick must record every vehicle"):
        for k in range(5):
            kept.columns.put(0, kept.step(k, 0))

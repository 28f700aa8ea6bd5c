# SPDX-License-Identifier: BSD-3-Clause
"""Flights and estimates of a study side by side: what is reported, and how they end."""

from iap_bringup.experiments.virpo import runs
from iap_bringup.experiments.virpo.cases import study
from iap_simulation.sweeps.process_pool import FinishedWork


class OnePool:
    """Stands in for processes; knows whether its work was ended."""

    ended = False

    def __init__(self, count):
        self.count = count

    def map(self, do, pieces):
        try:
            for each in pieces:
                yield FinishedWork(each, do.keywords["seeds"])
        finally:
            OnePool.ended = True


def test_a_study_that_is_left_ends_the_flights_that_are_still_flown(monkeypatch):
    monkeypatch.setattr(runs, "ProcessPool", OnePool)
    said, what = [], study(quick=True)
    flights = runs.run_study(what, said.append)
    assert next(flights) == (what.cases[0].title, what.seeds)
    assert said == [f"1 of {len(what.cases)} flights: {what.cases[0].title}"]
    assert not OnePool.ended
    flights.close()  # as an interrupt does
    assert OnePool.ended

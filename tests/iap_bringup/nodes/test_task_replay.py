# SPDX-License-Identifier: BSD-3-Clause
"""The task of a flight of nodes is compiled before the flight, which does not wait for who records it."""

from iap_bringup.nodes.node_recording import FlightReplay
from iap_learning.tasks.kinds.platform import kind
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import Options, resolve


def test_a_step_is_assessed_once_before_the_flight_and_is_not_counted(monkeypatch):
    """In flight it would compile for ten seconds, while others fly on: a recorder missed the end of a second."""
    assessed, assess = [], kind.assess
    monkeypatch.setattr(kind, "assess", lambda *words: (assessed.append(words), assess(*words)))
    task = FlightReplay(Flight.of(resolve("navigate", Options())[0])).task
    assert len(assessed) == 1
    assert task.distances == [] and not task.is_over and task.time == 0.0

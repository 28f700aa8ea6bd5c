# SPDX-License-Identifier: BSD-3-Clause
"""Worlds that are scored while they fly have the metrics of single flights, also where a flight fails."""

import numpy as np
import pytest

from iap_io.runs.run_meta import RunStats
from iap_simulation.batch.scored_flights import score_worlds
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.metrics import flight_scores
from iap_simulation.runs.run import score
from iap_simulation.simulation.simulation import Simulation

MEASURED = ("wall_s", "real_time_factor", "control_step_us", "compiled_fraction")
SHORT = {
    "draw.position": 0.3,
    "start.lead_in": 0.0,
    "start.mode": "hover",
    "reference.duration": 0.3,
}


def alone(worlds, i):
    flight = Flight.of(worlds.world(i))
    with Simulation(flight) as simulation:
        return score(flight, simulation)


def without(metrics):
    return {key: value for key, value in metrics.items() if key not in MEASURED}


@pytest.mark.parametrize("piece", [1000, 7])
def test_scores_of_worlds_are_those_of_single_flights(monkeypatch, piece):
    monkeypatch.setattr(flight_scores, "PIECE", piece)
    worlds = Worlds.of("hover", [4, 2], settings=SHORT)
    scored = score_worlds(worlds)
    assert [metrics["seed"] for metrics, _ in scored] == [4, 2]
    for i, (metrics, sentence) in enumerate(scored):
        single, said = alone(worlds, i)
        assert sentence == said == ""
        assert without(metrics) == without(single)
        assert metrics["outcome"] == "completed" and metrics["collisions"] == []
        assert metrics["duration_s"] == pytest.approx(0.3)
    errors = [metrics["position_rmse_m"] for metrics, _ in scored]
    assert min(errors) > 0.0 and np.ptp(errors) > 0.0


def test_a_world_that_fails_is_scored_up_to_there_and_one_that_never_flew_has_its_outcome():
    worlds = Worlds.of("hover", [4, 2, 9], settings=SHORT)
    worlds.plant.state()[1, :, 2] += 50.0  # far from its reference at once
    scored = score_worlds(worlds)
    assert scored[1][0] == {"seed": 2, "outcome": "diverged"}
    assert scored[1][1].endswith("is more than 10 m from its reference")
    assert [metrics["outcome"] for metrics, _ in scored] == ["completed", "diverged", "completed"]


def test_a_flight_s_scores_count_the_ticks_of_all_pieces(monkeypatch):
    monkeypatch.setattr(flight_scores, "PIECE", 7)
    flight = Flight.of(Worlds.of("hover", [4], settings=SHORT).world(0))
    scores = flight_scores.FlightScores(flight.meta)
    with Simulation(flight) as simulation:
        simulation.begin(observers=[scores])
        simulation.fly()
    assert scores.ticks == 56
    scores.metrics(RunStats("completed", 0.3, 1.0, 1.0))
    assert scores.ticks == 61


def test_vehicles_are_at_their_start_when_their_plant_is_made(monkeypatch):
    flight, reset = Flight.of(Worlds.of("hover", [4], settings=SHORT).world(0)), []
    monkeypatch.setattr(type(flight.vehicles[0]), "reset", lambda self, seed: reset.append(seed))
    with Simulation(flight):
        assert reset == [4]

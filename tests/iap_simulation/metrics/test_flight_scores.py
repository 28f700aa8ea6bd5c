# SPDX-License-Identifier: BSD-3-Clause
"""A flight that is judged while it is flown has the metrics of its recording, to the last bit."""

import pytest

from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import record, score
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

MEASURED = ("wall_s", "real_time_factor", "control_step_us", "images_per_s", "compiled_fraction")


def scored(name, options):
    flight = Flight.of(resolved(name, options.pop("settings", {}), options)[0])
    with Simulation(flight) as simulation:
        return score(flight, simulation)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hover", {"duration": 22.0}),  # more than one piece
        ("figure_eight_windy", {"duration": 3.0, "seed": 4}),
        ("two_platforms", {"duration": 2.0}),
        ("wall_push", {"duration": 4.0}),
        ("hover", {"duration": 2.0, "settings": {"platform.center.mass": 30.0}}),  # comes down
    ],
)
def test_metrics_are_those_of_the_recording(tmp_path, name, options):
    recorded = record(name, folder=tmp_path / "run", **options)
    metrics, failure = scored(name, dict(options))
    assert failure == (recorded.failure or "")
    for key, value in recorded.metrics.items():
        if key not in MEASURED:
            assert metrics[key] == value, key
    assert set(metrics) == set(recorded.metrics)

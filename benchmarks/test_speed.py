# SPDX-License-Identifier: BSD-3-Clause
"""Speed of a recorded run in one process, and its cost over the number of aircraft."""

import itertools

import pytest

from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve


def _run(folder, name: str, options: Options) -> dict:
    scenario, tree = resolve(name, options)
    folder.mkdir()
    return execute(Flight.of(scenario), folder, tree).metrics


@pytest.mark.parametrize(
    ("scenario", "engine"),
    [
        ("three_star_spiral", "pybullet"),
        ("figure_eight", "pybullet"),
        ("three_star_spiral", "closed_form"),
    ],
)
def test_recorded_run(benchmark, figure, tmp_path, scenario, engine):
    """A whole recorded run; prints the figures that metrics.json holds."""
    numbers = itertools.count()
    runs = []

    def run():
        runs.append(_run(tmp_path / f"run{next(numbers)}", scenario, Options(engine=engine)))

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    factors = sorted(run["real_time_factor"] for run in runs[1:])
    steps = sorted(run["control_step_us"] for run in runs[1:])
    figure(f"{scenario}, {engine}", factors[1], "x real time (median of 3)", 1)
    figure(f"{scenario}, {engine}, control step", steps[1], "us (median of 3)", 1)


@pytest.mark.parametrize("count", range(2, 13))
def test_cost_of_aircraft(benchmark, figure, tmp_path, count):
    """Ten seconds of hover with N aircraft on a circle."""
    numbers = itertools.count()
    runs = []

    def run():
        options = Options(platform=f"star_{count}", duration=10.0)
        runs.append(_run(tmp_path / f"run{next(numbers)}", "hover", options))

    benchmark.pedantic(run, rounds=2, warmup_rounds=1)
    factor = max(run["real_time_factor"] for run in runs[1:])
    step = min(run["control_step_us"] for run in runs[1:])
    figure(f"N = {count}", factor, "x real time", 1)
    figure(f"N = {count}, control step", step, "us", 1)

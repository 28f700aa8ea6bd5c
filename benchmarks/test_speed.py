# SPDX-License-Identifier: BSD-3-Clause
"""How fast the suite is: a recorded run in one process, its cost over the number of aircraft, and a batch of worlds."""

import itertools

import numpy as np
import pytest

from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.plant import Plant
from iap_physics.propulsion import Airframe
from iap_simulation.flight import Flight
from iap_simulation.run import execute
from iap_simulation.scenario.plant_spec import plant_spec
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.vehicle import Vehicle

WORLDS = 1000


def _silent(_: float) -> None:
    """A progress display that shows nothing."""


def _run(folder, name: str, options: Options) -> dict:
    scenario, tree = resolve(name, options)
    folder.mkdir()
    return execute(Flight.of(scenario), folder, tree, progress=_silent).metrics


@pytest.mark.parametrize("scenario", ["three_star_spiral", "figure_eight"])
def test_recorded_run(benchmark, tmp_path, scenario):
    """A whole recorded run; prints the figures that metrics.json holds."""
    numbers = itertools.count()
    runs = []

    def run():
        runs.append(_run(tmp_path / f"run{next(numbers)}", scenario, Options()))

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    factors = sorted(run["real_time_factor"] for run in runs[1:])
    steps = sorted(run["control_step_us"] for run in runs[1:])
    print(
        f"\n{scenario}: {factors[1]:.1f} x real time, control step {steps[1]:.1f} us (medians of 3)"
    )


@pytest.mark.parametrize("count", range(2, 13))
def test_cost_of_aircraft(benchmark, tmp_path, count):
    """Ten seconds of hover with N aircraft on a circle."""
    numbers = itertools.count()
    runs = []

    def run():
        options = Options(platform=f"star_{count}", duration=10.0)
        runs.append(_run(tmp_path / f"run{next(numbers)}", "hover", options))

    benchmark.pedantic(run, rounds=2, warmup_rounds=1)
    factor = max(run["real_time_factor"] for run in runs[1:])
    step = min(run["control_step_us"] for run in runs[1:])
    print(f"\nN = {count}: {factor:.1f} x real time, control step {step:.1f} us")


def test_batched_platform_steps(benchmark):
    """1000 three_stars on the closed form with rotors and autopilots, physics steps of 1 ms."""
    scenario, _ = resolve("hover", Options())
    pilot = Vehicle.of(scenario, scenario.vehicles[0])
    engine = ClosedFormEngine(batch=WORLDS)
    flown = plant_spec(scenario, [pilot]).vehicles[0]
    airframe = Airframe(flown.assembly, flown.platform.fleet, flown.autopilot)
    engine.load(scenario.world, [airframe.assembly])
    rates = {"physics_hz": 1000.0, "control_hz": 200.0}
    still = {"wind": scenario.wind, "has_drag": False, "gust_rng": np.random.default_rng(1)}
    plant = Plant(engine, [airframe], **rates, **still, batch=WORLDS)
    start = np.repeat(pilot.start[None], WORLDS, axis=0)
    plant.reset(start, [pilot.start_rpm], np.random.default_rng(1))
    plant.command(0, pilot.controller(pilot.start[0], pilot.reference(0)))

    benchmark.pedantic(plant.advance, rounds=40, warmup_rounds=5)
    rate = WORLDS * plant.substeps / benchmark.stats.stats.median
    print(f"\n{rate:.0f} platform-steps/s with {WORLDS} platforms")

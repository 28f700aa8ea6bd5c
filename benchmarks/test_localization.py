# SPDX-License-Identifier: BSD-3-Clause
"""Time of updates of the estimators, and memory over ten minutes of flight on one of them."""

import gc
import resource
import time
from dataclasses import replace

import numpy as np
import pytest

from iap_bringup.experiments.virpo.cases import CASES
from iap_bringup.experiments.virpo.flights import observe
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.localizer import make_localizer, named_estimates, pass_on
from iap_sensors.cameras.make import make_renderer
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.unrecorded_flight import fly_unrecorded
from iap_simulation.scenario.resolving import Options, resolve

SECONDS = 20.0  # of the flight
WARM = 5.0  # of it, until everything is compiled and windows are full
NEEDED = {"virpo": 15.0, "joint": 10.0}  # ms an update
LAPS, SETTLED, END = 13, 120.0, 600.0  # of the figure-eight; [s] from which memory is compared


@pytest.fixture(scope="module")
def heard():
    case = replace(next(case for case in CASES if case.name == "a2"), duration=SECONDS)
    renderer = make_renderer("opengl")
    flown = observe(case, 1, load_settings().frontend, renderer, lambda _: None)
    renderer.close()
    return flown


@pytest.mark.parametrize("method", ["vio", "vio_uwb", "virpo", "joint", "drift_filter"])
def test_update(benchmark, figure, heard, method):
    """Updates of three aircraft in one thread; asking for covariances is not in it."""
    spec, own = load_settings().estimator, heard.own
    updates = []

    def first(aircraft, t):
        row = heard.x[int(np.searchsorted(heard.t, t - 1e-6)), own.rows[aircraft]]
        return own.mounts[aircraft].unit(row)

    def localize():
        localizer = make_localizer(method, own.fleet(spec), spec, first)
        for who, said in heard.events:
            begin = time.perf_counter()
            is_new = pass_on(localizer, who, said)
            taken = time.perf_counter() - begin
            if is_new:
                named_estimates(localizer, [craft.name for craft in own.aircraft])
                if said.t > WARM:
                    updates.append(taken)

    benchmark.pedantic(localize, rounds=2, warmup_rounds=1)
    middle, late = 1e3 * np.percentile(updates, [50, 95])
    figure(method, middle, "ms an update (median)", 1, bar=NEEDED.get(method))
    figure(f"{method}, 95 %", late, "ms an update", 1)


def test_memory(benchmark, figure):
    """Resident memory over ten minutes of the figure-eight, three aircraft seen, heard and flown on joint."""
    flown = Options(
        sensors="stereo", scene="textured_walls", state_source="joint", duration=END
    ).and_set((f"reference.laps={LAPS}",))
    scenario, _ = resolve("figure_eight", flown)
    renderer = make_renderer("opengl")
    kept = []  # time and [MB]

    def tell(t):
        if not kept or t >= kept[-1][0] + 30.0:
            gc.collect()
            kept.append((t, _resident()))

    flight = Flight.of(scenario)
    benchmark.pedantic(fly_unrecorded, args=(flight, _Nothing(), renderer, tell), rounds=1)
    renderer.close()
    after = [(t, size) for t, size in kept if t >= SETTLED]
    growth = np.polyfit(*zip(*after, strict=True), 1)[0]
    for t, size in kept:
        figure(f"memory after {t:.0f} s", size, "MB")
    figure(f"growth from {SETTLED:.0f} s on", 60.0 * growth, "MB a minute of flight", 2)
    figure("most memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, "MB")


class _Nothing:
    """Keeps neither states nor readings."""

    def receive(self, reading):
        pass

    def record(self, vehicle, step):
        pass


def _resident() -> float:
    """Of this process [MB]."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6

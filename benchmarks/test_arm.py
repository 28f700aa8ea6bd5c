# SPDX-License-Identifier: BSD-3-Clause
"""Speed of the identified model of a quadrotor with an arm on the published path."""

import time

from iap_simulation.simulation.simulation import Simulation


def test_identified_model(benchmark, figure):
    """A whole flight of the path, in steps of 0.05 s; bar: 50 x real time."""
    factors = []
    with Simulation.of("arm_path") as simulation:

        def run():
            simulation.reset()
            began = time.perf_counter()
            simulation.fly()
            factors.append(simulation.t / (time.perf_counter() - began))

        benchmark.pedantic(run, rounds=5, warmup_rounds=1)
    median = sorted(factors[1:])[2]
    figure("arm_path, identified model", median, "x real time (median of 5)")

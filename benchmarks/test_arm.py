# SPDX-License-Identifier: BSD-3-Clause
"""How fast the identified model of a quadrotor with an arm flies the published path."""

from iap_simulation.arm.flight import ArmFlight
from iap_simulation.arm.run import fly_judged
from iap_simulation.arm.scenario import resolve_arm


def test_identified_model(benchmark):
    """A whole flight of the path, in steps of 0.05 s; bar: 50 x real time."""
    runs = []

    def run():
        runs.append(fly_judged(ArmFlight(resolve_arm("arm_path", ())[0]))[1])

    benchmark.pedantic(run, rounds=5, warmup_rounds=1)
    factors = sorted(each["real_time_factor"] for each in runs[1:])
    print(f"\narm_path, identified model: {factors[2]:.0f} x real time (median of 5)")

# SPDX-License-Identifier: BSD-3-Clause
"""Dockings: how fast many are, and whether the script does as well in every contact model.

An environment's step is five physics steps of one pair; rates are per second of a core's own time.
"""

import time

import numpy as np
import pytest
from docking_agreement import BATCHED, fly_dockings

from iap_physics.engines.engine import RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.docking.worlds import DockingWorlds

WORLDS, BAR = 256, 150_000
STARTS, MIXED = 300, 700


@pytest.mark.parametrize("what", ["contact", "contact, noise and script"])
@pytest.mark.parametrize("when", ["apart", "in contact"])
def test_docking_worlds(benchmark, figure, what, when):
    worlds = DockingWorlds.of("docking", WORLDS)
    for _ in range(350 if when == "in contact" else 20):
        worlds.step_script()
    thrust, rates = worlds.last_command
    step = worlds.step_script if "script" in what else lambda: worlds.advance(thrust, rates)
    took = []

    def timed() -> None:
        began = time.process_time()
        step()
        took.append(time.process_time() - began)

    benchmark.pedantic(timed, rounds=40, warmup_rounds=3)
    running = int((worlds.pairs.status == 0).sum())
    found = running / float(np.median(took))
    figure(f"{what}, {when}", found, "env-steps/s of a core", bar=BAR)


def test_whole_dockings(benchmark, figure):
    """The mix of whole episodes: approach, contact, latch and coupled flight, from start to start."""
    worlds, seeds = DockingWorlds.of("docking", WORLDS), iter(range(WORLDS, 100 * WORLDS))
    took = {"contact": 0.0, "contact, noise and script": 0.0}
    advance = worlds.advance

    def timed(thrust, rates) -> None:
        began = time.process_time()
        advance(thrust, rates)
        took["contact"] += time.process_time() - began

    worlds.advance = timed

    def fly(steps: int) -> None:
        for _ in range(steps):
            began = time.process_time()
            worlds.step_script()
            took["contact, noise and script"] += time.process_time() - began
            over = worlds.records.outcome != RUNNING
            if over.any():
                worlds.reset(over.copy(), [next(seeds) for _ in range(int(over.sum()))])

    fly(MIXED)  # until worlds are in all phases, and all is compiled
    took.update(dict.fromkeys(took, 0.0))
    benchmark.pedantic(lambda: fly(MIXED), rounds=1)
    for what, seconds in took.items():
        rate = MIXED * WORLDS / seconds
        figure(f"{what}, whole episodes", rate, "env-steps/s of a core", bar=BAR)


@pytest.mark.parametrize("scenario", ["docking"])
def test_docking_agreement(benchmark, figure, scenario):
    """The same starts in every contact model, within 3 percentage points and 10 % of the time of each other."""
    names = [BATCHED, *(name for name in ("pybullet", "mujoco") if is_installed(name))]
    flown = benchmark.pedantic(
        lambda: {name: fly_dockings(scenario, name, range(STARTS)) for name in names}, rounds=1
    )
    for name, dockings in flown.items():
        figure(f"{scenario}, {name}: success", 100.0 * dockings.success_rate, "%", 1)
        figure(f"{scenario}, {name}: time to the lock", dockings.mean_time, "s", 2)
    rates = [each.success_rate for each in flown.values()]
    times = [each.mean_time for each in flown.values()]
    assert max(rates) - min(rates) <= 0.03
    assert max(times) <= 1.1 * min(times)

# SPDX-License-Identifier: BSD-3-Clause
"""Speed of many worlds on a GPU, and their distance from those of the processor: `./iap bench parallel --device cuda`.

Rates are physics steps of a `three_star` with its twelve rotors and three autopilots, per second of wall clock, in
launches of `PERIODS` control periods; the first launch, which compiles, does not count.
"""

import time

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import Command, Mode, P, Q
from iap_simulation.batch.on_cuda import config, cuda
from iap_simulation.batch.records import TRACK
from iap_simulation.batch.worlds import Worlds

SCATTERED = {"draw.position": 0.2, "draw.attitude_deg": 5.0}
SIMULATED = config.ENABLE_CUDASIM  # numba's simulator: a thousand times slower
SIZES = (2, 33) if SIMULATED else (2**10, 2**12, 2**14, 2**16)
PERIODS = 1 if SIMULATED else 20
ROUNDS = 1 if SIMULATED else 10
TABLE = (2,) if SIMULATED else (2**4, 2**8, 2**12, 2**16)
SECOND = 3 if SIMULATED else 200  # control periods
TOLERANCE = 1e-9  # [m], [rad]


def flying(device: str, worlds: int, scenario: str = "hover", **options) -> Worlds:
    return Worlds.of(scenario, worlds, settings=SCATTERED, device=device, **options)


@pytest.mark.parametrize("worlds", SIZES)
@pytest.mark.parametrize("held", [True, False], ids=["open", "closed"])
def test_parallel_rates(benchmark, figure, device, worlds, held):
    """Held commands, and the suite's controllers on their own references at 200 Hz."""
    flown = flying(device, worlds)
    flown.fly(PERIODS)
    flown.fly(PERIODS, TRACK, held=held)
    cuda.synchronize()

    def launch():
        flown.fly(PERIODS, TRACK, held=held)
        cuda.synchronize()

    benchmark.pedantic(launch, rounds=ROUNDS)
    rate = worlds * PERIODS * flown.plant.substeps / benchmark.stats.stats.min
    loop = "open" if held else "closed"
    figure(f"{worlds} worlds, {loop} loop", rate / 1e6, "M platform-steps/s", 1)


@pytest.mark.parametrize("worlds", TABLE)
@pytest.mark.parametrize("periods", sorted({1, PERIODS}))
def test_parallel_quadrotors_at_constant_speeds(benchmark, figure, device, worlds, periods):
    """Sizes and task of aerial_gym TABLE I: quadrotors whose rotors are commanded one speed."""
    flown = Worlds.of("hover", worlds, platform="f450", device=device)
    command = Command.zeros(1, Mode.RPM)
    command.rpm[:] = flown.rpm[0]
    flown.command(command)
    flown.fly(periods, held=True)
    cuda.synchronize()

    def launch():
        flown.fly(periods, held=True)
        cuda.synchronize()

    benchmark.pedantic(launch, rounds=10 * ROUNDS, warmup_rounds=3)
    rate = worlds * periods * flown.plant.substeps / benchmark.stats.stats.min
    figure(f"{worlds} quadrotors, {periods} periods a call", rate / 1e6, "M samples/s", 2)


@pytest.mark.parametrize("platform", ["three_star", "two_line", "f450"])
def test_parallel_distances(benchmark, figure, device, platform):
    """A second of closed loop on the GPU, twice, and on the processor."""
    begin = time.perf_counter()
    on_cpu, first, second = (
        flying(each, SIZES[0], "figure_eight", platform=platform)
        for each in ("cpu", device, device)
    )
    for worlds in (on_cpu, first, second):
        worlds.fly(SECOND)
    on_cpu_x, x, again = (each.state.copy() for each in (on_cpu, first, second))
    took = time.perf_counter() - begin
    benchmark.pedantic(lambda: first.fly(1), rounds=1)
    apart = np.abs(x[..., P] - on_cpu_x[..., P]).max()
    turn = so3.multiply(so3.conjugate(on_cpu_x[..., Q]), x[..., Q])
    angle = 2.0 * np.linalg.norm(turn[..., :3], axis=-1).max()
    figure(f"{platform}, {SECOND} control periods: positions off", apart, "m", 16, bar=TOLERANCE)
    figure(f"{platform}, {SECOND} control periods: angles off", angle, "rad", 16, bar=TOLERANCE)
    figure(f"{platform}, {SECOND} control periods: three flights", took, "s with compilation")
    assert np.array_equal(x, again)
    assert apart < TOLERANCE
    assert angle < TOLERANCE

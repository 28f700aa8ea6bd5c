# SPDX-License-Identifier: BSD-3-Clause
"""Speed of many worlds: `three_star` in the closed form, physics at 1 kHz, control at 200 Hz.

Rates are physics steps of a platform with its twelve rotors and three autopilots, per second of a core's own time, but
for those of several threads.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from iap_description.states import Command, Mode
from iap_simulation.batch.worlds import Worlds

WORLDS = 1000
SCATTERED = {"draw.position": 0.2, "draw.attitude_deg": 5.0}
GUSTS = {"wind.speed": 4.0, "wind.turbulence": 8.0}
VEHICLES = {
    "draw.mass": 0.1,
    "draw.inertia": 0.1,
    "draw.com": 0.005,
    "draw.thrust": 0.05,
    "draw.rotor_lag": 0.2,
    "draw.drag": 0.3,
    "draw.wind_speed": 0.5,
}
FIRST = """
import time
began = time.perf_counter()
from iap_simulation.batch.worlds import Worlds
imported = time.perf_counter()
worlds = Worlds.of("hover", 64)
made = time.perf_counter()
worlds.advance()
parts = (imported - began, made - imported, time.perf_counter() - made, time.process_time())
print(*parts)
"""
PARTS = ("imports", "64 worlds are made", "first step", "processor time")
OF_A_CORE = "M platform-steps/s of a core"
BUSY = 1.5  # load above which threads are not timed: the benchmark itself is 1


def flying(settings: dict, **how: Any) -> Worlds:
    """Worlds that have been on their way for a while."""
    worlds = Worlds.of("hover", WORLDS, settings={**SCATTERED, **settings}, **how)
    for _ in range(20):
        worlds.advance()
    return worlds


def rate(benchmark, step: Callable[[], None], clock: Callable[[], float]) -> float:
    """Platform-steps a second at the best of many control periods."""
    best = []

    def timed():
        began = clock()
        step()
        best.append(clock() - began)

    benchmark.pedantic(timed, rounds=60, warmup_rounds=5)
    return WORLDS * 5 / min(best)


@pytest.mark.parametrize(
    ("what", "settings"),
    [("alike", {}), ("with gusts", GUSTS), ("each its own vehicle, in gusts", GUSTS | VEHICLES)],
)
def test_open_loop(benchmark, figure, what, settings):
    """Held commands: autopilots, rotors, air and bodies."""
    worlds = flying(settings)
    found = rate(benchmark, worlds.plant.advance, time.thread_time)
    figure(f"open loop, {what}", found / 1e6, OF_A_CORE, 2)


@pytest.mark.parametrize(("what", "settings"), [("alike", {}), ("with gusts", GUSTS)])
def test_closed_loop(benchmark, figure, what, settings):
    """The suite's controllers on their own references."""
    worlds = flying(settings)
    found = rate(benchmark, worlds.advance, time.thread_time)
    figure(f"closed loop, {what}", found / 1e6, OF_A_CORE, 2)


@pytest.mark.parametrize(("what", "settings"), [("alike", {}), ("with gusts", GUSTS)])
def test_closed_loop_in_one_call(benchmark, figure, what, settings):
    """Ten control periods at a time."""
    worlds = flying(settings)
    found = 10 * rate(benchmark, lambda: worlds.fly(10), time.thread_time)
    figure(f"closed loop, {what}, ten periods in a call", found / 1e6, OF_A_CORE, 2)


def test_single_precision(benchmark, figure):
    """Held commands again, in single numbers."""
    worlds = flying({}, precision="float32")
    found = rate(benchmark, worlds.plant.advance, time.thread_time)
    figure("open loop, float32", found / 1e6, OF_A_CORE, 2)


@pytest.mark.parametrize("worlds", [2**4, 2**8, 2**12, 2**16])
def test_quadrotors_at_constant_speeds(benchmark, figure, worlds):
    """Sizes and task of aerial_gym TABLE I: quadrotors whose rotors are told one speed, on all cores by wall clock."""
    threads = os.cpu_count() or 1
    flown = Worlds.of("hover", worlds, platform="f450", threads=threads)
    command = Command.zeros(1, Mode.RPM)
    command.rpm[:] = flown.rpm[0]
    flown.plant.command(0, command)
    benchmark.pedantic(flown.plant.advance, rounds=30, warmup_rounds=3)
    found = worlds * flown.plant.substeps / benchmark.stats.stats.min
    figure(f"{worlds} quadrotors", found / 1e6, f"M samples/s, {threads} threads", 2)


def test_two_threads(benchmark, figure):
    """Wall clock; of use on a machine with nothing else to do."""
    if os.getloadavg()[0] > BUSY:
        pytest.skip(f"the machine is busy: load {os.getloadavg()[0]:.1f}")
    found = {}
    for threads in (1, 2):
        worlds, best = flying({}, threads=threads), []
        for _ in range(300):  # the caller learns when the other is awake
            began = time.perf_counter()
            worlds.plant.advance()
            best.append(time.perf_counter() - began)
        found[threads] = WORLDS * 5 / min(best)
    benchmark.pedantic(worlds.plant.advance, rounds=20)
    gain = found[2] / found[1]
    figure("two threads", found[2] / 1e6, "M platform-steps/s", 2)
    figure("two threads over one", gain, "", 2)


def test_one_world(benchmark, figure):
    """A single world, as any other batch: what a control period costs."""
    worlds = Worlds.of("hover", 1)
    benchmark.pedantic(worlds.plant.advance, rounds=400, warmup_rounds=20)
    figure("one world", 1e6 * benchmark.stats.stats.median, "us a control period of the plant")


def test_first_step(benchmark, figure):
    """A process from its start to the first step, with machine code as set-up leaves it."""
    command = [sys.executable, "-P", "-c", FIRST]

    def begin() -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    printed = benchmark.pedantic(begin, rounds=3, warmup_rounds=1)
    for part, seconds in zip(PARTS, printed.split(), strict=True):
        figure(f"a new process: {part}", float(seconds), "s", 3)

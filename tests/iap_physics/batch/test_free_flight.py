# SPDX-License-Identifier: BSD-3-Clause
"""Worlds in free flight, and their threads."""

import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from flying import STEPPED, gains_of, plant_of
from numba import float64
from numba.core.registry import cpu_target
from numpy.testing import assert_array_equal

from iap_description.errors import BadInput, FlightFailed
from iap_description.math.lanes import LANES, VECTOR
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.air.batch_air import Air
from iap_physics.air.wind import Wind
from iap_physics.batch.batch_loop import advance_block
from iap_physics.batch.layout import SHARED_SIZE, rows_of
from iap_physics.batch.records import BatchVehicle
from iap_physics.batch.threads import Threads, VectorTime
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.plant.disturbances import Disturbance
from iap_physics.plant.plant import Plant
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.propulsion import Airframe, propulsion_of

PERIODS = 60
GUSTY = {"wind": Wind(speed=5.0, turbulence=10.0), "has_drag": True}
PUSH = ((Disturbance(at=0.05, until=0.15, force=(3.0, -2.0, 1.0), torque=(0.1, 0.2, -0.1)),),)
MODES = (Mode.ATTITUDE_THRUST, Mode.RATE_THRUST, Mode.RPM)


def slow_autopilots(rate):
    """Gains whose autopilots run at that rate [Hz]."""
    gains = gains_of()
    return gains.model_copy(
        update={"autopilot": gains.autopilot.model_copy(update={"rate_hz": rate})}
    )


def a_command(platform, seed, mode):
    """A command that asks for more than some rotors can do."""
    rng, count = np.random.default_rng(seed), platform.count
    command = Command.zeros(count, mode)
    command.thrust[:] = rng.uniform(2.0, 40.0, count)
    command.q_WB[:, :3] = rng.uniform(-0.4, 0.4, (count, 3))
    command.q_WB[:, 3] = np.sqrt(1.0 - np.square(command.q_WB[:, :3]).sum(1))
    command.w_WB_B[:] = rng.normal(size=(count, 3))
    command.rpm[:] = rng.uniform(-500.0, 11000.0, (count, 4))
    return command


def flown(plant, platform, start, seed):
    """State rows and rotor speeds after each period, under commands of all modes, on estimates for a while."""
    rng = np.random.default_rng(seed)
    rpm = rng.uniform(0.0, 9000.0, (platform.count, 4))
    plant.reset(start[None], [rpm], np.random.default_rng(seed))
    record = []
    for k in range(PERIODS):
        plant.command(0, a_command(platform, 100 * seed + k // 5, MODES[k // 5 % 3]))
        if k == 20:
            plant.set_estimate(0, start + 0.01)
        if k == 40:
            plant.set_estimate(0, None)
        plant.advance()
        record.append((plant.state()[0].copy(), plant.propulsion[0].rpm[0].copy()))
    return record


@pytest.mark.parametrize("air", [{}, {**GUSTY, "disturbances": PUSH}], ids=["still", "gusts"])
@pytest.mark.parametrize("rate", [None, 500.0, 250.0])
@pytest.mark.parametrize("name", ["three_star", "two_line", "three_star_fixed", "f450", "star_6"])
def test_a_world_in_a_block_is_one_that_is_stepped_alone(
    assembly_of, random_start, name, rate, air
):
    platform, gains = load_platform(name), slow_autopilots(rate)
    start = random_start(assembly_of(name), 3)
    options = {"gust_rng": np.random.default_rng(0), **air}
    stepped = flown(plant_of(name, gains, **STEPPED, **options), platform, start, 4)
    in_block = flown(plant_of(name, gains, **options), platform, start, 4)
    for (x, rpm), (block_x, block_rpm) in zip(stepped, in_block, strict=True):
        assert_array_equal(block_x, x)
        assert_array_equal(block_rpm, rpm)


@pytest.mark.parametrize("batch", [1, VECTOR, VECTOR + 1, LANES, LANES + 1, 2 * LANES + 6])
def test_worlds_of_any_number_of_blocks_are_single_ones(assembly_of, random_start, batch):
    platform, assembly = load_platform("three_star"), assembly_of("three_star")
    starts = np.stack([random_start(assembly, seed) for seed in range(batch)])
    rpm = np.random.default_rng(1).uniform(0.0, 9000.0, (batch, 3, 4))
    command = a_command(platform, 5, Mode.ATTITUDE_THRUST)
    together = plant_of("three_star", batch=batch)
    together.reset(starts, [rpm], np.random.default_rng(0))
    together.command(0, command)
    for _ in range(20):
        together.advance()
    for world in sorted({0, batch // 2, batch - 1}):
        alone = plant_of("three_star")
        alone.reset(starts[world : world + 1], [rpm[world]], np.random.default_rng(0))
        alone.command(0, command)
        for _ in range(20):
            alone.advance()
        assert_array_equal(together.state()[world], alone.state()[0])
        assert_array_equal(together.propulsion[0].rpm[world], alone.propulsion[0].rpm[0])


def test_a_world_that_diverges_within_a_period_stands_still_from_that_step(
    assembly_of, random_start
):
    """As one that is stepped alone; its neighbours in the block fly on."""
    start = random_start(assembly_of("three_star"), 0)
    bad = start.copy()
    bad[1, 10] = 1e151  # turns faster in each step
    failures = []
    for options in ({}, STEPPED):
        alone = plant_of("three_star", **options)
        alone.reset(bad[None], [np.zeros((3, 4))], np.random.default_rng(0))
        with pytest.raises(FlightFailed) as failure:
            for _ in range(20):
                alone.advance()
        failures.append((str(failure.value), alone.state()[0].copy(), alone.engine.t))
    assert failures[0][0] == failures[1][0]
    assert_array_equal(failures[0][1], failures[1][1])
    together = plant_of("three_star", batch=3)
    together.reset(np.stack([start, bad, start]), [np.zeros((3, 4))], np.random.default_rng(0))
    for _ in range(20):
        together.advance()
    assert together.status.tolist() == [RUNNING, DIVERGED, RUNNING]
    assert_array_equal(together.state()[1], failures[0][1])
    assert_array_equal(together.state()[0], together.state()[2])
    assert np.isfinite(together.state()).all()


class Watched(ClosedFormEngine):
    """An engine of a user's own."""

    steps = 0

    def step(self, dt):
        """Count, and step."""
        self.steps += 1
        super().step(dt)


def test_an_engine_with_a_step_of_its_own_is_asked_for_every_step():
    platform, engine = load_platform("three_star"), Watched()
    assembly = Assembly.of(platform)
    engine.load(World(), [assembly])
    rates = LoopRates(physics_hz=1000.0, control_hz=200.0)
    airframes = [Airframe(assembly, platform.fleet, gains_of().autopilot)]
    propulsion = propulsion_of(airframes, 1, physics_hz=1000.0)
    Plant(engine, propulsion, Air(Wind(), [np.random.default_rng(0)]), rates).advance()
    assert engine.steps == 5


def one_of(holds):
    """The pattern of a byte of which something holds."""
    return b"[" + b"".join(re.escape(bytes([each])) for each in range(256) if holds(each)) + b"]"


DOUBLES = one_of(lambda each: each & 7 == 5)  # of a vector of 256 bits, after a prefix C4 or C5
WIDE = one_of(lambda each: each >> 5 & 3 in (1, 2))  # of 256 or 512 bits, after a prefix 62
PRODUCTS = [  # vmulpd by Intel's manual, volume 2: its three prefixes, and opcode 59
    b"\xc5" + DOUBLES + b"\x59",
    b"\xc4" + one_of(lambda each: each & 31 == 1) + DOUBLES + b"\x59",
    b"\x62" + one_of(lambda each: each & 7 == 1) + DOUBLES + WIDE + b"\x59",
]


def cached_code(kernel):
    """Machine code of a kernel for doubles, as numba has kept it."""
    signature = next(each for each in kernel.signatures if each[0].dtype == float64)
    cache, codegen = kernel._cache, cpu_target.target_context.codegen()
    _, _, (code, _) = cache._cache_file.load(cache._index_key(signature, codegen))[0]
    return code


def test_loops_over_worlds_are_vector_instructions():
    """Else rows have come together whose distance the compiler does not know, or a branch on data."""
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    turns, bodies = np.array([True, True]), np.array([1])
    block, alike = np.ones(rows_of(2) * LANES), np.ones((2, SHARED_SIZE))
    lanes = (np.uint64(0), np.uint64(LANES))
    advance_block(block, alike, BatchVehicle(turns, bodies, 1, True, False), False, lanes, 1, 1e-3)
    code = cached_code(advance_block)
    assert sum(len(re.findall(each, code, re.DOTALL)) for each in PRODUCTS) > 500


def shared(threads, batch, pace, vector=0.0):
    """Stretches of a batch, the caller's first; work takes so long a vector [s]."""
    stretches, mine = [], []

    def work(first, last):
        own = threading.current_thread() is threading.main_thread()
        (mine if own else stretches).append((first, last))
        time.sleep(vector * -(-(last - first) // VECTOR))

    threads.run(work, batch, pace)
    return mine + sorted(stretches)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("batch", [1, 32, 33, 64, 100, 1000])
@pytest.mark.parametrize(
    ("size", "late", "vector"),
    [(LANES, 0.0, None), (VECTOR, 0.0, 0.0), (VECTOR, 1e-4, 1e-3), (VECTOR, 1.0, 1e-6)],
)
def test_every_world_is_done_once_in_whole_blocks_or_vectors(count, batch, size, late, vector):
    threads, pace = Threads(count), None
    if vector is not None:
        threads._late, pace = late, VectorTime()
        pace.vector = vector
    stretches = shared(threads, batch, pace)
    firsts, lasts = zip(*stretches, strict=True)
    assert (firsts[0], lasts[-1]) == (0, batch)
    assert firsts[1:] == lasts[:-1]
    assert all(first % size == 0 < last - first for first, last in stretches)
    assert len(stretches) == min(count, -(-batch // LANES))


def test_threads_that_begin_late_are_given_less():
    threads, pace = Threads(2), VectorTime()
    even = shared(threads, 20 * VECTOR, pace, vector=1e-3)
    assert even[0] == (0, 10 * VECTOR)
    assert pace.vector >= 1e-3
    threads._late = 4 * pace.vector
    assert shared(threads, 20 * VECTOR, pace)[0] == (0, 12 * VECTOR)


def test_without_a_pace_worlds_are_shared_evenly():
    threads = Threads(2)
    threads._late = 1.0
    assert shared(threads, 20 * LANES, None)[0] == (0, 10 * LANES)


def test_no_threads_are_refused():
    with pytest.raises(BadInput, match="one to 1024 are expected"):
        Threads(0)

# SPDX-License-Identifier: BSD-3-Clause
"""Batches of worlds: each is the single run bit for bit, ends alone, and is reset and commanded on its own."""

from dataclasses import fields

import numpy as np
import pytest
from flying import gains_of, hover_rpm, plant_of

from iap_description.errors import BadInput, FlightFailed
from iap_description.states import Command, Mode
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.air.wind import Wind
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import DIVERGED, INVALID_COMMAND, RUNNING, world_indices
from iap_physics.plant.disturbances import Disturbance

GUSTY = Wind(speed=5.0, turbulence=10.0)
STAR = load_platform("three_star")
HOVER_RPM = np.full((3, 4), hover_rpm(STAR))
STILL_WORLD = World()


@pytest.fixture
def star(assembly_of):
    """The assembly that all worlds hold."""
    return assembly_of("three_star")


@pytest.fixture
def engine_of(star):
    """A closed-form engine with one star in each of so many worlds."""

    def make(batch):
        engine = ClosedFormEngine(batch=batch)
        engine.load(STILL_WORLD, [star])
        return engine

    return make


def gusty_plant(batch=1, **options):
    """A star in gusts, whose autopilots run at a rate that does not divide the control period."""
    gains = gains_of()
    autopilot = gains.autopilot.model_copy(update={"rate_hz": 250.0})
    gains = gains.model_copy(update={"autopilot": autopilot})
    air = {"wind": GUSTY, "has_drag": True, "gust_rng": generators(range(batch))}
    return plant_of("three_star", gains, batch=batch, **{**air, **options})


def generators(seeds):
    return [np.random.default_rng(seed) for seed in seeds]


def command_of(seed, count=3):
    """A command that leans every aircraft its own way."""
    rng, command = np.random.default_rng(seed), Command.zeros(count)
    command.thrust[:] = rng.uniform(8.0, 20.0, count)
    command.q_WB[:, :3] = rng.uniform(-0.05, 0.05, (count, 3))
    command.q_WB[:, 3] = np.sqrt(1.0 - np.square(command.q_WB[:, :3]).sum(1))
    return command


def stacked(commands):
    """One command for each world."""
    arrays = [f.name for f in fields(Command) if f.name != "mode"]
    return Command(
        commands[0].mode,
        **{name: np.stack([getattr(each, name) for each in commands]) for name in arrays},
    )


def flown_alone(start, seed, commands):
    """State rows after each command of a single world."""
    plant, record = gusty_plant(), []
    plant.reset(start[None], [HOVER_RPM], np.random.default_rng(seed))
    for each in commands:
        plant.command(0, command_of(each))
        plant.advance()
        record.append(plant.state()[0].copy())
    return record


def spinning_too_fast(start):
    """A start whose first step overflows."""
    x = start.copy()
    x[2, 10] = 1e200
    return x


def test_a_world_that_diverges_ends_alone_at_its_last_finite_state(
    engine_of, star, random_start, flown
):
    x = np.stack([random_start(star, seed) for seed in range(4)])
    engine, wrenches = engine_of(4), np.random.default_rng(1).normal(size=(4, 4, 6))
    engine.reset(x)
    first = flown(engine, 20, wrenches=wrenches)
    bad = wrenches.copy()
    bad[1, 2, 4] = np.nan
    rest = flown(engine, 30, wrenches=bad)
    assert engine.status.tolist() == [RUNNING, DIVERGED, RUNNING, RUNNING]
    np.testing.assert_array_equal(rest[:, 1], np.tile(first[-1, 1], (30, 1, 1)))
    for b in (0, 2, 3):
        alone = engine_of(1)
        alone.reset(x[b : b + 1])
        np.testing.assert_array_equal(
            flown(alone, 50, wrenches=wrenches[b : b + 1])[:, 0],
            np.concatenate([first[:, b], rest[:, b]]),
        )


def test_all_vehicles_of_a_world_end_with_it(assembly_of, random_start, flown):
    pair = [assembly_of("three_star", "one"), assembly_of("two_line", "two")]
    x = np.concatenate([random_start(each, seed) for seed, each in enumerate(pair)])
    engine, wrenches = ClosedFormEngine(batch=2), np.zeros((2, 7, 6))
    engine.load(STILL_WORLD, pair)
    engine.reset(np.stack([x, x]))
    start = engine.state()[1].copy()
    wrenches[1, 6, 0] = np.inf  # of the second vehicle
    flown(engine, 1, wrenches=wrenches)
    np.testing.assert_array_equal(engine.state()[1], start)
    assert engine.status.tolist() == [RUNNING, DIVERGED]


@pytest.mark.parametrize("worlds", [[2, 0], np.array([True, False, True])])
def test_chosen_worlds_start_anew_and_the_others_fly_on(
    engine_of, star, random_start, flown, worlds
):
    x = np.stack([random_start(star, seed) for seed in range(3)])
    fresh = np.stack([random_start(star, seed) for seed in (7, 8)])
    engine, untouched = engine_of(3), engine_of(3)
    for each in (engine, untouched):
        each.reset(x)
        flown(each, 10)
    engine.reset(fresh, worlds)
    again, through = flown(engine, 10), flown(untouched, 10)
    np.testing.assert_array_equal(again[:, 1], through[:, 1])
    for row, b in zip(fresh, world_indices(worlds, 3), strict=True):
        alone = engine_of(1)
        alone.reset(row[None])
        np.testing.assert_array_equal(again[:, b], flown(alone, 10)[:, 0])


def test_a_reset_revives_a_world_and_a_snapshot_keeps_what_has_ended(engine_of, star, level):
    x, engine = level(star), engine_of(2)
    engine.reset(np.stack([x, spinning_too_fast(x)]))
    engine.step(1e-3)
    ended = engine.snapshot()
    engine.reset(x[None], [1])
    assert engine.status.tolist() == [RUNNING, RUNNING]
    engine.restore(ended)
    assert engine.status.tolist() == [RUNNING, DIVERGED]


@pytest.mark.parametrize("worlds", [[3], [-1], [0, 0], [True], [[0]], [0.5], "all"])
def test_worlds_that_are_not_there_are_refused(engine_of, star, level, worlds):
    with pytest.raises(BadInput, match="worlds: "):
        engine_of(3).reset(level(star)[None], worlds)


def test_no_world_may_be_chosen(engine_of, star):
    engine = engine_of(2)
    before = engine.state().copy()
    engine.reset(np.zeros((0, len(star.bodies), 13)), [])
    np.testing.assert_array_equal(engine.state(), before)


def test_worlds_of_a_plant_are_single_runs_whatever_their_neighbours_do(star, random_start):
    """Own commands and gusts, a neighbour that diverges at once, a reset at another time."""
    starts = [random_start(star, seed) for seed in range(4)]
    plant = gusty_plant(batch=4)
    first = np.stack([starts[0], spinning_too_fast(starts[1]), starts[2], starts[3]])
    plant.reset(first, [HOVER_RPM], generators(range(10, 14)))
    record = []
    for k in range(7):
        if k == 3:  # the world that has ended, and one that flies
            plant.reset(np.stack(starts[1:3]), [HOVER_RPM], generators([21, 22]), [1, 2])
        plant.command(0, stacked([command_of(100 * b + k) for b in range(4)]))
        plant.advance()
        record.append(plant.state().copy())
        assert plant.status.tolist() == [RUNNING, DIVERGED if k < 3 else RUNNING, RUNNING, RUNNING]
    flights = [(0, 10, 0, 7), (2, 12, 0, 3), (3, 13, 0, 7), (1, 21, 3, 7), (2, 22, 3, 7)]
    for b, seed, begin, end in flights:
        alone = flown_alone(starts[b], seed, [100 * b + k for k in range(begin, end)])
        np.testing.assert_array_equal([x[b] for x in record[begin:end]], alone)
    np.testing.assert_allclose(plant.times, [0.035, 0.02, 0.02, 0.035])


def test_a_world_whose_command_is_not_finite_ends_alone(star, level):
    plant = gusty_plant(batch=3)
    start = np.repeat(level(star)[None], 3, axis=0)
    plant.reset(start, [HOVER_RPM], generators([1, 2, 3]))
    commands = [command_of(b) for b in range(3)]
    commands[1].thrust[2] = np.nan
    plant.command(0, stacked(commands))
    plant.advance()
    assert plant.status.tolist() == [RUNNING, INVALID_COMMAND, RUNNING]
    np.testing.assert_array_equal(plant.state()[1], start[1])
    for b in (0, 2):
        np.testing.assert_array_equal(plant.state()[b], flown_alone(start[b], b + 1, [b])[0])


def test_the_only_world_ends_with_the_flight(star, level):
    plant, command = gusty_plant(), command_of(1)
    plant.reset(spinning_too_fast(level(star))[None], [HOVER_RPM], np.random.default_rng(1))
    plant.command(0, command)
    with pytest.raises(FlightFailed, match="diverged"):
        plant.advance()
    command.rpm[0, 0] = np.inf
    with pytest.raises(FlightFailed, match="command is not finite"):
        plant.command(0, command)


def test_one_command_for_all_worlds_is_the_same_command_for_each(star, random_start):
    ends = []
    for order in (command_of(3), stacked([command_of(3)] * 2)):
        plant = gusty_plant(batch=2)
        plant.reset(np.stack([random_start(star)] * 2), [HOVER_RPM], generators([1, 1]))
        plant.command(0, order)
        plant.advance()
        ends.append(plant.state().copy())
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0][0], ends[0][1])


def test_every_world_may_have_rotor_speeds_of_its_own(star, level):
    plant = gusty_plant(batch=2)
    plant.reset(
        np.stack([level(star)] * 2), [np.stack([HOVER_RPM, 0.0 * HOVER_RPM])], generators([1, 1])
    )
    plant.advance()
    carried, falling = plant.state()[:, 0, 9]
    assert falling < carried - 0.04  # 5 ms without thrust


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("thrust", np.ones(4)),
        ("q_WB", np.ones((3, 3, 4))),
        ("rpm", np.ones((2, 3))),
        ("wrench_P", 0.0),
    ],
)
def test_a_command_of_another_shape_is_refused_by_its_array(name, value):
    plant, command = plant_of("three_star", batch=2), Command.zeros(3, Mode.RATE_THRUST)
    setattr(command, name, value)
    with pytest.raises(BadInput, match=f"'{name}' has shape"):
        plant.command(0, command)


def test_a_disturbance_comes_at_every_world_s_own_time(star, level):
    gust_free = {"wind": Wind(), "has_drag": False}
    pull = Disturbance(at=0.01, until=0.015, force=(50.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0))
    plant = gusty_plant(batch=2, disturbances=[[pull]], **gust_free)
    plant.reset(np.stack([level(star)] * 2), [HOVER_RPM], generators([1, 2]))
    speeds = []
    for k in range(6):
        if k == 2:
            plant.reset(level(star)[None], [HOVER_RPM], generators([3]), [1])
        plant.advance()
        speeds.append(plant.state()[:, 0, 7].copy())
    first, second = (
        np.flatnonzero(np.diff(column, prepend=0.0) > 0.02) for column in np.transpose(speeds)
    )
    assert first.tolist() == [2]
    assert second.tolist() == [4]


def test_a_world_that_starts_anew_goes_by_the_truth_until_it_gets_an_estimate(star, level):
    tilted = level(star)
    tilted[1:, 3:7] = [np.sin(0.1), 0.0, 0.0, np.cos(0.1)]
    plant = gusty_plant(batch=2, wind=Wind(), has_drag=False)
    starts = np.stack([level(star)] * 2)
    plant.reset(starts, [HOVER_RPM], generators([1, 2]))
    plant.set_estimate(0, tilted)
    plant.reset(starts[1:], [HOVER_RPM], generators([3]), [1])
    command = Command.zeros(3)
    command.thrust[:], command.q_WB[:] = 12.0, level(star)[1:, 3:7]
    plant.command(0, command)
    plant.advance()
    turned, still = np.abs(plant.state()[:, 1:, 10:]).max(axis=(1, 2))
    assert turned > 0.02
    assert still < 1e-6


def test_a_batch_needs_a_gust_generator_for_each_world():
    with pytest.raises(BadInput, match="gusts: 2 random generators are expected"):
        gusty_plant(batch=2, gust_rng=generators([1]))

# SPDX-License-Identifier: BSD-3-Clause
"""Worlds side by side: each is the single run of its seed bit for bit, and none minds what becomes of the others."""

import numpy as np
import pytest
from flying import scenario_of

from iap_description.errors import BadInput, FlightFailed
from iap_description.states import Command, Level, Mode
from iap_description.vehicles.platform import platform_tree
from iap_physics.batch.threads import Threads
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_simulation.batch.references import References
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

SCATTERED = {
    "draw.position": 0.3,
    "draw.attitude_deg": 8.0,
    "state_noise.position": 0.002,
    "state_noise.attitude_deg": 0.1,
    "wind.speed": 3.0,
    "wind.turbulence": 8.0,
}
DEVIATING = {
    "draw.mass": 0.1,
    "draw.inertia": 0.2,
    "draw.com": 0.01,
    "draw.drag": 0.5,
    "draw.thrust": 0.05,
    "draw.rotor_lag": 0.3,
    "model_error.delay": 0.005,
    "draw.delay": 0.005,
    "draw.force": 0.3,
    "draw.torque": 0.02,
    "draw.wind_speed": 0.5,
    "draw.wind_direction_deg": 40.0,
}

UNSTEADY_STARTS = {"draw.position": 0.3, "draw.attitude_deg": 85.0}


def scattered(name="hover", seeds=5, **options):
    """Worlds that start anywhere, in gusts, with noise."""
    return Worlds.of(name, seeds, settings=SCATTERED, **options)


def states_alone(scenario, steps):
    """(steps, bodies, 13) of a single run."""
    with Simulation(Flight.of(scenario)) as simulation:
        return np.stack([simulation.step() for _ in range(steps)])


@pytest.mark.parametrize(
    "platform", ["three_star", "f450", "three_star_fixed", "two_line", "beetle"]
)
def test_worlds_with_vehicles_and_winds_of_their_own_are_single_runs(platform):
    drawn = {**SCATTERED, **DEVIATING}
    if platform == "two_line":  # nothing holds it against torques about the line of its joints
        drawn.update({"draw.com": 0.0, "draw.force": 0.0, "draw.torque": 0.0})
    worlds = Worlds.of("hover", 35, settings=drawn, platform=platform)
    straight = Worlds.of("hover", 35, settings=SCATTERED, platform=platform)
    worlds.reset([34], seeds=[77])
    for _ in range(120):
        worlds.advance()
        straight.advance()
    assert (worlds.status == RUNNING).all()
    for i in (0, 33, 34):
        alone = states_alone(worlds.world(i), 120)
        np.testing.assert_array_equal(worlds.state[i], alone[-1])
        assert not np.array_equal(worlds.state[i], straight.state[i])


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_no_world_depends_on_how_many_threads_there_are(threads):
    alone, shared = (scattered(seeds=70, threads=count) for count in (1, threads))
    for k in range(60):
        if k == 30:
            kept = shared.snapshot()
        alone.advance()
        shared.advance()
    np.testing.assert_array_equal(shared.state, alone.state)
    np.testing.assert_array_equal(shared.rpm, alone.rpm)
    shared.restore(kept)
    for _ in range(30):
        shared.advance()
    np.testing.assert_array_equal(shared.state, alone.state)


@pytest.mark.parametrize("vectors", [1, 3, 5, 8])
@pytest.mark.parametrize("platform", ["three_star", "f450"])
def test_no_world_depends_on_where_threads_stretches_meet(monkeypatch, platform, vectors):
    """Of 70 worlds in 9 vectors of 3 blocks; some of them stand still soon, since they overturn."""
    monkeypatch.setattr(Threads, "_callers_parts", lambda _, parts, *__: min(vectors, parts - 1))
    settings = {**UNSTEADY_STARTS, "wind.speed": 3.0, "wind.turbulence": 8.0}
    how = {"settings": settings, "platform": platform}
    alone, shared = (Worlds.of("hover", 70, threads=count, **how) for count in (1, 2))
    for worlds in (alone, shared):
        for _ in range(20):
            worlds.advance()
        worlds.fly(20)
        for _ in range(10):
            worlds.plant.advance()
    assert 3 < np.count_nonzero(alone.status == UPSIDE_DOWN) < 35
    for name in ("state", "rpm", "status", "times"):
        np.testing.assert_array_equal(getattr(shared, name), getattr(alone, name))


def test_no_threads_are_refused():
    with pytest.raises(BadInput, match="threads: one to 1024 are expected, got 0"):
        scattered(threads=0)


def resisting_joints():
    """Those of a star, with friction and stops."""
    tree, _ = platform_tree("three_star")
    friction = {"viscous": 0.01, "coulomb": 0.002}
    return [{**joint, "friction": friction, "limit_deg": 60.0} for joint in tree["joints"]]


def test_worlds_whose_joints_resist_are_single_runs():
    settings = {**SCATTERED, "platform.joints": resisting_joints()}
    worlds = Worlds.of("hover", 5, settings=settings)
    for _ in range(60):
        worlds.advance()
    np.testing.assert_array_equal(worlds.state[3], states_alone(worlds.world(3), 60)[-1])


def test_drawn_vehicles_whose_joints_resist_are_flown_alone():
    settings = {"draw.mass": 0.1, "platform.joints": resisting_joints()}
    with pytest.raises(BadInput, match="vehicles that are drawn, on joints with friction"):
        Worlds.of("hover", 2, settings=settings)


def test_a_batch_of_one_is_the_single_run():
    worlds = scattered(seeds=[7])
    for _ in range(50):
        worlds.advance()
    np.testing.assert_array_equal(worlds.state[0], states_alone(worlds.world(0), 50)[-1])


def test_worlds_that_start_anew_leave_the_others_alone():
    straight, broken = scattered(), scattered()
    for k in range(60):
        if k == 20:
            broken.reset([1, 3], seeds=[100, 3])
        for each in (straight, broken):
            each.advance()
    others = [0, 2, 4]
    np.testing.assert_array_equal(broken.state[others], straight.state[others])
    np.testing.assert_array_equal(broken.instants, [60, 40, 60, 40, 60])
    for i in (1, 3):
        np.testing.assert_array_equal(broken.state[i], states_alone(broken.world(i), 40)[-1])


def test_a_failed_world_stands_still_and_says_why():
    worlds, undisturbed = scattered(), scattered()
    row = worlds.references().rows
    for k in range(40):
        references = worlds.references()
        if k >= 10:
            rows = references.rows.copy()
            rows[1, 0] = np.nan
            rows[3, 0] += 100.0
            references = references._replace(rows=rows)
        worlds.advance(references)
        undisturbed.advance()
    np.testing.assert_array_equal(
        worlds.status, [RUNNING, INVALID_COMMAND, RUNNING, TOO_FAR, RUNNING]
    )
    assert row is worlds.references().rows
    others = [0, 2, 4]
    np.testing.assert_array_equal(worlds.state[others], undisturbed.state[others])
    assert np.isfinite(worlds.state).all()
    assert worlds.failure(0) is None
    assert str(worlds.failure(3)).startswith("diverged at t = 0.050 s: iap is more than 10 m")
    assert str(worlds.failure(1)).startswith("invalid_command at t = 0.050 s")
    worlds.reset([1, 3])
    assert (worlds.status == RUNNING).all()


def test_an_overturned_world_ends_as_the_single_run_does():
    command = Command.zeros(1, Mode.RPM)
    command.rpm[:] = [6000.0, 3000.0, 3000.0, 6000.0]
    worlds = scattered(seeds=3, platform="f450")
    with Simulation(Flight.of(worlds.world(1))) as simulation:
        with pytest.raises(FlightFailed) as failed:
            for _ in range(400):
                simulation.step(command)
        steps = simulation.loop.k
        last = simulation.state
    for _ in range(steps + 5):
        worlds.advance(command)
    assert worlds.status[1] == UPSIDE_DOWN
    np.testing.assert_array_equal(worlds.state[1], last)
    own = worlds.failure(1)
    assert (own.outcome, str(own)) == (failed.value.outcome, str(failed.value))


def test_restored_worlds_fly_on_as_straight_ones():
    worlds = scattered()
    for _ in range(30):
        worlds.advance()
    kept = worlds.snapshot()
    passed = []
    for _ in range(2):
        for _ in range(30):
            worlds.advance()
        passed.append(worlds.state.copy())
        worlds.restore(kept)
    np.testing.assert_array_equal(*passed)


def test_restored_worlds_can_start_anew_with_other_vehicles():
    worlds = Worlds.of("hover", 3, settings={**SCATTERED, **DEVIATING})
    worlds.restore(worlds.snapshot())
    worlds.reset([1], seeds=[50])
    for _ in range(40):
        worlds.advance()
    np.testing.assert_array_equal(worlds.state[1], states_alone(worlds.world(1), 40)[-1])


def test_references_can_be_given_at_every_level():
    """A velocity is reached in every world, each its own."""
    worlds = Worlds.of("hover", 4)
    rows = worlds.references().rows.copy()
    rows[:, 7] = [0.0, 0.2, 0.4, -0.3]
    for _ in range(800):
        rows[:, :3] = worlds.state[:, 0, :3]
        worlds.advance(References.of(rows, Level.VELOCITY))
    np.testing.assert_allclose(worlds.state[:, 0, 7], rows[:, 7], atol=0.01)


def test_flight_ends_with_its_references():
    worlds = Worlds.of("hover", 2, duration=0.1)
    for _ in range(20):
        assert not worlds.is_done.any()
        worlds.advance()
    assert worlds.is_done.all()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"engine.name": "pybullet"}, "engine.name: pybullet"),
        ({"control.law": "own_law:PoseDamper"}, "control.law: own_law:PoseDamper"),
        ({"sensors": {"barometer": "ms5611"}}, "sensors besides inertial units"),
        ({"faults": [{"at": 1.0, "aircraft": 1, "rotor": 1, "thrust": 0.6}]}, "faults"),
    ],
)
def test_what_cannot_fly_side_by_side_is_refused_by_name(settings, why):
    with pytest.raises(BadInput, match=f"'hover' cannot be flown side by side: {why}"):
        Worlds.of("hover", 2, settings=settings)


def test_two_vehicles_in_a_world_are_refused():
    with pytest.raises(BadInput, match="vehicles: several in one world"):
        Worlds.of("two_platforms", 2)


@pytest.mark.parametrize(
    ("seeds", "why"), [([], "at least one seed"), ([3, -1], "seed -1:"), ([2**63], "seed 9223")]
)
def test_impossible_seeds_are_refused(seeds, why):
    with pytest.raises(BadInput, match=why):
        Worlds(scenario_of("hover"), seeds)


def test_more_worlds_than_memory_are_refused_with_the_number():
    with pytest.raises(BadInput, match=r"1000000000000 of them need about \d+\.\d GB of memory"):
        Worlds.of("hover", 10**12)
    with pytest.raises(BadInput, match=r"of them need about \d+\.\d GB of memory"):
        Worlds.of("hover", 10**20)


def test_actions_of_another_shape_are_refused():
    worlds = Worlds.of("hover", 3)
    with pytest.raises(BadInput, match=r"'rows' has shape \(2, 22\); \(3, 22\) is expected"):
        worlds.advance(References.of(np.zeros((2, 22))))
    with pytest.raises(BadInput, match=r"'wrenches_P' has shape \(6,\); \(3, 6\) is expected"):
        worlds.advance(References.of(worlds.references().rows, Level.WRENCH, np.zeros(6)))
    with pytest.raises(BadInput, match="reset: 2 seeds are expected, got 1"):
        worlds.reset([0, 1], seeds=[5])
    with pytest.raises(BadInput, match="seed -5:"):
        worlds.reset([0], seeds=[-5])
    with pytest.raises(BadInput, match="an action is References, a Command or MixedActions"):
        worlds.advance(np.zeros((3, 4)))

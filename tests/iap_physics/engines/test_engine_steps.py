# SPDX-License-Identifier: BSD-3-Clause
"""Steps of engines with contact: single components of wrenches, what is no number, resets, snapshots and times."""

import gc

import numpy as np
import pytest

from iap_description.errors import FlightFailed, IapError
from iap_description.states import P, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.engine import DIVERGED, OBJECT, RUNNING, WORLD
from iap_physics.engines.joints import at_rest

F450, STAR = (
    Assembly.of(load_platform("f450"), "quad"),
    Assembly.of(load_platform("three_star"), "star"),
)
BOX = {
    "type": "box", "position": [50.0, 0.0, 5.0], "size": [1.0, 1.0, 1.0],
    "surface": {"friction": 0.5, "restitution": 0.0},
}  # fmt: skip
PUSH = {"motion": {"type": "velocity", "velocity": [0.0, 0.5, 0.0]}}
WEIGHTLESS = {"gravity": 0.0, "ground": False}
DT = 1e-3
WORLDS = [{}, {"objects": {"box": {**BOX, **PUSH}}}]  # the second is not stepped by compiled code


def loaded(engine, world, *assemblies):
    engine.load(World.model_validate({**WEIGHTLESS, **world}), assemblies or [F450, STAR])
    x = engine.state().copy()
    x[0, 1:, 0] += 10.0
    engine.reset(x)
    return engine


def wrenches(engine, row, column, value):
    out = np.zeros((1, engine.state().shape[1], 6))
    out[0, row, column] = value
    return out


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("column", range(6))
def test_a_force_or_torque_along_one_axis_acts_on_its_body_for_one_step(engine, world, column):
    loaded(engine, world)
    engine.apply(wrenches(engine, 0, column, 2.0))
    engine.step(DT)
    engine.step(DT)
    x = engine.state()[0]
    gained = x[0, V] * F450.mass if column < 3 else x[0, W] * np.diag(F450.bodies[0].inertia)
    expected = np.zeros(3)
    expected[column % 3] = 2.0 * DT
    np.testing.assert_allclose(gained, expected, atol=1e-8)
    assert not np.any(np.abs(x[1:, 7:]) > 1e-9)
    assert engine.t == pytest.approx(2 * DT)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("column", range(6))
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_wrench_of_which_one_number_is_none_ends_the_flight_by_its_body(
    engine, world, column, value
):
    loaded(engine, world)
    engine.apply(wrenches(engine, 3, column, value))
    with pytest.raises(FlightFailed, match="the wrench on 'star/drone_2' is not finite") as failed:
        engine.step(DT)
    assert (failed.value.outcome, failed.value.t) == ("diverged", 0.0)
    assert engine.status.tolist() == [DIVERGED]
    engine.reset(engine.state().copy())
    assert engine.status.tolist() == [RUNNING]
    engine.step(DT)


@pytest.mark.parametrize("world", WORLDS)
def test_a_state_beyond_all_bounds_ends_the_flight_by_its_body(engine, world):
    loaded(engine, world)
    engine.apply(wrenches(engine, 0, 2, 1e15))
    with pytest.raises(FlightFailed, match="the state of 'quad/.*' is not finite or beyond"):
        engine.step(DT)
    assert engine.status.tolist() == [DIVERGED] and engine.t == pytest.approx(DT)


@pytest.mark.parametrize("world", WORLDS)
def test_a_run_goes_on_from_a_snapshot_without_what_was_to_act_next(engine, world):
    loaded(engine, world)
    engine.apply(wrenches(engine, 0, 0, 2.0))
    engine.step(DT)
    kept = engine.snapshot()
    there = engine.state().copy()
    engine.step(2 * DT)
    engine.apply(wrenches(engine, 0, 1, 50.0))
    engine.status[:] = DIVERGED
    engine.restore(kept)
    assert engine.t == pytest.approx(DT) and engine.status.tolist() == [RUNNING]
    np.testing.assert_array_equal(engine.state(), there)
    engine.step(DT)
    assert engine.state()[0, 0, 8] == pytest.approx(0.0, abs=1e-12)
    assert engine.state()[0, 0, 7] == pytest.approx(2.0 * DT / F450.mass)
    engine.reset(there)
    with pytest.raises(IapError, match="not of this engine since its last reset"):
        engine.restore(kept)
    del kept
    gc.collect()  # which frees its memory, if it is still there
    engine.step(DT)


def test_a_reset_of_no_world_changes_nothing(engine):
    loaded(engine, {})
    engine.step(DT)
    x = engine.state().copy()
    engine.reset(np.zeros((0, 5, 13)), [])
    np.testing.assert_array_equal(engine.state(), x)
    assert engine.t == pytest.approx(DT)
    engine.apply(wrenches(engine, 0, 0, 50.0))
    engine.reset(x)
    engine.step(DT)
    assert engine.t == pytest.approx(DT) and abs(engine.state()[0, 0, 7]) < 1e-12


def test_what_moves_as_prescribed_goes_on_by_the_length_of_each_step(engine):
    loaded(engine, WORLDS[1])
    for dt in (1e-3, 1e-3, 4e-3):
        engine.step(dt)
    row = engine.object_states()[0]
    np.testing.assert_allclose(row[P], [50.0, 0.5 * 6e-3, 5.0], atol=1e-9)
    np.testing.assert_allclose(row[V], [0.0, 0.5, 0.0], atol=1e-9)


def test_contacts_are_those_of_the_last_step_and_begin_without_force(engine):
    engine.load(World(), [F450])
    x = at_rest([F450])[None].copy()
    x[0, 0, 2] = 0.1
    engine.reset(x)
    assert any(WORLD in (c.body_a, c.body_b) for c in engine.contacts())
    assert not engine.contact_wrench(0).any()
    engine.step(DT)
    assert engine.contact_wrench(0)[2] > 0.0
    pushes = sum(np.array(c.force_W) * (1.0 if c.body_a == 0 else -1.0) for c in engine.contacts())
    np.testing.assert_allclose(pushes, engine.contact_wrench(0)[:3], atol=1e-6)
    x[0, 0, 2] = 5.0
    engine.reset(x)
    assert engine.contacts() == [] and not engine.contact_wrench(0).any()
    engine.step(DT)
    assert not engine.contact_wrench(0).any()


def test_a_loose_box_that_falls_on_a_fixed_one_touches_it_by_their_numbers(engine):
    low, high = (
        {**BOX, "position": [5.0, 0.0, 1.0]},
        {**BOX, "position": [5.0, 0.0, 1.999], "mass": 1.0},
    )
    engine.load(World.model_validate({"objects": {"low": low, "high": high}}), [F450])
    x = at_rest([F450])[None].copy()
    x[0, 0, 2] = 3.0
    engine.reset(x)
    for _ in range(20):
        engine.step(DT)
    pairs = {tuple(sorted((c.body_a, c.body_b))) for c in engine.contacts()}
    assert pairs == {(OBJECT - 1, OBJECT)}

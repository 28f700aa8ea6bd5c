# SPDX-License-Identifier: BSD-3-Clause
"""An identified plant in the place of an engine, many of them side by side, and channels with dead times."""

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.identified import engine as engine_module
from iap_physics.identified.engine import IdentifiedEngine
from iap_physics.identified.plant import (
    DynamicModel,
    IdentifiedPlant,
    PlantState,
    SecondOrderModel,
    velocity_model,
)
from iap_physics.identified.plant_file import Channel, SecondOrderPlant, load_plant
from iap_physics.identified.plants import DRAWN, IdentifiedPlants
from iap_physics.identified.spec import IdentifiedSpec

ARM = Assembly.of(load_platform("m100_arm"))
SPEC = {
    "file": "paper", "noise": 0.0, "static_inverse": False, "position": (1.0, 2.0, 3.0), "yaw": 0.5,
    "joints": (0.1, 0.8, -0.2),
}  # fmt: skip
PERIOD = 0.05


def engine_of(**keys):
    made = IdentifiedEngine()
    made.identify(IdentifiedSpec(**{**SPEC, **keys}), 3, PERIOD)
    made.load(World(), [ARM], np.zeros((1, 1, 13)))
    return made


def test_it_begins_at_rest_where_its_specification_says():
    engine = engine_of()
    x = engine.state()
    assert x.shape == (1, 1, 13) and engine.t == 0.0 and engine.batch == 1
    np.testing.assert_allclose(x[0, 0, :3], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(x[0, 0, 3:7], [0.0, 0.0, np.sin(0.25), np.cos(0.25)])
    assert not x[0, 0, 7:].any()
    assert engine.arms[0].q.tolist() == [0.1, 0.8, -0.2] and not engine.arms[0].v.any()
    assert engine.object_states().shape == (0, 13) and engine.contacts() == []


def test_it_moves_as_its_model_under_the_twist_along_its_heading_and_its_joints_velocities():
    engine = engine_of()
    engine.arms[0].targets[1] = 0.2, -0.1, 0.3
    engine.command(np.array([0.4, -0.3, 0.2, 9.0, 9.0, 0.1]))
    start = PlantState(np.array([1.0, 2.0, 3.0]), 0.5, np.array([0.1, 0.8, -0.2]), np.zeros(7))
    alone = IdentifiedPlant(load_plant("paper"), start, noise=0.0, seed=3)
    for k in range(3):
        engine.step(PERIOD)
        s = alone.step(np.array([0.4, -0.3, 0.2, 0.1, 0.2, -0.1, 0.3]), PERIOD)
        row = engine.state()[0, 0]
        np.testing.assert_array_equal(row[:3], s.p_WP_W)
        np.testing.assert_allclose(row[7:10], so3.rotate(row[3:7], s.v[:3]))
        np.testing.assert_allclose(row[10:], [0.0, 0.0, s.v[3]])
        np.testing.assert_array_equal(engine.arms[0].q, s.q)
        np.testing.assert_array_equal(engine.arms[0].v, s.v[4:])
        assert engine.t == pytest.approx((k + 1) * PERIOD)
    assert not engine.arms[0].clipped.any()


def test_joints_stand_still_where_they_are_not_to_move_and_are_cut_and_counted_at_their_speed():
    still, fast = engine_of(), engine_of()
    for engine in (still, fast):
        engine.arms[0].targets[1] = 0.0, 100.0, 0.0
    still.command(np.zeros(6), moves_joints=False)
    fast.command(np.zeros(6))
    for engine in (still, fast):
        engine.step(PERIOD)
    assert np.abs(still.arms[0].v).max() < np.abs(fast.arms[0].v).max()
    assert still.arms[0].clipped.tolist() == [0, 0, 0]
    assert fast.arms[0].clipped.tolist() == [0, 1, 0]
    fast.step(PERIOD)  # under the same command, which is taken once
    assert fast.arms[0].clipped.tolist() == [0, 1, 0]


def test_a_static_inverse_commands_what_holds_the_velocities():
    engine, twist = engine_of(static_inverse=True), np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    engine.command(twist)
    for _ in range(400):
        engine.arms[0].targets[1] = 0.0
        engine.command(twist)
        engine.step(PERIOD)
    assert engine.plant.state.v[0] == pytest.approx(0.4, abs=0.02)
    plain = engine_of()
    for _ in range(400):
        plain.command(twist)
        plain.step(PERIOD)
    assert abs(plain.plant.state.v[0] - 0.4) > 0.1  # whose gain is not one


def test_a_snapshot_goes_on_with_its_noise_and_command():
    engine = engine_of(noise=0.01)
    engine.arms[0].targets[1] = 0.1
    engine.command(np.full(6, 0.1))
    engine.step(PERIOD)
    kept = engine.snapshot()
    flown = []
    for _ in range(2):
        for _ in range(3):
            engine.step(PERIOD)
        flown.append((engine.t, engine.state().copy(), engine.arms[0].q.copy()))
        engine.restore(kept)
        assert engine.t == pytest.approx(PERIOD)
    for a, b in zip(*flown, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(IapError, match="the snapshot is not of this engine"):
        engine.restore("none")


def test_a_flight_that_has_diverged_has_ended_until_a_reset(monkeypatch):
    engine = engine_of()
    monkeypatch.setattr("iap_physics.identified.plant.FASTEST", 1e-3)
    engine.command(np.full(6, 1.0))
    with pytest.raises(FlightFailed, match="velocities of"):
        engine.step(PERIOD)
    assert engine.status.tolist() == [DIVERGED]
    with pytest.raises(FlightFailed, match="the flight has ended already: reset it"):
        engine.step(PERIOD)
    monkeypatch.undo()
    engine.reset(np.zeros((1, 1, 13)))
    engine.step(PERIOD)  # and no command is left
    assert engine.status.tolist() == [RUNNING] and engine.t == pytest.approx(PERIOD)
    np.testing.assert_allclose(engine.state()[0, 0, :3], [1.0, 2.0, 3.0], atol=1e-4)


def test_what_it_does_not_have_is_refused():
    engine = engine_of()
    with pytest.raises(FlightFailed, match="the controller's command is not finite"):
        engine.command(np.array([np.nan, *[0.0] * 5]))
    with pytest.raises(IapError, match="a plant identified from logs has no bodies that wrenches"):
        engine.apply(np.zeros((1, 1, 6)))
    one_body = "key 'plant.type': identified flies one vehicle of one body"
    for assemblies, words in (
        ([ARM, ARM], one_body),
        ([Assembly.of(load_platform("three_star"))], one_body),
        ([Assembly.of(load_platform("f450"))], "a platform with an arm of 3 joints"),
    ):
        with pytest.raises(BadInput, match=words):
            IdentifiedEngine().load(World(), assemblies)
    assert engine_module.JOINTS == 3


def test_many_plants_are_each_the_single_one_with_its_seed():
    file, noise, steps = load_plant("paper"), 0.01, DRAWN + 3
    plants = IdentifiedPlants(file, 3, noise=noise)
    pose, q = np.array([[0.0, 0.0, 2.0, 0.3], [1.0, 2.0, 3.0, -0.5]]), np.full((2, 3), 0.4)
    plants.reset(np.array([0, 2]), np.array([5, 6]), pose, q)
    plants.reset(np.array([1]), np.array([7]), pose[:1], q[:1])
    v_d = np.random.default_rng(1).uniform(-0.3, 0.3, (3, 7))
    for _ in range(steps):
        plants.step(v_d, PERIOD)
    for world, seed, row in ((0, 5, 0), (2, 6, 1), (1, 7, 0)):
        start = PlantState(pose[row, :3].copy(), float(pose[row, 3]), q[row].copy(), np.zeros(7))
        alone = IdentifiedPlant(file, start, noise=noise, seed=seed)
        for _ in range(steps):
            alone.step(v_d[world], PERIOD)
        np.testing.assert_array_equal(plants.v[world], alone.state.v)
        np.testing.assert_array_equal(plants.pose[world], [*alone.state.p_WP_W, alone.state.yaw])
    quiet = IdentifiedPlants(file, 2, noise=0.0)
    quiet.reset(np.arange(2), np.zeros(2, int), pose, q)
    quiet.step(np.zeros((2, 7)), PERIOD)
    np.testing.assert_allclose(quiet.pose, pose, atol=1e-4)


def test_a_world_that_has_diverged_stands_still_until_its_reset():
    plants = IdentifiedPlants(load_plant("paper"), 2, noise=0.0)
    pose, q = np.zeros((2, 4)), np.full((2, 3), 0.4)
    plants.reset(np.arange(2), np.zeros(2, int), pose, q)
    v_d = np.zeros((2, 7))
    v_d[1, 0] = 1e7
    for _ in range(3):
        plants.step(v_d, PERIOD)
    assert plants.status.tolist() == [RUNNING, DIVERGED]
    assert not plants.pose[1].any() and not plants.v[1].any()
    plants.reset(np.array([1]), np.array([0]), pose[:1], q[:1])
    assert plants.status.tolist() == [RUNNING, RUNNING]


CHANNEL = Channel(gain=2.0, frequency=4.0, damping=0.8, delay=0.0)


def test_only_dynamic_models_fly_in_many_worlds_and_each_file_has_its_model():
    plain = SecondOrderPlant(model="second_order", description="", channels={"u_l": CHANNEL})
    with pytest.raises(BadInput, match="model 'dynamic' flies many worlds .got 'second_order'"):
        IdentifiedPlants(plain, 2, noise=0.0)
    assert isinstance(velocity_model(plain), SecondOrderModel)
    assert isinstance(velocity_model(load_plant("paper")), DynamicModel)
    assert plain.rows()[0].tolist() == [2.0, 4.0, 0.8, 0.0] and not plain.rows()[1:].any()


def test_what_holds_a_velocity_is_it_over_the_gain_and_joints_move_by_the_mean_of_a_step():
    rows = np.zeros((7, 4))
    rows[0], rows[5] = (2.0, 4.0, 0.8, 0.0), (0.5, 3.0, 1.0, 0.07)
    model = SecondOrderModel(rows)
    held = model.held_command(np.zeros(3), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]))
    np.testing.assert_allclose(held, [0.5, 0.0, 0.0, 0.0, 0.0, 12.0, 0.0])
    q, v = np.zeros(3), np.zeros(7)
    v[5] = 0.2
    for _ in range(3):
        before, at = v.copy(), q.copy()
        model.advance(q, v, np.full(7, 1.0), 0.05)
        np.testing.assert_allclose(q - at, 0.025 * (before + v)[4:], atol=1e-15)
    assert v[5] != 0.2 and v[0] > 0.0 and not v[[1, 2, 3, 4, 6]].any()

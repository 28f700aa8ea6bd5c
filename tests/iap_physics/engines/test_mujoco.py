# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo's engine, beyond what holds for every engine with contact, and many worlds of it."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from touching import ROD, level_start, tooled, world_of

from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.states import P, V
from iap_description.world.world import World
from iap_physics.batch.threads import Threads
from iap_physics.engines.engine import DIVERGED, RUNNING, WORLD
from iap_physics.engines.make import is_installed, make_batch, make_engine

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco import model, surfaces
    from iap_physics.engines.mujoco.worlds import MuJoCoWorlds

G = World().gravity
WEIGHTLESS = World(gravity=0.0, ground=False)


def batch_of(count, assembly, world=None, **how):
    worlds = MuJoCoWorlds(batch=count, **how)
    worlds.load(world or World(), [assembly])
    return worlds


def falling(assembly, level):
    """Starts (5, bodies, 13) at heights from which some meet the ground sooner than others."""
    return np.stack([level(assembly, p=(0.0, 0.0, 0.3 + 0.2 * k)) for k in range(5)])


def test_a_joint_added_in_flight_yields_to_more_than_it_bears_and_closes_again(assembly_of, level):
    f450 = assembly_of("f450")
    engine, pull = make_engine("mujoco"), np.zeros((1, 1, 6))
    engine.load(WEIGHTLESS, [f450])
    engine.reset(level(f450)[None])
    place = np.array([0.0, 0.0, 2.0])
    engine.add_joint(0, WORLD, np.zeros(3), place, max_force=20.0)
    away = []
    for force in (15.0, 30.0, 0.0):
        pull[0, 0, 0] = force
        for _ in range(200):
            engine.apply(pull)
            engine.step(1e-3)
        away.append(engine.state()[0, 0, 0])
    for _ in range(2000):
        engine.step(1e-3)
    assert away[0] < 1e-4
    assert away[1] == pytest.approx(0.5 * (30.0 - 20.0) / f450.mass * 0.2**2, rel=0.02)
    np.testing.assert_allclose(engine.state()[0, 0, P], place, atol=1e-3)


def test_contact_does_not_depend_on_the_inverse_mass_that_it_is_written_with(
    assembly_of, level, monkeypatch
):
    """A cancels: d = A / (A + R), and MuJoCo makes R = (1 - d) / d A of it."""
    f450, heights = assembly_of("f450"), []
    for scale in (1.0, 1.5):
        for module in (model, surfaces):
            monkeypatch.setattr(module, "INVERSE_MASS", scale)
        engine = make_engine("mujoco")
        engine.load(World(), [f450])
        engine.reset(level(f450, p=(0.0, 0.0, 0.15))[None])
        heights.append([])
        for _ in range(150):
            engine.step(1e-3)
            heights[-1].append(engine.state()[0, 0, 2])
        engine.close()
    assert heights[0][-1] > 0.1  # falling freely it were at 0.04 m
    np.testing.assert_allclose(*heights, atol=1e-9)


def test_there_are_only_so_many_spare_joints(assembly_of):
    engine = make_engine("mujoco")
    engine.load(WEIGHTLESS, [assembly_of("f450")])
    for _ in range(8):
        engine.add_joint(0, WORLD, np.zeros(3), np.zeros(3))
    with pytest.raises(IapError, match="no more than 8"):
        engine.add_joint(0, WORLD, np.zeros(3), np.zeros(3))


def test_in_contact_too_a_run_goes_on_from_a_snapshot_bit_for_bit(assembly_of, level, flown):
    star = assembly_of("three_star")
    engine = make_engine("mujoco")
    engine.load(World(), [star])
    engine.reset(level(star, p=(0.0, 0.0, 0.3), v=(0.5, 0.0, 0.0))[None])
    flown(engine, 200)
    snapshot, rest = engine.snapshot(), flown(engine, 200)
    engine.restore(snapshot)
    np.testing.assert_array_equal(flown(engine, 200), rest)


def test_without_mujoco_the_refusal_has_the_line_that_installs_it(monkeypatch):
    for name in [each for each in sys.modules if each.startswith("iap_physics.engines.mujoco")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    for make in (lambda: make_engine("mujoco"), lambda: make_batch("mujoco", 2, lambda *_: None)):
        with pytest.raises(BadInput, match=r"pip install .*/lock/mujoco\.txt") as refusal:
            make()
        assert "\n" not in str(refusal.value)


def test_there_is_room_for_so_many_pairs_that_pass_each_other(assembly_of):
    engine, aircraft = make_engine("mujoco"), assembly_of("f450").without_shapes()
    engine.load(WEIGHTLESS, [replace(aircraft, name=f"f450_{k}") for k in range(9)])
    pairs = list(combinations(range(9), 2))
    for pair in pairs[:32]:
        engine.let_pass(*pair, passes=True)
    with pytest.raises(IapError, match="no more than 32 pairs"):
        engine.let_pass(*pairs[32], passes=True)
    engine.let_pass(*pairs[0], passes=False)
    engine.let_pass(*pairs[32], passes=True)


def test_every_world_of_a_batch_is_the_single_one_bit_for_bit_in_contact_too(
    assembly_of, level, flown
):
    star = assembly_of("three_star")
    x, together, alone = falling(star, level), batch_of(5, star), batch_of(1, star)
    together.reset(x)
    record = flown(together, 500)
    for b in range(5):
        alone.reset(x[b : b + 1])
        np.testing.assert_array_equal(flown(alone, 500)[:, 0], record[:, b])
    assert np.ptp(record[250, :, 0, 2]) > 0.05  # some have met the ground, some have not


@pytest.mark.parametrize("threads", [1, 2])
def test_in_the_air_a_batch_equals_the_engine_bit_for_bit(
    assembly_of, random_start, flown, threads
):
    star, rng = assembly_of("three_star").without_shapes(), np.random.default_rng(4)
    x = np.stack([random_start(star, seed) for seed in range(3)])
    wrenches = 5.0 * rng.normal(size=(*x.shape[:2], 6))
    share = Threads(threads).run
    worlds, engine = batch_of(3, star, WEIGHTLESS, share=share), make_engine("mujoco")
    worlds.reset(x)
    together = flown(worlds, 200, wrenches=wrenches)
    engine.load(WEIGHTLESS, [star])
    for b in range(3):
        engine.reset(x[b : b + 1])
        alone = flown(engine, 200, wrenches=wrenches[b : b + 1])
        np.testing.assert_array_equal(alone[:, 0], together[:, b])


def test_worlds_start_anew_one_by_one_and_go_on_from_snapshots(assembly_of, level, flown):
    star = assembly_of("three_star")
    x, worlds = falling(star, level), batch_of(5, star)
    worlds.reset(x)
    first = flown(worlds, 400)
    worlds.reset(x[[1, 3]], [1, 3])
    again = flown(worlds, 400)
    np.testing.assert_array_equal(again[:, [1, 3]], first[:, [1, 3]])
    snapshot, rest = worlds.snapshot(), flown(worlds, 100)
    worlds.restore(snapshot)
    np.testing.assert_array_equal(flown(worlds, 100), rest)


def test_a_world_that_diverges_ends_alone(assembly_of, random_start, flown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo would keep a log
    star = assembly_of("three_star")
    x = np.stack([random_start(star, seed) for seed in range(3)])
    worlds, calm = batch_of(3, star, WEIGHTLESS), batch_of(3, star, WEIGHTLESS)
    wrenches = np.zeros((3, 4, 6))
    calm.reset(x)
    worlds.reset(x)
    wrenches[0, 2, 4], wrenches[1, 0, 2] = np.nan, 1e12
    record = flown(worlds, 20, wrenches=wrenches)
    assert worlds.status.tolist() == [DIVERGED, DIVERGED, RUNNING]
    np.testing.assert_allclose(record[-1, 0], x[0], rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(record[:, 2], flown(calm, 20)[:, 2])
    single = batch_of(1, star, WEIGHTLESS)
    with pytest.raises(FlightFailed, match="diverged"):
        flown(single, 1, wrenches=wrenches[:1])
    assert not list(tmp_path.iterdir())


def test_the_ground_carries_the_weight_in_every_world(assembly_of, level, flown):
    star = assembly_of("three_star")
    worlds = batch_of(5, star)
    worlds.reset(falling(star, level)[[0] * 5])
    flown(worlds, 1500)
    total = np.zeros((5, 3))
    for _ in range(300):
        worlds.step(1e-3)
        total += worlds.contact_forces() / 300
    np.testing.assert_allclose(total, [[0.0, 0.0, star.mass * G]] * 5, atol=2e-3 * star.mass * G)


def test_the_first_world_shows_objects_rays_and_what_touches():
    push = {"type": "velocity", "velocity": [0.5, 0.0, 0.0]}
    wall = {"type": "wall", "position": [-1.0, 0.0, 2.0], "width": 3.0, "height": 3.0}
    cube = {"type": "box", "position": [5.0, 0.0, 1.0], "size": [0.2, 0.2, 0.2], "mass": 1.0}
    star = tooled(ROD)
    worlds = batch_of(2, star, world_of(ground=False, wall={**wall, "motion": push}, cube=cube))
    worlds.reset(np.repeat(level_start(star, (0.0, 0.0, 2.0))[None], 2, axis=0))
    (contact,) = worlds.contacts()
    assert contact.distance == pytest.approx(-0.03, abs=1e-3)
    for _ in range(100):
        worlds.step(1e-3)
    wall_row, cube_row = worlds.object_states()
    np.testing.assert_allclose(wall_row[P], [-0.95, 0.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(cube_row[V], [0.0, 0.0, -0.1 * G], atol=1e-6)
    (hit,) = worlds.ray_cast(np.array([[5.0, 0.0, 2.0]]), np.array([[5.0, 0.0, 0.0]]))
    assert 2.0 - 2.0 * hit == pytest.approx(cube_row[2] + 0.1, abs=1e-6)
    for refused in (lambda: worlds.add_joint(0, WORLD, P, P), lambda: worlds.contact_wrench(0)):
        with pytest.raises(IapError, match="worlds of a batch"):
            refused()

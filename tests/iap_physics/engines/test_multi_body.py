# SPDX-License-Identifier: BSD-3-Clause
"""Engines of many bodies with contact, against the closed form and what mechanics says of them."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from contact_engines import NAMES
from joint_angles import joint_states

from iap_bringup.experiments.convergence import fly, free_flight_convergence, tumbling
from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.math import so3
from iap_description.states import P, Q, V
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import WORLD
from iap_physics.engines.joints import check_start, joined_rows
from iap_physics.engines.make import make_engine
from iap_physics.engines.pybullet.engine import PyBulletEngine

G = World().gravity


@pytest.fixture(scope="module")
def table():
    return free_flight_convergence()


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    """An engine's name."""
    return request.param


@pytest.fixture
def fresh(name):
    """An engine that is not loaded yet."""
    made = make_engine(name)
    yield made
    made.close()


@pytest.fixture(scope="module")
def loaded(name):
    """A world with these vehicles, built once for the module: reset it before use."""
    engines = {}

    def engine(*assemblies, world=None):
        world = world or World()
        key = (world.ground, *((each.name, len(each.bodies)) for each in assemblies))
        if key not in engines:
            engines[key] = make_engine(name)
            engines[key].load(world, assemblies)
        return engines[key]

    yield engine
    for each in engines.values():
        each.close()


@pytest.fixture
def crash(assembly_of, level):
    """Two platforms that meet in the air and fall to the ground: assemblies, start (1, 8, 13)."""
    one, two = assembly_of("three_star", "one"), assembly_of("three_star", "two")
    a, b = joined_rows(one, tumbling(one)[0]), level(two, p=(1.2, 0.1, 0.8), v=(-1.0, 0.0, 0.0))
    a[:, P] += [0.0, 0.0, -49.2]
    return (one, two), np.concatenate([a, b])[None]


def lines(table, engine):
    return [line for line in table if line.engine == engine]


def total_force(engine, rows):
    """Contact force (3,) of everything else on these rows."""
    force = np.zeros(3)
    for contact in engine.contacts():
        if (contact.body_a in rows) != (contact.body_b in rows):
            force += np.array(contact.force_W) * (1.0 if contact.body_a in rows else -1.0)
    return force


@pytest.mark.slow
def test_tumbling_converges_to_the_closed_form_at_first_order(table, name):
    rows = lines(table, name)
    assert [row.rate_hz for row in rows] == [200, 1000, 5000]
    for row in rows[1:]:
        assert 0.9 < row.order < 1.1
    assert rows[-1].position_error_m < 3e-3


def test_the_closed_form_converges_at_second_order_in_its_loads(table):
    rows = lines(table, "closed_form")
    assert all(row.order > 1.9 for row in rows[1:])
    assert rows[-1].position_error_m < 1e-6


def test_energy_and_momenta_drift_within_bounds_without_loads(table, name):
    finest = lines(table, name)[-1]
    assert finest.energy_drift < 1e-3
    assert finest.linear_momentum_drift < 3e-4
    assert finest.angular_momentum_drift < 3e-4
    for row in lines(table, "closed_form"):
        assert row.energy_drift < 1e-8
        assert row.linear_momentum_drift < 1e-8
        assert row.angular_momentum_drift < 1e-8


@pytest.mark.parametrize("platform", ["three_star_fixed", "f450"])
def test_rigid_platforms_converge_too(assembly_of, platform, fresh):
    assembly = assembly_of(platform)
    exact = fly(ClosedFormEngine(), assembly, 2000, midpoint=True)
    errors = [np.abs(fly(fresh, assembly, rate) - exact)[..., P].max() for rate in (200, 1000)]
    assert errors[1] < 0.015
    assert 4.5 < errors[0] / errors[1] < 5.5


@pytest.mark.parametrize("platform", ["three_star", "three_star_fixed"])
def test_joints_stay_together(assembly_of, platform, fresh):
    assembly = assembly_of(platform)
    x = fly(fresh, assembly, 200)
    check_start([assembly], x, len(x))  # to 1e-6
    for joint in assembly.joints:
        arms_W = so3.rotate(x[:, joint.parent, Q], joint.p_PJ_P)
        gaps = x[:, joint.child, P] - x[:, joint.parent, P] - arms_W
        assert np.abs(gaps).max() < 1e-9


def test_fixed_links_stay_bodies_and_turn_with_the_platform(assembly_of, loaded, flown):
    fixed = assembly_of("three_star_fixed", "fixed")
    engine, x = loaded(fixed), tumbling(fixed)
    engine.reset(x[None])
    last = flown(engine, 300)[-1, 0]
    assert len(last) == 4
    q_AB, w_AB_B = joint_states(fixed, last)
    rest = np.array([joint.q_PJ for joint in fixed.joints])
    np.testing.assert_allclose(np.abs((q_AB * rest).sum(-1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(w_AB_B, 0.0, atol=1e-12)


def test_bodies_whose_axes_are_not_principal_turn_as_in_the_closed_form(assembly_of, fresh):
    rng = np.random.default_rng(2)

    def skewed(body):
        R = so3.exp(rng.normal(size=3))
        return replace(body, inertia=R @ (body.inertia * np.diag([1.0, 1.2, 0.9])) @ R.T)

    star = assembly_of("three_star")
    star = replace(star, bodies=tuple(skewed(body) for body in star.bodies))
    flown = fly(fresh, star, 1000)
    exact = fly(ClosedFormEngine(), star, 1000, midpoint=True)
    np.testing.assert_allclose(flown[0], exact[0], atol=1e-12)
    assert np.abs(flown[1:5] - exact[1:5])[..., Q].max() < 3e-3
    assert np.abs(flown - exact)[..., P].max() < 0.03


def test_thrusts_that_carry_the_weight_hold_a_platform_still(assembly_of, loaded, level, flown):
    star = assembly_of("three_star")
    engine, wrenches = loaded(star), np.zeros((1, 4, 6))
    wrenches[0, 1:, 2] = star.mass * G / 3.0
    engine.reset(level(star)[None])
    np.testing.assert_allclose(
        flown(engine, 500, wrenches=wrenches)[-1, 0], level(star), atol=1e-11
    )


def test_after_reset_the_state_is_the_one_given(assembly_of, loaded, random_start):
    star = assembly_of("three_star")
    engine, x = loaded(star), random_start(star)
    engine.reset(x[None])
    assert engine.t == 0.0
    np.testing.assert_allclose(engine.state()[0], x, atol=1e-14)


def test_quaternions_keep_their_sign_from_step_to_step(assembly_of, loaded, flown):
    star = assembly_of("three_star", "bare").without_shapes()
    engine, x = loaded(star), tumbling(star)
    engine.reset(x[None])
    record = flown(engine, 2000)[:, 0, :, Q]
    assert np.abs(np.diff(record, axis=0)).max() < 0.01


def test_a_reset_run_equals_a_fresh_one_bit_for_bit(crash, loaded, flown, fresh):
    assemblies, start = crash
    engine = loaded(*assemblies)
    engine.reset(start)
    flown(engine, 700)
    engine.add_joint(0, 4, np.zeros(3), np.zeros(3))
    engine.reset(start)
    again = flown(engine, 700)
    fresh.load(World(), assemblies)
    fresh.reset(start)
    np.testing.assert_array_equal(flown(fresh, 700), again)


FLIGHT = """
import hashlib, numpy as np
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_bringup.experiments.convergence import tumbling
from iap_physics.engines.make import make_engine
star, engine = Assembly.of(load_platform("three_star")), make_engine(name)
engine.load(World(), [star])
x = tumbling(star)
x[:, 2] -= 49.0
engine.reset(x[None])
for _ in range(800):
    engine.step(1e-3)
digest = hashlib.sha256(engine.state().tobytes()).hexdigest()
engine.close()
"""


@pytest.mark.slow
def test_a_second_process_gets_the_same_states_and_a_clean_standard_output(name):
    flight = f"name = {name!r}\n{FLIGHT}"
    done = subprocess.run(
        [sys.executable, "-c", f"{flight}\nprint(digest)"], capture_output=True, text=True
    )
    scope = {"hashlib": hashlib}
    exec(flight, scope)
    assert done.stdout == f"{scope['digest']}\n"
    assert "pybullet" not in done.stderr  # it announces itself when imported


def test_a_free_flight_goes_on_from_a_snapshot_bit_for_bit(assembly_of, loaded, flown):
    star = assembly_of("three_star", "bare").without_shapes()
    engine = loaded(star)
    engine.reset(tumbling(star)[None])
    flown(engine, 100)
    snapshot, state = engine.snapshot(), engine.state().copy()
    first = flown(engine, 200)
    engine.restore(snapshot)
    assert engine.t == pytest.approx(0.1)
    np.testing.assert_array_equal(engine.state(), state)
    np.testing.assert_array_equal(flown(engine, 200), first)


def test_in_contact_every_restored_run_is_the_same(crash, loaded, flown):
    assemblies, start = crash
    engine = loaded(*assemblies)
    engine.reset(start)
    flown(engine, 600)
    assert engine.contacts()
    snapshot = engine.snapshot()
    engine.restore(snapshot)
    first = flown(engine, 200)
    engine.restore(snapshot)
    np.testing.assert_array_equal(flown(engine, 200), first)


def test_a_snapshot_of_another_world_is_refused(assembly_of, loaded):
    star = assembly_of("three_star")
    engine = loaded(star)
    engine.reset(tumbling(star)[None])
    snapshot = engine.snapshot()
    engine.reset(tumbling(star)[None])
    with pytest.raises(IapError, match="snapshot"):
        engine.restore(snapshot)


@pytest.mark.parametrize("platform", ["three_star", "three_star_fixed", "f450"])
def test_the_ground_carries_the_weight(assembly_of, loaded, level, flown, platform):
    assembly = assembly_of(platform, platform)
    engine = loaded(assembly)
    engine.reset(level(assembly, p=(0.0, 0.0, 0.4))[None])
    flown(engine, 1500)
    force, steps = np.zeros(3), 500
    for _ in range(steps):
        engine.step(1e-3)
        force += total_force(engine, range(len(assembly.bodies))) / steps
    np.testing.assert_allclose(force, [0.0, 0.0, assembly.mass * G], atol=2e-3 * assembly.mass * G)


def test_a_sliding_aircraft_is_slowed_by_the_worlds_friction(assembly_of, loaded, level, flown):
    f450 = assembly_of("f450", "f450")
    engine = loaded(f450)
    engine.reset(level(f450, p=(0.0, 0.0, 0.12), v=(2.0, 0.0, 0.0))[None])
    v = flown(engine, 200)[:, 0, 0, 7]
    slowing = (v[99] - v[199]) / 0.1
    assert slowing == pytest.approx(World().surface.friction * G, rel=0.03)


def test_contact_forces_are_what_changes_the_momentum(assembly_of, loaded, level):
    f450 = assembly_of("f450", "f450")
    engine, dt = loaded(f450), 1e-3
    engine.reset(level(f450, p=(0.0, 0.0, 0.15), v=(1.0, 0.5, -1.0))[None])
    for _ in range(100):
        before = f450.mass * engine.state()[0, 0, V]
        engine.step(dt)
        rate = (f450.mass * engine.state()[0, 0, V] - before) / dt + [0.0, 0.0, f450.mass * G]
        np.testing.assert_allclose(total_force(engine, [0]), rate, rtol=1e-6, atol=1e-6)


def test_a_collision_is_seen_by_both_platforms(crash, loaded, flown):
    (one, two), start = crash
    engine = loaded(one, two)
    engine.reset(start)
    for _ in range(300):
        engine.step(1e-3)
        force = total_force(engine, range(4))
        if np.linalg.norm(force) > 1.0:
            break
    pairs = [(c.body_a, c.body_b) for c in engine.contacts() if np.linalg.norm(c.force_W) > 1.0]
    assert any(min(pair) in range(4) and max(pair) in range(4, 8) for pair in pairs)
    np.testing.assert_allclose(total_force(engine, range(4, 8)), -force, atol=1e-9)


def test_two_far_platforms_fly_as_each_does_alone(assembly_of, loaded, flown, crash):
    (one, two), start = crash
    start[:, 4:, P] += [50.0, 0.0, 10.0]
    engine, alone = loaded(one, two), loaded(one)
    engine.reset(start)
    alone.reset(start[:, :4])
    np.testing.assert_allclose(
        flown(engine, 300)[:, :, :4], flown(alone, 300), rtol=0.0, atol=1e-12
    )


def test_a_ray_down_ends_on_the_ground_or_on_the_platform(assembly_of, loaded, level):
    f450 = assembly_of("f450", "f450")
    engine = loaded(f450)
    engine.reset(level(f450, p=(0.0, 0.0, 2.0))[None])
    starts = np.array([[0.0, 0.0, 4.0], [5.0, 0.0, 4.0], [5.0, 0.0, 4.0]])
    ends = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, -4.0], [5.0, 0.0, 1.0]])
    on_platform, on_ground, nowhere = engine.ray_cast(starts, ends)
    assert 0.45 < on_platform < 0.5
    assert on_ground == pytest.approx(0.5)
    assert nowhere == 1.0


def test_many_rays_are_all_answered(loaded, assembly_of):
    engine = loaded(assembly_of("f450", "f450"))
    count = 40_000
    fractions = engine.ray_cast(
        np.tile([9.0, 9.0, 1.0], (count, 1)), np.tile([9, 9, -1], (count, 1))
    )
    assert fractions.shape == (count,)
    np.testing.assert_allclose(fractions, 0.5)


def test_a_joint_added_in_flight_holds_until_it_is_removed(assembly_of, loaded, flown):
    star, f450 = assembly_of("three_star", "star").without_shapes(), assembly_of("f450", "cargo")
    engine = loaded(star, f450, world=World(ground=False))
    p_AJ_A, p_BJ_B = np.array([0.0, 0.0, -0.5]), np.array([0.0, 0.0, 0.2])
    x, hung = tumbling(star), np.zeros(13)
    hung[P] = x[0, P] + so3.rotate(x[0, Q], p_AJ_A) - p_BJ_B
    hung[Q], hung[V] = (0.0, 0.0, 0.0, 1.0), x[0, V]
    engine.reset(np.concatenate([x, hung[None]])[None])
    joint = engine.add_joint(0, 4, p_AJ_A, p_BJ_B)

    def gap(states):
        a, b = states[:, 0, 0], states[:, 0, 4]
        ends = so3.rotate(a[:, Q], p_AJ_A) + a[:, P] - so3.rotate(b[:, Q], p_BJ_B) - b[:, P]
        return np.linalg.norm(ends, axis=-1)

    assert gap(flown(engine, 1000)).max() < 1e-4
    engine.remove_joint(joint)
    assert gap(flown(engine, 300))[-1] > 0.02
    with pytest.raises(IapError, match="no joint"):
        engine.remove_joint(joint)


def test_an_aircraft_tied_to_the_world_hangs_there(assembly_of, loaded, level, flown):
    f450 = assembly_of("f450", "f450")
    engine = loaded(f450)
    engine.reset(level(f450)[None])
    engine.add_joint(0, WORLD, np.array([0.0, 0.0, 0.5]), np.array([0.0, 0.0, 2.5]))
    np.testing.assert_allclose(flown(engine, 500)[-1, 0, 0, P], [0.0, 0.0, 2.0], atol=1e-6)


def test_a_load_that_is_not_a_number_ends_the_flight_and_names_the_body(
    assembly_of, loaded, level, capfd
):
    star = assembly_of("three_star")
    engine, wrenches = loaded(star), np.zeros((1, 4, 6))
    engine.reset(level(star)[None])
    wrenches[0, 2, 4] = np.nan
    engine.apply(wrenches)
    with pytest.raises(FlightFailed, match="diverged at t = 0.000 s.*'iap/drone_2'"):
        engine.step(1e-3)
    assert capfd.readouterr().out == ""


def test_a_state_out_of_all_bounds_ends_the_flight_and_leaves_no_file(
    assembly_of, loaded, level, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # where MuJoCo would keep a log
    star = assembly_of("three_star")
    engine, wrenches = loaded(star), np.zeros((1, 4, 6))
    engine.reset(level(star)[None])
    wrenches[0, 0, 2] = 1e12
    engine.apply(wrenches)
    with pytest.raises(FlightFailed, match="diverged"):
        engine.step(1e-3)
    assert not list(tmp_path.iterdir())


def test_a_start_off_its_joint_is_refused(assembly_of, loaded, level):
    star = assembly_of("three_star")
    off = level(star)
    off[2, 0] += 0.1
    with pytest.raises(BadInput, match="'iap/drone_2': 0.1 m off 'joint_2'"):
        loaded(star).reset(off[None])


def test_a_window_without_a_display_is_refused(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(BadInput, match="DISPLAY"):
        PyBulletEngine(view=True)


def test_orders_come_from_neighbouring_rates(table, name):
    for before, line in pairwise(lines(table, name)):
        ratio = before.position_error_m / line.position_error_m
        assert line.order == pytest.approx(np.log(ratio) / np.log(line.rate_hz / before.rate_hz))
    assert lines(table, name)[0].order is None

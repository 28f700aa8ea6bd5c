# SPDX-License-Identifier: BSD-3-Clause
import math
from dataclasses import replace

import numpy as np
import pytest
from joint_angles import joint_states

from iap_bringup.experiments.convergence import fly, invariants, tumbling
from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.joints import check_start, joined_rows

G = World().gravity
PLATFORMS = ["three_star", "three_square", "two_line", "three_line_fixed", "star_12", "f450"]


def engine_of(*assemblies, batch=1):
    engine = ClosedFormEngine(batch=batch)
    engine.load(World(), assemblies)
    return engine


def drift(v):
    return np.linalg.norm(v - v[0], axis=-1).max() / np.linalg.norm(v[0])


@pytest.mark.parametrize("platform", PLATFORMS)
def test_weightless_tumbling_keeps_energy_and_momenta(assembly_of, platform):
    assembly = assembly_of(platform)
    assert (np.linalg.norm(tumbling(assembly)[:, W], axis=-1) >= 3.0).all()
    kept = invariants(assembly, fly(ClosedFormEngine(), assembly, 1000, loaded=False))
    assert np.abs(kept.kinetic / kept.kinetic[0] - 1.0).max() < 1e-8
    assert drift(kept.linear) < 1e-8
    assert drift(kept.angular) < 1e-8


def test_falling_keeps_kinetic_plus_potential_energy(assembly_of, flown):
    star = assembly_of("three_star")
    engine = engine_of(star)
    engine.reset(tumbling(star)[None])
    kept = invariants(star, flown(engine, 2000)[:, 0], G)
    total = kept.kinetic + kept.potential
    assert np.abs(total / total[0] - 1.0).max() < 1e-10
    assert drift(kept.angular) < 1e-10


def test_a_tumbling_platforms_com_falls_on_a_parabola(assembly_of, flown):
    star = assembly_of("three_star")
    masses = np.array([body.mass for body in star.bodies]) / star.mass
    engine, x = engine_of(star), tumbling(star)
    engine.reset(x[None])
    last = flown(engine, 200, dt=0.005)[-1, 0]
    expected = masses @ (x[:, P] + x[:, V]) - [0.0, 0.0, 0.5 * G]
    np.testing.assert_allclose(masses @ last[:, P], expected, atol=1e-11)


def test_thrusts_that_carry_the_weight_hold_a_platform_still(assembly_of, flown, level):
    star = assembly_of("three_star")
    engine, wrenches = engine_of(star), np.zeros((1, 4, 6))
    wrenches[0, 1:, 2] = star.mass * G / 3.0
    engine.reset(level(star)[None])
    last = flown(engine, 1000, wrenches=wrenches)[-1, 0]
    np.testing.assert_allclose(last, level(star), atol=1e-12)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_joints_stay_together(assembly_of, platform):
    assembly = assembly_of(platform)
    x = fly(ClosedFormEngine(), assembly, 1000)[-1]
    for joint in assembly.joints:
        a, b = x[joint.parent], x[joint.child]
        arm_W = so3.rotate(a[Q], joint.p_PJ_P)
        np.testing.assert_allclose(b[P], a[P] + arm_W, atol=1e-12)
        np.testing.assert_allclose(b[V], a[V] + np.cross(a[W], arm_W), atol=1e-12)


def test_fixed_links_turn_with_the_platform(assembly_of):
    assembly = assembly_of("three_star_fixed")
    x = fly(ClosedFormEngine(), assembly, 200)[-1]
    q_AB, w_AB_B = joint_states(assembly, x)
    rest = np.array([joint.q_PJ for joint in assembly.joints])
    np.testing.assert_allclose(np.abs((q_AB * rest).sum(-1)), 1.0, atol=1e-14)
    np.testing.assert_allclose(w_AB_B, 0.0, atol=1e-12)


def test_a_platform_of_fixed_links_moves_like_the_one_rigid_body_it_is(assembly_of, flown):
    fixed = assembly_of("three_star_fixed")
    d = so3.hat(fixed.d_0)
    lump = replace(fixed.bodies[0], mass=fixed.mass, inertia=fixed.inertia + fixed.mass * d @ d)
    force, torque = np.array([1.0, -2.0, 30.0]), np.array([0.3, 0.2, -0.1])
    wrenches = np.zeros((1, 4, 6))  # the forces' resultant goes through the common CoM
    wrenches[0, :, :3] = [body.mass / fixed.mass * force for body in fixed.bodies]
    wrenches[0, 2, 3:] = torque
    x = tumbling(fixed)
    platform, body = engine_of(fixed), engine_of(Assembly("lump", (lump,), (), (0,)))
    platform.reset(x[None])
    body.reset(at_com(x[0], fixed.d_0)[None, None])
    last = flown(platform, 500, wrenches=wrenches)[-1, 0, 0]
    expected = flown(body, 500, wrenches=np.array([[[*force, *torque]]]))[-1, 0, 0]
    np.testing.assert_allclose(at_com(last, fixed.d_0), expected, atol=1e-11)


def at_com(base, d_0):
    """The central body's row moved to the common CoM."""
    row, arm_W = base.copy(), so3.rotate(base[Q], d_0)
    row[P], row[V] = base[P] + arm_W, base[V] + np.cross(base[W], arm_W)
    return row


def test_a_spinning_symmetric_aircraft_precesses_at_eulers_rate(assembly_of, flown):
    star = assembly_of("three_star")
    J_x, _, J_z = np.diag(star.bodies[1].inertia)
    w_B, t = np.array([2.0, 0.0, 5.0]), 1.0
    w = np.tile(w_B, (3, 1))
    base = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *np.zeros(6)])
    engine = engine_of(star)
    engine.reset(joined_rows(star, base, np.tile([0.0, 0.0, 0.0, 1.0], (3, 1)), w)[None])
    last = flown(engine, 1000, dt=t / 1000)[-1, 0, 1]
    rate = (J_z - J_x) / J_x * w_B[2] * t
    expected = [2.0 * math.cos(rate), 2.0 * math.sin(rate), 5.0]
    np.testing.assert_allclose(so3.rotate(so3.conjugate(last[Q]), last[W]), expected, atol=1e-9)


def test_a_torque_on_an_aircraft_leaves_the_platform_alone(assembly_of, flown, level):
    star = assembly_of("three_star")
    engine, wrenches = engine_of(star), np.zeros((1, 4, 6))
    wrenches[0, 2, 5] = 0.1
    engine.reset(level(star)[None])
    last = flown(engine, 500, wrenches=wrenches)[-1, 0]
    np.testing.assert_allclose(last[0, W], 0.0, atol=1e-14)
    np.testing.assert_allclose(last[2, W], [0.0, 0.0, 0.1 / 0.039 * 0.5], atol=1e-12)


def test_attitudes_converge_at_fourth_order(assembly_of):
    star = assembly_of("three_star")
    exact = fly(ClosedFormEngine(), star, 2000, loaded=False)[-1]
    coarse, fine = (fly(ClosedFormEngine(), star, rate, loaded=False)[-1] for rate in (50, 100))
    errors = [np.abs(x[:, Q] - exact[:, Q]).max() for x in (coarse, fine)]
    assert 3.7 < math.log2(errors[0] / errors[1]) < 5.3


@pytest.mark.parametrize("platform", ["three_star", "three_star_fixed", "f450"])
def test_a_batch_equals_single_runs(assembly_of, random_start, flown, platform):
    assembly, rng = assembly_of(platform), np.random.default_rng(4)
    x = np.stack([random_start(assembly, seed) for seed in range(5)])
    wrenches = 5.0 * rng.normal(size=(*x.shape[:2], 6))
    batch = engine_of(assembly, batch=5)
    batch.reset(x)
    together = flown(batch, 300, wrenches=wrenches)
    single = engine_of(assembly)
    for b in range(5):
        single.reset(x[b : b + 1])
        alone = flown(single, 300, wrenches=wrenches[b : b + 1])
        np.testing.assert_array_equal(alone[:, 0], together[:, b])


def test_several_vehicles_fly_as_each_does_alone(assembly_of, random_start, flown):
    one, two = assembly_of("three_star", "one"), assembly_of("two_line", "two")
    x = np.concatenate([random_start(one, 1), random_start(two, 2)])
    both, alone = engine_of(one, two), engine_of(two)
    both.reset(x[None])
    alone.reset(x[None, 4:])
    np.testing.assert_array_equal(flown(both, 100)[:, :, 4:], flown(alone, 100))


def test_a_reset_run_and_a_restored_run_equal_the_first_bit_for_bit(
    assembly_of, random_start, flown
):
    star = assembly_of("three_star")
    engine, x = engine_of(star), random_start(star)[None]
    engine.reset(x)
    first = flown(engine, 50)
    snapshot = engine.snapshot()
    rest = flown(engine, 50)
    engine.restore(snapshot)
    assert engine.t == pytest.approx(0.05)
    np.testing.assert_array_equal(flown(engine, 50), rest)
    engine.reset(x)
    assert engine.t == 0.0
    np.testing.assert_array_equal(flown(engine, 50), first)


def test_wrenches_count_for_one_step_only(assembly_of, level):
    star = assembly_of("three_star")
    engine, wrenches = engine_of(star), np.ones((1, 4, 6))
    engine.reset(level(star)[None])
    engine.apply(wrenches)
    engine.step(1e-3)
    momentum = invariants(star, engine.state()[0]).linear.copy()
    engine.step(1e-3)
    change = invariants(star, engine.state()[0]).linear - momentum
    np.testing.assert_allclose(change, [0.0, 0.0, -star.mass * G * 1e-3], atol=1e-14)


def test_a_load_that_is_not_a_number_ends_the_flight_and_names_the_vehicle(assembly_of, level):
    star = assembly_of("three_star")
    engine, wrenches = engine_of(star), np.zeros((1, 4, 6))
    engine.reset(level(star)[None])
    wrenches[0, 2, 4] = np.nan
    engine.apply(wrenches)
    with pytest.raises(FlightFailed, match="diverged at t = 0.001 s.*'iap'"):
        engine.step(1e-3)
    with pytest.raises(FlightFailed, match="ended already"):
        engine.step(1e-3)
    engine.reset(level(star)[None])
    engine.step(1e-3)
    assert engine.t == 1e-3


def test_a_spin_too_fast_for_the_step_ends_the_flight(assembly_of, level, flown):
    star = assembly_of("three_star")
    engine, wrenches = engine_of(star), np.zeros((1, 4, 6))
    engine.reset(level(star)[None])
    wrenches[0, 0, 3] = 1e200
    with pytest.raises(FlightFailed, match="diverged"):
        flown(engine, 10, wrenches=wrenches)


def test_a_start_that_does_not_fit_is_refused(assembly_of, level):
    star = assembly_of("three_star")
    engine, off, nan = engine_of(star), level(star), level(star)
    off[2, 0] += 0.1
    nan[3, 8] = np.nan
    with pytest.raises(BadInput, match="'iap/drone_2': 0.1 m off 'joint_2'"):
        engine.reset(off[None])
    with pytest.raises(BadInput, match="'iap/drone_3': not finite"):
        engine.reset(nan[None])
    with pytest.raises(BadInput, match="shape"):
        engine.reset(level(star)[None, :2])


def test_fixed_links_must_start_aligned(assembly_of, level):
    fixed = assembly_of("three_star_fixed")
    x = level(fixed)
    x[1, Q] = so3.quaternion_exp(np.array([0.0, 0.2, 0.0]))
    with pytest.raises(BadInput, match="0.2 rad off 'joint_1'"):
        check_start([fixed], x[None], 1)


def test_a_chain_of_joints_has_no_closed_form(assembly_of):
    star = assembly_of("three_star")
    chain = replace(star, joints=(*star.joints[:2], replace(star.joints[2], parent=1)))
    with pytest.raises(IapError, match="'iap/joint_3' is not on the central body"):
        engine_of(chain)


def test_there_is_no_contact_and_what_needs_shapes_is_refused(assembly_of, level, flown):
    star = assembly_of("three_star")
    engine = engine_of(star)
    engine.reset(level(star, p=(0.0, 0.0, -1.0))[None])
    flown(engine, 10)
    assert engine.contacts() == []
    with pytest.raises(IapError, match="pybullet"):
        engine.ray_cast(np.zeros((1, 3)), np.ones((1, 3)))
    with pytest.raises(IapError, match="pybullet"):
        engine.add_joint(0, 1, np.zeros(3), np.zeros(3))

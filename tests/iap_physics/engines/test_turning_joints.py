# SPDX-License-Identifier: BSD-3-Clause
"""Revolute and universal joints of platforms: locked axes transmit torque, free ones none, and nothing is lost."""

import numpy as np
import pytest
from turning_joints import PLATFORMS, accelerations, any_rows, assembly_of, locked_axes
from various_platforms import platform_of, various

from iap_bringup.experiments.convergence import invariants
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_motion import joint_coordinates
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.joint_resistance import resisting_joints
from iap_physics.engines.joints import check_start
from iap_physics.engines.make import is_installed, make_engine

WEIGHTLESS = World(gravity=0.0, ground=False)
HINGE = {"type": "revolute", "axes": [[1.0, 0.0, 0.0]]}


@pytest.mark.parametrize("name", PLATFORMS)
def test_wrenches_accelerate_all_bodies_as_statics_say(engine, name):
    assembly = assembly_of(name)
    x, wrench = any_rows(assembly, 3), np.random.default_rng(4).normal(size=(4, 6))
    engine.load(WEIGHTLESS, [assembly])
    engine.reset(x[None])
    np.testing.assert_allclose(engine.state()[0], x, atol=1e-12)
    engine.apply(wrench[None])
    engine.step(1e-5)
    found = engine.state()[0][:, [*range(7, 13)]] * 1e5
    np.testing.assert_allclose(found, accelerations(assembly, x, wrench)[0], atol=1e-6)


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_torque_across_its_locked_axes_turns_an_aircraft_with_the_platform(engine, name):
    """Along a free axis it turns alone: the platform's share is none at the CoM."""
    assembly = assembly_of(name)
    x = any_rows(assembly, 5)
    joint = assembly.joints[1]
    (locked, *_), free = locked_axes(joint, x), np.linalg.svd(locked_axes(joint, x))[2][-1]
    engine.load(WEIGHTLESS, [assembly])
    for axis, turns in ((locked, True), (free, False)):
        wrench = np.zeros((4, 6))
        wrench[joint.child, 3:] = axis
        engine.reset(x[None])
        engine.apply(wrench[None])
        engine.step(1e-5)
        w = engine.state()[0][:, W] * 1e5
        _, held = accelerations(assembly, x, wrench)
        transmitted = held[1][3:] @ locked_axes(joint, x)
        if turns:
            assert (
                np.linalg.norm(transmitted) > 0.8
            )  # of 1 N m: the rest turns the aircraft itself
            assert (w[joint.child] - w[0]) @ locked == pytest.approx(0.0, abs=1e-6)
        else:
            assert np.linalg.norm(w[0]) < 0.05 * np.linalg.norm(w[joint.child])


@pytest.mark.parametrize("name", PLATFORMS)
def test_free_motion_keeps_momenta_and_joints(engine, name):
    assembly = assembly_of(name)
    engine.load(WEIGHTLESS, [assembly])
    engine.reset(any_rows(assembly, 6, rate=0.5)[None])
    rows = [engine.state()[0].copy()]
    for _ in range(500):
        engine.step(1e-3)
        rows.append(engine.state()[0].copy())
    kept = invariants(assembly, np.array(rows))
    assert np.abs(kept.linear - kept.linear[0]).max() < 1e-4
    assert np.abs(kept.angular - kept.angular[0]).max() < 2e-3  # of first order in the step
    np.testing.assert_allclose(kept.kinetic, kept.kinetic[0], rtol=2e-3)
    check_start([assembly], rows[-1][None], 1)


@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_both_engines_turn_alike():
    assembly, ends = assembly_of("three_star_universal"), []
    for name in ("pybullet", "mujoco"):
        engine = make_engine(name)
        engine.load(WEIGHTLESS, [assembly])
        engine.reset(any_rows(assembly, 7, rate=1.0)[None])
        for _ in range(200):
            engine.step(1e-3)
        ends.append(engine.state()[0].copy())
        engine.close()
    np.testing.assert_allclose(*ends, atol=1e-9)


def test_a_start_off_a_locked_axis_is_refused():
    assembly = assembly_of("three_star_hinge")
    x = any_rows(assembly, 8)
    x[1, Q] = so3.multiply(x[1, Q], so3.quaternion_exp(np.array([0.0, 0.01, 0.0])))
    with pytest.raises(BadInput, match="'iap/drone_1': 0.01 rad off 'joint_1'"):
        check_start([assembly], x[None], 1)


def test_friction_of_a_hinge_slows_its_turn_and_keeps_the_momentum(engine):
    assembly = Assembly.of(
        platform_of(various(**HINGE, friction={"viscous": 0.02, "coulomb": 0.0}))
    )
    assembly = assembly.without_shapes()
    x = any_rows(assembly, 1, angle=0.0)
    x[1, W] = (4.0, 0.0, 0.0)
    engine.load(WEIGHTLESS, [assembly])
    engine.reset(x[None])
    rows = [engine.state()[0].copy()]
    for _ in range(500):
        engine.step(1e-3)
        rows.append(engine.state()[0].copy())
    x = np.array(rows)
    spin = joint_coordinates(assembly.joints[0], x[:, 0], x[:, 1])[1][:, 0]
    # The platform with its points, and the other aircraft where their hinges hold them, turn about its CoM.
    d = so3.hat(assembly.d_0)
    J = assembly.inertia + assembly.mass * d @ d
    mobility = 1.0 / assembly.bodies[1].inertia[0, 0] + 1.0 / J[0, 0]
    t = 1e-3 * np.arange(len(x))
    np.testing.assert_allclose(spin, 4.0 * np.exp(-0.02 * mobility * t), atol=0.03)
    kept = invariants(assembly, x)
    assert np.abs(kept.angular - kept.angular[0]).max() < 1e-4


def test_a_hinge_stops_at_its_limit(engine):
    assembly = Assembly.of(platform_of(various(**HINGE, limit_deg=20.0))).without_shapes()
    x = any_rows(assembly, 1, angle=0.0)
    x[1, W] = (2.0, 0.0, 0.0)
    engine.load(WEIGHTLESS, [assembly])
    engine.reset(x[None])
    angles = []
    for _ in range(400):
        engine.step(1e-3)
        x = engine.state()[0]
        angles.append(joint_coordinates(assembly.joints[0], x[0], x[1])[0][0])
    assert np.rad2deg(max(angles)) == pytest.approx(20.0, abs=0.1)
    assert np.abs(x[1, W] - x[0, W]).max() < 0.01
    assert np.abs(x[:, V]).max() < 0.2


def test_what_the_models_do_not_know_is_refused_by_its_name():
    engine = ClosedFormEngine()
    with pytest.raises(BadInput, match="'closed_form': cannot build joints of type 'revolute'"):
        engine.load(WEIGHTLESS, [assembly_of("three_star_hinge")])
    axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    crossed = various(type="universal", axes=axes, friction={"viscous": 0.1, "coulomb": 0.0})
    with pytest.raises(BadInput, match="no limits and friction for joints of type 'universal'"):
        resisting_joints([Assembly.of(platform_of(crossed))])
    upright = various(type="revolute", axes=[[0.0, 0.0, 1.0]], limit_deg=20.0)
    with pytest.raises(BadInput, match="a limit is of a hinge across the child's z axis"):
        resisting_joints([Assembly.of(platform_of(upright))])

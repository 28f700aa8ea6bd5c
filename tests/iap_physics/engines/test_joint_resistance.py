# SPDX-License-Identifier: BSD-3-Clause
"""Friction, travel limits and levers of joints, against what mechanics says of them."""

import numpy as np
import pytest
from contact_engines import NAMES
from various_platforms import platform_of, various

from iap_bringup.experiments.convergence import fly, invariants
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.joints import check_start, joined_rows, tilt_of
from iap_physics.engines.make import make_engine

BASE = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
ENGINES = ["closed_form", *NAMES]
WEIGHTLESS = World(gravity=0.0, ground=False)


def assembly_of(**joint):
    return Assembly.of(platform_of(various(**joint))).without_shapes()


def turning(assembly, body, w_W):
    """Start (1, bodies, 13) at rest but for one aircraft."""
    q = np.array([joint.q_PJ for joint in assembly.joints])
    w = np.zeros((len(q), 3))
    w[body - 1] = w_W
    return joined_rows(assembly, BASE, q, w)[None]


@pytest.fixture(params=ENGINES)
def flown(request):
    """States (steps + 1, bodies, 13) from a start, under a wrench (bodies, 6) in world axes."""
    engine = make_engine(request.param)

    def states(assembly, start, steps, dt=1e-3, wrench=None):
        engine.load(WEIGHTLESS, [assembly])
        engine.reset(start)
        rows = [engine.state()[0].copy()]
        load = np.zeros((1, len(assembly.bodies), 6))
        if wrench is not None:
            load[0] = wrench
        for _ in range(steps):
            engine.apply(load)
            engine.step(dt)
            rows.append(engine.state()[0].copy())
        return np.array(rows)

    yield states
    engine.close()


def mobility_z(assembly):
    """1 / J of an aircraft's turn about z against the platform's, both symmetric about z."""
    return 1.0 / assembly.bodies[1].inertia[2, 2] + 1.0 / assembly.inertia[2, 2]


def test_viscous_friction_slows_a_spin_exponentially_and_hands_its_momentum_on(flown):
    assembly = assembly_of(friction={"viscous": 0.02, "coulomb": 0.0})
    x = flown(assembly, turning(assembly, 1, (0.0, 0.0, 4.0)), 1000)
    spin = x[:, 1, 12] - x[:, 0, 12]
    t = 1e-3 * np.arange(len(x))
    expected = 4.0 * np.exp(-0.02 * mobility_z(assembly) * t)
    np.testing.assert_allclose(spin, expected, atol=2e-3)
    kept = invariants(assembly, x)
    assert np.abs(kept.angular - kept.angular[0]).max() < 1e-4
    assert (np.diff(kept.kinetic) < 1e-9).all()


def test_coulomb_friction_stops_a_spin_in_finite_time_and_then_holds(flown):
    assembly = assembly_of(friction={"viscous": 0.0, "coulomb": 0.05})
    x = flown(assembly, turning(assembly, 1, (0.0, 0.0, 1.0)), 1200)
    spin = x[:, 1, 12] - x[:, 0, 12]
    slowing = 0.05 * mobility_z(assembly)  # [rad/s^2]
    stop = round(1e3 / slowing)
    t = 1e-3 * np.arange(stop - 10)
    np.testing.assert_allclose(spin[: stop - 10], 1.0 - slowing * t, atol=2e-3)
    assert np.abs(spin[stop + 10 :]).max() < 1e-6


def test_coulomb_friction_holds_against_a_smaller_torque_and_gives_way_to_a_larger_one(flown):
    assembly = assembly_of(friction={"viscous": 0.0, "coulomb": 0.05})
    for torque, gives_way in ((0.04, False), (0.10, True)):
        wrench = np.zeros((4, 6))
        wrench[1, 5], wrench[0, 5] = torque, -torque
        x = flown(assembly, turning(assembly, 1, (0.0, 0.0, 0.0)), 500, wrench=wrench)
        q = so3.multiply(so3.conjugate(x[-1, 0, Q]), x[-1, 1, Q])
        turned = np.linalg.norm(so3.quaternion_log(q))
        if gives_way:
            expected = 0.5 * (torque - 0.05) * mobility_z(assembly) * 0.5**2
            assert turned == pytest.approx(expected, rel=0.02)
        else:
            assert turned < 1e-3


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_stop_ends_the_motion_within_a_degree_and_gives_little_back(flown, dt):
    assembly = assembly_of(limit_deg=40.0)
    x = flown(assembly, turning(assembly, 1, (3.0, -4.0, 0.0)), round(0.8 / dt), dt=dt)
    tilt = np.rad2deg(tilt_of(assembly.joints[0], x[:, 0], x[:, 1]))
    assert 39.9 < tilt.max() < 40.0 + np.rad2deg(0.6 * 5.0 * dt)
    assert tilt[-1] > 35.0  # 2 % of the speed comes back at 200 Hz, less at 1 kHz
    energy = invariants(assembly, x).kinetic
    assert energy.max() < energy[0] * 1.002
    assert energy[-1] < 0.2 * energy[0]


def test_a_stop_bears_what_presses_on_it(flown):
    assembly = assembly_of(limit_deg=20.0)
    wrench = np.zeros((4, 6))
    wrench[1, 4], wrench[0, 4] = 0.5, -0.5
    x = flown(assembly, turning(assembly, 1, (0.0, 0.0, 0.0)), 1000, wrench=wrench)
    tilt = np.rad2deg(tilt_of(assembly.joints[0], x[:, 0], x[:, 1]))
    assert tilt.max() < 20.2 and tilt[-1] > 19.5


def test_joints_without_resistance_move_as_if_there_were_none(flown):
    plain, limited = assembly_of(), assembly_of(limit_deg=170.0)
    start = turning(plain, 2, (1.0, 2.0, 3.0))
    np.testing.assert_array_equal(flown(plain, start, 200), flown(limited, start, 200))


def test_worlds_of_a_batch_resist_alone():
    assembly = assembly_of(limit_deg=30.0, friction={"viscous": 0.01, "coulomb": 0.02})
    starts = [turning(assembly, 1 + k, (2.0, -1.0, 4.0))[0] for k in range(3)]
    engine = ClosedFormEngine(batch=3)
    engine.load(WEIGHTLESS, [assembly])
    engine.reset(np.array(starts))
    alone = ClosedFormEngine()
    alone.load(WEIGHTLESS, [assembly])
    alone.reset(starts[2][None])
    for _ in range(300):
        engine.step(1e-3)
        alone.step(1e-3)
    np.testing.assert_array_equal(engine.state()[2], alone.state()[0])


def test_a_start_beyond_the_stop_is_refused():
    assembly = assembly_of(limit_deg=10.0)
    q = np.array([joint.q_PJ for joint in assembly.joints])
    q[1] = so3.multiply(q[1], so3.quaternion_exp(np.array([0.3, 0.0, 0.0])))
    with pytest.raises(BadInput, match=r"'joint_2' at 17\.2 deg, beyond its limit_deg of 10"):
        check_start([assembly], joined_rows(assembly, BASE, q)[None], 1)


def test_the_closed_form_refuses_a_lever_by_its_key():
    with pytest.raises(BadInput, match=r"'closed_form': key 'platform\.joints\.0\.offset'"):
        ClosedFormEngine().load(WEIGHTLESS, [assembly_of(offset=[0.0, 0.0, 0.02])])


def test_with_a_lever_energy_and_momenta_are_conserved_and_the_joints_hold(engine):
    assembly, drifts = assembly_of(offset=[0.02, -0.01, 0.03]), []
    for rate in (1000, 5000):
        x = fly(engine, assembly, rate, loaded=False)
        kept = invariants(assembly, x)
        drifts.append(np.abs(kept.kinetic / kept.kinetic[0] - 1.0).max())
        assert np.abs(kept.linear - kept.linear[0]).max() < 2e-3 * np.abs(kept.linear[0]).max()
    assert drifts[1] < 2e-3 and drifts[1] < 0.4 * drifts[0]
    check_start([assembly], x, len(x))
    for joint in assembly.joints:
        child, parent = x[:, joint.child], x[:, joint.parent]
        ends = [
            body[:, P] + so3.rotate(body[:, Q], np.tile(arm, (len(x), 1)))
            for body, arm in ((child, joint.p_CJ_C), (parent, joint.p_PJ_P))
        ]
        assert np.abs(ends[0] - ends[1]).max() < 1e-8


def test_an_aircraft_on_a_lever_hangs_and_swings_as_a_pendulum(engine):
    """Its joint, tied by a heavy centre, accelerates upwards: w^2 = m r a / (J + m r^2)."""
    tree = various(offset=[0.0, 0.0, 0.05])
    tree["center"] |= {"mass": 1e4, "inertia": [1e4, 1e4, 1e4]}
    assembly = Assembly.of(platform_of(tree)).without_shapes()
    q = np.array([joint.q_PJ for joint in assembly.joints])
    q[0] = so3.quaternion_exp(np.array([0.02, 0.0, 0.0]))
    push = np.zeros((1, 4, 6))
    push[0, 0, 2] = 1e4 * 10.0
    engine.load(WEIGHTLESS, [assembly])
    engine.reset(joined_rows(assembly, BASE, q)[None])
    angles = []
    for _ in range(2000):
        engine.apply(push)
        engine.step(1e-3)
        angles.append(so3.quaternion_log(engine.state()[0, 1, Q])[0])
    body = assembly.bodies[1]
    a = 1e5 / assembly.mass
    w = np.sqrt(body.mass * 0.05 * a / (body.inertia[0, 0] + body.mass * 0.05**2))
    t = 1e-3 * np.arange(1, 2001)
    np.testing.assert_allclose(angles, 0.02 * np.cos(w * t), atol=5e-4)


def test_a_start_takes_the_lever_into_place_and_velocity():
    assembly = assembly_of(offset=[0.0, 0.0, -0.02])
    x = turning(assembly, 1, (1.0, 0.0, 0.0))[0]
    joint = assembly.joints[0]
    np.testing.assert_allclose(x[1, P], BASE[P] + joint.p_PJ_P + [0.0, 0.0, 0.02], atol=1e-15)
    np.testing.assert_allclose(x[1, V], np.cross(x[1, W], [0.0, 0.0, 0.02]), atol=1e-15)

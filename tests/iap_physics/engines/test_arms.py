# SPDX-License-Identifier: BSD-3-Clause
"""Arms in the engines: conservation in free fall, statics, servos, snapshots."""

import copy
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from contact_engines import NAMES
from various_platforms import platform_of

from iap_description.errors import BadInput, IapError
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import composite, holding_torques, momentum_matrix
from iap_description.vehicles.platform import load_platform, platform_tree
from iap_description.world.world import World
from iap_physics.engines.arm_motors import ArmMotors
from iap_physics.engines.engine import WORLD
from iap_physics.engines.make import make_engine

SPACE = World(gravity=0.0, ground=False)
DT = 1e-3
START_Q, START_V = np.array([0.0, 1.0, 0.5]), np.array([0.3, 0.1, -0.1])
G = 9.81


def assembly_with(**motor):
    """The m100_arm with other keys of all its motors."""
    tree = copy.deepcopy(platform_tree("m100_arm")[0])
    tree["arm"]["motors"] = [{**each, **motor} for each in tree["arm"]["motors"]]
    return Assembly.of(platform_of(tree))


def engine_with(name, assembly, world=SPACE, height=0.0, q=None, v=None):
    engine = make_engine(name)
    engine.load(world, [assembly])
    x = np.zeros((1, 1, 13))
    x[..., 2], x[..., 6] = height, 1.0
    engine.reset(x)
    if q is not None:
        engine.put_arm(0, q, np.zeros(3) if v is None else v)
    return engine


def momenta(assembly, x, motors):
    """Linear momentum, and angular momentum about the common CoM, world axes [N s], [N m s]."""
    arm, body = assembly.arm, assembly.bodies[0]
    R = so3.matrix_from_quaternion(x[Q])
    bodies = arm.bodies_with(body.mass, body.inertia)
    A = momentum_matrix(arm.chain, bodies, R, motors.q)
    h = A @ np.concatenate([x[V], x[W], motors.v])
    lever = composite(arm.chain, bodies, R, motors.q).p_PC_W
    return h[:3], h[3:] - np.cross(lever, h[:3])


def drift_free_spin(assembly, q, v, L):
    """Angular velocity (3,) of the platform, in P, that momentum allows, with R = 1 and the CoM at rest."""
    arm, body = assembly.arm, assembly.bodies[0]
    bodies = arm.bodies_with(body.mass, body.inertia)
    A = momentum_matrix(arm.chain, bodies, np.eye(3), q)
    whole = composite(arm.chain, bodies, np.eye(3), q)
    own = A[3:, 6:] @ v - np.cross(whole.p_PC_W, A[:3, 6:] @ v)
    return np.linalg.solve(whole.inertia, L - own)


@cache
def free_flight(name, dt=DT, seconds=5.0):
    """Attitude and joints after a torque-free flight, and the attitude that momentum allows for these joints."""
    assembly = assembly_with(mode="torque", viscous=0.0)
    engine = engine_with(name, assembly, q=START_Q, v=START_V)
    motors = engine.arms[0]
    h_W, L_W = momenta(assembly, engine.state()[0, 0], motors)
    R = np.eye(3)
    for _ in range(round(seconds / dt)):
        q, v = motors.q.copy(), motors.v.copy()
        engine.apply(np.zeros((1, 1, 6)))
        engine.step(dt)
        middle = 0.5 * (q + motors.q), 0.5 * (v + motors.v)
        spin = drift_free_spin(assembly, *middle, R.T @ L_W)
        R = R @ so3.exp(dt * spin)
    x, q = engine.state()[0, 0].copy(), motors.q.copy()
    h, L = momenta(assembly, x, motors)
    engine.close()
    return so3.matrix_from_quaternion(x[Q]), R, q, np.concatenate([h - h_W, L - L_W])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_free_arm_turns_the_platform_as_its_momentum_says(name):
    R, expected, q, drift = free_flight(name)
    off = np.rad2deg(np.linalg.norm(so3.log(R.T @ expected)))
    assert np.abs(q - START_Q).max() > 1.0  # it has moved
    assert off < 0.1
    assert np.abs(drift).max() < 1e-3


@pytest.mark.slow
def test_engines_agree_on_a_free_arm():
    (Ra, _, qa, _), (Rb, _, qb, _) = (free_flight(each.values[0]) for each in NAMES)
    assert np.rad2deg(np.abs(qa - qb).max()) < 1e-3
    assert np.rad2deg(np.linalg.norm(so3.log(Ra.T @ Rb))) < 1e-3


@pytest.mark.slow
def test_a_free_arm_converges_with_the_first_order_of_the_step():
    ends = [free_flight("pybullet", *dt)[2] for dt in ((), (DT / 2,), (DT / 4,))]
    first, second = np.rad2deg([np.abs(a - b).max() for a, b in pairwise(ends)])
    assert first + 2.0 * second < 0.1  # of the angles at DT, with the rest of the series
    assert first / second == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_fixed_links_take_the_torques_of_statics(name):
    assembly = assembly_with()
    engine = engine_with(name, assembly, World(ground=False))
    engine.add_joint(0, WORLD, np.zeros(3), np.zeros(3), type="fixed")
    motors = engine.arms[0]
    for _ in range(2000):
        engine.step(DT)
    x = engine.state()[0, 0]
    R = so3.matrix_from_quaternion(x[Q])
    torques = holding_torques(assembly.arm.chain, assembly.arm.bodies, R, motors.q, G)
    np.testing.assert_allclose(motors.efforts, torques, atol=1e-3 * np.abs(torques).max())
    assert np.abs(motors.v).max() < 1e-4
    engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_position_servo_arrives_and_a_target_beyond_travel_is_clipped(name):
    engine = engine_with(name, assembly_with())
    motors = engine.arms[0]
    goal = np.array([0.5, 0.9, -0.4])
    assert not motors.command(q=goal)
    for _ in range(3000):
        engine.step(DT)
    np.testing.assert_allclose(motors.q, goal, atol=1e-3)
    h, L = momenta(assembly_with(), engine.state()[0, 0], motors)
    assert np.abs(h).max() < 2e-3 and np.abs(L).max() < 1e-3  # what motors do leaves them alone
    assert motors.command(q=np.array([0.0, 9.0, 0.0]))
    engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_motors_do_not_exceed_their_effort(name):
    engine = engine_with(name, assembly_with(effort=0.02))
    motors = engine.arms[0]
    motors.command(q=np.array([1.5, 2.0, 1.0]))
    for _ in range(50):
        engine.step(DT)
        assert np.abs(motors.efforts).max() <= 0.02
    engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_joint_stops_at_its_limit(name):
    below_the_legs = np.array([0.0, 1.5, 0.0])
    engine = engine_with(name, assembly_with(mode="torque", viscous=0.05), q=below_the_legs)
    motors = engine.arms[0]
    motors.command(torque=np.array([0.03, 0.0, 0.0]))
    for _ in range(4000):
        engine.step(DT)
    low, high = load_platform("m100_arm").arm.limits
    assert (motors.q < high + 0.03).all() and (motors.q > low - 0.03).all()
    assert motors.q[0] > high[0] - 0.1
    engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_flight_goes_on_from_a_snapshot_bit_for_bit(name):
    engine = engine_with(name, assembly_with(), q=START_Q, v=START_V)
    motors = engine.arms[0]
    motors.command(q=np.array([0.4, 0.4, 0.4]))
    ends = []
    snapshot = engine.snapshot()
    for _ in range(2):
        for _ in range(100):
            engine.step(DT)
        ends.append(np.concatenate([engine.state()[0, 0], motors.held.ravel()]))
        motors.command(q=np.zeros(3))
        engine.restore(snapshot)
    np.testing.assert_array_equal(*ends)
    engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_reset_flight_equals_a_fresh_one(name):
    ends = []
    engine = engine_with(name, assembly_with(), World(), height=1.0)
    start = engine.state().copy()
    for _ in range(2):
        for _ in range(200):
            engine.step(DT)
        ends.append(np.concatenate([engine.state()[0, 0], engine.arms[0].held.ravel()]))
        engine.arms[0].command(q=np.ones(3))
        engine.reset(start)
    np.testing.assert_array_equal(*ends)
    engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_what_the_arm_touches_the_vehicle_touches(name):
    q = np.array([0.0, 1.5, 0.0])
    engine = engine_with(name, assembly_with(), World(), height=0.47, q=q)
    engine.arms[0].command(q=q)
    touched = set()
    for _ in range(200):
        engine.step(DT)
        touched |= {c.body_a for c in engine.contacts()} | {c.body_b for c in engine.contacts()}
    assert touched == {WORLD, 0}
    assert engine.state()[0, 0, P][2] > 0.28  # the aircraft itself is still in the air
    engine.close()


def test_the_closed_form_refuses_arms_in_one_line():
    engine = make_engine("closed_form")
    with pytest.raises(BadInput, match="cannot build arms"):
        engine.load(World(), [Assembly.of(load_platform("f450_arm"), "uav")])


@pytest.mark.parametrize("name", NAMES)
def test_contact_of_a_link_is_a_wrench_on_the_central_body(name):
    """An arm falls onto the ground: the contacts' impulse is the change of momentum without the weight's."""
    assembly = Assembly.of(load_platform("m100_arm"))
    engine = engine_with(name, assembly, World(), 0.47, q=np.array([0.0, 1.5, 0.0]))
    engine.arms[0].command(q=np.array([0.0, 1.5, 0.0]))
    before, impulse, touched = momenta(assembly, engine.state()[0, 0], engine.arms[0])[0], 0.0, 0
    for _ in range(120):
        engine.step(DT)
        felt = engine.contact_wrench(0)
        impulse, touched = impulse + DT * felt[:3], touched + bool(felt.any())
    gained = momenta(assembly, engine.state()[0, 0], engine.arms[0])[0] - before
    weight = 120 * DT * assembly.mass * np.array([0.0, 0.0, -G])
    assert touched > 5 and impulse[2] > 1.0
    np.testing.assert_allclose(impulse, gained - weight, atol=2e-2)


@pytest.mark.parametrize("wrong", [[0.1, np.nan, 0.2], [0.1, np.inf, 0.2], [0.1, 0.2], 0.1])
@pytest.mark.parametrize("which", ["q", "v", "torque"])
def test_a_command_that_is_not_finite_or_of_other_joints_is_refused_and_changes_nothing(
    which, wrong
):
    motors = ArmMotors(assembly_with().arm)
    assert not motors.command(q=[0.1, 0.8, 0.3])
    before = motors.targets.copy()
    with pytest.raises(IapError, match="arm command: 3 finite numbers expected"):
        motors.command(**{which: wrong})
    np.testing.assert_array_equal(motors.targets, before)


def test_a_command_beyond_a_joints_travel_or_speed_is_clipped_and_counted():
    arm = assembly_with().arm
    motors, (low, high) = ArmMotors(arm), arm.record.limits
    assert motors.command(q=high + [0.0, 0.1, 0.0], v=[-1e3, 0.0, 0.0])
    np.testing.assert_allclose(motors.targets[0], high)
    assert motors.targets[1, 0] == -arm.record.motor_speeds[0]
    assert motors.clipped.tolist() == [1, 1, 0]
    assert not motors.command(q=low)
    np.testing.assert_array_equal(motors.targets[1:], 0.0)

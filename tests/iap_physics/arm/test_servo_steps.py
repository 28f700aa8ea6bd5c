# SPDX-License-Identifier: BSD-3-Clause
"""Servos that are too stiff for the time step, and the inertia that says so."""

import copy

import numpy as np
import pytest
from various_platforms import platform_of

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import momentum_matrix
from iap_description.vehicles.platform import load_platform, platform_tree
from iap_description.vehicles.serial_chain import new_frames, walk
from iap_description.world.world import World
from iap_physics.arm.servo_steps import check_servos, joint_inertia
from iap_physics.engines.make import make_engine
from iap_simulation import Simulation

DT, LIMIT = 1e-3, 0.1917  # of k_v for m100 at home and 1 kHz [N m s/rad]


def with_damping(k_v):
    tree = copy.deepcopy(platform_tree("m100_arm")[0])
    tree["arm"]["motors"] = [{**m, "velocity_gain": k_v} for m in tree["arm"]["motors"]]
    return Assembly.of(platform_of(tree))


@pytest.mark.parametrize("name", ["m100_arm", "three_star_pen"])
def test_inertia_gives_the_links_energy_and_momentum(name):
    arm = Assembly.of(load_platform(name)).arm
    q, v, step = np.array([0.4, 1.1, -0.7]), np.array([0.5, -0.3, 0.8]), 1e-6
    energy, A = 0.0, momentum_matrix(arm.chain, arm.bodies, np.eye(3), q)
    moved = []
    for sign in (-1.0, 1.0):
        frames = new_frames(3)
        walk(arm.chain, np.zeros(3), np.eye(3), q + sign * step * v, frames)
        moved.append(frames)
    for i, link in enumerate(arm.links):
        behind, ahead = ((f.points[i], f.rotations[i]) for f in moved)
        speed = (ahead[0] + ahead[1] @ link.com - behind[0] - behind[1] @ link.com) / (2.0 * step)
        spin = so3.log(behind[1].T @ ahead[1]) / (2.0 * step)
        energy += 0.5 * link.mass * speed @ speed + 0.5 * spin @ link.inertia @ spin
    M = joint_inertia(arm, q)
    assert abs(0.5 * v @ M @ v - energy) < 1e-9
    np.testing.assert_allclose(M[0, 0], A[5, 6], atol=1e-12)  # q1 is vertical, below P


@pytest.mark.parametrize(("k_v", "rattles"), [(0.95 * LIMIT, False), (1.03 * LIMIT, True)])
def test_joints_rattle_in_the_engine_where_it_is_said(k_v, rattles):
    assembly = with_damping(k_v)
    engine = make_engine("pybullet")
    engine.load(World(gravity=0.0, ground=False), [assembly])
    x = np.zeros((1, 1, 13))
    x[..., 2], x[..., 6] = 5.0, 1.0
    engine.reset(x)
    engine.put_arm(0, assembly.arm.record.home_pose, np.array([0.0, 1e-3, -2e-3]))
    for _ in range(300):
        engine.step(DT)
    assert (np.abs(engine.arms[0].v).max() > 0.1) == rattles
    if rattles:
        with pytest.raises(BadInput, match=r"motors\.2\.velocity_gain': 0\.197.* at least 103\d"):
            check_servos("one", assembly.arm, DT)
    else:
        check_servos("one", assembly.arm, DT)


def test_a_flight_whose_servos_rattle_is_refused_by_the_key():
    settings = {"rates.physics_hz": 1000.0}
    with pytest.raises(BadInput, match=r"arm\.motors\.2\.velocity_gain.*'rates\.physics_hz'"):
        Simulation.of("arm_pick", settings=settings)

# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics, inertia and momentum of chains of links."""

import numpy as np
import pytest
from arms import CHAINS, some_poses
from jacobians import numeric

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.arm import ARMS, Arm, load_arm
from iap_description.vehicles.chain_inertia import (
    Bodies,
    composite,
    holding_torques,
    momentum_matrix,
)
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.moving_chain import arm_momentum, arm_wrench
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.serial_chain import jacobian, new_frames, tip_pose, walk

EXACT = 1e-9
L1, L2, L3 = 0.190, 0.075, 0.185  # [m] of the published controller
SLOPE = 1e-6
G = 9.81
RNG = np.random.default_rng(5)


def test_the_published_arm_is_where_equation_3_has_it():
    chain = CHAINS["m100"]
    for p, _, q in some_poses(3):
        psi = q[2] + 0.4
        rho = L2 * np.cos(q[1]) + L3 * np.cos(q[1] + q[2])
        down = L1 + L2 * np.sin(q[1]) + L3 * np.sin(q[1] + q[2])
        expected = p + [np.cos(psi + q[0]) * rho, np.sin(psi + q[0]) * rho, -down]
        R_WP = so3.exp(np.array([0.0, 0.0, psi]))
        np.testing.assert_allclose(tip_pose(chain, p, R_WP, q)[0], expected, atol=EXACT)


@pytest.mark.parametrize("name", CHAINS)
def test_jacobians_agree_with_finite_differences(name):
    chain = CHAINS[name]
    n = len(chain.kinds)
    for p, R_WP, q in some_poses(n):
        p_WE, R_WE = tip_pose(chain, p, R_WP, q)

        def moved(step, p=p, R_WP=R_WP, q=q, p_WE=p_WE, R_WE=R_WE):
            there, R = tip_pose(chain, p + step[:3], so3.exp(step[3:6]) @ R_WP, q + step[6:])
            return np.concatenate([there - p_WE, so3.log(R @ R_WE.T)])

        J = jacobian(chain, R_WP, q)
        assert np.abs(J - numeric(moved, 6 + n)).max() < 1e-6


@pytest.mark.parametrize("name", CHAINS)
def test_attitudes_are_rotations(name):
    chain = CHAINS[name]
    for p, R_WP, q in some_poses(len(chain.kinds)):
        R_WE = tip_pose(chain, p, R_WP, q)[1]
        np.testing.assert_allclose(R_WE @ R_WE.T, np.eye(3), atol=EXACT)
        assert np.linalg.det(R_WE) > 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"axis": (0.0, 0.0, 0.0)}, "axis"),
        ({"limits": (1.0, -1.0)}, "limits"),
        ({"speed": 0.0}, "speed"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_joint_is_refused_with_its_key(change, words):
    tree = load_arm("m100").model_dump()
    tree["joints"] = [{**tree["joints"][0], **change}]
    with pytest.raises(BadInput, match=words):
        validate(Arm, tree, source="arm.yaml")


def test_joints_of_one_name_are_refused():
    tree = load_arm("m100").model_dump()
    tree["joints"] = [tree["joints"][0]] * 3
    with pytest.raises(BadInput, match="names must differ"):
        validate(Arm, tree, source="arm.yaml")


@pytest.mark.parametrize("name", ARMS.names())
def test_shipped_arms_are_named_as_their_files(name):
    assert load_arm(name).name == name


def some_bodies(n, seed=5):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(n + 1, 3, 3))
    inertias = np.einsum("kij,klj->kil", roots, roots) + 3.0 * np.eye(3)
    return Bodies(rng.uniform(0.5, 2.0, n + 1), rng.normal(size=(n + 1, 3)), inertias)


def body_poses(chain, bodies, p, R_WP, q):
    """CoMs (n + 1, 3) and attitudes (n + 1, 3, 3) of platform and links in the world."""
    frames = new_frames(len(q))
    walk(chain, p, R_WP, q, frames)
    rotations = np.concatenate([R_WP[None], frames.rotations])
    origins = np.concatenate([p[None], frames.points])
    return origins + np.einsum("kij,kj->ki", rotations, bodies.coms), rotations


@pytest.mark.parametrize("name", CHAINS)
def test_momentum_is_that_of_bodies_that_move_as_their_poses_do(name):
    chain = CHAINS[name]
    n = len(chain.kinds)
    bodies = some_bodies(n)
    for p, R_WP, q in some_poses(n, count=5):
        coms, rotations = body_poses(chain, bodies, p, R_WP, q)

        def moved(step, p=p, R_WP=R_WP, q=q, coms=coms, rotations=rotations):
            there, R = body_poses(
                chain, bodies, p + step[:3], so3.exp(step[3:6]) @ R_WP, q + step[6:]
            )
            turns = [so3.log(a @ b.T) for a, b in zip(R, rotations, strict=True)]
            return np.concatenate([(there - coms).ravel(), np.ravel(turns)])

        v, w = numeric(moved, 6 + n).reshape(2, n + 1, 3, 6 + n)
        J = np.einsum("kij,kjl,kml->kim", rotations, bodies.inertias, rotations)
        linear = bodies.masses[:, None, None] * v
        angular = np.einsum("kij,kjc->ic", J, w)
        angular += np.cross((coms - p)[..., None], linear, axis=1).sum(axis=0)
        expected = np.concatenate([linear.sum(axis=0), angular])
        assert np.abs(momentum_matrix(chain, bodies, R_WP, q) - expected).max() < SLOPE


@pytest.mark.parametrize("name", CHAINS)
def test_the_com_moves_with_the_momentum_over_the_mass(name):
    chain = CHAINS[name]
    n = len(chain.kinds)
    bodies = some_bodies(n)
    for p, R_WP, q in some_poses(n, count=5):

        def com(step, p=p, R_WP=R_WP, q=q):
            coms, _ = body_poses(
                chain, bodies, p + step[:3], so3.exp(step[3:6]) @ R_WP, q + step[6:]
            )
            return bodies.masses @ coms / bodies.masses.sum()

        slopes = numeric(com, 6 + n)
        momentum = momentum_matrix(chain, bodies, R_WP, q)
        assert np.abs(momentum[:3] / momentum[0, 0] - slopes).max() < SLOPE
        whole = composite(chain, bodies, R_WP, q)
        np.testing.assert_allclose(p + whole.p_PC_W, com(np.zeros(6 + n)), atol=EXACT)
        assert whole.mass == pytest.approx(bodies.masses.sum(), rel=EXACT)


@pytest.mark.parametrize("name", CHAINS)
def test_the_composite_inertia_is_the_sum_by_parallel_axes(name):
    chain = CHAINS[name]
    bodies = some_bodies(len(chain.kinds))
    for p, R_WP, q in some_poses(len(chain.kinds), count=5):
        coms, rotations = body_poses(chain, bodies, p, R_WP, q)
        expected = np.zeros((3, 3))
        center = bodies.masses @ coms / bodies.masses.sum()
        for m, c, R, inertia in zip(
            bodies.masses, coms - center, rotations, bodies.inertias, strict=True
        ):
            expected += R @ inertia @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
        found = composite(chain, bodies, R_WP, q).inertia
        np.testing.assert_allclose(found, expected, atol=EXACT)


@pytest.mark.parametrize("name", CHAINS)
def test_holding_torques_are_the_slopes_of_the_potential(name):
    chain = CHAINS[name]
    n = len(chain.kinds)
    bodies = some_bodies(n)
    for p, R_WP, q in some_poses(n, count=5):

        def potential(step, p=p, R_WP=R_WP, q=q):
            coms, _ = body_poses(chain, bodies, p, R_WP, q + step)
            return np.array([G * bodies.masses @ coms[:, 2]])

        torques = holding_torques(chain, bodies, R_WP, q, G)
        assert np.abs(torques - numeric(potential, n)[0]).max() < SLOPE


def test_the_m100s_arm_stretched_out_is_held_by_the_torques_of_statics():
    arm = MountedArm(load_platform("m100_arm").arm, np.zeros(3))
    torques = holding_torques(arm.chain, arm.bodies, np.eye(3), np.zeros(3), G)
    outer = 0.10 * G * 0.0925
    inner = outer + G * (0.12 * 0.0375 + 0.10 * 0.075)
    np.testing.assert_allclose(-torques, [0.0, inner, outer], atol=EXACT)  # q turns downwards
    np.testing.assert_allclose([inner, outer], [0.2085, 0.0907], atol=1e-4)


def bodies_of(n: int) -> Bodies:
    """A platform and n links, of no symmetry."""
    shapes = RNG.normal(size=(n + 1, 3, 3))
    inertias = np.array([0.1 * np.eye(3) + 0.01 * (a @ a.T) for a in shapes])
    coms = RNG.normal(size=(n + 1, 3))
    coms[0] = 0.0
    return Bodies(RNG.uniform(0.1, 2.0, n + 1), coms, inertias)


def test_an_arm_at_rest_takes_no_wrench_but_its_weight():
    chain = CHAINS["odd"]
    bodies, still = bodies_of(4), np.zeros(4)
    twist = RNG.normal(size=6)
    assert not arm_wrench(chain, bodies, RNG.normal(size=4), still, still, twist).any()
    assert not arm_momentum(chain, bodies, RNG.normal(size=4), still).any()


def test_the_wrench_is_the_rate_of_the_momentum_that_a_rigid_platform_does_not_have():
    """d/dt in world axes about a point that moves, by central differences, less the same with the joints frozen."""
    chain, h = CHAINS["odd"], 1e-5
    bodies = bodies_of(4)
    q, v, a = RNG.normal(size=(3, 4))
    twist, rates, R = RNG.normal(size=6), RNG.normal(size=6), so3.exp(RNG.normal(size=3))

    def momentum(t, frozen):
        """(l, k) about a point fixed in the world where P is at t = 0, world axes."""
        w = twist[3:] + t * rates[3:]
        R_t = R @ so3.exp(t * (twist[3:] + 0.5 * t * rates[3:]))
        v_P = R @ so3.exp(t * twist[3:]) @ (twist[:3] + t * rates[:3])
        p = t * (R @ twist[:3]) + 0.5 * t * (v_P - R @ twist[:3])
        joints = (q, np.zeros(4)) if frozen else (q + t * v + 0.5 * t * t * a, v + t * a)
        l_k = momentum_matrix(chain, bodies, R_t, joints[0]) @ np.concatenate(
            [v_P, R_t @ w, joints[1]]
        )
        return np.concatenate([l_k[:3], l_k[3:] + np.cross(p, l_k[:3])])

    def rate(frozen):
        return (momentum(h, frozen) - momentum(-h, frozen)) / (2.0 * h)

    wanted = (rate(False) - rate(True)).reshape(2, 3) @ R  # to axes of P
    wrench = arm_wrench(chain, bodies, q, v, a, twist)
    np.testing.assert_allclose(wrench, wanted.ravel(), rtol=1e-6, atol=1e-5)

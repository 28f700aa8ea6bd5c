# SPDX-License-Identifier: BSD-3-Clause
"""Inertia and momentum of serial chains, against finite differences of the bodies' poses and against statics."""

import numpy as np
import pytest
from arms import CHAINS, some_poses
from jacobians import numeric

from iap_description.math import so3
from iap_description.vehicles.chain_inertia import (
    Bodies,
    composite,
    holding_torques,
    momentum_matrix,
)
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.serial_chain import new_frames, walk

SLOPE = 1e-6
EXACT = 1e-9
G = 9.81


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

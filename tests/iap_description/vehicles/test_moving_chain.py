# SPDX-License-Identifier: BSD-3-Clause
"""What carries on an arm's motion: the rate of a momentum that is told in a frame that moves itself."""

import numpy as np
from arms import CHAINS

from iap_description.math import so3
from iap_description.vehicles.chain_inertia import Bodies, momentum_matrix
from iap_description.vehicles.moving_chain import arm_momentum, arm_wrench

RNG = np.random.default_rng(5)


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

# SPDX-License-Identifier: BSD-3-Clause
"""Generalised advantages are the sums that they are defined by."""

import numpy as np

from iap_learning.training.online import advantages

GAMMA, LAM = 0.97, 0.9


def summed(rewards, values, following, over):
    """Equation 16 of the paper, term by term, for one world."""
    deltas = rewards + GAMMA * following - values
    found = np.zeros(len(rewards))
    for t in range(len(rewards)):
        for later in range(t, len(rewards)):
            found[t] += (GAMMA * LAM) ** (later - t) * deltas[later]
            if over[later]:
                break
    return found


def test_advantages_are_discounted_sums_until_the_episode_ends():
    rng = np.random.default_rng(3)
    rewards, values, following = rng.standard_normal((3, 40, 5))
    over = rng.random((40, 5)) < 0.1
    found = advantages(rewards, values, following, over, GAMMA, LAM)
    for b in range(5):
        wanted = summed(rewards[:, b], values[:, b], following[:, b], over[:, b])
        np.testing.assert_allclose(found[:, b], wanted, rtol=1e-12, atol=1e-12)


def test_a_perfect_critic_leaves_no_advantage():
    exact = np.array([(1 - GAMMA ** (30 - t)) / (1 - GAMMA) for t in range(30)])
    following = np.append(exact[1:], 0.0)
    over = np.zeros((30, 1), bool)
    over[-1] = True
    found = advantages(np.ones((30, 1)), exact[:, None], following[:, None], over, GAMMA, LAM)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)

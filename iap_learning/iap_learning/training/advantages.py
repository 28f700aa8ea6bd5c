# SPDX-License-Identifier: BSD-3-Clause
"""Generalised advantage estimation."""

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans


@njit(cache=True)
def advantages(
    rewards: Array, values: Array, following: Array, over: Booleans, gamma: float, lam: float
) -> Array:
    r"""Advantages (T, B) of T steps of B worlds (Schulman et al., ICLR 2016, arXiv:1506.02438, eq. 16).

    .. math::
        \delta_t = r_t + \gamma V(s_{t+1}) - V(s_t), \qquad
        \hat A_t = \delta_t + \gamma\lambda\,\hat A_{t+1}

    where the sum ends with the episode.

    Args:
        rewards: (T, B).
        values: (T, B) of the observations before each step.
        following: (T, B) of those after it, of the old episode; 0 where it has terminated.
        over: (T, B) whether the episode ended with the step, terminated or truncated.
        gamma: discount of a step.
        lam: of the average over numbers of steps.
    """
    found = np.empty(rewards.shape)
    for b in range(rewards.shape[1]):
        later = 0.0
        for t in range(len(rewards) - 1, -1, -1):
            delta = rewards[t, b] + gamma * following[t, b] - values[t, b]
            later = delta if over[t, b] else delta + gamma * lam * later
            found[t, b] = later
    return found

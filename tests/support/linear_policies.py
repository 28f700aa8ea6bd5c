# SPDX-License-Identifier: BSD-3-Clause
"""Policies that need no training: one linear layer on the observation of a task."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iap_learning.episodic import Episodic
from iap_learning.policies.policy import Header, Policy


def linear_policy(
    episodes: Episodic,
    *,
    gains: Mapping[str, float],
    settings: Mapping[str, Any] | None = None,
    drawn: float = 0.0,
) -> Policy:
    """The first numbers of an action are gains in SI units times the first ones of terms; the rest is drawn.

    Args:
        episodes: of the task that it flies.
        gains: by terms.
        settings: with which the task was made.
        drawn: standard deviation of drawn weights.
    """
    header = Header.for_episodes(episodes, {"by": "hand"}, settings=settings)
    half = 0.5 * (np.array(header.action.high) - np.array(header.action.low))
    weights = np.random.default_rng(1).normal(0.0, drawn, (header.size, len(half)))
    first = 0
    for name, size, scale in header.observation:
        for k in range(min(size, 3) if name in gains else 0):
            weights[first + k, k] = gains[name] * scale / half[k]
        first += size
    zeros, ones = np.zeros(header.size), np.ones(header.size)
    return Policy(header, zeros, ones, [weights], [np.zeros(len(half))])

# SPDX-License-Identifier: BSD-3-Clause
"""Policies that need no training: one linear layer on the observation of a task."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iap_learning.policies.layout import Header
from iap_learning.policies.policy import Policy
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import make_episodes

DEEPER = 0.6  # than the latch a policy wants to be [m]
ONWARD = {  # first number of a mean action, by which a tool comes to what it touches
    "wall_push": 0.2,
    "slide_along_wall": 0.6,
    "peg_in_hole": -1.0,
    "push_door": 0.6,
    "open_door": 0.6,
    "turn_valve": 0.5,
    "push_object": 0.6,
    "perch_on_wall": 0.4,
}


def linear_policy(
    episodes: AnyEpisodes,
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


def docking_policy(episodes: AnyEpisodes) -> Policy:
    """A policy that docks: both go to where they are docked, and the chaser pushes on, slowly and straight."""
    header = Header.for_episodes(episodes, {"by": "hand"})
    weights, mean = np.zeros((header.size, 6)), np.zeros(header.size)
    span, first = header.action.high[0], 0
    gains = {"position_error": (8.0, 1.0), "velocity": (4.5, 4.0)}  # aside, along
    for name, size, scale in header.observation:
        for k in range(6 if name in gains else 0):
            weights[first + k, k] = -gains[name][k % 3 == 1] * scale / span
        if name == "position_error":
            mean[first + 4] = DEEPER / scale
        first += size
    return Policy(header, mean, np.ones(header.size), [weights], [np.zeros(6)])


def onward_policy(task: str, folder: Path) -> Policy:
    """A policy that brings a tool to what it touches, and answers to all that it observes."""
    header = Header.for_episodes(make_episodes(task, 1), {"by": "hand"})
    columns = len(header.action.low)
    weights = np.random.default_rng(1).normal(0.0, 0.02, (header.size, columns))
    biases = np.zeros(columns)
    biases[0] = ONWARD[task]
    path = folder / "policy.npz"
    Policy(header, np.zeros(header.size), np.ones(header.size), [weights], [biases]).save(path)
    return Policy.load(str(path))


def gripping_policy(episodes: AnyEpisodes) -> Policy:
    """A linear policy that comes down on the object, and always closes."""
    header = Header.for_episodes(episodes, {"by": "hand"})
    half = 0.5 * (np.array(header.action.high) - np.array(header.action.low))
    weights, first = np.zeros((header.size, 4)), 0
    for name, size, scale in header.observation:
        for k in range(3):
            if name in ("object", "lag"):
                weights[first + k, k] = 1.2 * scale / half[k]
        first += size
    biases = np.array([0.0, 0.0, 0.1, 1.0])  # [1] up to where the tip does not touch
    return Policy(header, np.zeros(header.size), np.ones(header.size), [weights], [biases])

# SPDX-License-Identifier: BSD-3-Clause
"""Recorded episodes for the stage offline, flown anew for each training."""

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Booleans
from iap_description.errors import BadInput
from iap_learning.docking.episodes import DockingEpisodes
from iap_learning.docking.experts import Expert, ExpertSettings
from iap_learning.episodic import Episodic
from iap_learning.training.experiment import Data
from iap_learning.training.networks import Floats
from iap_learning.training.transitions import Transitions

Row = tuple[np.ndarray, ...]  # of the worlds that fly: world, and what `Transitions` has


class Recorded(NamedTuple):
    """Recorded steps.

    Attributes:
        steps: of all episodes that are kept.
        success: share of successes in all episodes.
        digest: SHA-256 of the steps' numbers, in hexadecimal.
    """

    steps: Transitions
    success: float
    digest: str


def recorded(data: Data, episodes: Episodic, seeds: np.ndarray) -> Recorded:
    """Let an expert fly.

    Args:
        data: who, how often, and what is kept.
        episodes: that are flown, of docking.
        seeds: of as many episodes as there are to be.

    Raises:
        BadInput: there is no such expert for this task, or nothing is kept.
    """
    source = f"data of '{data.policy}'"
    if not isinstance(episodes, DockingEpisodes):
        raise BadInput(f"{source}: only dockings have experts, and '{episodes.task.name}' is none")
    expert = Expert(ExpertSettings.of(data.policy), episodes)
    rows, successes = [], []
    for start in range(0, len(seeds), episodes.count):
        own = seeds[start : start + episodes.count]
        parts, success = flown_round(episodes, own, expert, expert.reset)
        successes.append(success)
        rows += [tuple(part[kept(data, success, each[0])] for part in each) for each in parts]
    columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
    steps = Transitions.of(*columns[1:], source=source)
    digest = hashlib.sha256()
    for part in steps:
        digest.update(part.tobytes())
    return Recorded(steps, float(np.concatenate(successes).mean()), digest.hexdigest())


def kept(data: Data, success: Booleans, worlds: np.ndarray) -> Booleans:
    """Rows (k,) of an instant that are kept, of these worlds of a round with these successes (B,)."""
    every = np.ones(len(worlds), bool)
    return every if data.keep == "all" else success[worlds]


def flown_round(
    episodes: Episodic,
    seeds: np.ndarray,
    policy: Callable[[], Floats],
    begin: Callable[[], None],
) -> tuple[list[Row], Booleans]:
    """An episode of each of the first worlds, one for each seed; returns its rows, and which are successes.

    Args:
        episodes: with at least so many worlds.
        seeds: of the episodes.
        policy: gives the actions (B, m) of all worlds.
        begin: tells it that all worlds begin.
    """
    episodes.reset(seeds=np.resize(seeds, episodes.count).tolist())
    begin()
    success = np.zeros(episodes.count, bool)
    flies = np.arange(episodes.count) < len(seeds)
    return list(_instants(episodes, policy, flies, success)), success[: len(seeds)]


def _instants(
    episodes: Episodic, policy: Callable[[], Floats], flies: Booleans, success: Booleans
) -> Iterator[Row]:
    """Rows of the worlds that still fly, step by step; successes are written."""
    seen = episodes.observe()
    while flies.any():
        actions = policy()
        step = episodes.step(actions)
        rows = (seen, actions, step.reward, step.observation, step.terminated)
        yield np.flatnonzero(flies), *(part[flies].copy() for part in rows)
        over = flies & (step.terminated | step.truncated)
        success[over] = step.success[over]
        flies &= ~over
        seen = step.observation

# SPDX-License-Identifier: BSD-3-Clause
"""Scores without learning: no action, random ones, the suite's controller, a potential field by images."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans
from iap_learning.tasks.episodes import AnyEpisodes, step_until_over
from iap_learning.tasks.kinds.registry import agent_of, kind_of, make_episodes
from iap_learning.tasks.task import Task
from iap_simulation.sweeps.statistics import wilson_interval

Policy = Callable[
    [AnyEpisodes], ArrayLike | None
]  # actions (B, n), or None for the suite's controllers

POTENTIAL_FIELD = "potential_field"  # name and guide of the agent


class Score(NamedTuple):
    """Scores of a policy in one episode of each of some worlds.

    Attributes:
        returns: (B,) sums of rewards.
        success: (B,) whether each episode was one.
        seconds: (B,) how long each lasted [s].
    """

    returns: Array
    success: Booleans
    seconds: Array

    @property
    def row(self) -> dict[str, float]:
        """Means, and the share of successes with its Wilson interval."""
        low, high = wilson_interval(int(self.success.sum()), len(self.success))
        return {
            "return": float(self.returns.mean()),
            "success_rate": float(self.success.mean()),
            "success_low": low,
            "success_high": high,
            "time_mean_s": float(self.seconds.mean()),
        }


def zero(episodes: AnyEpisodes) -> Array:
    """The middle of every range."""
    return np.zeros((episodes.count, episodes.size))


def random_policy(seed: int = 0) -> Policy:
    """Actions that are drawn evenly."""
    rng = np.random.default_rng(seed)
    return lambda episodes: rng.uniform(-1.0, 1.0, (episodes.count, episodes.size))


def expert(episodes: AnyEpisodes) -> None:
    """Flyers of the scenario without learning: the suite's controllers, or the script of a docking."""


def potential_field(episodes: AnyEpisodes) -> Policy:
    """A potential field by the images of episodes."""
    agent = agent_of(POTENTIAL_FIELD, episodes)
    return lambda _: agent()


def score(episodes: AnyEpisodes, policy: Policy) -> Score:
    """Fly one episode of every world, those that stand at their start."""
    success = np.zeros(episodes.count, bool)
    returns, seconds = np.zeros((2, episodes.count))
    for step, over in step_until_over(episodes, episodes.observe(), lambda _: policy(episodes)):
        success[over], returns[over] = step.success[over], episodes.returns[over]
        seconds[over] = episodes.steps[over] * episodes.dt
    return Score(returns, success, seconds)


def baselines(task: str | Task, worlds: int, *, seed: int = 0) -> dict[str, Score]:
    """The scores of all baselines in equal worlds, whose seeds are `seed` and those after it."""
    policies: dict[str, Policy] = {
        "zero": zero,
        "random": random_policy(seed),
        "controller": expert,
    }
    episodes = make_episodes(task, worlds)
    kind = kind_of(episodes.task)
    if POTENTIAL_FIELD in kind.agents and kind.agents[POTENTIAL_FIELD].misfit(episodes) is None:
        policies[POTENTIAL_FIELD] = potential_field(episodes)
    scores = {}
    for name, policy in policies.items():
        episodes.reset(seeds=range(seed, seed + worlds))
        scores[name] = score(episodes, policy)
    return scores

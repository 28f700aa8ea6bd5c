# SPDX-License-Identifier: BSD-3-Clause
"""What scores without learning: no action, random ones, the suite's controller, a potential field by images."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans
from iap_learning.tasks.kinds.agents import expert_of
from iap_learning.tasks.kinds.platform.episodes import Episodes
from iap_learning.tasks.kinds.registry import AnyTask, Episodic, make_episodes
from iap_simulation.sweeps.statistics import wilson_interval

Policy = Callable[
    [Episodic], ArrayLike | None
]  # actions (B, n), or None for the suite's controllers


class Score(NamedTuple):
    """What a policy has scored in one episode of each of some worlds.

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


def zero(episodes: Episodic) -> Array:
    """The middle of every range."""
    return np.zeros((episodes.count, episodes.size))


def random_policy(seed: int = 0) -> Policy:
    """Actions that are drawn evenly."""
    rng = np.random.default_rng(seed)
    return lambda episodes: rng.uniform(-1.0, 1.0, (episodes.count, episodes.size))


def expert(episodes: Episodic) -> None:
    """What flies the scenario without learning: the suite's controllers, or the script of a docking."""


def potential_field(episodes: Episodic) -> Policy:
    """A potential field by the images of episodes."""
    expert = expert_of("potential_field", episodes)
    return lambda _: expert()


def score(episodes: Episodic, policy: Policy) -> Score:
    """Fly one episode of every world, those that stand at their start."""
    success = np.zeros(episodes.count, bool)
    returns, seconds = np.zeros(episodes.count), np.zeros(episodes.count)
    flies = np.ones(episodes.count, bool)
    while flies.any():
        step = episodes.step(policy(episodes))
        over = flies & (step.terminated | step.truncated)
        success[over], returns[over] = step.success[over], episodes.returns[over]
        seconds[over] = episodes.steps[over] * episodes.dt
        flies &= ~over
    return Score(returns, success, seconds)


def baselines(task: str | AnyTask, worlds: int, *, seed: int = 0) -> dict[str, Score]:
    """The scores of all baselines in equal worlds, whose seeds are `seed` and those after it."""
    policies: dict[str, Policy] = {
        "zero": zero,
        "random": random_policy(seed),
        "controller": expert,
    }
    episodes = make_episodes(task, worlds)
    if isinstance(episodes, Episodes) and episodes.sight is not None:
        policies["potential_field"] = potential_field(episodes)
    scores = {}
    for name, policy in policies.items():
        episodes.reset(seeds=range(seed, seed + worlds))
        scores[name] = score(episodes, policy)
    return scores

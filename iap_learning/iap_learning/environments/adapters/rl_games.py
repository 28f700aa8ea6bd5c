# SPDX-License-Identifier: BSD-3-Clause
"""Tasks as a vector environment of RL Games, all worlds in one compiled step."""

from typing import Any

import numpy as np

from iap_learning.environments.adapters.libraries import missing_library
from iap_learning.environments.task_env import TaskVectorEnv

try:
    import torch
    from rl_games.common.algo_observer import DefaultAlgoObserver
    from rl_games.common.ivecenv import IVecEnv
except ModuleNotFoundError as error:
    raise missing_library(error, "rl_games", "rl-games") from error


class RLGamesWorlds(IVecEnv):
    """Worlds of a task, each of which begins anew in the step in which its episode ends.

    The library's own `value_bootstrap` takes the value of the observation before a truncated step. With the observer
    `LastValueObserver` the reward of that step has the discounted value of the old episode's last observation instead.

    Args:
        env: of the task.
        seed: of the first world.

    Attributes:
        algo: whose value is taken; None before it is known.
        success: of the episodes that are over.
    """

    def __init__(self, env: TaskVectorEnv, seed: int = 0) -> None:
        self._env, self._first = env, seed
        self.algo: Any = None
        self.success: list[bool] = []

    def reset(self) -> np.ndarray:
        """Begin the first episodes of the seeds."""
        return self._env.reset(seed=self._first)[0].copy()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:  # noqa: ANN401
        """Fly a step."""
        observations, rewards, terminated, truncated, info = self._env.step(np.asarray(actions))
        rewards = rewards.astype(np.float32)
        over = terminated | truncated
        if over.any():
            self.success += info["final_info"]["success"][over].tolist()
        cut = np.flatnonzero(truncated & ~terminated)
        if len(cut) and self.algo is not None:
            rewards[cut] += self._values(np.stack([info["final_obs"][i] for i in cut.tolist()]))
        return observations.copy(), rewards, over, {}

    def _values(self, last: np.ndarray) -> np.ndarray:
        """Discounted values (k,) of observations (k, n), in units of unshaped rewards."""
        algo = self.algo
        observation = torch.as_tensor(last, dtype=torch.float32, device=algo.device)
        values = algo.get_values({"obs": observation})[:, 0].cpu().numpy()
        bootstrap: np.ndarray = algo.gamma * values / algo.rewards_shaper.scale_value
        return bootstrap

    def get_number_of_agents(self) -> int:
        """One in each world."""
        return 1

    def get_env_info(self) -> dict[str, Any]:
        """Spaces of one world."""
        return {
            "observation_space": self._env.single_observation_space,
            "action_space": self._env.single_action_space,
            "agents": 1,
            "value_size": 1,
            "state_space": None,
            "use_global_observations": False,
        }


class LastValueObserver(DefaultAlgoObserver):
    """Tells worlds whose value truncated episodes have; ``Runner(LastValueObserver())``."""

    def after_init(self, algo: Any) -> None:  # noqa: ANN401 - of the library
        """Take the algorithm that has been made."""
        super().after_init(algo)
        algo.vec_env.algo = algo

# SPDX-License-Identifier: BSD-3-Clause
"""Tasks as a vector environment of Stable-Baselines3, all worlds in one compiled step."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_learning.environments.adapters.libraries import missing_library
from iap_learning.environments.task_env import TaskVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    raise missing_library(error, "sb3", "stable-baselines3") from error


class SB3Worlds(VecEnv):
    """Worlds of a task, each of which begins anew in the step in which its episode ends.

    A truncation is bootstrapped from the old episode's last observation: the library takes the value of
    ``terminal_observation`` where ``TimeLimit.truncated`` is set.

    Args:
        env: of the task.
        seed: of the first world.
        reward: factor on rewards.
    """

    def __init__(self, env: TaskVectorEnv, seed: int = 0, reward: float = 1.0) -> None:
        self.worlds, self._first, self._reward = env, seed, reward
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions = np.zeros(env.action_space.shape or (), np.float32)
        self._returns, self._lengths = np.zeros(env.num_envs), np.zeros(env.num_envs, np.int64)

    def reset(self) -> np.ndarray:
        """Begin the first episodes of the seeds."""
        observations, _ = self.worlds.reset(seed=self._first)
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._returns[:] = self._lengths[:] = 0
        return observations.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Fly a step."""
        observations, rewards, terminated, truncated, info = self.worlds.step(self._actions)
        over = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over).tolist():
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "is_success": bool(info["final_info"]["success"][i]),
                "episode": {"r": self._returns[i], "l": int(self._lengths[i]), "t": 0.0},
            }
        self._returns[over] = self._lengths[over] = 0
        scaled = (self._reward * rewards).astype(np.float32)
        return observations.copy(), scaled, over, infos

    def close(self) -> None:
        """Give back what the worlds hold."""
        self.worlds.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ANN401 - as the base class
        """An attribute of all worlds, once for each of some.

        Raises:
            AttributeError: they have none of that name.
        """
        return [getattr(self.worlds, attr_name)] * len(self._worlds_of(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ANN401
        """Refuse: worlds share all attributes."""
        raise NotImplementedError(f"worlds share '{attr_name}'")

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:  # noqa: ANN401
        """Refuse: worlds have no methods of their own."""
        raise NotImplementedError(f"worlds have no method '{method_name}' of their own")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:  # noqa: ANN401
        """False for every world."""
        return [False] * len(self._worlds_of(indices))

    def _worlds_of(self, indices: Any) -> Sequence[int]:  # noqa: ANN401 - None, one, or some
        return self._get_indices(indices)

# SPDX-License-Identifier: BSD-3-Clause
"""Tasks as a batched environment of Sample Factory: each world is one of its agents, all in one compiled step."""

from typing import Any

import numpy as np

from iap_learning.environments.adapters.libraries import missing_library
from iap_learning.environments.spaces import gymnasium
from iap_learning.environments.task_env import TaskVectorEnv

try:
    import torch
    from torch import Tensor
except ModuleNotFoundError as error:
    raise missing_library(error, "sample_factory", "torch") from error

Tensors = dict[str, Tensor]


class SampleFactoryWorlds(gymnasium.Env[Any, Any]):
    """Worlds of a task, each of which begins anew in the step in which its episode ends.

    With `value_bootstrap` the library adds the discounted value of the observation before a truncated step; it has no
    place for the one after it, 20 ms later at 50 Hz. Use `batched_sampling`, serial mode and one worker with one
    environment.

    Args:
        env: of the task.
        seed: of the first world.

    Attributes:
        num_agents: worlds.
        success: of the episodes that are over.
    """

    def __init__(self, env: TaskVectorEnv, seed: int = 0) -> None:
        self._env, self._first, self.num_agents = env, seed, env.num_envs
        self.observation_space = gymnasium.spaces.Dict({"obs": env.single_observation_space})
        self.action_space = env.single_action_space
        self.success: list[bool] = []

    def reset(self, **_: Any) -> tuple[Tensors, dict[str, Any]]:  # noqa: ANN401 - a seed, which is the first's
        """Begin the first episodes of the seeds."""
        return self._as_tensors(self._env.reset(seed=self._first)[0]), {}

    def step(self, actions: Any) -> tuple[Tensors, Tensor, Tensor, Tensor, dict[str, Any]]:  # noqa: ANN401
        """Fly a step."""
        values = torch.as_tensor(actions).cpu().numpy()
        observations, rewards, terminated, truncated, info = self._env.step(values)
        over = terminated | truncated
        if over.any():
            self.success += info["final_info"]["success"][over].tolist()
        ends = (torch.tensor(each) for each in (terminated, truncated & ~terminated))
        scores = torch.as_tensor(rewards, dtype=torch.float32)
        return (self._as_tensors(observations), scores, *ends, {})

    @staticmethod
    def _as_tensors(observations: np.ndarray) -> Tensors:
        return {"obs": torch.tensor(observations)}

    def render(self) -> None:
        """Draw nothing."""

    def close(self) -> None:
        """Give back what the worlds hold."""
        self._env.close()

# SPDX-License-Identifier: BSD-3-Clause
"""A task in one world as a parallel environment of PettingZoo, with an agent for each vehicle."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_learning.environments.adapters.libraries import missing_library
from iap_learning.environments.spaces import gymnasium
from iap_learning.environments.task_env import TaskEnv

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:
    raise missing_library(error, "pettingzoo", "pettingzoo") from error

Observation = NDArray[np.float32]


class ParallelTask(ParallelEnv[str, Observation, Observation]):
    """One world, whose vehicles are agents: each has its share of the action, and all share observation and reward.

    At the end of an episode all agents leave at once. A time limit is a truncation, of which `observations` has the
    last ones.

    Args:
        task: its name, or the path of a YAML file.
        settings: of the task's keys by their dotted paths.
        scenario: of the scenario's keys.

    Raises:
        BadInput: the task's action cannot be shared out evenly.
    """

    metadata: dict[str, Any] = {"name": "iap_parallel", "render_modes": []}

    def __init__(
        self,
        task: str,
        *,
        settings: Mapping[str, Any] | None = None,
        scenario: Mapping[str, Any] | None = None,
    ) -> None:
        self._env = TaskEnv(task, settings=settings, scenario=scenario)
        vehicles = self._env.episodes.worlds.scenario.vehicles
        self.render_mode = None
        self.possible_agents = [vehicle.name for vehicle in vehicles]
        self.agents: list[str] = []
        size, rest = divmod(self._env.episodes.size, len(self.possible_agents))
        if rest:
            raise BadInput(
                f"task '{task}': {self._env.episodes.size} numbers of an action for {len(vehicles)} vehicles"
            )
        shape = (size,)
        box = gymnasium.spaces.Box(-1.0, 1.0, shape, np.float32)
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._env.observation_space)
        self.action_spaces = dict.fromkeys(self.possible_agents, box)

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401 - a space of gymnasium
        """Space of what an agent observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401 - a space of gymnasium
        """Space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin the first episode of a seed, or the next one."""
        observation, info = self._env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._for_all(observation), {agent: dict(info) for agent in self.agents}

    def step(
        self, actions: dict[str, Observation]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Fly a step under the actions of all agents."""
        whole = np.concatenate([actions[agent] for agent in self.possible_agents])
        observation, reward, terminated, truncated, info = self._env.step(whole)
        every = self.agents
        results = (
            self._for_all(observation),
            dict.fromkeys(every, reward),
            dict.fromkeys(every, terminated),
            dict.fromkeys(every, truncated),
            {agent: dict(info) for agent in every},
        )
        if terminated or truncated:
            self.agents = []
        return results

    def _for_all(self, observation: Observation) -> dict[str, Observation]:
        return {agent: observation.copy() for agent in self.agents}

    def render(self) -> None:
        """Draw nothing: `TaskEnv` draws."""

    def close(self) -> None:
        """Give back what the world holds."""
        self._env.close()

# SPDX-License-Identifier: BSD-3-Clause
"""A task in many worlds as an environment of TorchRL, which resets by mask and so loses no last observation."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iap_learning.environments.adapters.libraries import missing_library
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.terms import BOUND

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Composite, Unbounded
    from torchrl.envs import EnvBase
except ModuleNotFoundError as error:
    raise missing_library(error, "torchrl", "torchrl") from error


class TorchRLWorlds(EnvBase):
    """Worlds of a task; those whose episodes are over stand still until a reset with the mask ``_reset``.

    `terminated` and `truncated` are apart, and the observation after a step is the old episode's: value estimators of
    TorchRL bootstrap truncations alone.

    Args:
        task: its name, or the path of a YAML file.
        worlds: B.
        seed: of the first world.
        reward: factor on rewards.
        settings: of the task's keys by their dotted paths.
        scenario: of the scenario's keys.
    """

    batch_locked = True

    def __init__(
        self,
        task: str,
        worlds: int,
        *,
        seed: int = 0,
        reward: float = 1.0,
        settings: Mapping[str, Any] | None = None,
        scenario: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(device=torch.device("cpu"), batch_size=torch.Size([worlds]))
        self.episodes = make_episodes(task, worlds, settings=settings, scenario=scenario)
        self._first, self._reward, self._has_begun = seed, reward, False
        shape = torch.Size([worlds])
        self.observation_spec = Composite(
            observation=Bounded(-BOUND, BOUND, (worlds, self.episodes.observed)),
            success=Binary(1, (worlds, 1), dtype=torch.bool),
            shape=shape,
        )
        self.action_spec = Bounded(-1.0, 1.0, (worlds, self.episodes.size))
        self.reward_spec = Unbounded((worlds, 1))
        flag = Binary(1, (worlds, 1), dtype=torch.bool)
        self.done_spec = Composite(
            done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=shape
        )

    def _set_seed(self, seed: int | None) -> None:
        """Begin at this seed with the next reset of all worlds."""
        self._first, self._has_begun = int(seed or 0), False

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:  # noqa: ANN401
        """Begin new episodes in the worlds of the mask ``_reset``, or in all."""
        worlds = np.ones(self.episodes.count, bool)
        if tensordict is not None and "_reset" in tensordict.keys():
            worlds = tensordict["_reset"].reshape(-1).numpy()
        if not self._has_begun:
            first = range(self._first, self._first + self.episodes.count)
            self.episodes.reset(seeds=list(first))
            self._has_begun = True
        else:
            self.episodes.reset(worlds)
        none = np.zeros(self.episodes.count, bool)
        return self._as_tensors(self.episodes.observe(), none, none, none)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Fly a step."""
        step = self.episodes.step(tensordict["action"].detach().cpu().numpy())
        parts = (step.observation, step.terminated, step.truncated, step.success)
        made = self._as_tensors(*parts)
        reward = (self._reward * step.reward).astype(np.float32)
        made["reward"] = torch.from_numpy(reward)[:, None]
        return made

    def _as_tensors(
        self,
        observation: np.ndarray,
        terminated: np.ndarray,
        truncated: np.ndarray,
        success: np.ndarray,
    ) -> TensorDict:
        ends = {"terminated": terminated, "truncated": truncated, "success": success}
        ends["done"] = terminated | truncated
        flags = {name: torch.tensor(each)[:, None] for name, each in ends.items()}
        return TensorDict(
            {"observation": torch.tensor(observation), **flags}, batch_size=self.batch_size
        )

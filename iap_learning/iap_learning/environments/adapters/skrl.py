# SPDX-License-Identifier: BSD-3-Clause
"""Truncated episodes as agents of skrl bootstrap them; its `wrap_env` takes vector environments as they are."""

from typing import Any, Protocol

import numpy as np

from iap_learning.environments.adapters.libraries import missing_library

try:
    import torch
except ModuleNotFoundError as error:
    raise missing_library(error, "skrl", "skrl") from error


class RecordingAgent(Protocol):
    """An agent of skrl."""

    record_transition: Any


def bootstrap_from_last(agent: RecordingAgent) -> None:
    """Let an agent see the last observation of an episode that has ended, and not the next one's first.

    With `time_limit_bootstrap` it then adds the discounted value of that observation where an episode is truncated.
    Without this the value is that of the next episode's start.

    Args:
        agent: of skrl, before its training; its method `record_transition` is replaced.
    """
    record = agent.record_transition

    def recorded(*, next_observations: torch.Tensor, infos: dict[str, Any], **rest: Any) -> None:  # noqa: ANN401
        record(next_observations=last_observations(next_observations, infos), infos=infos, **rest)

    agent.record_transition = recorded


def last_observations(following: torch.Tensor, infos: dict[str, Any]) -> torch.Tensor:
    """Observations (B, n) after a step, of the old episode where one has ended."""
    if "final_obs" not in infos:
        return following
    over = np.flatnonzero(infos["_final_obs"])
    last = following.clone()
    rows = np.stack([infos["final_obs"][i] for i in over.tolist()])
    last[torch.as_tensor(over)] = torch.as_tensor(rows, dtype=last.dtype, device=last.device)
    return last

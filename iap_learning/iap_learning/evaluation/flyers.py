# SPDX-License-Identifier: BSD-3-Clause
"""Flyers of episodes that are assessed: policies, and agents that need no learning."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_learning.policies.policy import Policy
from iap_learning.tasks.agents import EXPERTS
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import agent_of

Observation = NDArray[np.float32]
Actions = (
    NDArray[np.float32] | None
)  # (B, size); None lets the script or the suite's controllers fly
Acting = Callable[[Observation], Actions]
SCRIPT, CONTROLLER = "script", "controller"


class EvaluatedAgent(NamedTuple):
    """An agent or a policy that flies.

    Attributes:
        name: for tables.
        acting: makes what gives actions at observations (B, n), of episodes at their start.
        policy: value of a scenario's key `policy` by which a single run is flown alike; "" where none is.
        flies_alone: whether a single run can be.
    """

    name: str
    acting: Callable[[AnyEpisodes], Acting]
    policy: str
    flies_alone: bool


def of_policy(policy: Policy) -> EvaluatedAgent:
    """A policy that flies."""

    def acting(episodes: AnyEpisodes) -> Acting:
        policy.check(episodes.policy_layout, f"task '{episodes.task.name}'")
        return policy.acting(episodes.count)

    source = str(Path(policy.source).absolute())
    return EvaluatedAgent(policy.name, acting, source, flies_alone=True)


def is_agent_file(name: str) -> bool:
    """True if a name is the path of an agent's file."""
    return name.endswith((".yaml", ".yml"))


def baseline(name: str) -> EvaluatedAgent:
    """A flyer without learning, by name.

    Raises:
        BadInput: there is no such one.
    """
    if name in (SCRIPT, CONTROLLER):
        script = SCRIPT if name == SCRIPT else ""
        return EvaluatedAgent(name, lambda _: lambda _: None, script, flies_alone=True)
    if name in ("zero", "random"):
        return EvaluatedAgent(name, _random if name == "random" else _zero, "", flies_alone=False)
    if is_agent_file(name) or name in EXPERTS.names():
        return EvaluatedAgent(
            Path(name).stem, lambda episodes: _scripted(name, episodes), "", flies_alone=False
        )
    raise BadInput(f"no baseline '{name}': choose {', '.join(BASELINES)}")


BASELINES = (CONTROLLER, "zero", "random", *EXPERTS.names())  # the script is an expert, too


def _zero(episodes: AnyEpisodes) -> Acting:
    actions = np.zeros((episodes.count, episodes.size), np.float32)
    return lambda _: actions


def _random(episodes: AnyEpisodes) -> Acting:
    """Even draws, of each episode by its own seed."""
    rngs = [np.random.default_rng(seed) for seed in episodes.episode_seeds.tolist()]
    drawn = [rng.uniform(-1.0, 1.0, (episodes.limit, episodes.size)) for rng in rngs]
    actions = np.array(drawn, np.float32)
    worlds = np.arange(episodes.count)
    return lambda _: actions[worlds, np.minimum(episodes.steps, episodes.limit - 1)]


def _scripted(name: str, episodes: AnyEpisodes) -> Acting:
    agent = agent_of(name, episodes)
    return lambda _: agent()

# SPDX-License-Identifier: BSD-3-Clause
"""Hand-written agents, which fly a task without learning, by the names of their files: ``data/experts/NAME.yaml``.

The key `guide` of a file says which class flies it; each kind of tasks has its own.
"""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Integers
from iap_description.config.record import Presets, Record, validate
from iap_description.config.values import NonNegative
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.scaling import clipped
from iap_learning.tasks.task import Task
from iap_physics.engines.engine import world_indices

EXPERTS = Presets(Path(__file__).parents[1] / "data" / "experts", "expert")
NOISE_STREAM = "expert/noise"  # name of the stream of an episode's exploration noise


class AgentSettings(Record):
    """Keys that files of agents of all kinds have.

    Attributes:
        description: one sentence.
        guide: value that names the class of the agent.
        noise: standard deviation of noise on actions, as a share of their half range.
        noise_hold: time for which a draw of it stays [s]; 0 draws anew in every step.
    """

    description: str
    guide: str
    noise: NonNegative = 0.0
    noise_hold: NonNegative = 0.0


S = TypeVar("S", bound=AgentSettings)
E = TypeVar("E", bound=AnyEpisodes)


class ScriptedAgent(ABC, Generic[S, E]):
    """Flies all worlds of a task, with or without exploration noise; of world i no more is drawn than of it alone.

    Args:
        settings: how.
        episodes: that it flies, all of them at their start.
    """

    SETTINGS: ClassVar[type[Any]]  # record of its files
    TASKS: ClassVar[str]  # what it does, for errors
    ACTION: ClassVar[str | None] = None  # kind of action that a task must have; None for any

    def __init__(self, settings: S, episodes: E) -> None:
        self.settings, self.episodes = settings, episodes
        self._hold = max(1, round(settings.noise_hold / episodes.dt))  # steps
        draws = -(-episodes.limit // self._hold) if settings.noise else 1
        shape = (episodes.count, draws, episodes.size)
        self._noise = np.zeros(shape)
        self.reset()

    @classmethod
    def of(cls, name: str, episodes: E) -> Self:
        """The agent of a file.

        Raises:
            BadInput: anything unknown, missing or impossible, in one line; or it does not fly this task.
        """
        reason = cls.misfit(episodes)
        if reason is not None:
            raise BadInput(f"expert '{name}' {reason}")
        return cls(read_settings(cls.SETTINGS, name), episodes)

    @classmethod
    def refusal(cls, task: Task) -> str:
        """Reason why it flies no such task."""
        return f"{cls.TASKS}, not task '{task.name}'"

    @classmethod
    def misfit(cls, episodes: E) -> str | None:
        """Reason why it cannot fly these episodes of its own kind; None where it can."""
        action = episodes.task.action
        if action.function is not None:
            return f"gives no numbers that '{action.function}' takes"
        is_fit = cls.ACTION is None or action.kind == cls.ACTION
        return None if is_fit else cls.refusal(episodes.task)

    @abstractmethod
    def values(self) -> Array:
        """(B, n) actions in SI units at the present instant, without noise."""

    def begin(self, indices: Integers) -> None:
        """Forget the last episodes of some worlds."""

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """Begin with some worlds' new episodes, or with all."""
        indices = world_indices(worlds, self.episodes.count)
        self.begin(indices)
        if not self.settings.noise:
            return
        for b in indices.tolist():
            rng = stream(int(self.episodes.episode_seeds[b]), NOISE_STREAM)
            rng.standard_normal(out=self._noise[b])
        self._noise[indices] *= self.settings.noise

    def __call__(self, _: object = None) -> NDArray[np.float32]:
        """Actions (B, n) at the present instant, in [-1, 1], whatever is observed; once in every step."""
        draws = np.minimum(self.episodes.steps // self._hold, self._noise.shape[1] - 1)
        noise = self._noise[np.arange(self.episodes.count), draws]
        return clipped(self.episodes.scale.invert(self.values()) + noise)


R = TypeVar("R", bound=Record)


def read_settings(record: type[R], name: str) -> R:
    """The numbers of an agent by name, or by the path of a YAML file.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    path = EXPERTS.file_or_path(name)
    return validate(record, EXPERTS.extended(path), source=str(path))

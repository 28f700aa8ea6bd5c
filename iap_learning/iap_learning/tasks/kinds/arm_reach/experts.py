# SPDX-License-Identifier: BSD-3-Clause
"""The kinematic law (27) with gains of its own as an expert, by the task's actions (``data/experts/NAME.yaml``)."""

from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_control.laws.end_effector import Four
from iap_description.config.record import Flag, Positive, Record
from iap_learning.tasks.agents import read_expert
from iap_learning.tasks.kinds.arm_reach.episodes import ArmReachEpisodes
from iap_learning.tasks.kinds.arm_reach.law import ReachLaw


class KinematicSettings(Record):
    """How the expert flies; what is not named here is the scenario's.

    Attributes:
        description: one sentence.
        guide: see `iap_learning.tasks.kinds.agents`.
        slope: K_1 [1/s].
        speed: K_2 [m/s], [rad/s].
        weights: of the velocities.
        static_inverse: whether velocities become the commands at which the plant holds them.
    """

    description: str
    guide: Literal["kinematic"]
    slope: Four
    speed: Four
    weights: tuple[Positive, ...]
    static_inverse: Flag


class KinematicExpert:
    """Sees the whole state and the plant's model.

    Args:
        settings: of the law.
        episodes: that it flies.
    """

    guide: ClassVar[str] = "kinematic"

    def __init__(self, settings: KinematicSettings, episodes: ArmReachEpisodes) -> None:
        self._episodes, action = episodes, episodes.task.action
        own = settings.model_dump(exclude={"description", "guide"})
        control = episodes.worlds.scenario.control.model_copy(update=own)
        self._law = ReachLaw(episodes.worlds, control)
        low, high = np.array(action.low), np.array(action.high)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)

    @classmethod
    def of(cls, name: str, episodes: ArmReachEpisodes) -> Self:
        """The expert of a file."""
        return cls(read_expert(KinematicSettings, name), episodes)

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """It remembers nothing."""

    def __call__(self) -> NDArray[np.float32]:
        """Actions (B, 7) at the present instant, in [-1, 1]."""
        actions = (self._law(self._episodes.targets) - self._middle) / self._half
        return np.clip(actions, -1.0, 1.0).astype(np.float32)

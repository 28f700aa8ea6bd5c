# SPDX-License-Identifier: BSD-3-Clause
"""Experts of flights through obstacles, by the task's own velocities (``data/experts/NAME.yaml``)."""

from abc import abstractmethod
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Record
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_learning.tasks.agents import read_expert
from iap_learning.tasks.kinds.navigate.guide import Guide, GuideSettings
from iap_learning.tasks.kinds.navigate.potential_field import PotentialField, PotentialSettings
from iap_learning.tasks.kinds.platform.episodes import Episodes
from iap_learning.tasks.kinds.registry import Episodic
from iap_physics.engines.engine import world_indices

NOISE = "expert/noise"  # name of the stream of an episode's exploration noise


class FieldSettings(Record):
    """How an expert that knows the field flies.

    Attributes:
        description: one sentence.
        guide: see `iap_learning.tasks.kinds.agents`.
        field: numbers of it.
        noise: standard deviation of white noise on actions, as a share of their half range.
    """

    description: str
    guide: Literal["field"]
    field: GuideSettings
    noise: NonNegative


class PotentialFieldSettings(Record):
    """How a potential field flies.

    Attributes:
        description: one sentence.
        guide: see `iap_learning.tasks.kinds.agents`.
        potential: numbers of it.
    """

    description: str
    guide: Literal["potential_field"]
    potential: PotentialSettings


class VelocityExpert:
    """Flies all worlds of a task by velocities; of world i no more is drawn than of it alone.

    Args:
        episodes: that it flies, all of them at their start.
        noise: as `FieldSettings` has it.
    """

    guide: ClassVar[str]

    def __init__(self, episodes: Episodic, noise: float) -> None:
        self._episodes, self._sigma = episodes, noise
        action = episodes.task.action
        low, high = np.array(action.low), np.array(action.high)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)
        self._noise = np.zeros((episodes.count, episodes.limit, episodes.size))
        self.reset()

    @abstractmethod
    def velocities(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""

    def begin(self, worlds: ArrayLike | None) -> None:
        """Take notice of new episodes."""

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """Begin with some worlds' new episodes, or with all."""
        chosen = world_indices(worlds, self._episodes.count)
        self.begin(chosen)
        if self._sigma:
            for b in chosen.tolist():
                stream(int(self._episodes.flown[b]), NOISE).standard_normal(out=self._noise[b])
            self._noise[chosen] *= self._sigma

    def __call__(self) -> NDArray[np.float32]:
        """Actions (B, 4) at the present instant, in [-1, 1]; once in every step."""
        episodes = self._episodes
        steps = np.minimum(episodes.steps, episodes.limit - 1)
        noise = self._noise[np.arange(episodes.count), steps]
        actions = (self.velocities() - self._middle) / self._half + noise
        return np.clip(actions, -1.0, 1.0).astype(np.float32)


class FieldExpert(VelocityExpert):
    """Knows where every obstacle is."""

    guide = "field"

    def __init__(self, settings: FieldSettings, episodes: Episodes) -> None:
        self._guide = Guide(settings.field, episodes)
        super().__init__(episodes, settings.noise)

    @classmethod
    def of(cls, name: str, episodes: Episodes) -> Self:
        """The expert of a file."""
        return cls(read_expert(FieldSettings, name), episodes)

    def begin(self, worlds: ArrayLike | None) -> None:
        """Survey the new fields."""
        self._guide.reset(worlds)

    def velocities(self) -> Array:
        """See `VelocityExpert`."""
        return self._guide()


class PotentialExpert(VelocityExpert):
    """Knows what the policy sees."""

    guide = "potential_field"

    def __init__(self, settings: PotentialFieldSettings, episodes: Episodes) -> None:
        self._field = PotentialField(settings.potential, episodes)
        super().__init__(episodes, 0.0)

    @classmethod
    def of(cls, name: str, episodes: Episodes) -> Self:
        """The expert of a file.

        Raises:
            BadInput: the task has no image.
        """
        if episodes.sight is None:
            raise BadInput(
                f"expert '{name}' needs a depth image; task '{episodes.task.name}' has none"
            )
        return cls(read_expert(PotentialFieldSettings, name), episodes)

    def velocities(self) -> Array:
        """See `VelocityExpert`."""
        return self._field(self._episodes.observe())

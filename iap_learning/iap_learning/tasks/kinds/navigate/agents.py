# SPDX-License-Identifier: BSD-3-Clause
"""Agents that fly a platform through obstacles, by the task's own velocities."""

from typing import Literal

from iap_description.arrays import Array, Integers
from iap_description.config.record import NonNegative
from iap_learning.tasks.agents import AgentSettings, S, ScriptedAgent
from iap_learning.tasks.kinds.navigate.guide import FieldGuidance, FieldGuidanceSettings
from iap_learning.tasks.kinds.navigate.potential_field import PotentialField, PotentialSettings
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes


class FieldSettings(AgentSettings):
    """How an agent that knows the field of obstacles flies.

    Attributes:
        field: numbers of it.
    """

    guide: Literal["field"]
    field: FieldGuidanceSettings
    noise: NonNegative


class PotentialFieldSettings(AgentSettings):
    """How a potential field flies.

    Attributes:
        potential: numbers of it.
    """

    guide: Literal["potential_field"]
    potential: PotentialSettings


class VelocityAgent(ScriptedAgent[S, PlatformEpisodes]):
    """Flies a platform by velocities."""

    TASKS = "flies by velocities"

    @classmethod
    def misfit(cls, episodes: PlatformEpisodes) -> str | None:
        """Reason why it cannot fly these episodes; None where it can."""
        return None if episodes.task.action.kind == "velocity" else cls.refusal(episodes.task)


class FieldAgent(VelocityAgent[FieldSettings]):
    """Knows where every obstacle is."""

    SETTINGS = FieldSettings

    def __init__(self, settings: FieldSettings, episodes: PlatformEpisodes) -> None:
        self._guide = FieldGuidance(settings.field, episodes)
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Survey the new fields."""
        self._guide.reset(indices)

    def values(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""
        return self._guide()


class PotentialFieldAgent(VelocityAgent[PotentialFieldSettings]):
    """Knows what a policy observes."""

    SETTINGS = PotentialFieldSettings

    def __init__(self, settings: PotentialFieldSettings, episodes: PlatformEpisodes) -> None:
        self._field = PotentialField(settings.potential, episodes)
        super().__init__(settings, episodes)

    @classmethod
    def misfit(cls, episodes: PlatformEpisodes) -> str | None:
        """Reason why it cannot fly these episodes; None where it can."""
        if episodes.camera is None and super().misfit(episodes) is None:
            return f"needs a depth image; task '{episodes.task.name}' has none"
        return super().misfit(episodes)

    def values(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""
        return self._field(self.episodes.observe())

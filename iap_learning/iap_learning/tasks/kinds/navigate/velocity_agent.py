# SPDX-License-Identifier: BSD-3-Clause
"""The base of agents that fly a platform through obstacles, by the task's own velocities."""

from iap_learning.tasks.agents import S, ScriptedAgent
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes


class VelocityAgent(ScriptedAgent[S, PlatformEpisodes]):
    """Flies a platform by velocities."""

    TASKS = "flies by velocities"

    @classmethod
    def misfit(cls, episodes: PlatformEpisodes) -> str | None:
        """Reason why it cannot fly these episodes; None where it can."""
        return None if episodes.task.action.kind == "velocity" else cls.refusal(episodes.task)

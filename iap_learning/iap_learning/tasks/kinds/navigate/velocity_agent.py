# SPDX-License-Identifier: BSD-3-Clause
"""The base of agents that fly a platform through obstacles, by the task's own velocities."""

from iap_learning.tasks.agents import S, ScriptedAgent
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes


class VelocityAgent(ScriptedAgent[S, PlatformEpisodes]):
    """Flies a platform by velocities."""

    TASKS = "flies by velocities"
    ACTION = "velocity"

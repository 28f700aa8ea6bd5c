# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform as a kind."""

from iap_learning.tasks.kind import SingleRun, TaskKind
from iap_learning.tasks.kinds.platform.engine_episode import PlatformEngineEpisode
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.pilot import platform_pilot
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.task import DEFAULT_KIND
from iap_simulation.loop.agents import SCRIPT


def _duration(task: PlatformTask) -> float | None:
    """Length of a run [s]; None of a goal that is the scenario's last reference, which a shorter one would move."""
    return task.seconds if task.goal == "present" else None


PLATFORM = TaskKind(
    name=DEFAULT_KIND,
    task=PlatformTask,
    episodes=PlatformEpisodes,
    single_run=SingleRun(
        PlatformEngineEpisode, engine="closed_form", script=SCRIPT, duration=_duration
    ),
    policy_agent=platform_pilot,
)

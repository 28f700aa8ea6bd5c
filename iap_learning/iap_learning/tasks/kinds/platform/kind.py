# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform as a kind, and their episode in an engine."""

from collections.abc import Mapping

import numpy as np

from iap_learning.tasks.engine_episode import ERROR_TIME, EngineEpisode
from iap_learning.tasks.kind import SingleRun, TaskKind
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.monitor import PlatformMonitor
from iap_learning.tasks.kinds.platform.pilot import platform_pilot
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.task import DEFAULT_KIND
from iap_simulation.loop.agents import SCRIPT
from iap_simulation.simulation.simulation import Simulation


class PlatformEngineEpisode(EngineEpisode):
    """An episode of one platform in an engine, by the compiled step of those in many worlds.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: PlatformTask) -> None:
        scenario = simulation.scenario
        self._plant = simulation.plant
        self._last = max(1, round(ERROR_TIME / (task.repeat * scenario.dt)))
        self._monitor = PlatformMonitor(task, scenario, simulation.loop.vehicles[0])

    def observe(self) -> None:
        """Observe the end of a control period."""
        self._monitor.observe(self._plant)
        self.outcome = self._monitor.outcome

    @property
    def succeeded(self) -> bool:
        """Whether it is a success if it ends here."""
        return self._monitor.succeeded

    @property
    def measures(self) -> Mapping[str, float]:
        """Time flown [s], and the mean distance from the goal at its end [m]."""
        last = self._monitor.distances[-self._last :]
        error = float(np.mean(last)) if last else np.nan
        return {"time": self._monitor.time, "error": error}


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

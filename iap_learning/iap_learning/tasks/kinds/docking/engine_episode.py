# SPDX-License-Identifier: BSD-3-Clause
"""An episode of docking in an engine, by the outcome of those in many worlds."""

from collections.abc import Mapping

import numpy as np

from iap_description.errors import BadInput
from iap_learning.tasks.engine_episode import EngineEpisode
from iap_learning.tasks.kinds.docking.pair import Interface
from iap_learning.tasks.kinds.docking.rewards import limits_of
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.docking.outcome import DockingLimits
from iap_simulation.simulation.simulation import Simulation


class DockingEngineEpisode(EngineEpisode):
    """Follows a docking.

    Args:
        simulation: at the start.
        task: what is to be done.

    Raises:
        BadInput: the scenario docks nothing.
    """

    def __init__(self, simulation: Simulation, task: DockingTask) -> None:
        scenario, spec = simulation.scenario, simulation.scenario.docking
        if spec is None:
            raise BadInput(f"scenario '{task.scenario}' docks nothing")
        limits = limits_of(
            task,
            DockingLimits.of(spec.success),
            Interface.of(task, scenario).references,
            min(task.seconds, spec.success.within),
        )
        self._plant, self._monitor = simulation.plant, DockingMonitor(scenario, spec, limits)

    def observe(self) -> None:
        """Observe the end of a control period."""
        self._monitor.observe(self._plant)
        self.outcome = self._monitor.outcome

    @property
    def measures(self) -> Mapping[str, float]:
        """Measures of the episode so far; NaN of what has not happened."""
        progress, docked = self._monitor.progress, self._monitor.docked
        return {
            "time": progress.end,
            "force_peak": progress.force_peak,
            "closing_speed": progress.closing_speed,
            "latch_time": docked[-1] if docked else np.nan,
        }

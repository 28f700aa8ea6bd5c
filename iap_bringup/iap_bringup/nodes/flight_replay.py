# SPDX-License-Identifier: BSD-3-Clause
"""The task of a flight by nodes, followed by the monitors of the closed loop on what messages say."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iap_bringup.nodes.modules_replay import ModulesReplay
from iap_bringup.nodes.plant_replay import LastValue, PlantReplay
from iap_description.signals import Step
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import info_of, make_agent
from iap_simulation.modules.monitor import ModulesMonitor
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor


class FlightReplay:
    """Follows the task of a flight, if it has one.

    Args:
        flight: by nodes.

    Attributes:
        task: monitor of the task; None where there is none.
        policy: key `policy` of metrics.json; None where the vehicles' own controllers fly.

    Raises:
        BadInput: there is no such policy, or it cannot fly this scenario; or nodes cannot coordinate its modules.
    """

    def __init__(self, flight: Flight) -> None:
        scenario, vehicles = flight.scenario, flight.vehicles
        self._plant = PlantReplay(scenario)
        self._modules = ModulesReplay(flight) if is_coordinated(scenario) else None
        self.task: TaskMonitor[ObservedPlant] | None = None
        self.policy: dict[str, Any] | None = None
        if self._modules is not None:
            self.task = ModulesMonitor(self._modules, vehicles)
            return
        agent = make_agent(scenario, vehicles)
        self.policy = None if agent is None else info_of(agent, scenario)
        self.task = DockingMonitor.of(scenario) or getattr(agent, "task", None)

    def update(self, ticks: Sequence[Step], last: LastValue) -> None:
        """Take an instant; the task begins with the second one, as in the closed loop.

        Args:
            ticks: of all vehicles.
            last: returns the value of a vehicle's topic at that instant, or the last one before.
        """
        self._plant.update(ticks, last)
        if self._modules is not None:
            self._modules.update(ticks, last)
        if self.task is not None and ticks[0].k > 0:
            self.task.observe(self._plant)

    @property
    def is_over(self) -> bool:
        """Whether the task has come to its end."""
        return self.task is not None and self.task.is_over

    @property
    def missed(self) -> str | None:
        """Outcome of a flight whose task has not succeeded; None of a success, or without a task."""
        return None if self.task is None or self.task.failure is None else self.task.missed

    def task_metrics(self, folder: Path) -> dict[str, dict[str, Any]]:
        """Metrics of the task by its key in metrics.json; what is recorded of it besides is written into a run folder.

        Raises:
            RecordingFailed: that cannot be written.
        """
        if self.task is None:
            return {}
        self.task.write(folder)
        return {self.task.key: self.task.metrics(self._plant)}

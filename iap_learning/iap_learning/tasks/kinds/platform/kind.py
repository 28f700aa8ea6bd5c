# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform as a kind, and their episode in an engine."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import KEY
from iap_learning.tasks.kind import ERROR_TIME, EngineEpisode, SingleRun, TaskKind
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.monitor import PlatformMonitor
from iap_learning.tasks.kinds.platform.platform_policy import PlatformPolicy
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.task import DEFAULT_KIND
from iap_physics.plant.plant import Plant
from iap_simulation.loop.agents import SCRIPT
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.vehicles.vehicle import Vehicle


def check_alone(scenario: Scenario) -> None:
    """Refuse scenarios of several vehicles.

    Raises:
        BadInput: there are more than one.
    """
    count = len(scenario.vehicles)
    if count != 1:
        raise BadInput(f"{KEY}: '{scenario.policy}' flies one vehicle, not {count}")


def platform_pilot(
    policy: Policy, task: PlatformTask, scenario: Scenario, vehicles: Sequence[Vehicle]
) -> "PlatformPilot":
    """The pilot of a scenario of one vehicle.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or there are more vehicles.
    """
    check_alone(scenario)
    flown = PlatformPolicy(policy, task, scenario, vehicles[0])
    return PlatformPilot(flown, scenario, vehicles[0])


class PlatformPilot:
    """A policy flies one platform, as `iap_learning.tasks.kinds.platform.episodes` has it fly.

    Args:
        flown: the policy.
        scenario: that is flown.
        vehicle: the only one.

    Attributes:
        task: monitor of a task that ends with its success; None of others.
        sinks: receive what the policy sees.
    """

    def __init__(self, flown: PlatformPolicy, scenario: Scenario, vehicle: Vehicle) -> None:
        self._flown, self._vehicle, task = flown, vehicle, flown.task
        self.task = PlatformMonitor(task, scenario, vehicle) if task.success.ends else None
        self.sinks = () if flown.eye is None else (flown.eye,)

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy, or name of the script."""
        return self._flown.info

    def command(
        self, k: int, plant: Plant, references: Sequence[Reference]
    ) -> Mapping[int, Command]:
        """The command at control instant k."""
        vehicle, x = self._vehicle, plant.state(0)[0]
        output = self._flown(k, x, plant.propulsion[0].rpm[0], references[0].row)
        if not self._flown.gives_references:
            return {0: cast(Command, output)}
        reference, wrench = cast(Reference, output), plant.contact_wrench(0)
        return {0: vehicle.command(plant.t, x, wrench, reference)}


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
        """True if it is a success if it ends here."""
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

# SPDX-License-Identifier: BSD-3-Clause
"""Docking as a kind of tasks: its agent without learning, and its episode in an engine."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numba import njit
from pydantic import model_validator

from iap_control.docking.guidance import guide_by_script
from iap_control.docking.settings import ScriptParameters, ScriptSettings
from iap_control.docking.vehicle_control import subtract_disturbances
from iap_control.docking.wrench_guidance import WrenchGuidance, guidance_memory, guide_by_wrench
from iap_description.arrays import Array, Integers
from iap_description.config.record import Record, validate
from iap_description.config.values import NonNegative, Positive
from iap_description.errors import BadInput
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kind import EngineEpisode, SingleRun, TaskKind
from iap_learning.tasks.kinds.docking.actions import ActionControl, values_of
from iap_learning.tasks.kinds.docking.episodes import DockingEpisodes
from iap_learning.tasks.kinds.docking.policy_pair import docking_pilot
from iap_learning.tasks.kinds.docking.rewards import limits_of
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_physics.engines.make import AUTO
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.docking.pair_laws import docking_limits
from iap_simulation.loop.agents import SCRIPT
from iap_simulation.simulation.simulation import Simulation


class DockingEngineEpisode(EngineEpisode):
    """An episode of docking in an engine, by the outcome of those in many worlds.

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
        success = spec.success
        seconds = min(task.seconds, success.within + success.settle)
        limits = limits_of(task, docking_limits(scenario), seconds)
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
            "time": progress.lock,
            "calm_from": progress.calm,
            "force_peak": progress.force_peak,
            "closing_speed": progress.closing_speed,
            "latch_time": docked[-1] if docked else np.nan,
        }


class WrenchSettings(Record):
    """Numbers of `iap_control.docking.wrench_guidance.WrenchGuidance`, which says more."""

    stiffness: Positive
    integral: NonNegative
    damping: Positive
    reach: Positive
    gate: Positive
    aligned: Positive
    way_off: Positive
    push: Positive
    drag: Positive


class DockingAgentSettings(AgentSettings):
    """Keys of the agent.

    Attributes:
        guide: see `iap_control.docking`.
        script: keys of the scenario's script that are others here; with the guide `script` alone.
        wrench: with the guide `wrench` alone.
        turn_rate: with which angular accelerations follow commanded body rates, of actions `printed` [1/s].
    """

    guide: Literal["script", "wrench"]
    script: dict[str, Any]
    wrench: WrenchSettings | None
    turn_rate: Positive
    noise: NonNegative

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.guide == "wrench") == (self.wrench is None):
            raise ValueError("key 'wrench': it goes with the guide 'wrench'")
        if self.script and self.guide != "script":
            raise ValueError("key 'script': it goes with the guide 'script'")
        return self


class DockingAgent(ScriptedAgent[DockingAgentSettings, DockingEpisodes]):
    """An agent that docks by the scenario's script or by wrenches, through the task's own actions."""

    SETTINGS = DockingAgentSettings
    TASKS = "flies dockings"

    def __init__(self, settings: DockingAgentSettings, episodes: DockingEpisodes) -> None:
        worlds, wrench = episodes.worlds, settings.wrench
        self._pair = worlds.laws.pair._replace(dt=episodes.dt)
        keys = {**worlds.spec.script.model_dump(), **settings.script}
        script = validate(ScriptSettings, keys, source="script")
        self._script = ScriptParameters(**script.model_dump())
        self._wrench = None if wrench is None else WrenchGuidance(**wrench.model_dump())
        self._memory = guidance_memory(episodes.count)
        self._accelerations = np.zeros((episodes.count, 2, 3))
        self._values = np.zeros((episodes.count, episodes.size))
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Forget the last episodes of some worlds."""
        self._memory[indices] = 0.0

    def values(self) -> Array:
        """(B, n) actions in SI units at the present instant."""
        episodes, interface = self.episodes, self.episodes.interface
        memory = episodes.memory
        state = (memory.predicted, episodes.worlds.is_caught, memory.observers)
        out = (self._pair, self._memory, self._accelerations)
        if self._wrench is None:
            guide_by_script(*state, self._script, *out)
        else:
            guide_by_wrench(*state, self._wrench, interface.references, *out)
        if not interface.control.compensated:
            subtract_disturbances(memory.observers, self._accelerations)
        rate = self.settings.turn_rate
        predicted, control = memory.predicted, interface.control
        _values_all(self._accelerations, predicted, control, rate, self._values)
        return self._values


@njit(cache=True)
def _values_all(
    accelerations: Array, measured: Array, control: ActionControl, turn_rate: float, out: Array
) -> None:
    for b in range(len(out)):
        values_of(accelerations[b], measured[b], control, turn_rate, out[b])


DOCKING = TaskKind(
    name="docking",
    task=DockingTask,
    episodes=DockingEpisodes,
    agents={"script": DockingAgent, "wrench": DockingAgent},
    single_run=SingleRun(DockingEngineEpisode, engine=AUTO, script=SCRIPT),
    policy_agent=docking_pilot,
)

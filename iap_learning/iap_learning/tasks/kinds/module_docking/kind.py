# SPDX-License-Identifier: BSD-3-Clause
"""Docking of modules as a kind of tasks: its agent, its episode in an engine, and policies that guide."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from iap_control.modules.exchange import JointState
from iap_control.modules.joint_machine import JointMachine
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Q
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import KEY, info_of, periods
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kind import EngineEpisode, SingleRun, TaskKind
from iap_learning.tasks.kinds.module_docking.episodes import ModuleDockingEpisodes
from iap_learning.tasks.kinds.module_docking.latch import (
    FILTERED,
    LatchThresholds,
    follow_latch,
    latch_of,
)
from iap_learning.tasks.kinds.module_docking.observations import TERMS, FollowerInputs, rest_of
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.kinds.platform.platform_policy import OneWorld
from iap_learning.tasks.user_functions import ActionConverter
from iap_learning.tasks.user_inputs import WorldArrays
from iap_physics.engines.engine import RUNNING
from iap_physics.engines.make import AUTO
from iap_physics.plant.plant import Plant
from iap_simulation.modules.outcome import (
    ModuleApproach,
    ModuleDockingInstant,
    ModuleDockingLimits,
    module_approach,
    outcome,
)
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.vehicles.vehicle import Vehicle


class PolicyGuide:
    """A policy that guides the follower of a scenario's only joint; the coordinator catches.

    Args:
        policy: that guides.
        task: of it.
        scenario: that docks.
        vehicles: the modules.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or there are more joints than one.
    """

    def __init__(
        self,
        policy: Policy,
        task: ModuleDockingTask,
        scenario: Scenario,
        vehicles: Sequence[Vehicle],
    ) -> None:
        spec = scenario.modules
        if spec is None or len(spec.joints) != 1:
            raise BadInput(f"{KEY}: '{scenario.policy}' docks modules by one joint alone")
        ((_, joint),) = spec.joints.items()
        names = [vehicle.name for vehicle in vehicles]
        self._leader, self._follower = names.index(joint.leader), names.index(joint.follower)
        self._policy, self._task, self._repeat = policy.acting(), task, periods(policy, scenario)
        self._info = info_of(policy)
        self._scale = task.action.scale()
        size, rest = (
            self._scale.size,
            rest_of(scenario.vehicles[0].platform.count, self._scale.size),
        )
        self._observer = TERMS.observer(task.observation, size, rest)
        self._converted = ActionConverter(task.action, task.action.columns, self._observer)
        self._latch, self._only = latch_of(spec, joint), np.zeros(1, dtype=np.int64)
        rate, platform = scenario.rates.control_hz, scenario.vehicles[0].platform.name
        layout = Layout.of(task, self._observer.layout, size, platform, rate)
        policy.check(layout, f"task '{task.name}' in this scenario")
        self._world = OneWorld(vehicles[self._follower])
        self._action, self._filtered = np.zeros((1, size)), np.zeros((1, FILTERED))
        self._values = self._scale.apply(self._action)
        self._fits, self._first = np.zeros(1, bool), -1

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy."""
        return self._info

    def reference(
        self, k: int, shared: Array, plant: Plant, reference: Reference, *, is_due: bool
    ) -> Reference:
        """See `iap_simulation.loop.agents.JointGuidance`."""
        world, starts = self._world, self._first < 0
        rows = shared[self._leader][None], shared[self._follower][None]
        if starts:
            self._first = k
        if is_due:
            follow_latch(self._only, *rows, starts, self._latch, self._filtered, self._fits)
        world.state, world.rpm = plant.state(self._follower), plant.propulsion[self._follower].rpm
        world.goal = reference.row[None]
        if (k - self._first) % self._repeat == 0:
            self._act(rows)
        return world.reference_of(self._task.action.kind, self._values)

    def _act(self, rows: tuple[Array, Array]) -> None:
        """Act anew on rows (1, 13) of leader and follower as they are measured."""
        arrays = partial(self._arrays, np.stack(rows, axis=1))
        inputs = partial(self._inputs, rows)
        action = self._policy(self._observer(inputs(), self._only, arrays))
        self._action = np.clip(action.astype(np.float64), -1.0, 1.0)
        self._values = self._converted(self._scale.apply(self._action), inputs, arrays)

    def _inputs(self, rows: tuple[Array, Array]) -> FollowerInputs:
        return FollowerInputs(*rows, self._filtered, self._action, self._latch.home_L)

    def _arrays(self, x: Array) -> WorldArrays:
        return WorldArrays(x, self._world.goal, self._only, self._world.rpm, self._action)


NO_APPROACH = ModuleApproach(np.nan, np.nan, np.nan, np.nan)  # before the first instant


class ModuleDockingEngineEpisode(EngineEpisode):
    """An episode in an engine, where faces touch; it has arrived once the latch's joint holds.

    Args:
        simulation: at the start, of modules with one joint.
        task: what is to be done.

    Raises:
        BadInput: the scenario docks no two modules.
    """

    def __init__(self, simulation: Simulation, task: ModuleDockingTask) -> None:
        modules = simulation.modules
        if modules is None or len(modules.coordinator.joints) != 1:
            raise BadInput(f"scenario '{task.scenario}' docks no two modules")
        self._simulation, self._task = simulation, task
        coordinator = modules.coordinator
        ((name, joint),) = coordinator.joints.items()
        self._machine: JointMachine = coordinator.machines[name]
        self._modules = joint.modules
        self._latch: LatchThresholds = latch_of(coordinator.spec, coordinator.spec.joints[name])
        self._limits = ModuleDockingLimits(
            task.closing_speed,
            task.overlap,
            coordinator.spec.size,
            task.fails_beyond,
            task.seconds,
        )
        self._caught, self._approach = np.nan, NO_APPROACH

    def observe(self) -> None:
        """Observe the end of a control period."""
        if self.outcome != RUNNING:
            return
        machine, t = self._machine, self._simulation.t
        if np.isnan(self._caught):
            if machine.holds:
                self._caught = t
            else:
                self._approach = self._measured()
        is_joined, is_given_up = (
            machine.state == state for state in (JointState.JOINED, JointState.EMERGENCY)
        )
        is_caught = not np.isnan(self._caught)
        now = ModuleDockingInstant(t, RUNNING, self._approach, is_caught, is_joined, is_given_up)
        self.outcome = outcome(now, self._limits)

    def _measured(self) -> ModuleApproach:
        leader, follower = (self._simulation.plant.state(i)[0, 0] for i in self._modules)
        return module_approach(leader, follower, self._latch.home_L, self._latch.normal_L)

    @property
    def measures(self) -> Mapping[str, float]:
        """Time of the catch [s], and closing speed [m/s] and offset [m] before it."""
        approach = self._approach
        return {
            "time": self._caught,
            "closing_speed": approach.closing,
            "offset": approach.aside,
        }


class FunnelSettings(Record):
    """Numbers of the law of `FunnelAgent`."""

    sideways: Positive  # k_s [1/s]
    along: Positive  # k_g [1/s]
    turn: Positive  # k_psi [1/s]
    cruise: Positive  # largest speed along and across [m/s]
    touch: Positive  # v_touch, in line at the face [m/s]
    in_line: Positive  # s_line [m]
    slope: Positive  # m
    ahead: NonNegative  # time of the low-pass and of the modules' own lag, by which poses are predicted [s]


class FunnelAgentSettings(AgentSettings):
    """Keys of the agent.

    Attributes:
        funnel: its numbers.
    """

    guide: Literal["funnel"]
    funnel: FunnelSettings
    noise: NonNegative


class FunnelAgent(ScriptedAgent[FunnelAgentSettings, ModuleDockingEpisodes]):
    r"""Docks by velocities and what a policy observes: it closes in as far as it is in line.

    With the low-passed gap g and offset s of `iap_learning.tasks.kinds.module_docking.latch`, in the leader's axes,

    .. math:: v = -k_s\,s - n\,\mathrm{sat}(k_g (g - g_{line}) + v_{touch}), \qquad \dot\psi = -k_\psi\,\psi,

    where :math:`g_{line} = (|s| - s_{line}) / m` (at least 0) is a funnel of slope m before the face: off its axis
    a follower waits, and backs off, where the funnel is as narrow as it is off.
    """

    SETTINGS = FunnelAgentSettings
    TASKS = "docks modules by velocities"
    ACTION = "velocity"

    def values(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""
        s, docking = self.settings.funnel, self.episodes
        n = docking.latch.normal_L
        leader, follower = docking.worlds.shared
        back = so3.conjugate(leader[:, Q])
        closing_L = so3.rotate(back, follower[:, 7:10] - leader[:, 7:10])
        pose = docking.filtered[:, :3] + s.ahead * closing_L
        gap = pose @ n
        aside = pose - gap[:, None] * n
        off = np.linalg.norm(aside, axis=1)
        line = np.maximum(0.0, (off - s.in_line) / s.slope)
        speed = np.clip(s.along * (gap - line) + s.touch * (line == 0.0), -s.cruise, s.cruise)
        across = -s.sideways * aside
        fastest = np.linalg.norm(across, axis=1, keepdims=True)
        across *= np.minimum(1.0, s.cruise / np.maximum(fastest, 1e-9))
        v_W = so3.rotate(leader[:, Q], across - speed[:, None] * n)
        return np.hstack([v_W, -s.turn * docking.filtered[:, 5:6]])


MODULE_DOCKING = TaskKind(
    name="module_docking",
    task=ModuleDockingTask,
    episodes=ModuleDockingEpisodes,
    agents={"funnel": FunnelAgent},
    single_run=SingleRun(
        ModuleDockingEngineEpisode, engine=AUTO, script=None
    ),  # its coordinator flies it
    policy_guidance=PolicyGuide,
)

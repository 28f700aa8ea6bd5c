# SPDX-License-Identifier: BSD-3-Clause
"""A policy flies a scenario: agents of `iap_simulation.loop.agents` for tasks of one platform and for dockings."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy, policy_file
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask
from iap_learning.tasks.kinds.docking.pair import DockingPair
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.kinds.platform.monitor import PlatformMonitor
from iap_learning.tasks.kinds.platform.platform_policy import (
    PlatformPolicy,
    check,
    info_of,
    periods,
)
from iap_learning.tasks.kinds.platform.task import Task
from iap_learning.tasks.kinds.registry import AnyTask
from iap_physics.plant.plant import Plant
from iap_simulation.batch.actions import REFERENCE_KINDS
from iap_simulation.docking.pair_pilot import DockingPilot, PairPilot, pair_of
from iap_simulation.docking.pilot import ScriptPilot, Sensed
from iap_simulation.loop.agents import AGENTS, POLICY, SCRIPT, FlightAgent, registered
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle

KEY = "key 'policy'"  # of a scenario, for errors


def learned(scenario: Scenario, vehicles: Sequence[Vehicle]) -> FlightAgent:
    """The pilot of a scenario whose key `policy` names a policy's file.

    Raises:
        BadInput: it cannot be read, or is of another platform, rate or layout.
    """
    policy, task = loaded(scenario)
    if isinstance(task, DockingTask):
        return DockingPilot(scenario, vehicles, PolicyPair(policy, task, scenario))
    alone = _platform_task(scenario, task)
    flown = PlatformPolicy(policy, alone, scenario, vehicles[0])
    return PlatformPilot(flown, scenario, vehicles[0])


def _platform_task(scenario: Scenario, task: Task | ModuleDockingTask | ArmReachTask) -> Task:
    """The task of a policy that flies a scenario's only vehicle."""
    if isinstance(task, ArmReachTask):
        raise BadInput(
            f"{KEY}: '{scenario.policy}' commands velocities of an identified plant, and there is none"
        )
    if isinstance(task, ModuleDockingTask):
        raise BadInput(f"{KEY}: '{scenario.policy}' docks modules, and there are none")
    count = len(scenario.vehicles)
    if count != 1:
        raise BadInput(f"{KEY}: '{scenario.policy}' flies one vehicle, not {count}")
    return task


def platform_policy(scenario: Scenario) -> Callable[[], PlatformPolicy]:
    """What makes the policy of each flight of a scenario's only vehicle, as its key `policy` says.

    Raises:
        BadInput: it has no policy of one platform, or one that does not fit.
    """
    policy, task = loaded(scenario)
    if isinstance(task, DockingTask):
        raise BadInput(f"{KEY}: '{scenario.policy}' docks, and there is no key 'docking'")
    alone = _platform_task(scenario, task)
    vehicle = Vehicle.of(scenario, scenario.vehicles[0])
    make = partial(PlatformPolicy, policy, alone, scenario, vehicle)
    make()  # which refuses what does not fit
    return make


def flies_by_references(scenario: Scenario) -> bool:
    """Whether what a scenario's key `policy` names gives references to controllers; else it commands aircraft.

    Raises:
        BadInput: it cannot be read.
    """
    if scenario.docking is not None or scenario.policy in (None, SCRIPT):
        return False
    return loaded(scenario)[1].action.kind in REFERENCE_KINDS


def pair_pilot(scenario: Scenario) -> Callable[[], PairPilot]:
    """What makes the pilot of each flight of a scenario that docks, as its key `policy` says.

    Raises:
        BadInput: it docks nothing, no policy flies it, or one of another platform, rate or layout.
    """
    pair_of(scenario)
    if scenario.policy in (None, SCRIPT):
        return partial(ScriptPilot.of, scenario)
    policy, task = loaded(scenario)
    if not isinstance(task, DockingTask):
        raise BadInput(f"{KEY}: '{scenario.policy}' flies task '{task.name}', which docks nothing")
    make = partial(PolicyPair, policy, task, scenario)
    make()  # which refuses what does not fit
    return make


def loaded(scenario: Scenario) -> tuple[Policy, AnyTask]:
    """A scenario's policy and its task.

    Raises:
        BadInput: there is none, or it cannot be read.
    """
    if scenario.policy is None:
        raise BadInput(f"{KEY}: no policy is given")
    try:
        file = policy_file(scenario.policy)
    except BadInput as error:
        agents = ", ".join(name for name in registered(AGENTS) if name != POLICY)
        raise BadInput(f"{KEY}: {error}, or an agent: {agents}, module:Class") from error
    policy = Policy.load(file)
    return policy, policy.task()


class PolicyPair:
    """A policy flies target and chaser, see `iap_simulation.docking.pair_pilot.PairPilot`.

    Args:
        policy: that flies.
        task: of it.
        scenario: that docks.

    Raises:
        BadInput: the policy is of another platform, rate or layout.
    """

    def __init__(self, policy: Policy, task: DockingTask, scenario: Scenario) -> None:
        self._repeat = periods(policy, scenario)
        (target, _), _ = pair_of(scenario)
        self._pair, self._policy = DockingPair(task, scenario), policy
        inner, platform = self._pair.interface, scenario.vehicles[target].platform.name
        size, rate = len(inner.middle), scenario.rates.control_hz
        check(policy, task, Layout.of(task, inner.layout, size, platform, rate))
        self._period = -1  # of the last action

    @property
    def info(self) -> Mapping[str, Any]:
        """What flies."""
        return info_of(self._policy)

    def __call__(self, k: int, sensed: Sensed) -> Array:
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser; a missed instant puts off no action."""
        pair = self._pair
        pair.sense(sensed.rows, sensed.wrench_W, latched=sensed.latched)
        if k // self._repeat > self._period:
            pair.take(self._policy(pair.observe()))
            self._period = k // self._repeat
        return pair.command()


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
        """What flies."""
        return self._flown.info

    def command(
        self, k: int, plant: Plant, references: Sequence[Reference]
    ) -> Mapping[int, Command]:
        """The command at control instant k."""
        vehicle, x = self._vehicle, plant.state(0)[0]
        made = self._flown(k, x, plant.propulsion[0].rpm[0], references[0].row)
        if isinstance(made, Command):
            return {0: made}
        return {0: vehicle.command(plant.t, x, plant.contact_wrench(0), made)}

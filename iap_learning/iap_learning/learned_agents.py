# SPDX-License-Identifier: BSD-3-Clause
"""Agents of scenarios whose key `policy` names a policy: each kind of tasks makes its own."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from iap_description.errors import BadInput
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import KEY, policy_of
from iap_learning.tasks.kind import FlyingPolicy
from iap_learning.tasks.kinds.docking.policy_pair import PolicyPair
from iap_learning.tasks.kinds.platform.kind import check_alone
from iap_learning.tasks.kinds.registry import kind_of, task_of_policy
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.task import Task
from iap_simulation.docking.pair_pilot import PairPilot, ScriptPilot
from iap_simulation.docking.ports import pair_of
from iap_simulation.loop.agents import SCRIPT, FlightAgent, JointGuidance
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


def learned(scenario: Scenario, vehicles: Sequence[Vehicle]) -> FlightAgent:
    """The agent of a scenario.

    Raises:
        BadInput: the policy cannot be read, is of another platform, rate or layout, or its kind of tasks has no agent.
    """
    agent: FlightAgent = _made("policy_agent", scenario, vehicles)
    return agent


def learned_guide(scenario: Scenario, vehicles: Sequence[Vehicle]) -> JointGuidance:
    """The guidance of a scenario of modules.

    Raises:
        BadInput: the policy cannot be read, is of another platform, rate or layout, or its kind of tasks guides none.
    """
    guidance: JointGuidance = _made("policy_guidance", scenario, vehicles)
    return guidance


def _made(part: str, scenario: Scenario, vehicles: Sequence[Vehicle]) -> Any:  # noqa: ANN401 - of the part
    policy = policy_of(scenario)
    task = task_of_policy(policy)
    make = kind_of(task).part(part, _policy_and_task(scenario, task))
    return make(policy, task, scenario, vehicles)


def _policy_and_task(scenario: Scenario, task: Task) -> str:
    return f"{KEY}: '{scenario.policy}' flies task '{task.name}'"


def flies_by_references(scenario: Scenario) -> bool:
    """True if what a scenario's key `policy` names gives references to controllers; else it commands aircraft.

    Raises:
        BadInput: it cannot be read.
    """
    if scenario.docking is not None or scenario.policy in (None, SCRIPT):
        return False
    if ":" in scenario.policy:  # a class of the user's, which may do either
        return True
    return task_of_policy(policy_of(scenario)).action.gives_references


def platform_policy(scenario: Scenario) -> Callable[[], FlyingPolicy]:
    """Maker of the policy of each flight of a scenario's only vehicle.

    Raises:
        BadInput: it has no policy of one platform, or one that does not fit.
    """
    policy = policy_of(scenario)
    task = task_of_policy(policy)
    maker = kind_of(task).part("flying_policy", _policy_and_task(scenario, task))
    check_alone(scenario)
    vehicle = Vehicle.of(scenario, scenario.vehicles[0])
    make: Callable[[], FlyingPolicy] = partial(maker, policy, task, scenario, vehicle)
    if Sense.MEASURED in make().asks_for and vehicle.lever is not None:
        raise BadInput(
            f"{_policy_and_task(scenario, task)}, whose key 'observed' nodes do not give of joints off the aircraft's"
            " centres of mass: fly it by ./iap run"
        )
    return make


def pair_pilot(scenario: Scenario) -> Callable[[], PairPilot]:
    """Maker of the pilot of each flight of a scenario that docks.

    Raises:
        BadInput: it docks nothing, no policy flies it, or one of another platform, rate or layout.
    """
    pair_of(scenario)
    if scenario.policy in (None, SCRIPT):
        return partial(ScriptPilot.of, scenario)
    policy, task = _of_kind("docking", scenario)
    make = partial(PolicyPair, policy, task, scenario)
    make()  # which refuses what does not fit
    return make


def _of_kind(kind: str, scenario: Scenario) -> tuple[Policy, Any]:
    """A scenario's policy with its task, which is to be of a kind."""
    policy = policy_of(scenario)
    task = task_of_policy(policy)
    if task.kind != kind:
        raise BadInput(f"{_policy_and_task(scenario, task)}, which is not of kind '{kind}'")
    return policy, task

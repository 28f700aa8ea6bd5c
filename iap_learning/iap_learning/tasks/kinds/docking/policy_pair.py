# SPDX-License-Identifier: BSD-3-Clause
"""A policy that flies both aircraft of a docking."""

from collections.abc import Mapping, Sequence
from typing import Any

from iap_description.arrays import Array
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import info_of, periods
from iap_learning.tasks.kinds.docking.pair import DockingPair
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_simulation.docking.pair_pilot import DockingPilot, Sensed
from iap_simulation.docking.ports import pair_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


def docking_pilot(
    policy: Policy, task: DockingTask, scenario: Scenario, vehicles: Sequence[Vehicle]
) -> DockingPilot:
    """The pilot of a scenario that docks.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or nothing docks.
    """
    return DockingPilot(scenario, vehicles, PolicyPair(policy, task, scenario))


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
        interface, platform = self._pair.interface, scenario.vehicles[target].platform.name
        hz = scenario.rates.control_hz
        layout = Layout.of(task, interface.observer.layout, interface.scale.size, platform, hz)
        policy.check(layout, f"task '{task.name}' in this scenario")
        self._period = -1  # of the last action

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy, or name of the script."""
        return info_of(self._policy)

    def __call__(self, k: int, sensed: Sensed) -> Array:
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser; a missed instant puts off no action."""
        pair = self._pair
        pair.sense(sensed.rows, sensed.wrench_W, latched=sensed.latched)
        if k // self._repeat > self._period:
            pair.take(self._policy(pair.observe()))
            self._period = k // self._repeat
        return pair.command()

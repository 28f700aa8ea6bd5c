# SPDX-License-Identifier: BSD-3-Clause
"""A policy that flies a scenario's only vehicle."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import KEY
from iap_learning.tasks.kinds.platform.monitor import PlatformMonitor
from iap_learning.tasks.kinds.platform.platform_policy import PlatformPolicy
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_physics.plant.plant import Plant
from iap_simulation.scenario.scenario import Scenario
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
        """What flies."""
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

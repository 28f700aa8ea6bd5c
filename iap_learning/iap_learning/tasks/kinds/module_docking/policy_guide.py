# SPDX-License-Identifier: BSD-3-Clause
"""A policy guides the module that docks, as the episodes have it; the coordinator catches."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import KEY, info_of, periods
from iap_learning.tasks.kinds.module_docking.latch import FILTERED, follow_latch, latch_of
from iap_learning.tasks.kinds.module_docking.observations import TERMS, FollowerInputs
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.kinds.platform.platform_policy import OneWorld
from iap_learning.tasks.scaling import ActionScale
from iap_physics.plant.plant import Plant
from iap_simulation.batch.actions import action_size
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class PolicyGuide:
    """A policy guides the follower of a scenario's only joint, see `iap_simulation.loop.agents.JointGuidance`.

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
        self._policy, self._task, self._repeat = policy, task, periods(policy, scenario)
        size = action_size(task.action.kind, 1)
        self._observer = TERMS.observer(task.observation, size)
        self._latch, self._only = latch_of(spec, joint), np.zeros(1, dtype=np.int64)
        rate, platform = scenario.rates.control_hz, scenario.vehicles[0].platform.name
        layout = Layout.of(task, self._observer.layout, size, platform, rate)
        policy.check(layout, f"task '{task.name}' in this scenario")
        self._scale = ActionScale.of(task.action.low, task.action.high)
        self._world = OneWorld(vehicles[self._follower])
        self._action, self._filtered = np.zeros((1, size)), np.zeros((1, FILTERED))
        self._fits, self._first = np.zeros(1, bool), -1

    @property
    def info(self) -> Mapping[str, Any]:
        """What guides."""
        return info_of(self._policy)

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
        if (k - self._first) % self._repeat == 0:
            inputs = FollowerInputs(*rows, self._filtered, self._action, self._latch.home_L)
            action = self._policy(self._observer(inputs, self._only))
            self._action = np.clip(action.astype(np.float64), -1.0, 1.0)
        world.state, world.rpm = plant.state(self._follower), plant.propulsion[self._follower].rpm
        world.goal = reference.row[None]
        return world.reference_of(self._task.action.kind, self._scale.apply(self._action))

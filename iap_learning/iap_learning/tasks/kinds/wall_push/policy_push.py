# SPDX-License-Identifier: BSD-3-Clause
"""A policy that pushes on a wall in the loop of its scenario and between messages, as the episodes have it fly."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput, shown
from iap_description.signals import Reference
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import info_of, periods
from iap_learning.tasks.kinds.platform.kind import PlatformPilot, check_alone
from iap_learning.tasks.kinds.platform.platform_policy import OneWorld
from iap_learning.tasks.kinds.wall_push.episodes import BY_VELOCITY, VELOCITY
from iap_learning.tasks.kinds.wall_push.measurements import PushMeasurements
from iap_learning.tasks.kinds.wall_push.observations import TERMS
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.scaling import ActionScale
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle

FIRST = np.zeros(1, dtype=np.int64)  # index of the only world


def push_pilot(
    policy: Policy, task: WallPushTask, scenario: Scenario, vehicles: Sequence[Vehicle]
) -> PlatformPilot:
    """The pilot of a scenario whose vehicle pushes on a wall.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or something else would push, too.
    """
    check_alone(scenario)
    flown = PushPolicy(policy, task, scenario, vehicles[0])
    return PlatformPilot(flown, vehicles[0], task=None, followers=())


class PushPolicy:
    """A policy that pushes with one platform, by velocities that the suite's law flies.

    It knows the contact wrench with the errors of the task's sensor, drawn by the scenario's seed.

    Args:
        policy: that flies.
        task: of it.
        scenario: that is flown.
        vehicle: the only one.

    Attributes:
        info: name and task of the policy.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or the scenario's own wrench control acts.
    """

    eye, feels, gives_references = None, True, True

    def __init__(
        self, policy: Policy, task: WallPushTask, scenario: Scenario, vehicle: Vehicle
    ) -> None:
        check_yields(scenario, policy.name)
        self._policy, self._task = policy.acting(), task
        self.info: Mapping[str, Any] = info_of(policy)
        self._repeat = periods(policy, scenario)
        self._line = PushLine.of(task.name, task.wall, scenario, vehicle.timeline.row(0))
        self._measurements = PushMeasurements.of(task, self._line, scenario.dt, 1)
        self._measurements.reset(FIRST, np.array([scenario.seed]))
        self._observer = TERMS.observer(task.observation, task.action.columns)
        platform, hz = scenario.vehicles[0].platform.name, scenario.rates.control_hz
        layout = Layout.of(task, self._observer.layout, task.action.columns, platform, hz)
        policy.check(layout, f"task '{task.name}' in this scenario")
        self._scale = ActionScale.of(task.action.low, task.action.high)
        self._world, self._action = OneWorld(vehicle), np.zeros((1, task.action.columns))
        self._period = -1  # of the last action

    def acts_at(self, k: int) -> bool:
        """True if it acts anew at control instant k; a missed instant puts off no action."""
        return k // self._repeat > self._period

    def period_began(self, stamp: int, k: int) -> float:  # noqa: ARG002 - as of all that fly
        """The stamp itself: it waits for no image."""
        return stamp

    def __call__(
        self, k: int, x: Array, rpm: Array, reference: Array, wrench_W: Array | None
    ) -> Reference:
        """The reference at control instant k; arguments as in `FlyingPolicy`."""
        assert wrench_W is not None  # noqa: S101 - it feels
        if k > 0:
            self._measurements.measure(self._line.forces(wrench_W[None]))
        body = x[:1]
        if self.acts_at(k):
            inputs = self._measurements.inputs(body, self._action)
            action = self._policy(self._observer(inputs, FIRST))
            self._action = np.clip(action.astype(np.float64), -1.0, 1.0)
            self._period = k // self._repeat
        towards = self._scale.apply(self._action)[:, 0]
        values = self._line.velocities(body, towards, self._task.centering)
        world = self._world
        world.state, world.rpm, world.goal = x[None], rpm[None], reference[None]
        return world.reference_of(VELOCITY, values)


def check_yields(scenario: Scenario, policy: str) -> None:
    """Refuse scenarios whose own wrench control would push beside a policy.

    Raises:
        BadInput: it acts.
    """
    for path, needed in BY_VELOCITY.items():
        key = path.removeprefix("control.")
        actual = getattr(scenario.vehicles[0].control, key)
        if actual != needed:
            raise BadInput(
                f"key '{path}': {shown(actual)}, but policy '{policy}' pushes alone: it needs '{needed}'"
            )

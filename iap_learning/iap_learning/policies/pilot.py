# SPDX-License-Identifier: BSD-3-Clause
"""A policy flies a scenario: the pilots of `iap_simulation.pilots` for tasks of one platform and for dockings."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command, Level
from iap_learning.docking.pair import DockingPair
from iap_learning.docking.task import DockingTask
from iap_learning.episodic import AnyTask
from iap_learning.module_docking.task import ModuleDockingTask
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.tasks.observations import Observer
from iap_learning.tasks.task import Task
from iap_physics.plant import Plant
from iap_simulation.docking.pair_pilot import DockingPilot, PairPilot, pair_of
from iap_simulation.docking.pilot import ScriptPilot, Sensed
from iap_simulation.parallel.actions import action_of, action_size
from iap_simulation.parallel.references import References
from iap_simulation.pilots import SCRIPT, Pilot
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicle import Vehicle

KEY = "key 'policy'"  # of a scenario, for errors


def learned(scenario: Scenario, vehicles: Sequence[Vehicle]) -> Pilot:
    """The pilot of a scenario whose key `policy` names a policy's file.

    Raises:
        BadInput: it cannot be read, or is of another platform, rate or layout.
    """
    policy, task = loaded(scenario)
    if isinstance(task, DockingTask):
        return DockingPilot(scenario, vehicles, PolicyPair(policy, task, scenario))
    if isinstance(task, ModuleDockingTask):
        raise BadInput(f"{KEY}: '{scenario.policy}' docks modules, and there are none")
    if len(vehicles) != 1:
        raise BadInput(f"{KEY}: '{scenario.policy}' flies one vehicle, not {len(vehicles)}")
    return PlatformPilot(policy, task, scenario, vehicles[0])


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
    """The policy of a scenario's key `policy`, and its task."""
    policy = Policy.load(str(scenario.policy))
    return policy, policy.task()


def periods(policy: Policy, scenario: Scenario) -> int:
    """Control periods between two actions.

    Raises:
        BadInput: there is no whole number of them.
    """
    ratio = scenario.rates.control_hz / policy.header.rate_hz
    if ratio < 1.0 or abs(ratio - round(ratio)) > 1e-9:
        raise BadInput(
            f"{policy.source}: key 'rate_hz': {policy.header.rate_hz:g} Hz does not divide"
            f" rates.control_hz, {scenario.rates.control_hz:g} Hz"
        )
    return round(ratio)


def info_of(policy: Policy) -> dict[str, Any]:
    """Key `policy` of metrics.json."""
    header = policy.header
    return {"name": policy.name, "task": header.task, "sha256": policy.digest}


def check(policy: Policy, task: AnyTask, layout: Layout) -> None:
    """Refuse a policy whose task is another one by now, or that is of another platform."""
    policy.check(layout, f"task '{task.name}' in this scenario")


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


class OneWorld:
    """A plant's vehicle as `iap_simulation.parallel.actions` sees worlds.

    Attributes:
        state: (1, bodies, 13).
        rpm: (1, N, 4) [rpm].
        model: of the platform.
        goal: (1, 19 + N) the scenario's reference.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self.model = vehicle.model
        self.state, self.rpm, self.goal = np.zeros((3, 1, 1))

    def look(self, plant: Plant, reference: Reference) -> None:
        """Take the present instant."""
        self.state, self.rpm = plant.state(0), plant.propulsion[0].rpm
        self.goal = reference.row[None]

    def references(self) -> References:
        """The scenario's reference."""
        return References.of(self.goal)


class PlatformPilot:
    """A policy flies one platform, as `iap_learning.episodes` has it fly.

    Args:
        policy: that flies.
        task: of it.
        scenario: that is flown.
        vehicle: the only one.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or sees an image.
    """

    def __init__(self, policy: Policy, task: Task, scenario: Scenario, vehicle: Vehicle) -> None:
        if task.depth is not None:
            raise BadInput(f"{KEY}: '{scenario.policy}' sees images, and flies in episodes alone")
        self._repeat = periods(policy, scenario)
        platform, kind = scenario.vehicles[0].platform, task.action.kind
        size = action_size(kind, platform.count)
        self._observer = Observer(task.observation, aircraft=platform.count, actions=size)
        layout = (task, self._observer.layout, size, platform.name, scenario.rates.control_hz)
        check(policy, task, Layout.of(*layout))
        action = policy.header.action
        low, high = np.array(action.low), np.array(action.high)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)
        self._policy, self._task, self._vehicle = policy, task, vehicle
        self._world, self._action = OneWorld(vehicle), np.zeros((1, size))

    @property
    def info(self) -> Mapping[str, Any]:
        """What flies."""
        return info_of(self._policy)

    def __call__(
        self, k: int, plant: Plant, references: Sequence[Reference]
    ) -> Mapping[int, Command]:
        """The command at control instant k."""
        world, vehicle = self._world, self._vehicle
        world.look(plant, references[0])
        if k % self._repeat == 0:
            self._act()
        values = self._middle + self._half * self._action
        made = action_of(self._task.action.kind, values, world)
        if isinstance(made, Command):
            return {0: _alone(made)}
        wanted = Reference(made.rows[0], Level(int(made.levels[0])), made.wrenches_P[0])
        contact_W = plant.contact_wrench(0)
        return {0: vehicle.command(plant.t, world.state[0], contact_W, wanted)}

    def _act(self) -> None:
        world, task = self._world, self._task
        goals = world.goal if task.goal == "present" else self._last
        seen = self._observer(world.state, goals, world.rpm, self._action)
        self._action = np.clip(self._policy(seen).astype(np.float64), -1.0, 1.0)

    @property
    def _last(self) -> Array:
        line = self._vehicle.timeline
        return line.row(line.last)[None]


def _alone(command: Command) -> Command:
    """The command of one world, without the axis of worlds."""
    arrays = (
        command.wrench_P,
        command.thrust,
        command.q_WB,
        command.w_WB_B,
        command.rpm,
        command.tilt,
    )
    return Command(command.mode, *(each[0] for each in arrays))

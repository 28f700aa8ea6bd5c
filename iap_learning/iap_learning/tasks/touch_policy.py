# SPDX-License-Identifier: BSD-3-Clause
"""Policies that touch, in the loop of its scenario and between messages, as the episodes have them fly."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput, shown
from iap_description.signals import Reference
from iap_description.states import Level
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import info_of, periods
from iap_learning.tasks.kind import AnyAgent, EngineEpisode, EpisodesMaker, SingleRun, TaskKind
from iap_learning.tasks.kinds.platform.kind import PlatformPilot, check_alone
from iap_learning.tasks.kinds.platform.platform_policy import OneWorld
from iap_learning.tasks.senses import Senses
from iap_learning.tasks.touch_episodes import ENGINE
from iap_learning.tasks.touch_interface import TouchInterface
from iap_learning.tasks.touch_task import TouchTask
from iap_learning.tasks.user_functions import ActionConverter
from iap_learning.tasks.user_inputs import TermInputs, WorldArrays
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.vehicles.vehicle import Vehicle

FIRST = np.zeros(1, dtype=np.int64)  # index of the only world


class TouchPolicy:
    """A policy that touches with one platform, by references that the suite's law flies.

    It knows what it measures with the errors of the task's sensors, drawn by the scenario's seed.

    Args:
        interface: kind of that of actions.
        policy: that flies.
        task: of it.
        scenario: that is flown.
        vehicle: the only one.

    Attributes:
        info: name and task of the policy.
        asks_for: what its interface measures.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or the scenario's own laws of contact act.
    """

    inputs, gives_references = (), True

    def __init__(
        self,
        interface: type[TouchInterface],
        policy: Policy,
        task: TouchTask,
        scenario: Scenario,
        vehicle: Vehicle,
    ) -> None:
        check_yields(scenario, interface.NEEDS, policy.name)
        self._policy = policy.acting()
        self.info: Mapping[str, Any] = info_of(policy)
        self._repeat = periods(policy, scenario)
        self._interface = interface.of(task, scenario, vehicle.timeline.row(0), 1)
        self._interface.reset(FIRST, np.array([scenario.seed]))
        self._interface.draw(0, scenario)
        self.asks_for = interface.ASKS_FOR
        self._scale = task.action.scale()
        rest = TermInputs.at_rest(scenario.vehicles[0].platform.count, self._scale.size)
        self._observer = interface.TERMS.observer(task.observation, self._scale.size, rest)
        self._converted = ActionConverter(task.action, task.action.columns, self._observer)
        platform, hz = scenario.vehicles[0].platform.name, scenario.rates.control_hz
        layout = Layout.of(task, self._observer.layout, self._scale.size, platform, hz)
        policy.check(layout, f"task '{task.name}' in this scenario")
        self._world, self._action = OneWorld(vehicle), np.zeros((1, self._scale.size))
        self._values = self._scale.apply(self._action)
        self._period = -1  # of the last action

    @property
    def closes(self) -> bool | None:
        """True if the gripper shall close; None of a policy that commands none."""
        closes = self._interface.closes
        return None if closes is None else bool(closes[0])

    def acts_at(self, k: int) -> bool:
        """True if it acts anew at control instant k; a missed instant puts off no action."""
        return k // self._repeat > self._period

    def lacks(self, stamp: int, k: int) -> Sequence[str]:  # noqa: ARG002 - as of all that fly
        """Nothing: it looks at no sensor."""
        return ()

    def __call__(
        self, k: int, x: Array, rpm: Array, reference: Array, senses: Senses
    ) -> Reference:
        """The reference at control instant k; arguments as in `FlyingPolicy`."""
        body, world = x[:1], self._world
        world.state, world.rpm, world.goal = x[None], rpm[None], reference[None]
        self._look(senses)
        if self._period < 0:
            self._interface.begin(FIRST, body)
        else:
            assert senses.wrench is not None  # noqa: S101 - all ask for it
            self._interface.measure(body, senses.wrench[None])
        if self.acts_at(k):
            self._act(body)
            self._period = k // self._repeat
        made = self._interface.references(world, self._values)
        return Reference(made.rows[0], Level(int(made.levels[0])), made.wrenches_P[0])

    def _act(self, body: Array) -> None:
        """Act anew on the central body (1, 13)."""
        inputs = self._interface.inputs(body, self._action)
        action = self._policy(self._observer(inputs, FIRST, self._arrays))
        self._action = np.clip(action.astype(np.float64), -1.0, 1.0)
        after = partial(self._interface.inputs, body, self._action)
        self._values = self._converted(self._scale.apply(self._action), after, self._arrays)

    def _arrays(self) -> WorldArrays:
        world = self._world
        return WorldArrays(world.state, world.goal, FIRST, world.rpm, self._action)

    def _look(self, senses: Senses) -> None:
        """Let the interface look at what it asks for."""
        if senses.objects is not None:
            self._interface.look_at_objects(senses.objects[None])
        if senses.phases is not None:
            self._interface.look_at_latches(senses.phases[None])
        if senses.joints is not None:
            self._interface.look_at_joints(senses.joints[None])
        if senses.gripper is not None:
            self._interface.look_at_gripper(senses.gripper[None])


def touch_kind(
    name: str,
    task: type[TouchTask],
    *,
    episodes: EpisodesMaker,
    engine_episode: Callable[[Simulation, Any], EngineEpisode],
    interface: type[TouchInterface],
    agents: Mapping[str, type[AnyAgent]],
) -> TaskKind:
    """A kind of tasks that touch, whose policies fly many worlds, single runs and between messages.

    Args:
        name: of it.
        task: record of its files.
        episodes: makes its worlds.
        engine_episode: makes its episode in an engine.
        interface: of its actions.
        agents: hand-written ones, by the key `guide` of their files.
    """
    duration = attrgetter("seconds")
    return TaskKind(
        name=name,
        task=task,
        episodes=episodes,
        agents=agents,
        single_run=SingleRun(engine_episode, ENGINE, None, duration, interface.NEEDS),
        policy_agent=partial(touch_pilot, interface),
        flying_policy=partial(TouchPolicy, interface),
    )


def touch_pilot(
    interface: type[TouchInterface],
    policy: Policy,
    task: TouchTask,
    scenario: Scenario,
    vehicles: Sequence[Vehicle],
) -> PlatformPilot:
    """The pilot of a scenario whose vehicle touches.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or something else would act on the contact, too.
    """
    check_alone(scenario)
    flown = TouchPolicy(interface, policy, task, scenario, vehicles[0])
    return PlatformPilot(flown, vehicles[0], task=None, followers=())


def check_yields(scenario: Scenario, needs: Mapping[str, Any], policy: str) -> None:
    """Refuse scenarios whose own laws would act on the contact beside a policy.

    Raises:
        BadInput: one does.
    """
    for path, needed in needs.items():
        actual: Any = scenario if hasattr(scenario, path.split(".")[0]) else scenario.vehicles[0]
        for key in path.split("."):
            actual = getattr(actual, key, None)
        if actual != needed:
            raise BadInput(
                f"key '{path}': {shown(actual)}, but policy '{policy}' acts alone: it needs {shown(needed)}"
            )
